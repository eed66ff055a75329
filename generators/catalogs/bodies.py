"""The fields of a request's body, as far as they can stand side by side with an operation's other parameters."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note
from callwright.warehouse.records import JsonSchema

_PLAIN = frozenset({"type", "properties", "required", "title", "description", "examples", "additionalProperties"})
_BRANCHES = ("anyOf", "oneOf", "allOf")
_BESIDE = frozenset({"default", "deprecated", "readOnly", "writeOnly", "minProperties", "maxProperties"})
_READ = _PLAIN | _BESIDE | frozenset(_BRANCHES)
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
