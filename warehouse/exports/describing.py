"""What the export formats share: names that their readers take, a tool's document, what a user said, ids that came along."""

import keyword
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.warehouse.records import Sample, Tool, Trait, UserTurn

UNKNOWN = "$$$"  # stands for a value that only the result of an earlier call tells, as in CallNavi
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_IN_IDENTIFIERS = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST = 64

Fields = dict[str, JsonValue]


class Names(NamedTuple):
    """What a format calls tools, and the parameters of each; what is not listed keeps its name."""

    tools: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]]

    def tool(self, name: str) -> str:
        """What the format calls a tool."""
        return self.tools.get(name, name)

    def parameter(self, tool: str, name: str) -> str:
        """What the format calls a parameter of a tool."""
        return self.parameters.get(tool, {}).get(name, name)

    @property
    def changed(self) -> dict[str, str]:
        """The true name of each tool that is called otherwise, and of each parameter as `TOOL.PARAMETER`."""
        tools = {plain: name for name, plain in self.tools.items() if plain != name}
        parameters = {
            f"{self.tool(tool)}.{plain}": name
            for tool, renamed in self.parameters.items()
            for name, plain in renamed.items()
            if plain != name
        }
        return tools | parameters


def plain_names(tools: Iterable[Tool]) -> dict[str, str]:
    """For each tool name one of letters, digits, _ and - (at most 64), distinct where the names are distinct."""
    return _distinct({tool.name for tool in tools}, lambda name: _NOT_PLAIN.sub("_", name)[-_LONGEST:] or "_")


def identifier_names(tools: Iterable[Tool], *, with_parameters: bool = True) -> Names:
    """Names that a reader of Python calls takes: identifiers and no keywords, distinct where the names are distinct."""
    listed = list(tools)
    parameters = {tool.name: _distinct(tool.properties, _identifier) for tool in listed} if with_parameters else {}
    return Names(_distinct({tool.name for tool in listed}, _identifier), parameters)


def tool_document(tool: Tool, name: str | None = None) -> Fields:
    """A tool as most formats describe it, under its own name or another."""
    return {**tool.signature, "name": name or tool.name}


def user_text(turn: UserTurn) -> str:
    """What a user said, with the message from outside below it, where there is one."""
    return turn.text if turn.external is None else f"{turn.text}\n[{turn.external.app}] {turn.external.text}"


def stated_id(sample: Sample, trait: Trait) -> JsonValue:
    """What a sample that was imported is called there; None where it was not imported."""
    stated = sample.trait(trait)
    return orjson.loads(stated) if stated else None


def _identifier(name: str) -> str:
    plain = _NOT_IN_IDENTIFIERS.sub("_", name)[-_LONGEST:] or "_"
    return f"_{plain}"[:_LONGEST] if plain[0].isdigit() or keyword.iskeyword(plain) else plain


def _distinct(names: Iterable[str], plain_of: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names):
        plain, number = plain_of(name), 1
        while plain in taken:
            number += 1
            suffix = f"_{number}"
            plain = plain_of(name)[: _LONGEST - len(suffix)] + suffix
        found[name] = plain
        taken.add(plain)
    return found
