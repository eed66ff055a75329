"""Choose tools of a catalog, rename and recategorise them, and fix some of their parameters."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple, TypeVar

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)

from callwright.generators.catalogs.catalog import Catalog, StatedError, StatedLink, shown
from callwright.generators.tools import schema_of_call
from callwright.language.calls.parameters import made_constant
from callwright.language.calls.sampling import make_plain
from callwright.language.schemas import NO_OTHERS, SchemaValidator, choices_of, fits
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Original, Tool

_MOST_LISTED = 12
_NEAR = 3
_SWITCHES = {"true": True, "false": False}
T = TypeVar("T")


class ToolPattern(BaseModel):
    """Which tools are meant: all that is stated must fit.

    `*` stands for anything; a pattern by itself is one of names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = Field(default="", description="A pattern of tools' names.")
    tag: str = Field(default="", description="A pattern of tags.")
    path: str = Field(default="", description="A pattern of paths.")
    method: str = Field(default="", description="An HTTP method.")
    category: str = Field(default="", description="A pattern of categories.")

    @model_validator(mode="after")
    def _states_something(self) -> "ToolPattern":
        if not (self.name or self.tag or self.path or self.method or self.category):
            raise ValueError(
                "a pattern needs a name, tag, path, method or category: {tag: users, method: get}"
            )
        return self

    def fits(self, listed: "ListedTool") -> bool:
        """Whether the pattern matches the tool."""
        stated = (
            (listed.name, self.name),
            (listed.path, self.path),
            (listed.category, self.category),
        )
        return (
            all(not pattern or fnmatchcase(text, pattern) for text, pattern in stated)
            and (not self.tag or any(fnmatchcase(tag, self.tag) for tag in listed.tags))
            and (not self.method or listed.method.lower() == self.method.lower())
        )


def _pattern(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


Pattern = Annotated[
    ToolPattern, BeforeValidator(_pattern, json_schema_input_type=str | ToolPattern)
]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str | Path) else value


# What a source of tools in a recipe may bring beside them: the sentences that people say to them.
# The recipe keeps what they hold.
SentencePaths = Annotated[
    tuple[Path, ...],
    BeforeValidator(_listed, json_schema_input_type=str | list[str]),
    Field(
        exclude=True,
        description=(
            "Files of sentences for these tools, NAME.LANGUAGE.yaml, relative to the recipe."
        ),
    ),
]


class ToolChoice(BaseModel):
    """What is taken of a catalog. Nothing stated takes all as it is.

    `include` and `exclude` are patterns, one of which must fit. `rename` gives tools other names,
    `categories` tools (patterns of names) another category. `constants` fixes parameters, of all
    tools or as `TOOL.PARAMETER` of those whose name fits: the parameter is hidden, and gold calls
    carry the value; required plumbing is fixed by itself, to its default or a made-up value.
    `plumbing` says in the same way which parameters no plan chooses (true), and which may be chosen
    although the import has marked them (false).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    include: tuple[Pattern, ...] = Field(
        default=(), description="Patterns, one of which a tool must fit."
    )
    exclude: tuple[Pattern, ...] = Field(default=(), description="Patterns that no tool may fit.")
    rename: Mapping[str, str] = Field(default_factory=dict, description="Other names for tools.")
    categories: Mapping[str, str] = Field(
        default_factory=dict, description="Another category for the tools whose names fit."
    )
    constants: Mapping[str, JsonValue] = Field(
        default_factory=dict,
        description="Parameters that are fixed and hidden, as PARAMETER or TOOL.PARAMETER.",
    )
    plumbing: Mapping[str, bool] = Field(
        default_factory=dict,
        description=(
            "Whether parameters, as PARAMETER or TOOL.PARAMETER, are plumbing that no plan chooses."
        ),
    )


class ListedTool(NamedTuple):
    """A catalog's tool as choices see it: `key` identifies it; patterns match the other fields.

    `links` are the parameters that its response provides, `errors` the errors that it declares.
    """

    key: str
    name: str
    category: str
    method: str = ""
    path: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[StatedLink, ...] = ()
    errors: tuple[StatedError, ...] = ()


def listed_tools(catalog: Catalog) -> list[ListedTool]:
    """Return the tools of a catalog in the form that choices match against."""
    origins = {origin.tool: origin[1:] for origin in catalog.origins}
    return [
        ListedTool(tool.key, tool.name, tool.category, *origins.get(tool.key, ()))
        for tool in catalog.tools
    ]


def choose(listed: Sequence[ListedTool], choice: ToolChoice) -> list[ListedTool]:
    """Return the tools that a choice includes and does not exclude.

    Raises ConfigurationError for a pattern that matches no tool, or if no tool is left.
    """
    for pattern in (*choice.include, *choice.exclude):
        if not any(map(pattern.fits, listed)):
            words = pattern.model_dump().items()
            pattern_text = ", ".join(f"{key}={value}" for key, value in words if value)
            near = get_close_matches(pattern.name, {one.name for one in listed}, _NEAR)
            meant = f" (did you mean {' or '.join(near)}?)" if near else ""
            held = f"it has {_some(one.name for one in listed)}"
            raise ConfigurationError(f"No tool of the catalog fits {pattern_text}{meant}; {held}.")
    left = [one for one in listed if not any(pattern.fits(one) for pattern in choice.exclude)]
    wanted = (one for one in left if any(pattern.fits(one) for pattern in choice.include))
    chosen = [*wanted] if choice.include else left
    if not chosen:
        message = "Of the catalog's tools none is left: what is included is excluded as well."
        raise ConfigurationError(message)
    return chosen


def adapt(tools: Sequence[Tool], choice: ToolChoice) -> list[Tool]:
    """Return the chosen tools with their new names and categories and their fixed parameters.

    Raises ConfigurationError if a tool or parameter does not exist, a value does not fit, or two
    tools get the same name.
    """
    names = {tool.name for tool in tools}
    unknown = sorted(set(choice.rename) - names)
    if unknown:
        message = f"There is no tool {unknown[0]!r} to be renamed; there are {_some(names)}."
        raise ConfigurationError(message)
    stated = (*choice.constants, *choice.plumbing)
    for wanted in (*choice.categories, *(key.rpartition(".")[0] for key in stated)):
        if wanted and not any(fnmatchcase(name, wanted) for name in names) and wanted not in stated:
            raise ConfigurationError(f"No tool fits {wanted!r}; there are {_some(names)}.")
    adapted = [_adapted(tool, choice) for tool in tools]
    bound = {name for tool in adapted for name in tool.constants}
    for key in choice.constants:
        if key not in bound and key.rpartition(".")[2] not in bound:
            parameters = _some({name for tool in tools for name in tool.properties})
            message = f"No tool has the parameter {key!r} to be fixed; there are {parameters}."
            raise ConfigurationError(message)
    for key in choice.plumbing:
        if not any(_stated_for(tool, {key: True}) for tool in tools):
            raise ConfigurationError(f"No tool has the parameter {key!r}, which `plumbing` names.")
    # two tools may share a name where their document has them so, not because one was renamed
    given = Counter(tool.name for tool in adapted if tool.name in {*choice.rename.values()})
    twice = sorted(name for name, count in given.items() if count > 1)
    if twice:
        message = f"Two tools would be called {twice[0]!r}; rename one of them otherwise."
        raise ConfigurationError(message)
    return adapted


def _adapted(tool: Tool, choice: ToolChoice) -> Tool:
    plumbing_flags = _stated_for(tool, choice.plumbing)
    # what each call carries of itself: plumbing that is required, such as a header
    carried = {
        name: tool.properties[name]
        for name in tool.required
        if name in tool.properties and plumbing_flags.get(name, name in tool.plumbing)
    }
    stated = _stated_for(tool, choice.constants)
    made = ((name, constant_of(name, one)) for name, one in carried.items() if name not in stated)
    constants = {name: value for name, value in made if value is not None} | stated
    for name, value in constants.items():
        validator = SchemaValidator(tool.properties[name], registry=NO_OTHERS)
        for error in validator.iter_errors(value):
            message = f"{tool.name!r} can't have {shown(value)} for {name!r}: {error.message}."
            raise ConfigurationError(message)
    fitting = (new for name, new in choice.categories.items() if fnmatchcase(tool.name, name))
    category, name = next(fitting, tool.category), choice.rename.get(tool.name, tool.name)
    free = (one for one in tool.properties if one not in constants)
    marked = tuple(one for one in free if plumbing_flags.get(one, one in tool.plumbing))
    if not constants and (name, category, marked) == (tool.name, tool.category, tool.plumbing):
        return tool
    return tool.with_changes(
        name=name,
        category=category,
        parameters=_without(tool, constants),
        constants={**tool.constants, **constants},
        plumbing=marked,
        # what it says of parameters that go together counts for those that are fixed as well
        original=tool.original or (_original(tool) if constants else None),
    )


def _original(tool: Tool) -> Original | None:
    schema = schema_of_call(tool)
    return Original(schema_of_call=schema) if schema else None


def constant_of(name: str, schema: JsonSchema) -> JsonValue | None:
    """Return what a required parameter of the plumbing is fixed to, or None if nothing fits.

    That is its default, a constant or a choice that its schema gives, or else a made-up value,
    the same for each tool.
    """
    stated = [schema["default"]] if "default" in schema else []
    listed = [*stated, *choices_of(schema), *(schema.get("examples") or ())]
    made = made_constant(name, schema)
    fitting: list[JsonValue] = [one for one in (*listed, made) if one and fits(one, schema)]
    if fitting:
        return fitting[0]
    try:
        return make_plain(name, schema, DEFAULT_LANGUAGE, Random(name))
    except ReplyError:
        return None


def _stated_for(tool: Tool, stated: Mapping[str, T]) -> dict[str, T]:
    """Return the entries for a tool's parameters; those for the tool by name override the rest."""
    own: dict[str, T] = {}
    for key, value in stated.items():
        pattern, _, parameter = key.rpartition(".")
        is_own = key not in tool.properties and parameter in tool.properties
        if is_own and pattern and fnmatchcase(tool.name, pattern):
            own[parameter] = value
    return {key: value for key, value in stated.items() if key in tool.properties} | own


def _without(tool: Tool, hidden: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the parameters' schema without the fixed parameters."""
    if not hidden:
        return tool.parameters
    properties = {name: one for name, one in tool.properties.items() if name not in hidden}
    schema = {**tool.parameters, "properties": properties}
    if "required" in schema:
        schema["required"] = [name for name in tool.required if name not in hidden]
    return schema


def read_pattern(text: str) -> ToolPattern:
    """Read a pattern as written on the command line: `get*`, or `tag=users,method=get`.

    Raises ConfigurationError.
    """
    pairs = (part.partition("=") if "=" in part else ("name", "", part) for part in text.split(","))
    pattern_fields = {key.strip(): value.strip() for key, _, value in pairs}
    try:
        return ToolPattern.model_validate(pattern_fields)
    except ValidationError as error:
        message = f"{text!r} is no pattern of tools; write one as in tag=users,method=get."
        raise ConfigurationError(message) from error


def read_pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Read `OLD=NEW` pairs from the command line. Raises ConfigurationError."""
    pairs = [text.partition("=") for text in texts]
    for key, sign, value in pairs:
        if not (key.strip() and value.strip()):
            wrong = f"{key}{sign}{value}"
            message = f"{option} {wrong!r} is no pair; it is written as in {option} old=new."
            raise ConfigurationError(message)
    return {key.strip(): value.strip() for key, _, value in pairs}


def read_constants(texts: Sequence[str]) -> dict[str, JsonValue]:
    """Parse constants of the command line: values are JSON if they parse as such, else text."""
    stated = read_pairs("--constant", texts)
    constants: dict[str, JsonValue] = {}
    for key, value in stated.items():
        try:
            constants[key] = orjson.loads(value)
        except orjson.JSONDecodeError:
            constants[key] = value
    return constants


def read_switches(texts: Sequence[str]) -> dict[str, bool]:
    """Read `PARAMETER=true|false` pairs from the command line. Raises ConfigurationError."""
    switch_texts = read_pairs("--plumbing", texts)
    wrong = next((value for value in switch_texts.values() if value not in _SWITCHES), None)
    if wrong is not None:
        raise ConfigurationError(
            f"--plumbing can't be {wrong!r}; it is true or false, as in --plumbing limit=false."
        )
    return {key: _SWITCHES[value] for key, value in switch_texts.items()}


def _some(names: Iterable[str]) -> str:
    """Return names for a message, limited to what people read."""
    listed = sorted(set(names))
    more = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    return ", ".join(listed[:_MOST_LISTED]) + more
