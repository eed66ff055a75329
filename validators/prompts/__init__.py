"""Prompt templates of the checks and candidates."""
