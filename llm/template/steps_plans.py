"""The calls that a request was understood to need, with the places that their values come from."""

from collections.abc import Mapping
from typing import NamedTuple, Union

from pydantic import JsonValue

from llm.template.steps_picks import Rule


class Known(NamedTuple):
    """A value that was said, or that the schema gives."""

    value: JsonValue


class FromEntry(NamedTuple):
    """The `field` of the entry of `entries` that the rules mean, in the response to the call `node`."""

    node: int
    entries: str
    field: str
    rules: tuple[Rule, ...]
    later_by: int = 0


class Parts(NamedTuple):
    """Several values in one: a list of objects (`names`), or a text of them joined by a comma."""

    shape: str
    names: tuple[str, ...]
    parts: "tuple[Source, ...]"


Source = Union[Known, FromEntry, Parts]  # noqa: UP007 - a forward reference in it


class Node(NamedTuple):
    """A call to make once its sources are known."""

    tool: str
    sources: Mapping[str, Source]
