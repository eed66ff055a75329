"""A conversation as prompts show it: one line a turn, snapshots hidden, so that nobody sees the gold."""

from collections.abc import Iterable, Iterator
from typing import assert_never

import orjson

from warehouse.records import CallTurn, ReplyTurn, ResultTurn, Turn, UserTurn


def conversation_text(turns: Iterable[Turn]) -> str:
    """The turns as lines `user: …`, `message (app): …`, `assistant: …`; executed calls and results as JSON."""
    return "\n".join(line for turn in turns for line in _lines(turn))


def _lines(turn: Turn) -> Iterator[str]:
    match turn:
        case UserTurn(text=text, external=external):
            yield f"user: {_indented(text)}"
            if external is not None:
                yield f"message ({external.app}): {_indented(external.text)}"
        case ReplyTurn(text=text):
            yield f"assistant: {_indented(text)}"
        case CallTurn(calls=calls, executed=True):
            for call in calls:
                yield f"call: {orjson.dumps({'tool': call.tool, 'arguments': call.arguments}).decode()}"
        case CallTurn():
            return
        case ResultTurn(results=results):
            yield from (f"result: {orjson.dumps(result).decode()}" for result in results)
        case _:
            assert_never(turn)


def _indented(text: str) -> str:
    """Further lines of one turn stand indented, so that no text can pretend to be another turn."""
    return "\n  ".join(text.splitlines())
