"""template/v1: a seeded model without weights that writes and reads calls by sentences in data."""
