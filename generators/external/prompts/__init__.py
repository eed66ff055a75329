"""The prompts of external information."""
