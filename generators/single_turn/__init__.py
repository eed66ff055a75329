"""A request of one turn: perfect, imperfect or irrelevant (HammerBench 4.2.1).

How many irrelevant requests the paper has is not stated: there we take as many as intent shifts.
"""

GROUP = "single_turn"
PERFECT, IMPERFECT, IRRELEVANT = "perfect", "imperfect", "irrelevant"
