"""Policies that an assistant follows in tasks: what they allow and forbid, and what takes leave
(τ-bench, arXiv:2406.12045).
"""

GROUP = "policies"
POLICY = "policy"
