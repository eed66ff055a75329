"""What tests ask of the verdict on a gold call that somebody made."""

from callwright.warehouse.records import Verdict


def is_all_said(verdict: Verdict) -> bool:
    """Whether each value is proved, or at least stated: whose it is then is left to readers."""
    return verdict.decision != "contradicted" and all(one.kind == "only_stated" for one in verdict.doubts)
