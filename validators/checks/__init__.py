"""Checks: each returns proved, unproved or contradicted about one sample."""
