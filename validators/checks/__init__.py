"""Checks: each answers proved, unproved or contradicted about one sample."""
