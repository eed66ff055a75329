"""One request that asks for several calls at once, none of which depends on another (BFCL's parallel categories).

The kind of requests for several calls at once; the count is that of BFCL v4's files `parallel` and `parallel_multiple`.
"""

from callwright.generators.families import Family, Kind, Traits

GROUP = "parallel"
PARALLEL = "parallel"
_TRAITS = Traits("BFCL", calls="set", asked="plan", is_whole=True)

FAMILY = Family(
    "parallel",
    (Kind(PARALLEL, "a request for two to four calls that do not depend on each other", GROUP, _TRAITS, paper=400),),
)
