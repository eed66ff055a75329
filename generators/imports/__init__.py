"""Samples published by the papers, read as they are."""
