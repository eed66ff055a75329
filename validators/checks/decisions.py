"""How the decisions about a sample's parts become one decision about the sample."""

from collections.abc import Collection

from warehouse.records import Decision


def weakest(decisions: Collection[Decision]) -> Decision:
    """The decision that holds for all parts: one contradiction contradicts; what has no parts is not proved."""
    if "contradicted" in decisions:
        return "contradicted"
    return "unproved" if "unproved" in decisions or not decisions else "proved"
