"""The prompts of requests of one turn."""
