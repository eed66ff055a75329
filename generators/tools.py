"""Questions about tools: do arguments fit, are two redundant, which go beside the gold."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Literal, NamedTuple

import orjson
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from callwright.language.calls.completing import told_of
from callwright.language.calls.parameters import in_context, tells_values
from callwright.language.calls.tools import tool_title
from callwright.language.names import CHANGES, deed_of, function_words, names_one, split_name
from callwright.language.packs import unspaced
from callwright.language.schemas import NO_OTHERS, SchemaValidator, choices_of, fits, json_type
from callwright.language.text import fold
from callwright.language.values import read_value
from callwright.llm.answer_schemas import without_nulls
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Arguments, JsonSchema, Sample, Tool

_COMPILED = 4096
_TRUTHS = {"true": True, "false": False}
_SAYABLE = frozenset({"string", "integer", "number"})


ProblemSort = Literal["undeclared", "required", "type", "enum", "schema"]


class ArgumentProblem(NamedTuple):
    """What is wrong with a call's arguments by the tool's schema.

    `argument` is the path of the value ("legs[0].from"), "" for the call as a whole; `value` is
    what stands there; `rule` is the keyword of the schema that it breaks, with its value.
    """

    sort: ProblemSort
    message: str
    argument: str = ""
    value: JsonValue = None
    rule: str = ""


def argument_problems(tool: Tool, arguments: Arguments, *, partial: bool) -> list[str]:
    """Return what is wrong with `arguments` by the tool's schema, one sentence each.

    `partial` allows missing required parameters. An undeclared parameter is always a problem.
    Raises RecordError if the schema itself is bad.
    """
    return [one.message for one in find_problems(tool, arguments, partial=partial)]


def find_problems(tool: Tool, arguments: Arguments, *, partial: bool) -> list[ArgumentProblem]:
    """Return the problems that `argument_problems` has sentences of, with their sort and place."""
    undeclared = [
        ArgumentProblem(
            "undeclared", f"The tool {tool.name!r} declares no parameter {name!r}.", name, value
        )
        for name, value in arguments.items()
        if name not in tool.properties
    ]
    missing = [
        ArgumentProblem("required", f"The parameter {name!r} is required.", name)
        for name in (() if partial else tool.required)
        if name not in arguments
    ]
    values = [
        _problem_of(
            error,
            f"The value of {name!r}, {value!r}, does not fit: {error.message}.",
            [name, *error.absolute_path],
        )
        for name, value in arguments.items()
        if name in tool.properties
        for error in _errors_of(value, tool.properties[name])
    ]
    problems = undeclared + missing + values
    return problems or _whole_problems(tool, arguments, partial=partial)


_SORTS: dict[str, ProblemSort] = {
    "type": "type",
    "enum": "enum",
    "const": "enum",
    "required": "required",
    "additionalProperties": "undeclared",
}


def _problem_of(
    error: ValidationError, message: str, steps: Iterable[str | int]
) -> ArgumentProblem:
    held: Any = error.instance  # jsonschema types what is always set as if it might not be
    sort = _SORTS.get(str(error.validator), "schema")
    return ArgumentProblem(sort, message, _path_of(steps), held, _rule_of(error))


def _rule_of(error: ValidationError) -> str:
    return f"{error.validator}: {orjson.dumps(error.validator_value, default=str).decode()}"


def _path_of(steps: Iterable[str | int]) -> str:
    """Return the path of a value in a call, as evidence writes it: "legs[0].from"."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return path.removeprefix(".")


_FEWEST_NAMED = 2
# what speaks of one parameter after another, as the checks of single values do
_SINGLY = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "$schema"}
    | {"examples", "default", "deprecated"}
)


@lru_cache(1024)
def schema_of_call(tool: Tool) -> JsonSchema | None:
    """Return the schema of a whole call, or None if its parameters' own schemas say everything."""
    if tool.original is not None:
        return tool.original.schema_of_call
    named = [*_named_by_choices(tool)]
    if _SINGLY.issuperset(tool.parameters) and not named:
        return None
    if not named:
        return tool.parameters
    return {**tool.parameters, "allOf": [*tool.parameters.get("allOf", ()), *named]}


def _named_by_choices(tool: Tool) -> Iterator[JsonSchema]:
    """Yield conditions for a choice that names the parameter that goes with it.

    With `type: card` a call gives `card`, and no parameter that another type names.
    """
    optional = {name for name in tool.properties if name not in tool.required}
    for name, schema in tool.properties.items():
        named = [one for one in choices_of(schema) if isinstance(one, str) and one in optional]
        if len(named) < _FEWEST_NAMED or name in named:
            continue
        for choice in choices_of(schema):
            others: JsonSchema = {one: False for one in named if one != choice}
            chosen = {"properties": {name: {"const": choice}}, "required": [name]}
            needed = [choice] if choice in named else []
            yield {"if": chosen, "then": {"properties": others, "required": needed}}


def call_object(tool: Tool, arguments: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Return the object that `schema_of_call` describes, with the tool's constants."""
    places = tool.original.places if tool.original else {}
    required = (schema_of_call(tool) or {}).get("required", ()) if places else ()
    # a required part of which nothing is given is there, and empty
    whole: dict[str, Any] = {path[0]: {} for path in places.values() if len(path) > 1}
    whole = {part: {} for part in whole if part in required}
    for name, value in {**tool.constants, **arguments}.items():
        *inside, last = places.get(name, (name,))
        owner = whole
        for step in inside:
            owner = owner.setdefault(step, {})
        owner[last] = value
    return whole


def _whole_problems(tool: Tool, arguments: Arguments, *, partial: bool) -> list[ArgumentProblem]:
    """Return what is wrong with a call as a whole; of a partial one, only with single values."""
    schema = schema_of_call(tool)
    if schema is None:
        return []
    places = [(tool.original.places if tool.original else {}).get(one, (one,)) for one in arguments]
    try:
        errors = [*value_validator(schema).iter_errors(call_object(tool, arguments))]
    except (RecursionError, Unresolvable) as error:
        problem = (
            f"The schema of {tool.name!r} refers to itself without end, or to what is not in it."
        )
        raise RecordError(problem) from error
    if partial:
        errors = [
            error
            for error in errors
            if any(tuple(error.absolute_path)[: len(path)] == path for path in places)
        ]
    elif len(arguments) < fewest_of(tool):  # what an update changes is no part of the original
        reason = f"The call of {tool.name!r} has nothing but what it is about."
        rule = f"minProperties: {fewest_of(tool)}"
        return [ArgumentProblem("required", reason, "", dict(arguments), rule)]
    return [
        _problem_of(
            error, f"The call of {tool.name!r} does not fit: {told_of(error)}.", error.absolute_path
        )
        for error in errors
    ]


def fewest_of(tool: Tool) -> int:
    """Return how many parameters a call gives at least: an update also says what changes."""
    return int(tool.parameters.get("minProperties", 0))


def _errors_of(value: JsonValue, schema: JsonSchema) -> list[ValidationError]:
    if _surely_fits(value, schema):
        return []
    try:
        return list(value_validator(schema).iter_errors(value))
    except (RecursionError, Unresolvable) as error:
        problem = "A parameter's schema refers to itself without end, or to what is not in it."
        raise RecordError(problem) from error


def mended(value: JsonValue, schema: JsonSchema) -> JsonValue:
    """Convert a value to its schema's type if it means the same, or return it unchanged."""
    if fits(value, schema):
        return value
    return next(
        (one for one in _readings(value, schema) if one is not None and fits(one, schema)), value
    )


def _readings(value: JsonValue, schema: JsonSchema) -> list[JsonValue]:
    """Return what the value may mean, the closest first."""
    kind = json_type(schema)
    if isinstance(value, list) and kind != "array":
        return [*_readings(value[0], schema), value[0]] if len(value) == 1 else []
    if kind == "array" and not isinstance(value, list):
        inner = schema.get("items") or {}
        return [[mended(value, inner)]]
    if isinstance(value, list):
        return [[mended(one, schema.get("items") or {}) for one in value]]
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        return [
            {
                name: mended(one, members.get(name) or {})
                for name, one in without_nulls(value, schema).items()
            }
        ]
    if isinstance(value, bool) or value is None:
        return []
    chosen = [one for one in choices_of(schema) if fold(str(one)) == fold(str(value))]
    if not isinstance(value, str):
        whole = int(value) if isinstance(value, float) and value.is_integer() else value
        return [*chosen, whole, str(whole)]  # type: ignore[list-item] # choices are JSON
    return [
        *chosen,  # type: ignore[list-item]
        _TRUTHS.get(value.strip().casefold()),
        _number(value),
        read_value(value, schema),
    ]


def _number(text: str) -> int | float | None:
    plain = text.strip().replace(",", "")
    try:
        return int(plain) if plain.lstrip("-").isdecimal() else float(plain)
    except ValueError:
        return None


def value_validator(schema: JsonSchema) -> Draft202012Validator:
    """Return a validator of one parameter's values; it checks formats (date, time, email).

    Raises RecordError.
    """
    return _compiled(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))


@lru_cache(_COMPILED)
def _compiled(schema: bytes) -> Draft202012Validator:
    loaded = orjson.loads(schema)
    try:
        if not _is_plain(loaded):
            Draft202012Validator.check_schema(loaded, format_checker=_FORMATS_OF_SCHEMAS)
    except SchemaError as error:
        problem = f"A parameter's schema is not valid JSON Schema: {error.message}."
        raise RecordError(problem) from error
    return SchemaValidator(loaded, format_checker=FormatChecker(), registry=NO_OTHERS)


# patterns are read as ECMA's when they are used; Python's reading of them refuses some
_FORMATS_OF_SCHEMAS = FormatChecker([one for one in FormatChecker.checkers if one != "regex"])


def _is_expression(value: object) -> bool:
    try:
        return isinstance(value, str) and bool(re.compile(value))
    except re.error:
        return False


_TYPES = frozenset({"string", "integer", "number", "boolean"})
_PLAIN: dict[str, Callable[[Any], bool]] = {
    "type": lambda value: isinstance(value, str) and value in _TYPES,
    "description": lambda value: isinstance(value, str),
    "format": lambda value: isinstance(value, str),
    "pattern": _is_expression,
    "default": lambda _value: True,
    "enum": lambda value: isinstance(value, list),
    "examples": lambda value: isinstance(value, list),
    "minimum": lambda value: type(value) in (int, float),
    "maximum": lambda value: type(value) in (int, float),
}


def _is_plain(schema: object) -> bool:
    """Whether a schema has only common, well-formed keywords; checking its meta-schema is slow."""
    return isinstance(schema, dict) and all(
        name in _PLAIN and _PLAIN[name](value) for name, value in schema.items()
    )


EMPTY: tuple[JsonValue, ...] = (None, "", [], {})  # values that say nothing


def titled_schema(tool: Tool | None, argument: str) -> JsonSchema:
    """Return the schema for reading an argument, titled by its name unless it has a title."""
    return {"title": argument, **(tool.properties.get(argument, {}) if tool else {})}


def tools_by_name(sample: Sample, tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return the sample's candidates that are in the catalog, by name."""
    return {tools[key].name: tools[key] for key in sample.candidates if key in tools}


_EXACT = 2**53  # whole numbers below it are floats as well


def _surely_fits(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether a text or number fits a simple schema for sure, without a validator."""
    is_exact = isinstance(value, str) or (
        type(value) in (int, float) and "enum" not in schema and abs(value) < _EXACT  # type: ignore[arg-type] # a number
    )
    return is_exact and "format" not in schema and _is_plain(schema) and fits(value, schema)


REDUNDANT = 0.8
_WORDS = re.compile(rf"[a-z0-9]+|[{unspaced()}]")


class ToolPool:
    """A language's tools, sorted once for repeated questions of which are near or far."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Take the tools in their order."""
        self._tools = tools
        self._of: dict[str, list[Tool]] = {}
        self._near: dict[str, list[list[Tool]]] = {}
        self._far: dict[str, list[list[Tool]]] = {}
        for tool in tools:
            self._of.setdefault(tool.category, []).append(tool)

    def near(self, gold: Tool) -> list[list[Tool]]:
        """Return other tools of the same category that can't replace `gold`, a list per name."""
        if gold.key not in self._near:
            others = [
                one for one in self._of.get(gold.category, []) if not are_redundant(one, gold)
            ]
            self._near[gold.key] = _by_name(others)
        return self._near[gold.key]

    def far(self, gold: Tool) -> list[list[Tool]]:
        """Return the tools of other categories, a list per name."""
        if gold.category not in self._far:
            self._far[gold.category] = _by_name(
                [one for one in self._tools if one.category != gold.category]
            )
        return self._far[gold.category]


def pick_distractors(gold: Tool, company: ToolPool, count: int, rng: Random) -> list[Tool]:
    """Pick up to `count` tools of the gold's language with distinct names, half of its category."""
    near = _distinct(company.near(gold), rng)
    far = _distinct(company.far(gold), rng)
    chosen = _sample(near, (count + 1) // 2, rng)
    names = {gold.name, *(tool.name for tool in chosen)}
    for tool in _sample(far, 4 * count, rng) + _sample(near, len(near), rng):
        if len(chosen) == count:
            break
        if tool.name not in names and not are_redundant(tool, gold):
            names.add(tool.name)
            chosen.append(tool)
    return chosen


def nearest_tools(tool: Tool, among: Iterable[Tool], count: int) -> list[Tool]:
    """Return the `count` tools most like a tool, itself first."""
    words = _words_of(tool)

    def likeness(other: Tool) -> float:
        others = _words_of(other)
        return len(words & others) / len(words | others) if words | others else 0.0

    return sorted(among, key=lambda one: (one.name != tool.name, -likeness(one), one.name))[:count]


def _words_of(tool: Tool) -> frozenset[str]:
    return frozenset(
        {*function_words(tool.name), *tool.properties, *_description_words(tool.description)}
    )


def are_redundant(one: Tool, other: Tool) -> bool:
    """Whether two tools might serve one request: same name, or nearly the same description."""
    if one.name == other.name:
        return True
    deeds = [deed_of(next(iter(function_words(tool.name)), "")) for tool in (one, other)]
    if "other" not in deeds and (deeds[0] in CHANGES) != (deeds[1] in CHANGES):
        return False  # whoever wrote the document described what reads and what writes alike
    words, others = _description_words(one.description), _description_words(other.description)
    union = len(words | others)
    return union > 0 and len(words & others) / union >= REDUNDANT


def are_contradictory(one: Tool, other: Tool) -> bool:
    """Whether one of two tools removes what the other is about, by names or shared requirements."""
    (verb, *thing), (other_verb, *other_thing) = (
        function_words(tool.name) or ("",) for tool in (one, other)
    )
    removes = "drop" in (deed_of(verb), deed_of(other_verb))
    return removes and (thing == other_thing or bool({*one.required} & {*other.required}))


def tells_target(tool: Tool, names: Iterable[str]) -> bool:
    """Whether two calls with these parameters may change two things, or the tool changes none.

    What sets something of "the current user" undoes with each call what the one before did.
    """
    title = tool_title(tool.name, tool.description).casefold()
    if deed_of(title.partition(" ")[0]) not in _SETTING:
        return True
    return _OWN.search(title) is None and any(map(_is_target, names))


def _is_target(name: str) -> bool:
    return names_one(name) or split_name(name)[-1] in _NAMING_ONE


_SETTING = frozenset({"change", "switch"})
_OWN = re.compile(r"\b(?:my|current|own|authenticated)\b")
_NAMING_ONE = frozenset({"name", "names", "code", "key", "slug", "number", "email", "path"})


def is_plain(schema: JsonSchema) -> bool:
    """Whether a parameter takes a single text or number, which a sentence can state with others."""
    return "type" in schema and json_type(schema) in _SAYABLE


def sayable_options(tool: Tool) -> list[str]:
    """Return the optional parameters that a message can state in passing.

    Plumbing is excluded, and so is what nothing tells the values of.
    """
    return [*_sayable_options(tool)]


@lru_cache(_COMPILED)
def _sayable_options(tool: Tool) -> tuple[str, ...]:
    schemas = in_context(tool.properties, tool.name, tool.description)
    plain = (name for name in tool.optional if is_plain(tool.properties[name]))
    return tuple(name for name in plain if tells_values(name, schemas[name]))


def enough_of(tool: Tool, names: Sequence[str], rng: Random) -> list[str]:
    """Return these parameters, with as many options as a call still lacks to have any effect."""
    others = [name for name in sayable_options(tool) if name not in names]
    more = rng.sample(others, min(len(others), max(0, tool.fewest - len(names))))
    return [name for name in tool.properties if name in names or name in more]


_OUTLINE = ("type", "format", "default", "minimum", "maximum")
_FEW_CHOICES, _LINE = 12, 160
_SMALL = 300  # characters of a schema: it is shown as it is


def outlined(tool: Tool, names: Collection[str]) -> dict[str, Any]:
    """Return a tool for prompts: the parameters `names` in full, the others in a line each.

    So no value is used for a parameter that it was not said for, and prompts hold no unneeded
    schemas.
    """
    properties = {
        name: schema if name in names else _outline(schema)
        for name, schema in tool.properties.items()
    }
    sayable: dict[str, Any] = tool.sayable["parameters"]
    shown_properties = {name: properties[name] for name in sayable.get("properties", {})}
    rest = {
        key: value
        for key, value in sayable.items()
        if key not in ("$defs", "definitions", "properties")
    }
    refers = b'"$ref"' in orjson.dumps(shown_properties)
    return tool.signature | {
        "parameters": (sayable if refers else rest) | {"properties": shown_properties}
    }


def as_outlined(tool: Tool, names: Collection[str]) -> Tool:
    """Return the tool as shown in prompts about the parameters `names`."""
    return _as_outlined(tool, frozenset(names))


@lru_cache(1024)
def _as_outlined(tool: Tool, names: frozenset[str]) -> Tool:
    return tool.with_changes(parameters=outlined(tool, names)["parameters"])


def outlined_tools(calls: Iterable[tuple[Tool, Collection[str]]]) -> list[dict[str, Any]]:
    """Return each called tool once, outlined except for the parameters that its calls name."""
    tools: dict[str, Tool] = {}
    names: dict[str, set[str]] = {}
    for tool, given in calls:
        tools[tool.name] = tool
        names.setdefault(tool.name, set()).update(given)
    return [outlined(tool, names[name]) for name, tool in tools.items()]


def _outline(schema: JsonSchema) -> JsonSchema:
    if len(orjson.dumps(schema)) <= _SMALL:
        return schema
    short_schema = {key: schema[key] for key in _OUTLINE if key in schema}
    choices = choices_of(schema)
    if choices and len(choices) <= _FEW_CHOICES:
        short_schema["enum"] = [*choices]
    told = in_a_line(str(schema.get("description") or ""))
    return short_schema | ({"description": told} if told else {})


def in_a_line(description: str) -> str:
    """Return the first line of a description, truncated if long."""
    told = description.partition("\n")[0]
    return told if len(told) <= _LINE else f"{told[: _LINE - 1].rstrip()}…"


def told_in_lines(tools: Iterable[Tool]) -> list[dict[str, str]]:
    """Return the name and the first line of each tool, for prompts that need no parameters."""
    return [{"name": tool.name, "description": in_a_line(tool.description)} for tool in tools]


@lru_cache(8192)
def _description_words(description: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(description.lower()))


def _by_name(tools: list[Tool]) -> list[list[Tool]]:
    named: dict[str, list[Tool]] = {}
    for tool in tools:
        named.setdefault(tool.name, []).append(tool)
    return list(named.values())


def _distinct(named: list[list[Tool]], rng: Random) -> list[Tool]:
    """Return one tool for each name, chosen at random if a catalog has several."""
    return [same[0] if len(same) == 1 else rng.choice(same) for same in named]


def _sample(tools: list[Tool], count: int, rng: Random) -> list[Tool]:
    return rng.sample(tools, min(count, len(tools)))
