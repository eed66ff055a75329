"""A request that lacks arguments becomes a dialogue; its questions and answers are merged by
code (HammerBench 4.2.2).
"""

DIALOGUE, TRAJECTORIES = "dialogue", "trajectories"
