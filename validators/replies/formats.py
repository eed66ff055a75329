"""Reading calls and names in the notation that was asked for, else in any other that says them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from validators.metrics.callnavi.repairing import NAMES, PARAMETERS, repair_answer
from validators.metrics.callnavi.washing import wash_text
from validators.replies.parsed import ParsedReply, ReplyCall
from validators.replies.reading import parse_completion, parse_reply
from validators.replies.yaml_calls import YamlReply, parse_yaml_calls

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic import JsonValue

    from llm.chat import Completion

_PARTS = "\f"  # stands between the replies of one answer; no model writes it
_WORD = re.compile(r"[^\s\"'`,\[\]{}()]+")


def parse_calls(completion: Completion, notation: Literal["json", "yaml"]) -> ParsedReply:
    """The calls of a reply: native ones, those in the notation asked for, else what a repair by rule finds."""
    if completion.calls:
        return parse_completion(completion)
    parsed = parse_yaml_calls(completion.text) if notation == "yaml" else parse_completion(completion)
    if parsed.calls:
        return parsed
    for other in (parse_reply(completion.text, "lenient"), _repaired(completion.text)):
        if other.calls:
            return other
    return parsed


def _repaired(text: str) -> ParsedReply:
    """The calls that CallNavi's repair finds, where it finds a name and parameters for each."""
    answer = repair_answer(text) or {}
    match answer.get(NAMES), answer.get(PARAMETERS):
        case [*names], [*parameters] if len(names) == len(parameters):
            calls = zip(names, parameters, strict=True)
            if all(isinstance(name, str) and name and isinstance(given, dict) for name, given in calls):
                pairs = zip(names, parameters, strict=True)
                return ParsedReply(tuple(ReplyCall(name, given) for name, given in pairs if isinstance(given, dict)))
    return ParsedReply(())


def read_names(text: str, known: Collection[str], notation: Literal["json", "yaml"]) -> list[str]:
    """The tools that a reply names, in its order: its list as it stands, else the known names that occur in it."""
    value = read_value(text, notation)
    if isinstance(value, dict):
        value = value.get(NAMES, value.get("tools", value.get("names")))
    if isinstance(value, list):
        return [name for member in value if (name := _name(member))]
    return [word for found in _WORD.finditer(text) if (word := found[0].rstrip(".:;")) in known]


def read_value(text: str, notation: Literal["json", "yaml"]) -> JsonValue:
    """The value that a reply is in the notation asked for, None where it is none."""
    return YamlReply(text).value if notation == "yaml" else _json(text)


def _name(member: JsonValue) -> str:
    named = member.get("name") if isinstance(member, dict) else member
    return named if isinstance(named, str) else ""


def is_valid(text: str, notation: Literal["json", "yaml"]) -> bool:
    """Whether every reply of an answer is of the notation asked for, before any repair (CallNavi 5.1)."""
    if notation == "yaml":
        return all(YamlReply(part).has_structure for part in split_replies(text))
    return all(_json(part) is not None for part in split_replies(text))


def _json(text: str) -> JsonValue:
    """The JSON value of a text without its fences, None where it has none; an apostrophe inside a value does no harm."""
    for written in (text.replace("```json", "").replace("```", ""), wash_text(text)):
        try:
            value: JsonValue = json.loads(written)
        except (ValueError, RecursionError):
            continue
        return value
    return None


def join_replies(texts: Sequence[str]) -> str:
    """The replies that one answer took, as one text."""
    return _PARTS.join(text.replace(_PARTS, " ") for text in texts)


def split_replies(text: str) -> list[str]:
    """The replies that one answer took."""
    return text.split(_PARTS)
