"""Reading calls and names out of a reply: native calls, the notation that was asked for, else any other that says them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, assert_never

from callwright.llm.written_calls import (
    LONGEST,
    TRACE_OF_A_CALL,
    ParsedReply,
    ReplyCall,
    calls_in,
    parse_lenient,
    unreadable,
)
from callwright.validators.metrics.callnavi.answers import NAMES, wash_text
from callwright.validators.replies.published import parse_hammerbench, parse_toolace

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic import JsonValue

    from callwright.llm.chat import Completion


Style = Literal["lenient", "default", "mistral", "xlam", "toolace"]


def parse_reply(text: str, style: Style) -> ParsedReply:
    """The calls of `text` as a model of this style writes them; `default` is HammerBench's own JSON style."""
    match style:
        case "lenient":
            return parse_lenient(text)
        case "default" | "mistral" | "xlam":
            return parse_hammerbench(text, style)
        case "toolace":
            return parse_toolace(text)
        case _:
            assert_never(style)


def parse_completion(completion: Completion, style: Style = "lenient") -> ParsedReply:
    """The calls of a reply: the native ones where the provider has any, else those in its text."""
    if completion.calls:
        return ParsedReply(tuple(ReplyCall(call.tool, call.arguments) for call in completion.calls))
    if completion.calls is not None and not completion.text.strip():
        return ParsedReply(())
    return parse_reply(completion.text, style)


_PARTS = "\f"  # stands between the replies of one answer; no model writes it
_WORD = re.compile(r"[^\s\"'`,\[\]{}()]+")


def parse_calls(completion: Completion, notation: Literal["json", "yaml"]) -> ParsedReply:
    """The calls of a reply: native ones, those in the notation asked for, else those in any other."""
    if completion.calls or notation == "json":
        return parse_completion(completion)
    parsed = parse_yaml_calls(completion.text)
    if parsed.calls:
        return parsed
    other = parse_lenient(completion.text)
    return other if other.calls else parsed


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


_FENCED = re.compile(r"^[ \t]*```(?:ya?ml)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE)


class YamlReply:
    """A reply's YAML: its value, or the problem why there is none."""

    def __init__(self, text: str) -> None:
        """Read the fenced part of a text where it has one, else all of it."""
        # with pydantic and jsonschema behind them, which scoring a log of JSON replies has no need of
        from callwright.generators.catalogs.catalog import Problem
        from callwright.generators.catalogs.documents import parse_yaml

        fenced = _FENCED.search(text)
        body = fenced[1] if fenced else text
        self.value: JsonValue = None
        self.problem = _forbidden(body)
        if not self.problem:
            read = parse_yaml(body, "the reply")
            if isinstance(read, Problem):
                self.problem = read.message[0].upper() + read.message[1:]
            else:
                self.value = read

    @property
    def has_structure(self) -> bool:
        """Whether it is YAML that says more than a text does."""
        return not self.problem and isinstance(self.value, dict | list)


def parse_yaml_calls(text: str) -> ParsedReply:
    """The calls of a reply in YAML, in its order; a sentence is no call, a call that breaks off can't be read."""
    if not text.strip():
        return unreadable("The reply is empty.")
    reply = YamlReply(text)
    if reply.problem:
        return unreadable(reply.problem) if TRACE_OF_A_CALL.search(text) or len(text) > LONGEST else ParsedReply(())
    calls = calls_in(reply.value)
    nameless = [call for call in calls if not isinstance(call.tool, str) or not call.tool.strip()]
    if nameless:
        return unreadable(f"The reply calls {nameless[0].tool!r}, which is no tool's name.")
    if not calls and reply.has_structure and TRACE_OF_A_CALL.search(text):
        return unreadable("The reply's YAML names a call, but not in the form that was asked for.")
    return ParsedReply(tuple(calls))


def _forbidden(body: str) -> str:
    """Why a text is not read at all, "" where it may be: what a reply has no need of may hide any amount of text."""
    import yaml

    from callwright.generators.catalogs.documents import DEEPEST

    if len(body) > LONGEST:
        return f"The reply has {len(body)} characters; up to {LONGEST} are read."
    depth = 0
    try:
        for event in yaml.parse(body, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return "The reply's YAML has an anchor or an alias; a call needs none."
            tag = getattr(event, "tag", None)
            if tag:
                return f"The reply's YAML has the tag {tag!r}; a call needs none."
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                return f"The reply's YAML is nested more than {DEEPEST} levels deep."
    except yaml.YAMLError as error:
        return f"The reply is no YAML: {' '.join(str(error).split())}."
    except (RecursionError, ValueError) as error:
        return f"The reply is no YAML: {error}."
    return ""
