"""Conversations that others had: taken as they are, and checked as if they had been made."""

from collections.abc import Iterable
from hashlib import blake2b

import orjson

from callwright.warehouse.records import CallTurn, Sample, Turn, UserTurn

GROUP = STAGE = "taken"
CALL, CALLS, CONVERSATION = "taken_call", "taken_calls", "taken_conversation"


def kind_of_turns(turns: Iterable[Turn]) -> str:
    """The kind of a conversation by its calls: with results, several at once, or one at most."""
    made = [turn for turn in turns if isinstance(turn, CallTurn)]
    if any(turn.executed for turn in made):
        return CONVERSATION
    return CALLS if any(len(turn.calls) > 1 for turn in made) else CALL


def print_of(sample: Sample) -> bytes:
    """What is the same for conversations that say the same: the users' words, without case and
    gaps, and what is called.
    """
    said = [
        " ".join(turn.text.casefold().split())
        for turn in sample.turns
        if isinstance(turn, UserTurn)
    ]
    called = [[one.tool, one.arguments] for one in sample.all_calls]
    option = orjson.OPT_SORT_KEYS
    return blake2b(orjson.dumps([said, called], option=option), digest_size=8).digest()
