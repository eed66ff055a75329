"""Faults in tasks: errors of tools, and texts that give orders (AgentDojo, arXiv:2406.13352)."""

GROUP = "faults"
TOOL_ERROR, INJECTED = "tool_error", "injected"
