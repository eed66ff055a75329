"""Multi-step paths: what a user wants, the calls that get there, and the proof that only one path does (ComplexFuncBench 2.1).

The kinds of multi-step samples (ComplexFuncBench 2.1; counts of its Table 3).
"""

from callwright.generators.families import Family, Kind, Traits

GROUP = "multi_step"
ONE_DOMAIN, SEVERAL_DOMAINS = "multi_step", "multi_step_cross"
_PATH = Traits("ComplexFuncBench", calls="set", asked="path", is_executed=True, spread="category")
_CROSS = _PATH._replace(is_cross_domain=True)

FAMILY = Family(
    "multi_step",
    (
        Kind(ONE_DOMAIN, "several steps in one domain, each call answered", GROUP, _PATH, paper=600),
        Kind(SEVERAL_DOMAINS, "several steps in several domains, each call answered", GROUP, _CROSS, paper=400),
    ),
)
