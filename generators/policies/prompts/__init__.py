"""The prompts of policies."""
