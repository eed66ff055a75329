"""A simulated user: code holds its goal, knowledge and words; a model only phrases them.

What the model writes is checked before the user says it.
"""

LIVE_TASK = "live_task"
