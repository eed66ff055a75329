"""The prompts of simulated conversations."""
