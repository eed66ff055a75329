"""The prompts of multi-step samples."""
