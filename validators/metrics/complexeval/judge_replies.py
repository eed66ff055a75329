"""What a judge's reply says, read as the published code reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

_FENCES = ("```JSON\n", "```json\n", "\n```")  # taken off as sets of characters, which may take more than the fence


def decode_json(text: str) -> JsonValue:
    """The JSON of a reply without its fence; None where there is none."""
    for fence in _FENCES:
        text = text.strip(fence)
    text = text.replace("\n", "").replace("False", "false").replace("True", "true")
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def says_equal(text: str) -> bool:
    """Whether a judge's reply says that two calls are the same; what can't be read says no."""
    reply = decode_json(text)
    return isinstance(reply, dict) and reply.get("is_equal") is True
