"""The notations that CallNavi asks for, JSON and YAML: a reply's value in one, and whether it is of
one before any repair (CallNavi 5.1).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

from callwright.llm.written_calls import LONGEST
from callwright.warehouse.yaml_text import bounded_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

Notation = Literal["json", "yaml"]

NAMES = "API"  # what answers have the names of tools under
WITHOUT_NOTATION = ("native", "messages")  # the strategies that leave it to the provider
TOOLS_MARK = "/tools("  # in a strategy's label, before the name of changed tools
_WASHED = (("'", '"'), ("```json", ""), ("```", ""))
_FENCED = re.compile(
    r"^[ \t]*```(?:ya?ml)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_PARTS = "\f"  # stands between the replies of one answer; no model writes it


def notation_of(label: str) -> Notation | None:
    """The notation of answers to a strategy of this label, None where it is the provider's."""
    label = label.rpartition(TOOLS_MARK)[0] or label  # changed tools are written as all tools are
    if label in WITHOUT_NOTATION:
        return None
    return "yaml" if label.endswith("/yaml") else "json"


def read_value(text: str, notation: Notation) -> JsonValue:
    """The value that a reply is in the notation asked for, None where it is none.

    JSON is read without its fences; an apostrophe inside a value does no harm.
    """
    if notation == "yaml":
        return YamlReply(text).value
    for written in (text.replace("```json", "").replace("```", ""), wash_text(text)):
        try:
            value: JsonValue = json.loads(written)
        except (ValueError, RecursionError):
            continue
        return value
    return None


def wash_text(text: str) -> str:
    """The text with apostrophes as quotation marks and without its fences, as CallNavi's
    published code washes it.
    """
    for found, put in _WASHED:
        text = text.replace(found, put)
    return text


def is_valid(text: str, notation: Notation) -> bool:
    """Whether every reply of an answer is of the notation asked for, before any repair (CallNavi
    5.1).
    """
    if notation == "yaml":
        return all(YamlReply(part).has_structure for part in split_replies(text))
    return all(read_value(part, notation) is not None for part in split_replies(text))


def join_replies(texts: Sequence[str]) -> str:
    """The replies that one answer took, as one text."""
    return _PARTS.join(text.replace(_PARTS, " ") for text in texts)


def split_replies(text: str) -> list[str]:
    """The replies that one answer took."""
    return text.split(_PARTS)


class YamlReply:
    """A reply's YAML: its value, or the problem why there is none."""

    def __init__(self, text: str) -> None:
        """Read the fenced part of a text where it has one, else all of it."""
        # with pydantic and jsonschema behind them, which scoring a log of JSON replies has no need
        # of
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


def _forbidden(body: str) -> str:
    """Why a text is not read at all, "" where it may be: what a reply has no need of may hide
    any amount of text.
    """
    import yaml

    if len(body) > LONGEST:
        return f"The reply has {len(body)} characters; up to {LONGEST} are read."
    try:
        for event in bounded_events(body):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                return "The reply's YAML has an anchor or an alias; a call needs none."
            tag = getattr(event, "tag", None)
            if tag:
                return f"The reply's YAML has the tag {tag!r}; a call needs none."
    except yaml.YAMLError as error:
        return f"The reply is no YAML: {' '.join(str(error).split())}."
    return ""
