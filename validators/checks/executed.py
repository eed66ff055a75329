"""Which samples hold calls with results: paths made in an environment, and simulated conversations."""

from generators.shifts.turns import is_conversation
from warehouse.records import CallTurn, Sample

ENVIRONMENT_TAG = "environment="


def tag_of(sample: Sample, name: str) -> str:
    """What a tag of the sample says after its name ("environment="), "" where it has none such."""
    return next((tag.removeprefix(name) for tag in sample.tags if tag.startswith(name)), "")


def was_made_already(sample: Sample) -> bool:
    """Whether the calls were made with results that later turns build upon: a path, or a simulated conversation."""
    return is_path(sample) or is_conversation(sample)


def is_path(sample: Sample) -> bool:
    """Whether the sample's calls were made in an environment."""
    made = any(isinstance(turn, CallTurn) and turn.executed for turn in sample.turns)
    return made and bool(tag_of(sample, ENVIRONMENT_TAG))
