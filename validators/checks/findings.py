"""What one rule of a check has found."""

from typing import NamedTuple

from warehouse.records import Decision


class Finding(NamedTuple):
    """Something that speaks against a sample: a broken rule, or one that can't be applied."""

    decision: Decision
    reason: str


def contradicted(reason: str) -> Finding:
    """A rule is broken."""
    return Finding("contradicted", reason)


def unproved(reason: str) -> Finding:
    """A rule can't tell."""
    return Finding("unproved", reason)
