"""Conversations that others had: taken as they are, and checked as if they had been made."""

from collections.abc import Iterable

from callwright.warehouse.records import CallTurn, Turn

GROUP = STAGE = "taken"
CALL, CALLS, CONVERSATION = "taken_call", "taken_calls", "taken_conversation"


def kind_of_turns(turns: Iterable[Turn]) -> str:
    """The kind of a conversation by its calls: with results, several at once, or one at most."""
    made = [turn for turn in turns if isinstance(turn, CallTurn)]
    if any(turn.executed for turn in made):
        return CONVERSATION
    return CALLS if any(len(turn.calls) > 1 for turn in made) else CALL
