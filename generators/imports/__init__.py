"""Samples that the papers published, read as they are."""
