"""Replies in YAML: a list of calls, or one, in the JSON part of YAML; tags and aliases are refused, nothing is built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from generators.catalogs.catalog import Problem
from generators.catalogs.documents import DEEPEST
from generators.catalogs.yaml_documents import parse_yaml
from validators.replies.lenient import LONGEST, TRACE_OF_A_CALL, calls_in
from validators.replies.parsed import ParsedReply, unreadable

if TYPE_CHECKING:
    from pydantic import JsonValue

_FENCED = re.compile(r"^[ \t]*```(?:ya?ml)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE)


class YamlReply:
    """A reply's YAML: its value, or the problem why there is none."""

    def __init__(self, text: str) -> None:
        """Read the fenced part of a text where it has one, else all of it."""
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
