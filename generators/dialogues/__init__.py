"""Turn incomplete requests into dialogues and merge their turns by code (HammerBench 4.2.2)."""

DIALOGUE, TRAJECTORIES = "dialogue", "trajectories"
