"""Make JSON Schemas self-contained: write out local references and apply a change to each node."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import unquote

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note, ProblemKind, shown
from callwright.warehouse.records import JsonSchema

MOST_NODES = 20_000
DEEPEST = 24
ONE_SCHEMA = frozenset(
    {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)
SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMA_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
DEFINITIONS = frozenset(
    {"$defs", "definitions", "$schema", "$id", "$anchor", "$dynamicAnchor"}
    | {"$recursiveAnchor", "$recursiveRef", "$comment"}
)
ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")

_REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")
_SCOPES = ("$defs", "definitions")
_IN_SCOPE = ("#/$defs/", "#/definitions/")
_KEPT_WHEN_CUT = frozenset({"type", "title", "description", "format", "enum"})
_READ_WHEN_CUT = _KEPT_WHEN_CUT | {"nullable", "x-nullable"}
_DEEPEST_HINT = 4
_MOST_KEPT = 3_000  # nodes of a schema that is kept beside a tool
_MOST_UPPER = 5_000  # nodes of the upper levels: less than these is kept
# tried one after another, where a schema is too large as a whole
_FEWER_LEVELS = (12, 9, 7, 5, 4, 3, 2)
_CUT = frozenset({"circular_reference", "too_large"})
_DEAD: ProblemKind = "unresolvable_reference"

_TOO_LARGE = Note(
    "too_large",
    f"Written out, the schema has over {MOST_NODES} parts or {DEEPEST} levels; left out.",
)

Change = Callable[[JsonSchema, list[Note]], JsonSchema]


class Rewritten(NamedTuple):
    """A schema without references, with notes on oddities; unusable if a note is fatal."""

    schema: JsonSchema
    notes: tuple[Note, ...]


def unchanged(schema: JsonSchema, _: list[Note]) -> JsonSchema:
    """Return the node unchanged."""
    return schema


class MetNode(NamedTuple):
    """A node and its rewritten form; the node is kept alive so that its identity stays unique."""

    node: JsonSchema
    written: "WrittenTarget"


class WrittenTarget(NamedTuple):
    """The rewritten target of a reference, with its number of nodes and levels, and its notes."""

    schema: JsonSchema
    nodes: int
    levels: int
    notes: tuple[Note, ...]


def rewrite(
    schema: JsonSchema,
    change: Change = unchanged,
    *,
    before: Callable[[JsonSchema], JsonSchema] = dict,
    hidden: str = "",
    met: "dict[int, MetNode] | None" = None,
) -> Rewritten:
    """Return `schema` with references into itself expanded and nodes changed, innermost first.

    Remote references are never fetched. A schema that contains itself is cut where it repeats.
    `before` is done to each node first. Members that are `hidden` ("readOnly") are dropped. `met`
    keeps the nodes without references, because a document's tools share most of them.
    """
    side = Side(schema, lambda node, _: before(node), change, hidden, {}, {}, is_document=False)
    return _rewritten(schema, _Rewriting(side, met))


class Side(NamedTuple):
    """What the schemas of one side share, requests or responses.

    Members that are `hidden` there ("readOnly") are no part of it.

    `before` is done to each node with its references, `change` to each that is written out. A side
    that is no document is a schema by itself.
    """

    root: JsonValue
    before: Callable[[JsonSchema, JsonValue], JsonSchema]
    change: Change
    hidden: str
    known: dict[str, WrittenTarget]
    written: dict[bytes, tuple[Rewritten, bool]]
    is_document: bool = True


def rewrite_upper(schema: JsonSchema, side: Side) -> tuple[Rewritten, bool]:
    """Rewrite a schema, or its upper levels if it is too large; also return whether it was cut."""
    schema_bytes = orjson.dumps(schema)
    if schema_bytes not in side.written:  # a document's operations have few schemas between them
        rewritten_schema = Rewritten({}, (_TOO_LARGE,)), True
        for levels in (None, *_FEWER_LEVELS):
            with suppress(_TooLargeError):
                rewritten_schema = (
                    _rewritten(schema, _Rewriting(side, levels=levels)),
                    levels is not None,
                )
                break
        side.written[schema_bytes] = rewritten_schema
    return side.written[schema_bytes]


def with_definitions(schema: JsonSchema, side: Side) -> JsonSchema | None:
    """Return a schema with its references kept, and what they lead to under `$defs`.

    Nodes are changed as in `rewrite`; a reference that leads nowhere allows any value. None if it
    has more than `_MOST_KEPT` parts.
    """
    keeping = _Keeping(side._replace(hidden=side.hidden or "x-hidden-nowhere"))
    try:
        whole = keeping.schema(schema, ())
        while keeping.waiting:
            name, target = keeping.waiting.pop()
            keeping.definitions[name] = keeping.schema(target, ())
    except _TooLargeError:
        return None
    if not isinstance(whole, dict):
        return None
    return {**whole, "$defs": keeping.definitions} if keeping.definitions else whole


class _TooLargeError(Exception):
    """A schema has more parts than are expanded; never leaves this module."""


def _rewritten(schema: JsonSchema, rewriting: "_Rewriting") -> Rewritten:
    result = rewriting.schema(schema, ())
    return Rewritten(result if isinstance(result, dict) else {}, _once(rewriting.notes))


def _once(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return each note once, with the first member that it is about."""
    return tuple({note[:2]: note for note in reversed(notes)}.values())[::-1]


Shortened = dict[tuple[int, int], tuple[JsonSchema, JsonSchema]]


def shortened(schema: JsonSchema, most: int, known: Shortened) -> tuple[JsonSchema, int]:
    """Cut `schema` at the deepest level with at most `most` nodes; also return that level, or 0.

    The level is 0 if everything is kept. `known` caches cut nodes by identity and levels, so
    that schemas still share them.
    """
    layer, nodes, level = [schema], 1, 0
    while layer:
        layer = [part for one in layer for part in parts_of(one)]
        nodes, level = nodes + len(layer), level + 1
        if nodes > most:
            return _down_to(schema, max(level - 1, 1), known), max(level - 1, 1)
    return schema, 0


def parts_of(schema: JsonSchema) -> Iterator[JsonSchema]:
    """Yield the direct subschemas of a schema."""
    for key, value in schema.items():
        if key in SCHEMA_MAPS and isinstance(value, dict):
            yield from (part for part in value.values() if isinstance(part, dict))
        elif key in SCHEMA_LISTS and isinstance(value, list):
            yield from (part for part in value if isinstance(part, dict))
        elif key in ONE_SCHEMA and isinstance(value, dict):
            yield value


def _down_to(schema: JsonSchema, level: int, known: Shortened) -> JsonSchema:
    if level == 0:
        return {key: value for key, value in schema.items() if key in _KEPT_WHEN_CUT}
    cut_schema = known.get((id(schema), level))
    if cut_schema is None:
        cut = {key: _member_down_to(key, value, level - 1, known) for key, value in schema.items()}
        cut_schema = known[id(schema), level] = (schema, cut)
    return cut_schema[1]


def _member_down_to(key: str, value: JsonValue, level: int, known: Shortened) -> JsonValue:
    def cut(part: JsonValue) -> JsonValue:
        return _down_to(part, level, known) if isinstance(part, dict) else part

    if key in SCHEMA_MAPS and isinstance(value, dict):
        return {name: cut(part) for name, part in value.items()}
    if key in SCHEMA_LISTS and isinstance(value, list):
        return [cut(part) for part in value]
    return cut(value) if key in ONE_SCHEMA else value


def without(schema: JsonSchema, *keys: str) -> JsonSchema:
    """A schema without some of its keywords."""
    return {key: value for key, value in schema.items() if key not in keys}


def resolve(pointer: str, root: JsonValue) -> JsonValue:
    """Return the target of a local reference (`#/…`) in `root`, or None if there is none."""
    if not pointer.startswith("#"):
        return None
    pointed_value = root
    for step in unquote(pointer[1:]).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(pointed_value, dict):
            pointed_value = pointed_value.get(name)
        elif isinstance(pointed_value, list) and name.isascii() and name.isdigit():
            pointed_value = pointed_value[int(name)] if int(name) < len(pointed_value) else None
        else:
            return None
    return pointed_value


class _Rewriting:
    """One traversal, with its notes and node count; below `levels`, nodes are only outlined."""

    def __init__(
        self, side: Side, met: dict[int, MetNode] | None = None, *, levels: int | None = None
    ) -> None:
        self.notes: list[Note] = []
        self._side, self._root, self._met = side, side.root, met
        self._scopes: list[JsonSchema] = []
        self._levels, self._is_upper = levels or DEEPEST, levels is not None
        self._most = MOST_NODES if levels is None else _MOST_UPPER
        self._outlined = self._references = self._deepest = self._nodes = 0

    def schema(self, schema: JsonValue, trail: tuple[str, ...], level: int = 0) -> JsonValue:
        """Return one schema, expanded; `trail` holds the references that led to it."""
        self._nodes += 1
        self._deepest = max(self._deepest, level)
        if self._nodes > self._most or (level > self._levels and not self._is_upper):
            if self._side.is_document:
                raise _TooLargeError
            self.notes.append(_TOO_LARGE)
            return {}
        if not isinstance(schema, dict):
            return schema
        if level > self._levels:
            return self._outline(schema)
        if self._met is None:
            return self._whole(schema, trail, level)
        met = self._met.get(id(schema))
        if met is not None:
            taken = self._taken(met.written, level)
            return self._whole(schema, trail, level) if taken is None else taken
        notes, nodes, references, deepest = (
            len(self.notes),
            self._nodes,
            self._references,
            self._deepest,
        )
        self._deepest = level
        written = self._whole(schema, trail, level)
        more, levels = tuple(self.notes[notes:]), self._deepest - level
        if self._references == references and not any(note.kind in _CUT for note in more):
            target = WrittenTarget(written, self._nodes - nodes, levels, _once(more))
            self._met[id(schema)] = MetNode(schema, target)
        self._deepest = max(deepest, self._deepest)
        return written

    def _taken(self, target: WrittenTarget, level: int) -> JsonSchema | None:
        """Reuse a rewritten target, counting its nodes again; None if it exceeds the limits."""
        if self._nodes + target.nodes > self._most or level + target.levels > self._levels:
            return None
        self._nodes += target.nodes
        self._deepest = max(self._deepest, level + target.levels)
        self.notes += target.notes
        return target.schema

    def _whole(self, schema: JsonSchema, trail: tuple[str, ...], level: int) -> JsonSchema:
        """Expand one schema that has not been expanded yet, completely."""
        schema = self._shown(self._side.before(schema, self._root))
        self._references += any(word in schema for word in _REFERRING)
        has_own = any(key in schema for key in _SCOPES)
        self._scopes += [schema] * has_own
        written = {
            key: (
                self._members(value, schema, trail, level)
                if key == "properties" and isinstance(value, dict)
                else self._member(key, value, trail, level)
            )
            for key, value in schema.items()
            if key not in DEFINITIONS
        }
        if "$recursiveRef" in schema:
            message = "The schema holds itself by '$recursiveRef'; cut there, any value is taken."
            self.notes.append(Note("circular_reference", message))
        pointer = written.pop("$ref", None)
        if "$dynamicRef" in written or (pointer is not None and not isinstance(pointer, str)):
            self._note_unresolvable(pointer if pointer is not None else written["$dynamicRef"])
        elif isinstance(pointer, str):
            written = _joined(self._target(pointer, trail, level), written)
        del self._scopes[len(self._scopes) - has_own :]
        return _with_choices_of_members(self._side.change(_with_prefix_items(written), self.notes))

    def _outline(self, schema: JsonSchema) -> JsonSchema:
        """Return the outline of a schema that is nested too deep: its type and description."""
        self._outlined += 1
        pointer = schema.get("$ref")
        target = resolve(pointer, self._root) if isinstance(pointer, str) else None
        whole = {**target, **schema} if isinstance(target, dict) else schema
        read = {key: value for key, value in whole.items() if key in _READ_WHEN_CUT}
        return self._side.change(read, [])

    def _shown(self, schema: JsonSchema) -> JsonSchema:
        """Return a schema without the members that are hidden on this side."""
        members, required = schema.get("properties"), schema.get("required")
        if not isinstance(members, dict):
            return schema
        kept = {name: one for name, one in members.items() if not self._is_hidden(one)}
        if len(kept) == len(members):
            return schema
        if not self._side.is_document:  # there it is the rule
            lost = shown([name for name in members if name not in kept])
            self.notes.append(Note("read_only", f"{lost} is {self._side.hidden}; dropped."))
        whole = {**schema, "properties": kept}
        if isinstance(required, list):
            whole["required"] = [name for name in required if name in kept or name not in members]
        return whole

    def _is_hidden(self, member: JsonValue, level: int = 0) -> bool:
        """Whether a member, its reference's target or one of its `allOf` schemas is hidden."""
        if not self._side.hidden or not isinstance(member, dict) or level > _DEEPEST_HINT:
            return False
        pointer, every = member.get("$ref"), member.get("allOf")
        parts = [resolve(pointer, self._root)] if isinstance(pointer, str) else []
        parts += every if isinstance(every, list) else []
        is_hidden = member.get(self._side.hidden) is True
        return is_hidden or any(self._is_hidden(part, level + 1) for part in parts)

    def _members(
        self, members: JsonSchema, owner: JsonSchema, trail: tuple[str, ...], level: int
    ) -> JsonSchema:
        """Rewrite an object's members; drop optional ones with dead references."""
        required, rewritten_members = owner.get("required"), dict[str, JsonValue]()
        for name, member in members.items():
            before = len(self.notes)
            rewritten_members[name] = self.schema(member, trail, level + 1)
            self.notes[before:] = [
                note if note.kind in _CUT else note.within(name) for note in self.notes[before:]
            ]
            dead = [note for note in self.notes[before:] if note.kind == _DEAD]
            if dead and not (isinstance(required, list) and name in required):
                del rewritten_members[name]
                others = [note for note in self.notes[before:] if note.kind != _DEAD]
                message = (
                    f"The member {shown(name)} refers to what is nothing in this file; dropped."
                )
                self.notes[before:] = [*others, Note("unsupported", f"{message} {dead[0].message}")]
        return rewritten_members

    def _member(self, key: str, value: JsonValue, trail: tuple[str, ...], level: int) -> JsonValue:
        if key in SCHEMA_MAPS and isinstance(value, dict):
            return {name: self.schema(item, trail, level + 1) for name, item in value.items()}
        if isinstance(value, list) and (key in SCHEMA_LISTS or key == "items"):
            return [self.schema(item, trail, level + 1) for item in value]
        return self.schema(value, trail, level + 1) if key in ONE_SCHEMA else value

    def _target(self, pointer: str, trail: tuple[str, ...], level: int) -> JsonSchema:
        target_schema = resolve(pointer, self._root)
        is_own = False
        # written for itself, then put in
        if target_schema is None and pointer.startswith(_IN_SCOPE):
            own_scopes = (resolve(pointer, scope) for scope in reversed(self._scopes))
            target_schema, is_own = next((one for one in own_scopes if one is not None), None), True
        if target_schema is True:
            return {}
        if not isinstance(target_schema, dict):
            self._note_unresolvable(pointer)
            return {}
        if pointer in trail:
            message = f"{shown(pointer)} holds itself; cut where it begins again, any value."
            self.notes.append(Note("circular_reference", message))
            return {
                key: target_schema[key]
                for key in ("type", "title", "description")
                if isinstance(target_schema.get(key), str)
            }
        if is_own:
            own = self.schema(target_schema, (*trail, pointer), level + 1)
            return own if isinstance(own, dict) else {}
        return self._written(pointer, target_schema, trail, level + 1)

    def _written(
        self, pointer: str, found: JsonSchema, trail: tuple[str, ...], level: int
    ) -> JsonSchema:
        """Return the expanded target of a reference; cache it if nothing in it was cut."""
        known = self._side.known.get(pointer)
        taken = self._taken(known, level) if known else None
        if taken is not None:
            return taken
        notes, nodes, deepest, self._deepest = len(self.notes), self._nodes, self._deepest, level
        outlined = self._outlined
        target = self.schema(found, (*trail, pointer), level)
        written = target if isinstance(target, dict) else {}
        more, levels = tuple(self.notes[notes:]), self._deepest - level
        if self._outlined == outlined and not any(note.kind in _CUT for note in more):
            self._side.known[pointer] = WrittenTarget(
                written, self._nodes - nodes, levels, _once(more)
            )
        self._deepest = max(deepest, self._deepest)
        return written

    def _note_unresolvable(self, pointer: object) -> None:
        message = f"The reference {shown(pointer)} points at nothing in this file; left out."
        self.notes.append(Note(_DEAD, message))


class _Keeping(_Rewriting):
    """A traversal that keeps references: each target is `waiting` once, to stand in `$defs`."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._most = _MOST_KEPT
        self._names: dict[int, str] = {}
        self.definitions: dict[str, JsonValue] = {}
        self.waiting: list[tuple[str, JsonSchema]] = []

    def _target(self, pointer: str, trail: tuple[str, ...], level: int) -> JsonSchema:
        del trail, level
        scopes = reversed(self._scopes) if pointer.startswith(_IN_SCOPE) else ()
        found = (resolve(pointer, one) for one in (self._root, *scopes))
        target = next((one for one in found if one is not None), None)
        if not isinstance(target, dict):
            return {}
        if id(target) not in self._names:
            self._names[id(target)] = f"{len(self._names) + 1}"
            self.waiting.append((self._names[id(target)], target))
        return {"$ref": f"#/$defs/{self._names[id(target)]}"}


def _joined(target: JsonSchema, beside: JsonSchema) -> JsonSchema:
    """Combine a reference's target with the keywords beside the reference; both apply."""
    clash = [key for key in beside if key in target and key not in ANNOTATIONS]
    return {"allOf": [target, beside]} if clash else {**target, **beside}


def _with_choices_of_members(schema: JsonSchema) -> JsonSchema:
    """Move the choices of an array to its items, unless the choices are arrays themselves."""
    choices, items = schema.get("enum"), schema.get("items", {})
    if (
        schema.get("type") != "array"
        or not isinstance(choices, list)
        or not isinstance(items, dict)
    ):
        return schema
    if not choices or any(isinstance(one, list) for one in choices) or "enum" in items:
        return schema
    return {**without(schema, "enum"), "items": {**items, "enum": choices}}


def _with_prefix_items(schema: JsonSchema) -> JsonSchema:
    """Rename a tuple's list of `items`, as older drafts write it, to `prefixItems`."""
    if not isinstance(schema.get("items"), list):
        return schema
    return {"prefixItems" if key == "items" else key: value for key, value in schema.items()}
