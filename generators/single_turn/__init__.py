"""A request of one turn: perfect, imperfect or irrelevant (HammerBench 4.2.1).

The paper does not state its number of irrelevant requests; we make as many as intent shifts.
"""

GROUP = "single_turn"
PERFECT, IMPERFECT, IRRELEVANT = "perfect", "imperfect", "irrelevant"
