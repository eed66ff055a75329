"""Whether turns follow each other as turns can, and none of them is blank."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import assert_never

from validators.checks.findings import Finding, contradicted
from warehouse.records import CallTurn, ReplyTurn, ResultTurn, Turn, UserTurn

_MAY_FOLLOW = {
    "user": frozenset({"calls", "reply"}),
    "calls": frozenset({"reply"}),
    "executed": frozenset({"result"}),
    "result": frozenset({"calls", "reply"}),
    "reply": frozenset({"user"}),
}


def turn_findings(turns: Sequence[Turn]) -> Iterator[Finding]:
    """What is wrong with the order and the content of the turns."""
    if not turns or turns[0].kind != "user":
        yield contradicted("The conversation does not open with the user.")
    if not any(isinstance(turn, CallTurn) or (isinstance(turn, ReplyTurn) and turn.acts) for turn in turns):
        yield contradicted("The conversation has no turn with gold.")
    for index, (before, after) in enumerate(pairwise(turns), start=1):
        if after.kind not in _MAY_FOLLOW[_name(before)]:
            yield contradicted(f"Turn {index} ({after.kind}) can't follow a turn of the kind {_name(before)!r}.")
        if isinstance(before, CallTurn) and isinstance(after, ResultTurn) and len(before.calls) != len(after.results):
            yield contradicted(f"Turn {index} has {len(after.results)} results for {len(before.calls)} calls.")
    for index, turn in enumerate(turns):
        if any(not text.strip() for text in _texts(turn)):
            yield contradicted(f"The text of turn {index} is blank.")


def _name(turn: Turn) -> str:
    return "executed" if isinstance(turn, CallTurn) and turn.executed else turn.kind


def _texts(turn: Turn) -> list[str]:
    match turn:
        case UserTurn(text=text, external=message):
            return [text] if message is None else [text, message.text]
        case ReplyTurn(text=text):
            return [text]
        case CallTurn() | ResultTurn():
            return []
        case _:
            assert_never(turn)
