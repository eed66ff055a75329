"""Build a catalog item by item: each draft becomes a tool with a valid signature, or a problem."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import FATAL, Catalog, Note, Problem, ProblemKind, shown
from callwright.generators.catalogs.rewriting import (
    Change,
    MetNode,
    Rewritten,
    Side,
    rewrite,
    unchanged,
    with_definitions,
)
from callwright.generators.catalogs.schema_words import (
    IMPOSSIBLE,
    as_current,
    by_name,
    in_plain_words,
)
from callwright.generators.catalogs.soundness import (
    first_fault,
    note_hidden,
    sound_words,
    without_hidden,
)
from callwright.generators.telling_apart import unclear_tools
from callwright.generators.whole_calls import unread_rules_of
from callwright.language.calls.parameters import is_plumbing
from callwright.language.calls.prose_rules import ProseRule, ReadProse, read_rules, state_rule
from callwright.language.packs import main_language
from callwright.language.schemas import is_deprecated
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import GoldCall, JsonSchema, Language, Original, Tool, content_key
from callwright.warehouse.wire_names import NO_NAMES, WireNames

TYPING = frozenset(
    {"type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if"}
    | {"properties", "items", "prefixItems", "pattern", "format", "minimum", "maximum"}
)


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
        types_are_told: bool = True,
        by_category: bool = True,
        language: Language | None = None,
        names: WireNames = NO_NAMES,
    ) -> None:
        """Create a builder whose `change` translates the format's own keywords.

        `types_are_told` reports type words that are not JSON Schema's, but for those of its source.
        Without `by_category`, a tool's category is the first one it was found in. `language` is
        that of the whole document; None infers it for each tool from its texts. Tools and
        parameters with other `names` on the wire are kept under their own.
        """

        def checked(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
            plain = in_plain_words(change(schema, notes), notes, types_are_told=types_are_told)
            return sound_words(plain, notes)

        self.problems: list[Problem] = []
        self.entries = 0
        self._source, self._by_category, self._language = source, by_category, language
        self._names = names
        self._schemas = _Schemas(checked, {}, {}, {})
        self._met: dict[str, Tool | None] = {}
        self._tools: dict[str, Tool] = {}
        self._named: dict[str, list[Tool]] = {}

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

    def own_call(self, call: GoldCall) -> GoldCall:
        """Return a call under the own names of its tool and parameters."""
        if not self._names:
            return call
        name = self._names.own_tool(call.tool)
        schemas = [self._names.schema(tool.parameters) for tool in self.tools_named(name)]
        own = self._names.own_arguments(name, call.arguments, schemas)
        return call.with_changes(tool=name, arguments=own)

    def tools_named(self, name: str) -> Sequence[Tool]:
        """Return the tools of a name that are kept here, the newest last."""
        return self._named.get(name, ())

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
        unclear = unclear_tools(self.tools)
        for tool in (one for one in self.tools if one.key in unclear):
            message = f"No sample is made of it: {unclear[tool.key]}"
            self.report(str(path), "unclear_tool", message, tool.name)
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
        own = list(draft.notes)
        text = description if isinstance(description, str) else ""
        text = without_hidden(text, "The tool's description", own)
        note_hidden([name] if isinstance(name, str) else (), "The tool's name", own)
        if not isinstance(name, str) or not name.strip():
            own.append(Note("no_name", f"The tool's name is {shown(name)}, not text; left out."))
        if not text.strip():
            message = f"The description is {shown(description)}; the tool is kept without one."
            own.append(Note("no_description", message))
        schema = self._names.own_schema(schema)
        prose = read_rules(text, schema)
        notes = (
            *own,
            *notes,
            *return_notes,
            *(_note_of(rule, prose, schema) for rule in prose.rules),
            *_note_of_state(str(name), text, schema),
        )
        for note in notes:
            self.report(draft.where, note.kind, str(note), name if isinstance(name, str) else "")
        if not isinstance(name, str) or any(note.kind in FATAL for note in notes):
            return None
        properties: dict[str, JsonSchema] = schema["properties"]
        old = {name for name, stated in properties.items() if is_deprecated(stated)}
        unread = {*prose.unread, *old} - {*schema.get("required", ())}
        tool = Tool(
            name=self._names.own_tool(name),
            description=text,
            parameters=schema,
            returns=returns,
            category=draft.category,
            language=draft.language or self._language or main_language(text),
            source=source,
            plumbing=tuple(
                one
                for one, stated in properties.items()
                if one in draft.plumbing or one in unread or is_plumbing(one, stated)
            ),
            original=draft.original or _original_of(draft.parameters, notes, self._schemas),
        )
        for rule in (one for one in unread_rules_of(tool) if not one.is_usual):
            note = Note("doubted_rule", f'"{rule.sentence}"')
            self.report(draft.where, note.kind, str(note.within(rule.about)), tool.name)
        named = self._named.setdefault(tool.name, [])
        others = [one for one in named if one.language == tool.language]
        if others and tool.key not in self._tools:
            categories = ", ".join(repr(other.category) for other in others)
            message = f"{tool.name!r} of {tool.category!r} differs from that of {categories}."
            self.report(draft.where, "duplicate_name", message, tool.name)
        named.append(tool)
        return self._tools.setdefault(tool.key, tool)


def _note_of(rule: ProseRule, prose: ReadProse, schema: JsonSchema) -> Note:
    """Return the note on a rule that descriptions state in prose alone."""
    said = f'"{rule.sentence}"'
    if rule.is_read:
        message = f"Read from the description, and held when samples are made: {said}"
        return Note("prose_rule", message, rule.about)
    concerned = [name for name, sentence in prose.unread.items() if sentence == rule.sentence]
    needed = [name for name in concerned if name in schema.get("required", ())]
    done = f"{rule.about!r} is left out of what is made"
    if needed:
        done = f"samples need values for {needed[0]!r} in the recipe (`values`)"
    elif concerned:
        names = ", ".join(map(repr, concerned))
        done = f"no plan chooses {names} unless `plumbing: {{{concerned[0]}: false}}` says so"
    return Note("unread_rule", f"No schema says this rule, so {done}: {said}", rule.about)


def _note_of_state(name: str, text: str, schema: JsonSchema) -> Iterator[Note]:
    """Yield the note on a tool that works in some states of its things only."""
    if sentence := state_rule(name, text, schema):
        message = f'No simulated world knows this, so no goal in steps asks for it: "{sentence}"'
        yield Note("state_rule", message)


class _Schemas(NamedTuple):
    """A builder's schema state: its change, the nodes already changed, and those found valid.

    Nodes are looked up by identity and kept alive, so parts that many tools of a document share
    are checked and stored once.
    """

    change: Change
    met: dict[int, MetNode]
    met_in_returns: dict[int, MetNode]
    sound: dict[int, JsonSchema]


def _signature_of(parameters: JsonValue, schemas: _Schemas) -> Rewritten:
    """Return the parameters as a valid, self-contained object schema."""
    if isinstance(parameters, str):  # some write the schema as text
        with suppress(orjson.JSONDecodeError):
            parameters = orjson.loads(parameters) if parameters.strip() else None
    if isinstance(parameters, list) and isinstance(members := by_name(parameters), dict):
        parameters = {"type": "object", "properties": members}
    if parameters is None:
        note = Note("no_parameters", "No parameters are declared; taken as a tool that needs none.")
        return Rewritten({"type": "object", "properties": {}}, (note,))
    if not isinstance(parameters, dict):
        return _refused(f"The parameters are {shown(parameters)}, not an object schema; left out.")
    properties = as_current(parameters).get("properties", {})
    if not isinstance(properties, dict):
        return _refused(f"The properties are {shown(properties)}, not an object; left out.")
    written, odd = rewrite(
        parameters, schemas.change, before=as_current, hidden="readOnly", met=schemas.met
    )
    if written == IMPOSSIBLE:
        return Rewritten({}, (*_impossible(odd), *odd))
    schema, notes = _shaped(written)
    notes = (*odd, *notes)
    if any(note.kind in FATAL for note in notes):
        return Rewritten(schema, notes)
    members = schema["properties"].items()
    untyped = [name for name, one in members if isinstance(one, dict) and not TYPING & set(one)]
    if untyped:
        listed = ", ".join(map(repr, untyped))
        notes += (Note("untyped_parameter", f"No type is given for {listed}; any value is taken."),)
    return Rewritten(schema, (*notes, *_validity(schema, schemas)))


def _impossible(notes: Sequence[Note]) -> Iterator[Note]:
    """Yield why no call fits parameters, by the first required member that no value fits."""
    why = next((f": {note}" for note in notes if note.kind == "no_value"), ".")
    yield Note("impossible", f"No call fits these parameters{why} The tool is left out.")


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
    if whole is None or first_fault(whole, {}) is not None:
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
    schema, notes = rewrite(
        returns, schemas.change, before=as_current, hidden="writeOnly", met=schemas.met_in_returns
    )
    for note in (*notes, *_validity(schema, schemas)):
        if note.kind in FATAL:
            message = f"The result's schema can't be used: {note}"
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
    fault = first_fault(schema, schemas.sound)
    if fault is None:
        return []
    place = "/".join(fault.path) or "the top"
    reason = fault.reason if len(fault.reason) < 200 else f"{fault.reason[:200]}…"  # noqa: PLR2004
    message = f"The schema is not valid JSON Schema at {place} ({reason}); left out."
    return [Note("invalid_schema", message)]


_LEAST, _MOST = -(2**63), 2**64 - 1
_LARGEST = sys.float_info.max


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


def _refused(message: str) -> Rewritten:
    return Rewritten({}, (Note("not_an_object", message),))
