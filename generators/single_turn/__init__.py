"""A request of one turn: perfect, imperfect or irrelevant (HammerBench 4.2.1).

The kinds of single-turn requests (HammerBench 4.2.1; counts of its Table 3).

How many irrelevant requests the paper has is not stated: there we take as many as intent shifts.
"""

from callwright.generators.families import Family, Kind, Traits

GROUP = "single_turn"
PERFECT, IMPERFECT, IRRELEVANT = "perfect", "imperfect", "irrelevant"
_PERFECT = Traits("HammerBench", is_whole=True)
_IMPERFECT = Traits("HammerBench", is_partial=True, is_open=True)
_IRRELEVANT = Traits("HammerBench", is_idle=True)

FAMILY = Family(
    "single_turn",
    (
        Kind(PERFECT, "a request with every required argument", GROUP, _PERFECT, paper=2116, scale=2116),
        Kind(IMPERFECT, "a request that lacks required arguments", GROUP, _IMPERFECT, paper=3240, scale=3240),
        Kind(IRRELEVANT, "a request that no candidate tool can serve", GROUP, _IRRELEVANT, scale=1098),
    ),
)
