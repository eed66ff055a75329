"""Replies as HammerBench's published evaluator reads them, so that its numbers come out again
(EVALUATORS 1.3).

The styles are plain or fenced JSON, Mistral's tag, xLAM's object and ToolACE's list. What the
published evaluator can't read, this can't either.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, assert_never

from callwright.llm.written_calls import (
    ParsedReply,
    ReplyCall,
    parse_lenient,
    parse_toolace,
    unreadable,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

    from callwright.warehouse.records import Arguments

Style = Literal["lenient", "default", "mistral", "xlam", "toolace"]

_FENCE = re.compile(r"```json(.*?)```", re.DOTALL)
_FIRST_CALL = '{"name"'
_OPENINGS = {"mistral": "[TOOL_CALLS][", "xlam": '"tool_calls": ['}
_UNSTATED = ("", "\\")


def parse_reply(text: str, style: Style) -> ParsedReply:
    """The calls of `text` as a model of this style writes them; `default` is HammerBench's own
    JSON style.
    """
    match style:
        case "lenient":
            return parse_lenient(text)
        case "toolace":
            return parse_toolace(text)
        case "default":
            return _parse_plainly(text)
        case "mistral" | "xlam":
            _, opening, rest = text.partition(_OPENINGS[style])
            if not opening:
                problem = (
                    f"The reply has no {_OPENINGS[style]!r}, with which calls of the style"
                    f" {style!r} begin."
                )
                return unreadable(problem)
            return _read_blocks([rest.partition("]")[0]])
        case _:
            assert_never(style)


def _parse_plainly(text: str) -> ParsedReply:
    """The calls of HammerBench's own style: the reply as one call with `parameters`, else its
    blocks.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and "parameters" in value and "name" in value:
        return ParsedReply((ReplyCall(value["name"], _cleaned(value["parameters"])),))
    return _read_blocks(_FENCE.findall(text) or [text[text.find(_FIRST_CALL) :]])


def _read_blocks(blocks: list[str]) -> ParsedReply:
    calls = []
    for block in blocks:
        try:
            value = _block_value(block)
        except (ValueError, RecursionError) as error:
            return unreadable(f"The reply holds no JSON that can be read: {error}.")
        if not isinstance(value, dict) or "name" not in value:
            return unreadable("The reply's JSON is no object with a name.")
        calls.append(
            ReplyCall(value["name"], _cleaned(value.get("arguments", value.get("parameters"))))
        )
    return ParsedReply(tuple(calls))


def _block_value(block: str) -> JsonValue:
    """The block as JSON, else its last line: parallel calls stand one on a line, and the last
    one counts.
    """
    try:
        value: JsonValue = json.loads(block)
    except ValueError:
        lines = block.splitlines()
        value = json.loads(lines[-1]) if lines else json.loads("")
    return value


def _cleaned(arguments: JsonValue) -> Arguments:
    """The arguments that say something; what is no object says nothing."""
    if not isinstance(arguments, dict):
        return {}
    return {name: value for name, value in arguments.items() if value not in _UNSTATED}
