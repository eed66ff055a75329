"""Audit the gold of data sets: read any format, find what speaks against it, report it."""
