"""The prompts of the stages of tools."""
