"""The fields of a request's body, as far as they can stand side by side with an operation's other parameters."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note
from callwright.generators.tools import mended
from callwright.language.schemas import choices_of, fits
from callwright.warehouse.records import JsonSchema

_PLAIN = frozenset({"type", "properties", "required", "title", "description", "examples", "additionalProperties"})
_BRANCHES = ("anyOf", "oneOf", "allOf")
_BESIDE = frozenset({"default", "deprecated", "readOnly", "writeOnly", "minProperties", "maxProperties"})
_READ = _PLAIN | _BESIDE | frozenset(_BRANCHES)
_MOST_EXAMPLES = 8
_SPREAD = "The body {what}; its fields stand side by side as parameters."


class BodyFields(NamedTuple):
    """The fields of a body, which of them it requires, and what is lost by giving them one by one."""

    properties: Mapping[str, JsonValue]
    required: tuple[str, ...]
    notes: tuple[Note, ...] = ()


def fields_of(schema: JsonSchema) -> BodyFields | None:
    """The fields of a body that is an object, or one of several; None where it is anything else, or names no field."""
    found = _fields(schema)
    return found if found is not None and (found.properties or _is_plain(schema)) else None


def wrapped_in(fields: BodyFields) -> tuple[str, BodyFields] | None:
    """The one member that a body holds everything in, such as `data`, with what stands in it; None where there is none."""
    if len(fields.properties) != 1:
        return None
    name, schema = next(iter(fields.properties.items()))
    inner = fields_of(schema) if isinstance(schema, dict) else None
    return (name, inner._replace(notes=(*fields.notes, *inner.notes))) if inner and inner.properties else None


def with_examples(schema: JsonSchema, stated: Sequence[JsonValue]) -> JsonSchema:
    """The schema with values of it as examples, those of an object at its members; what has examples or choices keeps them.

    A value that the schema does not allow is no example of it, but for another type of the same.

    >>> with_examples({"properties": {"seats": {"type": "integer"}}}, [{"seats": "3"}, {"seats": "many"}])
    {'properties': {'seats': {'type': 'integer', 'examples': [3]}}}
    """
    values = [one for one in stated if one is not None]
    if not values:
        return schema
    members, items = schema.get("properties"), schema.get("items")
    if isinstance(members, dict) and members:
        objects = [one for one in values if isinstance(one, dict)]
        given = {name: [one[name] for one in objects if name in one] for name in members}
        return {
            **schema,
            "properties": {
                name: with_examples(one, given[name]) if isinstance(one, dict) else one for name, one in members.items()
            },
        }
    if isinstance(items, dict) and isinstance(items.get("properties"), dict):
        inside = [item for one in values if isinstance(one, list) for item in one]
        return {**schema, "items": with_examples(items, inside)}
    for key in _BRANCHES:
        branches = schema.get(key)
        if isinstance(branches, list):
            return {**schema, key: [with_examples(one, values) if isinstance(one, dict) else one for one in branches]}
    said = [mended(one, schema) for one in values if _may_be_said(one)]
    fitting = [one for one in said if fits(one, schema)]
    if not fitting or "examples" in schema or choices_of(schema):
        return schema
    distinct = {orjson.dumps(one): one for one in fitting}
    return {**schema, "examples": [*distinct.values()][:_MOST_EXAMPLES]}


def _may_be_said(value: JsonValue) -> bool:
    """Whether a value is one that stands for something: neither empty nor an object."""
    return isinstance(value, bool | int | float) or (bool(value) and not isinstance(value, dict))


def _is_plain(schema: JsonSchema) -> bool:
    return (
        set(schema) <= _PLAIN
        and schema.get("type", "object") == "object"
        and isinstance(schema.get("properties"), dict)
        and not schema.get("additionalProperties")
    )


def _fields(schema: JsonSchema) -> BodyFields | None:
    if set(schema) - _READ or not _is_object(schema.get("type", "object")):
        return None
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return None
    whole = BodyFields(dict(properties), _names(schema.get("required")), tuple(_loosened(schema)))
    for key in _BRANCHES:
        if key in schema:
            joined = _joined(whole, key, schema[key])
            if joined is None:
                return None
            whole = joined
    return whole


def _joined(whole: BodyFields, key: str, stated: JsonValue) -> BodyFields | None:
    """The fields of an object with those of its branches: of `allOf` each branch holds, of the others one or some of them."""
    branches = [one for one in stated if not _is_null(one)] if isinstance(stated, list) else []
    parts = [_fields(one) if isinstance(one, dict) else None for one in branches]
    found = [part for part in parts if part is not None]
    if not found or len(found) < len(parts):
        return None
    properties = dict(whole.properties)
    for part in found:
        for name, schema in part.properties.items():
            properties[name] = _either(properties[name], schema) if name in properties else schema
    sets = [set(part.required) for part in found]
    everywhere = set.union(*sets) if key == "allOf" else set.intersection(*sets)
    required = dict.fromkeys((*whole.required, *(name for name in properties if name in everywhere)))
    notes = [note for part in found for note in part.notes]
    if key != "allOf" and len(found) > 1:
        what = f"is one of {len(found)} objects" if key == "oneOf" else f"is any of {len(found)} objects"
        notes.append(Note("flattened_body", _SPREAD.format(what=f"{what}, and which fields go together is not kept")))
    return BodyFields(properties, tuple(required), tuple(dict.fromkeys((*whole.notes, *notes))))


def _loosened(schema: JsonSchema) -> list[Note]:
    notes = []
    if schema.get("additionalProperties") and schema.get("properties"):
        notes.append(
            Note("flattened_body", _SPREAD.format(what="takes fields that it does not name, which are dropped"))
        )
    return notes


def _either(one: JsonValue, other: JsonValue) -> JsonValue:
    """What holds for a field that two branches state."""
    if one == other:
        return one
    known = one.get("anyOf") if isinstance(one, dict) and set(one) == {"anyOf"} else None
    listed = known if isinstance(known, list) else [one]
    return {"anyOf": listed if other in listed else [*listed, other]}


def _is_object(kind: JsonValue) -> bool:
    return kind == "object" or (isinstance(kind, list) and set(map(str, kind)) == {"object", "null"})


def _is_null(schema: JsonValue) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _names(required: JsonValue) -> tuple[str, ...]:
    return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()
