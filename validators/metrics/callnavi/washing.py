"""Reading an answer as CallNavi does: a few characters are washed off, then it is JSON or it is not (CallNavi 5.1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from validators.metrics.callnavi.repairing import repair_answer

if TYPE_CHECKING:
    from pydantic import JsonValue

_REPLACED = (("'", '"'), ("```json", ""), ("```", ""))


class Washed(NamedTuple):
    """What an answer says: `valid` as it came, `repaired` where it could be read by our rules only.

    An answer that can't be read says nothing: its value is an empty object and `problem` tells why.
    """

    value: JsonValue
    valid: bool
    repaired: bool = False
    problem: str = ""

    @property
    def readable(self) -> bool:
        """Whether the answer is JSON, at once or after its repair."""
        return self.valid or self.repaired


def wash_text(text: str) -> str:
    """The text with apostrophes as quotation marks and without its fences, as the published code washes it."""
    for found, put in _REPLACED:
        text = text.replace(found, put)
    return text


def wash(answer: object, *, repair: bool = True) -> Washed:
    """Read an answer, a text or a JSON value. Any JSON is valid; the published repair by a model is ours by rule."""
    if isinstance(answer, dict | list):
        return Washed(answer, valid=True)
    if not isinstance(answer, str):
        return Washed({}, valid=False, problem=f"The prediction is {answer!r}, neither a text nor an object.")
    try:
        return Washed(json.loads(wash_text(answer)), valid=True)
    except (ValueError, RecursionError) as error:
        problem = f"The answer is not JSON: {error}."
    repaired = repair_answer(answer) if repair else None
    if repaired is None:
        return Washed({}, valid=False, problem=problem)
    return Washed(repaired, valid=False, repaired=True)
