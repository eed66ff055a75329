"""Comparing structured outputs as CallNavi's experiment with templates does: loosely in writing, lists without order."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from validators.metrics.callnavi.matching import UNKNOWN

if TYPE_CHECKING:
    from pydantic import JsonValue

_DROPPED = str.maketrans("", "", string.punctuation + string.whitespace)


def bare(value: JsonValue, *, keep_unknown: bool = False) -> JsonValue:
    """The value with all names and texts in capitals, without punctuation and space.

    The published code drops the placeholder's signs as well; `keep_unknown` leaves it to stand for any value.
    """
    if isinstance(value, dict):
        return {_bare_text(name): bare(member, keep_unknown=keep_unknown) for name, member in value.items()}
    if isinstance(value, list):
        return [bare(member, keep_unknown=keep_unknown) for member in value]
    if not isinstance(value, str) or (keep_unknown and value == UNKNOWN):
        return value
    return _bare_text(value)


def _bare_text(text: str) -> str:
    return text.translate(_DROPPED).upper()


def is_same_output(made: JsonValue, gold: JsonValue, *, wildcard: bool = False) -> bool:
    """Whether two outputs say the same. With `wildcard` a placeholder takes any value, as the authors meant it."""
    return _is_like(bare(made, keep_unknown=wildcard), bare(gold, keep_unknown=wildcard))


def _is_like(made: JsonValue, gold: JsonValue) -> bool:
    if UNKNOWN in (made, gold):
        return True
    if isinstance(made, dict) and isinstance(gold, dict):
        return made.keys() == gold.keys() and all(_is_like(value, gold[name]) for name, value in made.items())
    if isinstance(made, list) and isinstance(gold, list):
        return len(made) == len(gold) and _is_same_bag(made, list(gold))
    return made == gold


def _is_same_bag(made: list[JsonValue], left: list[JsonValue]) -> bool:
    for value in made:
        at = next((place for place, other in enumerate(left) if _is_like(value, other)), None)
        if at is None:
            return False
        del left[at]
    return True


def texts_for_numbers(value: JsonValue) -> JsonValue:
    """The gold value with whole numbers as texts, as the experiment writes them before it compares."""
    if isinstance(value, dict):
        return {name: texts_for_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [texts_for_numbers(member) for member in value]
    return str(value) if isinstance(value, int) else value
