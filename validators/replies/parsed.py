"""What reading a reply yields, in whatever style it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pydantic import JsonValue

    from warehouse.records import Arguments


class ReplyCall(NamedTuple):
    """A call as a reply has it; `tool` is a string in any call that could be made."""

    tool: JsonValue
    arguments: Arguments


class ParsedReply(NamedTuple):
    """The calls of a reply: none where it makes none, None where it can't be read; `problem` then says why."""

    calls: tuple[ReplyCall, ...] | None
    problem: str = ""


def unreadable(problem: str) -> ParsedReply:
    """A reply that can't be read, with the reason as a sentence."""
    return ParsedReply(None, problem)
