"""The prompts of dialogues."""
