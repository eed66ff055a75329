"""Conversations that others had: imported as they are, and checked like generated ones."""

from collections.abc import Iterable
from hashlib import blake2b

import orjson

from callwright.warehouse.records import CallTurn, Sample, Turn, UserTurn

GROUP = STAGE = "taken"
CALL, CALLS, CONVERSATION = "taken_call", "taken_calls", "taken_conversation"


def kind_of_turns(turns: Iterable[Turn]) -> str:
    """Return a conversation's kind by its calls: with results, several at once, or at most one."""
    made = [turn for turn in turns if isinstance(turn, CallTurn)]
    if any(turn.executed for turn in made):
        return CONVERSATION
    return CALLS if any(len(turn.calls) > 1 for turn in made) else CALL


def print_of(sample: Sample) -> bytes:
    """Return a digest of users' words, ignoring case and spacing, and calls, to find duplicates."""
    user_texts = [
        " ".join(turn.text.casefold().split())
        for turn in sample.turns
        if isinstance(turn, UserTurn)
    ]
    called = [[one.tool, one.arguments] for one in sample.all_calls]
    option = orjson.OPT_SORT_KEYS
    return blake2b(orjson.dumps([user_texts, called], option=option), digest_size=8).digest()
