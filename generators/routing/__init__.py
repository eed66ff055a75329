"""Questions that are routed through a whole catalog: one call, several, or nested ones (CallNavi 3, 4.1).

The kinds of questions over a whole catalog (CallNavi 3, 4.1; counts of its Table 2).
"""

from callwright.generators.families import Family, Kind, Traits

GROUP = "routing"
ROUTING_EASY, ROUTING_MEDIUM, ROUTING_HARD = "routing_easy", "routing_medium", "routing_hard"
_EASY = Traits("CallNavi", calls="sequence", asked="plan", has_catalog=True, spread="category", difficulty="easy")
_MEDIUM, _HARD = _EASY._replace(difficulty="medium"), _EASY._replace(difficulty="hard")

FAMILY = Family(
    "routing",
    (
        Kind(ROUTING_EASY, "one call out of a domain's whole catalog", GROUP, _EASY, paper=456),
        Kind(ROUTING_MEDIUM, "several calls out of a whole catalog, every argument said", GROUP, _MEDIUM, paper=188),
        Kind(ROUTING_HARD, "nested calls out of a whole catalog, some arguments unknown", GROUP, _HARD, paper=85),
    ),
)
