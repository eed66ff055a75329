"""Prompt templates of the generating stages."""
