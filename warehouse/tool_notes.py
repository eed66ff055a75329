"""Notes at the end of descriptions: in which tool's response a parameter's value stands.

callwright writes them for models that make and read samples. No agent sees them: what is exported
or shown to candidates describes a tool as its document does.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.warehouse.records import JsonSchema, Tool

_NOTE = re.compile(
    r"\(`(?P<field>[^`]*)`(?P<listed> of an entry(?: of `(?P<entries>[^`]*)`)?)? in the response of"
    r" (?P<source>[^\s()]+)\)"
)
_NOTES_AT_END = re.compile(rf"(?:\s*{re.sub(r'[?]P<[a-z]+>', '?:', _NOTE.pattern)})+\Z")
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})


class ToolNote(NamedTuple):
    """The `field` of an entry of `entries` in the response of tool `source`.

    If not `listed`, it is a field of the response itself.
    """

    source: str
    entries: str
    field: str
    listed: bool = True

    def __str__(self) -> str:
        """Return the note as descriptions have it."""
        beneath = f" of `{self.entries}`" if self.entries else ""
        place = f" of an entry{beneath}" if self.listed else ""
        return f"(`{self.field}`{place} in the response of {self.source})"


def notes_in(description: str) -> Iterator[ToolNote]:
    """Yield the notes of a description."""
    for one in _NOTE.finditer(description):
        yield ToolNote(one["source"], one["entries"] or "", one["field"], bool(one["listed"]))


@lru_cache(4096)
def without_notes(tool: Tool) -> Tool:
    """Return a tool as its document describes it."""
    parameters = _without(tool.parameters)
    return tool if parameters == tool.parameters else tool.with_changes(parameters=parameters)


def _without(schema: JsonSchema) -> JsonSchema:
    bare: JsonSchema = {}
    for name, value in schema.items():
        if name == "description" and isinstance(value, str):
            # a parameter that has only notes has no description in its document
            if (text := _NOTES_AT_END.sub("", value)) or not value:
                bare[name] = text
        else:
            bare[name] = value if name in _VALUES else _without_inside(value)
    return bare


def _without_inside(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_without_inside(one) for one in value]
    return _without(value) if isinstance(value, dict) else value
