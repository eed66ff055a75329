"""Which samples are paths: their calls were made in an environment, one step after another."""

from warehouse.records import CallTurn, Sample

ENVIRONMENT_TAG = "environment="


def tag_of(sample: Sample, name: str) -> str:
    """What a tag of the sample says after its name ("environment="), "" where it has none such."""
    return next((tag.removeprefix(name) for tag in sample.tags if tag.startswith(name)), "")


def is_path(sample: Sample) -> bool:
    """Whether the sample's calls were made in an environment."""
    made = any(isinstance(turn, CallTurn) and turn.executed for turn in sample.turns)
    return made and bool(tag_of(sample, ENVIRONMENT_TAG))
