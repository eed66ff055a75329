"""One request that asks for several calls at once, none of which depends on another (BFCL's
parallel categories).
"""

GROUP = "parallel"
PARALLEL = "parallel"
