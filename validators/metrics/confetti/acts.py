"""Dialogue acts of agent turns: whether the predicted ones agree, and which are taken for which (CONFETTI 4.2, 5.3.2)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ACTS = ("inform", "seek", "reject", "call", "other")
NAMES = {
    "agent_inform_user": "inform",
    "inform": "inform",
    "agent_seek_information": "seek",
    "seek_info": "seek",
    "seek": "seek",
    "agent_reject_request": "reject",
    "reject": "reject",
    "agent_function_calling": "call",
    "function_calling": "call",
    "call": "call",
    "agent_other": "other",
    "other": "other",
}


class ActScores(NamedTuple):
    """How far predicted acts agree with the annotated ones.

    `accuracy` counts a turn right that has one act in common; precision, recall and f1 are over all labels. In
    `confusion` each turn weighs 1: on the acts that it has in common, else on all pairs of an annotated act and a
    predicted one; "none" stands for a prediction without any act.
    """

    turns: int
    accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    confusion: dict[str, dict[str, float]]


def read_acts(said: object) -> frozenset[str] | None:
    """The acts of a list of labels, or of a text with commas; None where it has a word that is no label."""
    words = said.split(",") if isinstance(said, str) else said
    if not isinstance(words, list | tuple | frozenset | set) or not all(isinstance(one, str) for one in words):
        return None
    labels = [str(one).strip().strip("'\"[].").lower() for one in words]
    known = [NAMES.get(label) for label in labels if label]
    return frozenset(act for act in known if act) if all(known) else None


def score_acts(pairs: Sequence[tuple[Iterable[str], Iterable[str]]]) -> ActScores:
    """Score turns, each with its annotated acts and its predicted ones."""
    turns = [(frozenset(gold), frozenset(predicted)) for gold, predicted in pairs]
    right = sum(bool(gold & predicted) for gold, predicted in turns)
    shared = sum(len(gold & predicted) for gold, predicted in turns)
    said, due = sum(len(predicted) for _, predicted in turns), sum(len(gold) for gold, _ in turns)
    return ActScores(
        turns=len(turns),
        accuracy=right / len(turns) if turns else None,
        precision=shared / said if said else None,
        recall=shared / due if due else None,
        f1=2 * shared / (said + due) if said + due else None,
        confusion=_confuse(turns),
    )


def _confuse(turns: Sequence[tuple[frozenset[str], frozenset[str]]]) -> dict[str, dict[str, float]]:
    weights: Counter[tuple[str, str]] = Counter()
    for gold, predicted in turns:
        cells = [(act, act) for act in gold & predicted] or [
            (act, as_) for act in gold for as_ in predicted or {"none"}
        ]
        for cell in cells:
            weights[cell] += 1 / len(cells)  # type: ignore[assignment] # a Counter adds up fractions as well
    columns = [*ACTS, "none"]
    return {act: {as_: float(weights[act, as_]) for as_ in columns if weights[act, as_]} for act in ACTS}
