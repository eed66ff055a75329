"""Changed tools: other names and words for a release's tools, read from a file.

`ShownTools` is what candidates see of them, and what their calls are in the names of the gold.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from callwright.flows.recipe.problems import YamlFault, read_yaml
from callwright.generators.catalogs import read_catalog, recognise
from callwright.warehouse.batches import grouped
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Exchange,
    GoldCall,
    JsonSchema,
    Language,
    Record,
    Sample,
    Tool,
    Turn,
)
from callwright.warehouse.releases import read_tools, release_named
from callwright.warehouse.rows import Row
from callwright.warehouse.shown_tools import as_shown
from callwright.warehouse.store import Warehouse

# what nobody was shown is no gold name, whatever a candidate remembers
_UNSHOWN = "{} (its former name)"
_IN_ALL = ("allOf", "anyOf", "oneOf")
_IN_ONE = ("if", "then", "else", "not")
_HASH = 8


class NamedCall(NamedTuple):
    """A call in the names of one side, with its arguments as given."""

    tool: str
    arguments: JsonValue


class ShownTools(Record):
    """Tools as candidates are shown them in place of a release's own, by their keys there.

    `names` are the other names of tools, `parameters` those of their parameters, both by the
    tools' names in the release; what has no other name is in neither. `name` is what the whole
    set is called. All metrics see the release's names only.
    """

    UNKEYED: ClassVar[frozenset[str]] = frozenset({"name"})

    name: str = ""
    tools: dict[str, Tool] = Field(default_factory=dict)
    names: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, dict[str, str]] = Field(default_factory=dict)

    @cached_property
    def label(self) -> str:
        """The label that tells answers to these tools apart: name and hash, "" if unchanged."""
        return f"{self.name}@{self.key[:_HASH]}" if self.tools else ""

    def toolset(self, tools: Iterable[Tool]) -> list[Tool]:
        """Return the tools as they are shown, as their documents describe them if unchanged."""
        return [self.tools.get(tool.key) or as_shown(tool) for tool in tools]

    def show(self, tool: str, arguments: JsonValue) -> NamedCall:
        """Return a call of the release under the names shown."""
        return NamedCall(
            self.names.get(tool, tool), _renamed(arguments, self.parameters.get(tool, {}))
        )

    def read(self, tool: str, arguments: JsonValue) -> NamedCall:
        """Return a candidate's call in the release's names; names no longer shown match no tool."""
        named = _back(self.names).get(tool, tool)
        return NamedCall(named, _renamed(arguments, _back(self.parameters.get(named, {}))))

    def sample(self, sample: Sample) -> Sample:
        """Return a sample whose calls use the names shown."""
        if not (self.names or self.parameters):
            return sample
        return sample.with_changes(turns=tuple(map(self._turn, sample.turns)))

    def exchange(self, exchange: Exchange) -> Exchange:
        """Return a step of a run under the names shown."""
        calls = tuple(
            Call.model_construct(**self.show(one.tool, one.arguments)._asdict())
            for one in exchange.calls
        )
        return exchange.model_copy(update={"calls": calls}) if calls else exchange

    def _turn(self, turn: Turn) -> Turn:
        if not isinstance(turn, CallTurn):
            return turn
        calls = (
            GoldCall.model_construct(**self.show(one.tool, one.arguments)._asdict())
            for one in turn.calls
        )
        return CallTurn.model_construct(kind="calls", calls=tuple(calls), executed=turn.executed)


AS_THEY_ARE = ShownTools()


def with_names(schema: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return an object schema with its properties renamed wherever it mentions them."""
    renamed = dict(schema)
    if isinstance(schema.get("properties"), dict):
        renamed["properties"] = _renamed(schema["properties"], names)
    if isinstance(schema.get("required"), list):
        renamed["required"] = [names.get(one, one) for one in schema["required"]]
    if isinstance(schema.get("dependentRequired"), dict):
        renamed["dependentRequired"] = {
            names.get(name, name): [names.get(one, one) for one in needed]
            for name, needed in schema["dependentRequired"].items()
        }
    for word in _IN_ALL:
        if isinstance(schema.get(word), list):
            renamed[word] = [
                with_names(one, names) if isinstance(one, dict) else one for one in schema[word]
            ]
    renamed |= {
        word: with_names(schema[word], names)
        for word in _IN_ONE
        if isinstance(schema.get(word), dict)
    }
    return renamed


def _renamed(members: JsonValue, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON, of the form that it had
    if isinstance(members, dict):
        return {names.get(name, name): one for name, one in members.items()}
    return members


def _back(names: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping from shown names to the release's; hidden ones map to no tool's name."""
    gone = {name: _UNSHOWN.format(name) for name in names}
    return gone | {shown: name for name, shown in names.items()}


ToolChanges = Path | Mapping[str, Any]  # a file, or what would stand in it
# of a schema: what may differ and gold stays gold
_WORDS = frozenset({"description", "title", "examples", "example"})
_MOST_LISTED = 12


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NewParameterWords(_Part):
    """Another name or description for a parameter."""

    name: str = Field(default="", pattern=r"\S")
    description: str | dict[Language, str] | None = None


class NewToolWords(_Part):
    """Another name or description for a tool, and for parameters of it."""

    name: str = Field(default="", pattern=r"\S")
    description: str | dict[Language, str] | None = None
    parameters: dict[str, NewParameterWords] = Field(default_factory=dict)


class ChangedWords(_Part):
    """Changes of a release's tools, tool by tool."""

    tools: dict[str, NewToolWords] = Field(min_length=1)


class ChangedCatalog(_Part):
    """A catalog whose tools stand in place of the release's tools of the same names.

    `renames` say under which names tools, or parameters as `TOOL.PARAMETER`, are there. What it
    lacks is refused unless `others` are to be kept as they are.
    """

    catalog: Path
    format: str = ""
    renames: dict[str, str] = Field(default_factory=dict)
    others: Literal["refuse", "keep"] = "refuse"


class ChangedWord(NamedTuple):
    """A changed text of a tool, such as "description" or "parameter city: name".

    `before` and `after` are its old and new text.
    """

    what: str
    before: str
    after: str


class ChangedTool(NamedTuple):
    """A tool of a release, as it is and as it is shown, and which of its words differ."""

    tool: Tool
    shown: Tool
    changed: tuple[ChangedWord, ...]


def read_changes(warehouse: Warehouse, release: str, stated: ToolChanges) -> ShownTools:
    """Return the tools of a release as a file of changes, or a whole catalog, shows them.

    Raises ConfigurationError that names the tool if something does not fit.
    """
    release_named(warehouse, release)
    keys = [
        row["tool"]
        for row in warehouse.rows("select tool from release_tools where release = ?", [release])
    ]
    return apply_changes(release, read_tools(warehouse, keys).values(), stated)


def apply_changes(release: str, tools: Iterable[Tool], stated: ToolChanges) -> ShownTools:
    """Return the tools of a release with the changes applied.

    Raises ConfigurationError as `read_changes`.
    """
    name, changes = _stated(stated)
    ordered = sorted(tools, key=lambda one: (one.name, one.language, one.key))
    change_maker = _ToolsBeingChanged(release, grouped(ordered, lambda tool: tool.name))
    if isinstance(changes, ChangedWords):
        change_maker.take_words(changes.tools)
    else:
        change_maker.take_catalog(changes)
    return change_maker.shown(re.sub(r"[^\w.-]+", "-", name))


def changed_tools(tools: Iterable[Tool], shown: ShownTools) -> list[ChangedTool]:
    """Return the tools that are shown changed, each with its differences."""
    return [
        ChangedTool(
            tool,
            shown.tools[tool.key],
            tuple(_differences(as_shown(tool), shown.tools[tool.key], shown)),
        )
        for tool in tools
        if tool.key in shown.tools
    ]


def note_changes(
    warehouse: Warehouse, release: str, shown: ShownTools, strategy: str, plain_strategy: str
) -> None:
    """Keep the changes with the strategies under which answers with and without them are kept."""
    if not shown.tools:
        return
    tools = read_tools(warehouse, [*shown.tools])
    rows: list[Row] = [
        {
            "release": release,
            "strategy": strategy,
            "plain_strategy": plain_strategy,
            "tool_key": one.tool.key,
            "tool": one.tool.name,
            "language": one.tool.language,
            "shown_name": one.shown.name,
            "changed": [word.what for word in one.changed],
            "words": [word._asdict() for word in one.changed],
            "shown": one.shown.signature,
            "changes": shown.key,
            "name": shown.name,
            "first_asked_at": datetime.now(UTC),
        }
        for one in changed_tools(tools.values(), shown)
    ]
    warehouse.put_rows({"tool_changes": rows})


def _stated(stated: ToolChanges) -> tuple[str, ChangedWords | ChangedCatalog]:
    """Return the name and content of changes; a file that is a catalog has no renames."""
    if isinstance(stated, Mapping):
        return "changed", _parsed(stated, "tools")
    if str(stated) in {"first", "always"}:
        raise ConfigurationError(
            "--tools takes a file with other names and words for the release's tools, and not"
            f" {str(stated)!r}: when candidates see all candidate tools is said by --tools-shown"
            f" {stated} (tools_shown from Python)."
        )
    try:
        content = read_yaml(stated.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        problem = f"The changed tools {str(stated)!r} can't be read: {error}."
        raise ConfigurationError(problem) from error
    except YamlFault:  # it may still be a catalog of some other form
        return stated.stem, ChangedCatalog(catalog=stated)
    data = content.data
    if not isinstance(data, dict) or not ("catalog" in data or isinstance(data.get("tools"), dict)):
        return stated.stem, ChangedCatalog(catalog=stated)
    for path, place, first in content.repeated:
        raise ConfigurationError(
            f"{stated}:{place.line}: {'.'.join(map(str, path))} is stated twice; first in line"
            f" {first.line}."
        )
    parsed = _parsed(data, str(stated))
    if isinstance(parsed, ChangedCatalog):
        parsed = parsed.model_copy(update={"catalog": stated.absolute().parent / parsed.catalog})
    return stated.stem, parsed


def _parsed(data: Mapping[str, Any], where: str) -> ChangedWords | ChangedCatalog:
    form = ChangedCatalog if "catalog" in data else ChangedWords
    try:
        return form.model_validate(dict(data))
    except ValidationError as error:
        raise ConfigurationError(f"{where}: {' '.join(_explained(error, form))}") from error


def _explained(error: ValidationError, form: type[ChangedWords | ChangedCatalog]) -> Iterator[str]:
    for form_error in error.errors(include_url=False):
        *above, last = (
            str(part)
            for part in form_error["loc"]
            if part not in ("str", "dict[str,constrained-str]")
        )
        if form_error["type"] != "extra_forbidden":
            yield f"{'.'.join([*above, last])}: {form_error['msg']}."
        elif form is ChangedCatalog:
            yield f"There is no {last!r} beside {', '.join(ChangedCatalog.model_fields)}."
        elif not above:
            yield (
                f"There is no {last!r} beside tools: a file of changes has tools alone, or a"
                " catalog with its renames."
            )
        else:
            yield (
                f"{'.'.join(above)}: {last!r} can't be changed, for the gold has to stay right; of"
                " a tool it is the name, the description and the parameters, of a parameter the"
                " name and the description."
            )


class _ToolsBeingChanged:
    """The changed tools of a release, while they are being made."""

    def __init__(self, release: str, tools: Mapping[str, Sequence[Tool]]) -> None:
        self._release, self._by_name = release, tools
        self._tools: dict[str, Tool] = {}
        self._names: dict[str, str] = {}
        self._parameters: dict[str, dict[str, str]] = {}

    def take_words(self, stated: Mapping[str, NewToolWords]) -> None:
        """Change the named tools by these words."""
        for name, words in stated.items():
            self._require_tool(name)
            self._rename(name, words.name, {one: of.name for one, of in words.parameters.items()})
            for tool in self._by_name[name]:
                described = _in_language(words.description, tool, self._by_name[name], name)
                schemas = {
                    one: _described(
                        tool,
                        one,
                        _in_language(of.description, tool, self._by_name[name], f"{name}.{one}"),
                    )
                    for one, of in words.parameters.items()
                }
                parameters = tool.parameters | {"properties": tool.properties | schemas}
                self._put(tool, tool.description if described is None else described, parameters)

    def take_catalog(self, changes: ChangedCatalog) -> None:
        """Replace all tools by those of a catalog."""
        try:
            catalog = read_catalog(changes.format or recognise(changes.catalog), changes.catalog)
        except ConfigurationError as error:
            problem = f"{error} A file of changes says `tools:` or `catalog:`."
            raise ConfigurationError(problem) from error
        there = grouped(catalog.tools, lambda tool: tool.name)
        self._take_renames(changes.renames)
        missing = [name for name in self._by_name if self._names.get(name, name) not in there]
        if missing and (changes.others == "refuse" or len(missing) == len(self._by_name)):
            raise ConfigurationError(
                f"{str(changes.catalog)!r} has no tool {_listed(missing)} of the release"
                f" {self._release!r}; it has {_listed(there)}. Say what they are called there by"
                " `renames:`, or `others: keep`, in a file with `catalog:`."
            )
        for name, tools in self._by_name.items():
            if name not in missing:
                for tool in tools:
                    self._put_from(tool, there[self._names.get(name, name)], several=len(tools) > 1)

    def shown(self, name: str) -> ShownTools:
        """Return the changed tools.

        Raises ConfigurationError if two tools get the same name, or nothing is changed.
        """
        shown: dict[str, str] = {}
        for tool in self._by_name:
            other = shown.setdefault(self._names.get(tool, tool), tool)
            if other != tool:
                raise ConfigurationError(
                    f"The tools {other!r} and {tool!r} would both be called"
                    f" {self._names.get(tool, tool)!r}."
                )
        if not self._tools:
            raise ConfigurationError(
                f"Nothing is changed: the tools of {self._release!r} have these names and words."
            )
        return ShownTools(
            name=name, tools=self._tools, names=self._names, parameters=self._parameters
        )

    def _take_renames(self, renames: Mapping[str, str]) -> None:
        parameters: dict[str, dict[str, str]] = defaultdict(dict)
        for old, new in renames.items():
            tool, _, parameter = old.rpartition(".")
            if old in self._by_name or tool not in self._by_name:
                self._require_tool(old)
                self._rename(old, new, {})
            else:
                parameters[tool][parameter] = new
        for tool, names in parameters.items():
            self._rename(tool, "", names)

    def _require_tool(self, name: str) -> None:
        if name not in self._by_name:
            near = get_close_matches(name, self._by_name, 1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise ConfigurationError(
                f"The release {self._release!r} has no tool {name!r}{meant}; it has"
                f" {_listed(self._by_name)}."
            )

    def _rename(self, name: str, other: str, parameters: Mapping[str, str]) -> None:
        """Store other names for a tool and its parameters; "" keeps a name."""
        if other and other != name:
            self._names[name] = other
        renamed = {old: new for old, new in parameters.items() if new and new != old}
        for tool in self._by_name[name]:
            unknown = [one for one in parameters if one not in tool.properties]
            if unknown:
                raise ConfigurationError(
                    f"The tool {name!r} has no parameter {unknown[0]!r}; it has"
                    f" {_listed(tool.properties) or 'none'}."
                )
            taken: dict[str, str] = dict.fromkeys(tool.constants, "a fixed one")
            for tool_parameter in tool.properties:
                clash = taken.setdefault(
                    renamed.get(tool_parameter, tool_parameter), repr(tool_parameter)
                )
                if clash != repr(tool_parameter):
                    raise ConfigurationError(
                        f"Of the tool {name!r} the parameters {clash} and {tool_parameter!r} would"
                        f" both be called {renamed.get(tool_parameter, tool_parameter)!r}."
                    )
        if renamed:
            self._parameters[name] = renamed

    def _put(
        self, tool: Tool, description: str, parameters: JsonSchema, *, are_named: bool = False
    ) -> None:
        """Store how a tool is shown; its parameters are renamed unless they already are."""
        names = self._parameters.get(tool.name, {})
        given = as_shown(tool)
        shown = as_shown(
            tool.with_changes(
                name=self._names.get(tool.name, tool.name),
                description=description,
                parameters=parameters if are_named else with_names(parameters, names),
                plumbing=tuple(names.get(one, one) for one in tool.plumbing),
                original=None,  # it knows the parameters by other names
            )
        )
        if shown.signature != given.signature or list(shown.properties) != list(given.properties):
            self._tools[tool.key] = shown

    def _put_from(self, tool: Tool, found: Sequence[Tool], *, several: bool) -> None:
        """Show a tool as the catalog's tool in its place; of several languages, only its own."""
        fitting = [one for one in found if one.language == tool.language] if several else found
        if not fitting:
            self._put(tool, tool.description, tool.parameters)
            return
        counterpart = fitting[0]
        if any(one.signature != counterpart.signature for one in fitting):
            raise ConfigurationError(
                f"The catalog has several tools {counterpart.name!r} that differ: which is meant?"
            )
        gone = frozenset(tool.constants)
        schemas = {
            name: one
            for name, one in counterpart.parameters.get("properties", {}).items()
            if name not in gone
        }
        kept_schema = counterpart.parameters | {"properties": schemas}
        parameters = kept_schema
        if "required" in counterpart.parameters:
            parameters = kept_schema | {
                "required": [one for one in counterpart.parameters["required"] if one not in gone]
            }
        names = self._parameters.get(tool.name, {})
        where = _first_difference(
            without_words(with_names(tool.parameters, names)),
            without_words(parameters),
            "parameters",
        )
        if where:
            raise ConfigurationError(
                f"The tool {tool.name!r} differs in more than words, so its gold calls would not be"
                f" right any more: {where}. Only names and descriptions may be others; parameters"
                f" of another name are said by `renames: {{{tool.name}.PARAMETER: NAME}}`."
            )
        self._put(tool, counterpart.description, parameters, are_named=True)


def _in_language(
    stated: str | Mapping[Language, str] | None, tool: Tool, of_name: Sequence[Tool], where: str
) -> str | None:
    """Return the words stated for a tool; None if they stay unchanged.

    Raises ConfigurationError if they don't fit the tool's languages.
    """
    languages = sorted({one.language for one in of_name})
    if isinstance(stated, str) and len(languages) > 1:
        raise ConfigurationError(
            f"There is a tool {tool.name!r} in {_listed(languages)}: give the description of"
            f" {where} by language, such as {{{languages[0]}: ...}}; a language that is left out"
            " keeps its own."
        )
    if isinstance(stated, Mapping):
        unknown = [one for one in stated if one not in languages]
        if unknown:
            raise ConfigurationError(
                f"The description of {where} is in {unknown[0]!r}; the tool is in"
                f" {_listed(languages)}."
            )
        return stated.get(tool.language)
    return stated


def _described(tool: Tool, parameter: str, description: str | None) -> JsonSchema:
    schema = tool.properties.get(parameter, {})
    return schema if description is None else schema | {"description": description}


def without_words(value: Any, *, is_schema: bool = True) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without words and with unordered lists sorted, for comparing."""
    if isinstance(value, list):
        return [without_words(one) for one in value]
    if not isinstance(value, dict):
        return value
    schema_parts = {name: one for name, one in value.items() if not (is_schema and name in _WORDS)}
    return {
        name: (
            sorted(one)
            if is_schema and name == "required"
            else without_words(one, is_schema=name != "properties" or not is_schema)
        )
        for name, one in schema_parts.items()
        if not (is_schema and name == "required" and not one)
    }


def _first_difference(one: object, other: object, where: str) -> str:
    """Return where two values first differ, in words; "" if they don't."""
    if isinstance(one, dict) and isinstance(other, dict):
        # before what only follows from them
        for name in sorted({**one, **other}, key=lambda name: name != "properties"):
            if name not in other or name not in one:
                return f"{where}.{name} is only in the {'release' if name in one else 'catalog'}"
            found = _first_difference(one[name], other[name], f"{where}.{name}")
            if found:
                return found
        return ""
    return "" if one == other else f"{where} is {other!r} in place of {one!r}"


def _differences(tool: Tool, shown: Tool, by: ShownTools) -> Iterator[ChangedWord]:
    if shown.name != tool.name:
        yield ChangedWord("name", tool.name, shown.name)
    if shown.description != tool.description:
        yield ChangedWord("description", tool.description, shown.description)
    names = by.parameters.get(tool.name, {})
    for name, schema in tool.properties.items():
        there = names.get(name, name)
        if there != name:
            yield ChangedWord(f"parameter {name}: name", name, there)
        if shown.properties[there] != schema:
            yield ChangedWord(
                f"parameter {name}: description", *map(_told, (schema, shown.properties[there]))
            )
    order = [names.get(name, name) for name in tool.properties]
    if order != list(shown.properties):
        yield ChangedWord("order of parameters", ", ".join(order), ", ".join(shown.properties))


def _told(schema: JsonSchema) -> str:
    """Return all words of a schema, in the order of its members."""
    words = [one for name, one in schema.items() if name in _WORDS] + [
        _told(one) for name, one in schema.items() if name not in _WORDS and isinstance(one, dict)
    ]
    return " · ".join(str(one) for one in words if one)


def _listed(names: Iterable[str]) -> str:
    every = [repr(one) for one in names]
    more = f" and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return ", ".join(every[:_MOST_LISTED]) + more
