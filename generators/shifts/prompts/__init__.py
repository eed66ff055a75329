"""The prompts of shifts."""
