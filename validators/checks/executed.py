"""Which samples hold calls with results: paths made in an environment, and simulated conversations."""

from generators.shifts.turns import is_conversation
from warehouse.records import CallTurn, Sample


def was_made_already(sample: Sample) -> bool:
    """Whether the calls were made with results that later turns build upon: a path, or a simulated conversation."""
    return is_path(sample) or is_conversation(sample)


def is_path(sample: Sample) -> bool:
    """Whether the sample's calls were made in an environment."""
    made = any(isinstance(turn, CallTurn) and turn.executed for turn in sample.turns)
    return made and bool(sample.environment)
