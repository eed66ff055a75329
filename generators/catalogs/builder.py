"""Build a catalog item by item: each draft becomes a tool with a valid signature, or a problem."""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import orjson
import regex
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import FATAL, Catalog, Note, Problem, ProblemKind, shown
from callwright.generators.catalogs.rewriting import (
    LOWER,
    ONE_SCHEMA,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    UPPER,
    Change,
    MetNode,
    Rewritten,
    Side,
    rewrite,
    unchanged,
    with_definitions,
    without,
)
from callwright.language.calls.parameters import is_plumbing
from callwright.language.packs import main_language
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema, Language, Original, Tool, content_key

TYPING = frozenset(
    {"type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if"}
    | {"properties", "items", "prefixItems", "pattern", "format", "minimum", "maximum"}
)


# patterns are checked by themselves: Python's own reading of them warns of what other languages
# allow
_FORMATS = FormatChecker(
    [one for one in Draft202012Validator.FORMAT_CHECKER.checkers if one != "regex"]
)
_METASCHEMA = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=_FORMATS)


class ToolDraft(NamedTuple):
    """An unchecked tool, as in the file; if `language` is None, it is inferred from the texts."""

    where: str
    category: str
    name: JsonValue
    description: JsonValue
    parameters: JsonValue
    returns: JsonValue = None
    language: Language | None = None
    notes: tuple[Note, ...] = ()
    plumbing: tuple[str, ...] = ()
    original: Original | None = None


class CatalogBuilder:
    """The tools and problems read so far; a repeated item is counted again but kept once."""

    def __init__(
        self,
        source: str,
        *,
        change: Change = unchanged,
        by_category: bool = True,
        language: Language | None = None,
    ) -> None:
        """Create a builder whose `change` translates the format's own keywords.

        Without `by_category`, a tool's category is the first one it was found in. `language` is
        that of the whole document; None infers it for each tool from its texts.
        """

        def checked(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
            return checked_numbers(_checked_patterns(change(schema, notes), notes), notes)

        self.problems: list[Problem] = []
        self.entries = 0
        self._source, self._by_category, self._language = source, by_category, language
        self._schemas = _Schemas(checked, {}, {})
        self._met: dict[str, Tool | None] = {}
        self._tools: dict[str, Tool] = {}
        self._named: dict[tuple[str, str], list[Tool]] = {}

    def put(self, draft: ToolDraft, source: str = "") -> Tool | None:
        """Keep a tool and report its problems; return None if it can't be used."""
        self.entries += 1
        parameters = _doubles(draft.parameters)
        draft = draft._replace(parameters=parameters, returns=_doubles(draft.returns))
        category = [draft.category] if self._by_category else []
        item = [draft.name, draft.description, draft.parameters, draft.returns, draft.language]
        met = content_key([*item, source, *draft.plumbing, *category])
        if met not in self._met:
            self._met[met] = self._admitted(draft, source or self._source)
        return self._met[met]

    def refuse(self, where: str, value: JsonValue) -> None:
        """Count and report an item that does not describe a tool."""
        self.entries += 1
        message = f"{shown(value)} stands where a tool is expected; left out."
        self.report(where, "not_an_object", message)

    def report(self, where: str, kind: ProblemKind, message: str, tool: str = "") -> None:
        """Report a problem that no single tool causes."""
        self.problems.append(Problem(where=where, tool=tool, kind=kind, message=message))

    @property
    def tools(self) -> list[Tool]:
        """The tools kept so far."""
        return list(self._tools.values())

    def catalog(self, path: Path, expected: str) -> Catalog:
        """Return the catalog. Raises ConfigurationError if no items were read."""
        if not self.entries:
            found = f" {self.problems[0].message}" if self.problems else ""
            message = f"{str(path)!r} holds no tool in this format; {expected} is expected.{found}"
            raise ConfigurationError(message)
        return Catalog(
            tools=tuple(self._tools.values()),
            entries=self.entries,
            distinct=len({tool.name for tool in self._tools.values()}),
            problems=tuple(self.problems),
            files=(path,) if path.is_file() else (),
        )

    def _admitted(self, draft: ToolDraft, source: str) -> Tool | None:
        name, description = draft.name, draft.description
        schema, notes = _signature_of(draft.parameters, self._schemas)
        returns, return_notes = _valid_returns(draft.returns, self._schemas)
        text = description if isinstance(description, str) else ""
        own = list(draft.notes)
        if not isinstance(name, str) or not name.strip():
            own.append(Note("no_name", f"The tool's name is {shown(name)}, not text; left out."))
        if not text.strip():
            message = f"The description is {shown(description)}; the tool is kept without one."
            own.append(Note("no_description", message))
        notes = (*own, *notes, *return_notes)
        for note in notes:
            self.report(draft.where, note.kind, note.message, name if isinstance(name, str) else "")
        if not isinstance(name, str) or any(note.kind in FATAL for note in notes):
            return None
        properties: dict[str, JsonSchema] = schema["properties"]
        tool = Tool(
            name=name,
            description=text,
            parameters=schema,
            returns=returns,
            category=draft.category,
            language=draft.language or self._language or main_language(text),
            source=source,
            plumbing=tuple(
                one
                for one, stated in properties.items()
                if one in draft.plumbing or is_plumbing(one, stated)
            ),
            original=draft.original or _original_of(draft.parameters, notes, self._schemas),
        )
        others = self._named.setdefault((tool.language, tool.name), [])
        if others and tool.key not in self._tools:
            categories = ", ".join(repr(other.category) for other in others)
            message = f"{tool.name!r} of {tool.category!r} differs from that of {categories}."
            self.report(draft.where, "duplicate_name", message, tool.name)
        others.append(tool)
        return self._tools.setdefault(tool.key, tool)


class _Schemas(NamedTuple):
    """A builder's schema state: its change, the nodes already changed, and those found valid.

    Nodes are looked up by identity and kept alive, so parts that many tools of a document share
    are checked and stored once.
    """

    change: Change
    met: dict[int, MetNode]
    sound: dict[int, JsonSchema]


def _signature_of(parameters: JsonValue, schemas: _Schemas) -> Rewritten:
    """Return the parameters as a valid, self-contained object schema."""
    if parameters is None:
        note = Note("no_parameters", "No parameters are declared; taken as a tool that needs none.")
        return Rewritten({"type": "object", "properties": {}}, (note,))
    if not isinstance(parameters, dict):
        return _refused(f"The parameters are {shown(parameters)}, not an object schema; left out.")
    written, odd = rewrite(parameters, parameters, schemas.change, met=schemas.met)
    schema, notes = _shaped(written)
    notes = (*odd, *notes)
    if any(note.kind in FATAL for note in notes):
        return Rewritten(schema, notes)
    properties = schema["properties"].items()
    untyped = [name for name, one in properties if isinstance(one, dict) and not TYPING & set(one)]
    if untyped:
        listed = ", ".join(map(repr, untyped))
        notes += (Note("untyped_parameter", f"No type is given for {listed}; any value is taken."),)
    return Rewritten(schema, (*notes, *_validity(schema, schemas)))


def _original_of(
    parameters: JsonValue, notes: Sequence[Note], schemas: _Schemas
) -> Original | None:
    """Return the parameters as they are, with their references, if writing them out cut some."""
    is_cut = any(note.kind == "circular_reference" for note in notes)
    if not is_cut or not isinstance(parameters, dict):
        return None
    side = Side(parameters, lambda node, _: node, schemas.change, "", {}, {})
    return usable_original(with_definitions(parameters, side))


def usable_original(
    whole: JsonSchema | None, places: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> Original | None:
    """Return the schema of a whole call to be kept beside a tool, or None if it is no schema."""
    if whole is None or not _METASCHEMA.is_valid(whole):
        return None
    return Original(schema_of_call=whole, places=dict(places))


def _valid_returns(
    returns: JsonValue, schemas: _Schemas
) -> tuple[JsonSchema | None, tuple[Note, ...]]:
    """Return a usable schema of a tool's results or None, with notes; a bad one is only dropped."""
    if returns is None:
        return None, ()
    if not isinstance(returns, dict):
        message = f"The result is {shown(returns)}, not a schema; it is left open."
        return None, (Note("untyped_return", message),)
    schema, notes = rewrite(returns, returns, schemas.change, met=schemas.met)
    for note in (*notes, *_validity(schema, schemas)):
        if note.kind in FATAL:
            message = f"The result's schema can't be used: {note.message}"
            return None, (Note("untyped_return", message),)
    return schema, notes


def _shaped(schema: JsonSchema) -> Rewritten:
    """Return the schema with a type and properties, and with every required name declared."""
    notes: list[Note] = []
    if "type" not in schema:
        message = "The parameters name no type at the top; taken as an object."
        notes.append(Note("no_parameters_type", message))
    kind, properties = schema.get("type", "object"), schema.get("properties", {})
    if kind not in ("object", ["object"]):
        return _refused(f"The parameters are of type {shown(kind)}, not object; left out.")
    if not isinstance(properties, dict):
        return _refused(f"The properties are {shown(properties)}, not an object; left out.")
    # `true` and `false` are schemas too, but no place to keep a description
    plain = {name: {} if one is True else one for name, one in properties.items()}
    filled = {name: {"not": {}} if one is False else one for name, one in plain.items()}
    typed = schema if "type" in schema else {"type": "object", **schema}
    shaped = {**typed, "type": "object", "properties": filled}
    required = schema.get("required", [])
    are_names = isinstance(required, list) and all(isinstance(name, str) for name in required)
    undeclared = [name for name in required if name not in filled] if are_names else []
    if undeclared:
        message = f"Required but not declared: {shown(undeclared)}; these names are dropped."
        notes.append(Note("undeclared_required", message))
        shaped["required"] = [name for name in required if name in filled]
    return Rewritten(shaped, tuple(notes))


def _validity(schema: JsonSchema, schemas: _Schemas) -> list[Note]:
    fault = _fault(schema, (), schemas.sound)
    if fault is None:
        return []
    place = "/".join(fault.path) or "the top"
    reason = fault.reason if len(fault.reason) < 200 else f"{fault.reason[:200]}…"  # noqa: PLR2004
    message = f"The schema is not valid JSON Schema at {place} ({reason}); left out."
    return [Note("invalid_schema", message)]


class _Fault(NamedTuple):
    """A fault in a schema, and its place."""

    path: tuple[str, ...]
    reason: str


def _fault(schema: JsonValue, path: tuple[str, ...], sound: dict[int, JsonSchema]) -> _Fault | None:
    """Return a schema's first fault, or None. Parts shared between operations are checked once."""
    if id(schema) in sound:
        return None
    if not isinstance(schema, dict):
        return None if isinstance(schema, bool) else _Fault(path, f"{shown(schema)} is no schema")
    plain, inside = _parted(schema)
    own = _fault_alone(orjson.dumps(plain))
    if own is not None:
        return _Fault((*path, *own.path), own.reason)
    for step, part in inside:
        if fault := _fault(part, (*path, *step), sound):
            return fault
    sound[id(schema)] = schema
    return None


def _parted(schema: JsonSchema) -> tuple[JsonSchema, list[tuple[tuple[str, ...], JsonValue]]]:
    """Split a schema into its own keywords and its subschemas with their paths."""
    inside: list[tuple[tuple[str, ...], JsonValue]] = []
    plain: JsonSchema = {}
    for key, value in schema.items():
        if key in SCHEMA_MAPS and isinstance(value, dict):
            inside += [((key, name), part) for name, part in value.items()]
        elif key in SCHEMA_LISTS and isinstance(value, list) and value:
            inside += [((key, str(index)), part) for index, part in enumerate(value)]
        elif key in ONE_SCHEMA and isinstance(value, dict):
            inside.append(((key,), value))
        else:
            plain[key] = value
    return plain, inside


@lru_cache(2**16)
def _fault_alone(schema: bytes) -> _Fault | None:
    error = next(_METASCHEMA.iter_errors(orjson.loads(schema)), None)
    if error is None:
        return None
    return _Fault(tuple(str(step) for step in error.absolute_path), error.message)


def checked_keywords(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop invalid JSON Schema keywords one by one, because the rest of the schema may be valid."""
    valid_keywords = dict(schema)
    for key, value in schema.items():
        members = value.items() if key in SCHEMA_MAPS and isinstance(value, dict) else ()
        wrong = [name for name, one in members if not isinstance(one, dict | bool)]
        if wrong:  # what is no schema allows any value
            message = f"What {shown(wrong)} are is no schema; any value is taken."
            notes.append(Note("invalid_keyword", message))
            valid_keywords[key] = {name: {} if name in wrong else one for name, one in members}
    while (
        fault := _fault_alone(orjson.dumps(_parted(valid_keywords)[0]))
    ) is not None and fault.path:
        word = fault.path[0]
        message = f"{shown(valid_keywords[word])} is no {word!r} of JSON Schema; it is dropped."
        notes.append(Note("invalid_keyword", message))
        valid_keywords = without(valid_keywords, word)
    return valid_keywords


def _checked_patterns(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop patterns that Python can't compile (JSON Schema's are ECMA's), or checks would fail."""
    checked_schema, dropped = schema, schema.get("pattern")
    if isinstance(dropped, str) and not _compiles(dropped):
        message = f"The pattern {shown(dropped)} can't be read; it is dropped."
        notes.append(Note("bad_pattern", message))
        checked_schema = without(checked_schema, "pattern")
    patterns = checked_schema.get("patternProperties")
    if isinstance(patterns, dict) and not all(map(_compiles, patterns)):
        message = f"Of the patterns {shown(list(patterns))} some can't be read; all dropped."
        notes.append(Note("bad_pattern", message))
        checked_schema = without(checked_schema, "patternProperties")
    return checked_schema


_LEAST, _MOST = -(2**63), 2**64 - 1
_LARGEST = sys.float_info.max
_UPPER = frozenset({*UPPER, "maxContains"})
_LOWER = frozenset({*LOWER, "minContains"})
_SAMPLES = frozenset({"default", "examples"})
_OF_NUMBERS = _SAMPLES | {"multipleOf", "enum", "const", *UPPER[:2], *LOWER[:2]}


def _doubles(value: JsonValue) -> JsonValue:
    """Replace whole numbers beyond 64 bits and infinities by doubles, as most JSON readers do.

    Tools from code can contain such numbers, and NaN, which becomes null; readers of documents
    refuse them.
    """
    try:
        orjson.dumps(value)
        json.dumps(value, allow_nan=False)  # orjson writes null for what JSON can't hold
    except (TypeError, ValueError):
        return _as_doubles(value)
    return value


def _as_doubles(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: _as_doubles(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_doubles(one) for one in value]
    if isinstance(value, float):
        return None if isnan(value) else max(-_LARGEST, min(value, _LARGEST))
    if isinstance(value, int) and not _LEAST <= value <= _MOST:
        return float(max(-(10**308), min(value, 10**308)))
    return value


def checked_numbers(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop bounds, choices, defaults and examples beyond 64-bit integers, which get rounded.

    A schema that allows no number within 64 bits becomes unusable.
    """
    declared = schema.get("type")
    is_whole = "integer" in (declared if isinstance(declared, list) else [declared])
    words = (_UPPER | _LOWER | _OF_NUMBERS) if is_whole else (_UPPER | _LOWER) - _OF_NUMBERS
    valid_keywords = dict(schema)
    for word in [one for one in schema if one in words]:
        value = schema[word]
        values = value if isinstance(value, list) else [value]
        left = [one for one in values if not _is_beyond(one)]
        if len(left) == len(values):
            continue
        del valid_keywords[word]
        if word == "enum":
            valid_keywords[word] = left
        allows_all = not isinstance(value, list) and value > 0 and word in _UPPER
        allows_all |= not isinstance(value, list) and value < 0 and word in _LOWER
        if allows_all or word in _SAMPLES or (word == "enum" and left):
            message = f"{word!r} is {shown(value)}: what is beyond 64 bits is dropped."
            notes.append(Note("invalid_keyword", message))
        else:
            message = f"{word!r} is {shown(value)}: no whole number within 64 bits fits; left out."
            notes.append(Note("invalid_schema", message))
    return valid_keywords


def _is_beyond(value: JsonValue) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not _LEAST <= value <= _MOST


def _compiles(pattern: str) -> bool:
    try:
        regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError):
        return False
    return True


def _refused(message: str) -> Rewritten:
    return Rewritten({}, (Note("not_an_object", message),))
