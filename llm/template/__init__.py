"""template/v1: a seeded model without weights, that words calls in sentences that are data and
reads them by the same ones.
"""
