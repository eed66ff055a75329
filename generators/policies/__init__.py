"""An assistant's policies in tasks: permissions, bans, approvals (τ-bench, arXiv:2406.12045)."""

GROUP = "policies"
POLICY = "policy"
