"""Releases in other tools' formats: one module per format."""
