"""What one rule of a check has found."""

from collections.abc import Collection
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


def weakest(decisions: Collection[Decision]) -> Decision:
    """The decision that holds for all parts: one contradiction contradicts; what has no parts is not proved."""
    if "contradicted" in decisions:
        return "contradicted"
    return "unproved" if "unproved" in decisions or not decisions else "proved"
