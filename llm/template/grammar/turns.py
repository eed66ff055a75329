"""The turns of a conversation, what they state, and when two values mean the same."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.text import fold
from callwright.language.values import locate, read_value
from callwright.warehouse.records import JsonSchema


class Turn(NamedTuple):
    """Something said: `speaker` is user, assistant, message, call or result."""

    speaker: str
    text: str


_TURN = re.compile(r"^(user|assistant|message|call|result)(?: \([^()\n]*\))?: ?", re.MULTILINE)


_INDENT = "\n  "  # further lines of one turn stand indented


def split_turns(conversation: str) -> list[Turn]:
    """The turns of a conversation; text before the first mark is taken for the user's."""
    marks = list(_TURN.finditer(conversation))
    if not marks:
        return [Turn("user", conversation.strip())]
    turns = []
    opening = conversation[: marks[0].start()].strip()
    if opening:
        turns.append(Turn("user", opening))
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(conversation)
        turns.append(Turn(mark[1], conversation[mark.end() : end].replace(_INDENT, "\n").strip()))
    return turns


def is_equivalent(one: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    """Whether two values mean the same: spelling, case and notation apart."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other or fold(str(one)) == fold(str(other))
    if one == other or fold(str(one)) == fold(str(other)):
        return True
    if isinstance(one, list) and isinstance(other, list):
        return _are_equivalent(one, other, schema.get("items") or {})
    if isinstance(one, dict) and isinstance(other, dict):
        members = schema.get("properties") or {}
        return one.keys() == other.keys() and all(
            is_equivalent(one[key], other[key], members.get(key) or {}) for key in one
        )
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return False
    read = read_value(str(one), schema), read_value(str(other), schema)
    if read[0] is not None and read[0] == read[1]:
        return True
    return locate(one, schema, str(other)) is not None and locate(other, schema, str(one)) is not None


def _are_equivalent(one: list[JsonValue], other: list[JsonValue], items: JsonSchema) -> bool:
    """Whether two lists hold the same, in any order."""
    rest = list(other)
    for value in one:
        match = next((candidate for candidate in rest if is_equivalent(value, candidate, items)), None)
        if match is None:
            return False
        rest.remove(match)
    return not rest


def is_stated(value: JsonValue, schema: JsonSchema, turns: Sequence[Turn]) -> bool:
    """Whether the user, or a message the user leans on, says the value."""
    return any(
        locate(value, schema, turn.text) is not None for turn in turns if turn.speaker in ("user", "message", "result")
    )
