"""A simulated user: what it wants, knows and has said is held by code; a model only words it,
and is read back before it speaks.
"""

LIVE_TASK = "live_task"
