"""The names under which tools and parameters go out, one mapping for all tools of a release.

Names that OpenAI, Anthropic and Gemini all take stay: tools of letters, digits, `_` and `-`,
parameters without `-`, neither with a digit in front, up to 64 characters. Others lose their
accents, and other signs become `_`. What that leaves alike, empty or too long, or would take
letters from (of Chinese names all), ends with a hash of the name. So a name is the same in each
row, and leads back to its own.
"""

import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Self
from unicodedata import combining, normalize

from pydantic import JsonValue

from callwright.warehouse.records import JsonSchema, Tool, content_key
from callwright.warehouse.shown_tools import as_shown

LONGEST = 64
_HASH = 8
_BRANCHES = ("allOf", "anyOf", "oneOf")
_SINGLE = ("if", "then", "else")
_MAPS = ("properties", "dependentSchemas")
_LISTS = ("dependentRequired",)


class _Form(NamedTuple):
    """What a name may be: its pattern, what is replaced, and the name of what has no letters."""

    allowed: re.Pattern[str]
    replaced: re.Pattern[str]
    nameless: str
    is_python: bool = False

    def allows(self, name: str) -> bool:
        is_word = self.is_python and keyword.iskeyword(name)
        return self.allowed.fullmatch(name) is not None and not is_word

    def plain(self, name: str) -> str:
        """Return a name of this form, which other names may have too."""
        if self.allows(name):
            return name
        letters = normalize("NFKD", name.replace("ß", "ss"))
        letters = "".join(one for one in letters if not combining(one))
        is_lossy = any(one.isalnum() and not one.isascii() for one in letters)
        plain = self.replaced.sub("_", letters).strip("_-")
        if is_lossy or not plain or len(plain) >= LONGEST:
            return self.hashed(name, plain)
        return plain if self.allows(plain) else f"_{plain}"

    def hashed(self, name: str, plain: str, digits: int = _HASH) -> str:
        """Return a name that ends with a hash, after both ends of the plain name if it is long."""
        room = LONGEST - digits - 1
        if len(plain) > room:
            plain = f"{plain[: room // 2]}_{plain[-(room - room // 2 - 1) :]}"
        start = plain if self.allows(plain) else f"_{plain}"[:room]
        return f"{start if plain else self.nameless}_{content_key(name)[:digits]}"


_TOOL = _Form(re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}"), re.compile(r"[^A-Za-z0-9_-]+"), "tool")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"), re.compile(r"[^A-Za-z0-9_]+")
_PARAMETER = _Form(*_IDENTIFIER, "parameter")
_PYTHON_TOOL = _Form(*_IDENTIFIER, "tool", is_python=True)
_PYTHON_PARAMETER = _Form(*_IDENTIFIER, "parameter", is_python=True)


@dataclass(frozen=True)
class WireNames:
    """The names of tools and parameters that are others on the wire; all else keeps its name.

    `schemas` are those of the parameters of each tool, by its own name; tools of one name share.
    """

    tools: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    schemas: Mapping[str, Sequence[JsonSchema]] = field(default_factory=dict)
    _shown: dict[str, Tool] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __bool__(self) -> bool:
        """Whether anything has another name on the wire."""
        return bool(self.tools or self.parameters)

    def tool(self, name: str) -> str:
        """Return a tool's name on the wire."""
        return self.tools.get(name, name)

    def parameter(self, name: str) -> str:
        """Return a parameter's name on the wire, the same in all tools."""
        return self.parameters.get(name, name)

    def schema(self, schema: JsonSchema) -> JsonSchema:
        """Return a schema whose members have their names on the wire, at any depth."""
        return _renamed_schema(schema, self.parameters) if self.parameters else schema

    def shown(self, tool: Tool) -> Tool:
        """Return a tool as it is on the wire, without callwright's notes."""
        bare = as_shown(tool)
        if not self:
            return bare
        return bare.with_changes(name=self.tool(tool.name), parameters=self.schema(bare.parameters))

    def arguments(self, tool: str, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the arguments of a call of `tool`, its own name, under their names on the wire."""
        if not self.parameters:
            return dict(given)
        return _renamed_members(given, self.schemas.get(tool, ()), self.parameters)

    def own_tool(self, name: str) -> str:
        """Return the own name of a tool from its name on the wire."""
        return self._own_tools.get(name, name)

    def own_schema(self, schema: JsonSchema) -> JsonSchema:
        """Return a schema from the wire with its members' own names."""
        return _renamed_schema(schema, self._own_parameters) if self.parameters else schema

    def own_arguments(
        self, tool: str, given: Mapping[str, JsonValue], schemas: Sequence[JsonSchema] | None = None
    ) -> dict[str, JsonValue]:
        """Return arguments from the wire under their own names.

        `tool` is its own name, `schemas` are those on the wire, if others than these tools'.
        """
        if not self.parameters:
            return dict(given)
        if schemas is None:
            schemas = [self.schema(one) for one in self.schemas.get(tool, ())]
        return _renamed_members(given, schemas, self._own_parameters)

    @cached_property
    def _own_tools(self) -> Mapping[str, str]:
        return {wire: own for own, wire in self.tools.items()}

    @cached_property
    def _own_parameters(self) -> Mapping[str, str]:
        return {wire: own for own, wire in self.parameters.items()}

    @property
    def document(self) -> dict[str, dict[str, str]]:
        """The own names of what is called otherwise on the wire, by the names there."""
        stated = (("tools", self._own_tools), ("parameters", self._own_parameters))
        return {word: dict(sorted(names.items())) for word, names in stated}

    @classmethod
    def read(cls, document: JsonValue) -> Self:
        """Return the names that a `document` states; none from anything else."""
        fields = document if isinstance(document, dict) else {}
        return cls(_swapped(fields.get("tools")), _swapped(fields.get("parameters")))


NO_NAMES = WireNames()


def wire_names(tools: Iterable[Tool], *, python: bool = False) -> WireNames:
    """Return the names on the wire of all these tools; for readers of Python, identifiers."""
    listed = list(tools)
    schemas: dict[str, list[JsonSchema]] = {}
    for tool in listed:
        known = schemas.setdefault(tool.name, [])
        if tool.parameters not in known:
            known.append(tool.parameters)
    members = {name for one in listed for name in _member_names(one.parameters)}
    of_tools, of_parameters = (_PYTHON_TOOL, _PYTHON_PARAMETER) if python else (_TOOL, _PARAMETER)
    return WireNames(_distinct(schemas, of_tools), _distinct(members, of_parameters), schemas)


def _distinct(names: Iterable[str], form: _Form) -> dict[str, str]:
    """Return the names that need another, with distinct others; no name gives its own away."""
    own = set(names)
    wanted = {name: form.plain(name) for name in sorted(own) if not form.allows(name)}
    rivals, distinct = Counter(wanted.values()), dict[str, str]()
    taken = {name for name in own if form.allows(name)}
    for name, plain in wanted.items():
        wire, digits = plain, _HASH
        while rivals[wire] > 1 or wire in taken:
            wire, digits = form.hashed(name, plain, digits), digits + 1
        distinct[name] = wire
        taken.add(wire)
    return distinct


def _swapped(stated: JsonValue) -> dict[str, str]:
    pairs = stated.items() if isinstance(stated, dict) else ()
    return {own: wire for wire, own in pairs if isinstance(own, str)}


def _member_names(schema: JsonValue) -> Iterator[str]:
    """Yield the names of members that a schema declares, at any depth."""
    if isinstance(schema, list):
        for one in schema:
            yield from _member_names(one)
    if not isinstance(schema, dict):
        return
    members = schema.get("properties")
    yield from members if isinstance(members, dict) else ()
    for key, value in schema.items():
        if key in _MAPS and isinstance(value, dict):
            yield from _member_names(list(value.values()))
        elif key not in _VALUES:
            yield from _member_names(value)


_VALUES = frozenset({"const", "default", "enum", "examples", *_LISTS})


def _renamed_schema(schema: JsonSchema, names: Mapping[str, str]) -> JsonSchema:
    renamed: JsonSchema = {}
    for key, value in schema.items():
        if key in _VALUES - {*_LISTS}:
            renamed[key] = value
        elif key == "required" and isinstance(value, list):
            renamed[key] = _renamed_list(value, names)
        elif key in _LISTS and isinstance(value, dict):
            renamed[key] = {
                names.get(name, name): _renamed_list(one, names) for name, one in value.items()
            }
        elif key in _MAPS and isinstance(value, dict):
            renamed[key] = {
                names.get(name, name): _renamed_part(one, names) for name, one in value.items()
            }
        else:
            renamed[key] = _renamed_part(value, names)
    return renamed


def _renamed_part(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if isinstance(value, list):
        return [_renamed_part(one, names) for one in value]
    return _renamed_schema(value, names) if isinstance(value, dict) else value


def _renamed_list(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if not isinstance(value, list):
        return value
    return [names.get(one, one) if isinstance(one, str) else one for one in value]


def _renamed_members(
    given: Mapping[str, JsonValue], schemas: Sequence[JsonSchema], names: Mapping[str, str]
) -> dict[str, JsonValue]:
    """Return an object under other names; only members that its schemas declare have others."""
    whole = [one for schema in schemas for one in _with_branches(schema)]
    renamed: dict[str, JsonValue] = {}
    for name, value in given.items():
        declared = [one["properties"][name] for one in whole if name in one.get("properties", ())]
        inside = declared or [one.get("additionalProperties") for one in whole]
        key = names.get(name, name) if declared else name
        renamed[key] = _renamed_value(value, inside, names)
    return renamed


def _renamed_value(
    value: JsonValue, stated: Sequence[JsonValue], names: Mapping[str, str]
) -> JsonValue:
    schemas = [one for one in stated if isinstance(one, dict)]
    if isinstance(value, dict):
        return _renamed_members(value, schemas, names)
    if not isinstance(value, list):
        return value
    whole = [one for schema in schemas for one in _with_branches(schema)]
    items = [one.get("items") for one in whole]
    items += [part for one in whole for part in one.get("prefixItems", ())]
    return [_renamed_value(one, items, names) for one in value]


def _with_branches(schema: JsonSchema) -> Iterator[JsonSchema]:
    """Yield a schema and the schemas of the same value within it."""
    yield schema
    branches = [one for key in _BRANCHES for one in schema.get(key, ())]
    branches += [schema.get(key) for key in _SINGLE]
    branches += [*schema.get("dependentSchemas", {}).values()]
    for one in branches:
        if isinstance(one, dict):
            yield from _with_branches(one)
