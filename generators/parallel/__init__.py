"""Requests for several independent calls at once (BFCL's parallel categories)."""

GROUP = "parallel"
PARALLEL = "parallel"
