"""Validation: checks on samples, the matching of calls, and the metrics of the papers."""
