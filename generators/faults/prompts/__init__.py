"""The prompts of faults."""
