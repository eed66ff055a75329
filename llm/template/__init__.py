"""template/v1: a seeded model without weights, that words calls by grammar and reads requests by inverting it."""
