"""Schemas of parameters as the interfaces of models take them, mended without another meaning.

OpenAI and Anthropic refuse alternatives at the top, OpenAI arrays without `items` and choices
that list nothing, Gemini `items` of what is no array. What allows the same values otherwise is
written so; alternatives at the top are dropped, so that the schema allows more than the document.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.warehouse.records import JsonSchema, Tool

ALTERNATIVES = "alternatives at the top of the parameters are not said; their members are listed"
NO_ITEMS = "arrays that do not say what they hold allow anything"
STRAY_ITEMS = "`items` of what is no array is dropped"
NO_CHOICE = "a parameter without a choice is left out"
REPEATED = "choices are listed once"
NO_VALUE = "a required parameter has no choice, which no interface takes"
_TOP = ("allOf", "anyOf", "oneOf", "not", "enum", "const")
_VALUES = frozenset({"const", "default", "enum", "examples"})
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs"})


class WireSchema(NamedTuple):
    """A mended schema, what was changed, and why no interface takes it, or ""."""

    schema: JsonSchema
    changes: tuple[str, ...]
    problem: str = ""


@lru_cache(4096)
def wire_schema(tool: Tool) -> WireSchema:
    """Return the parameters of a tool as interfaces take them."""
    changes: dict[str, None] = {}
    schema = _without_alternatives(tool.parameters, changes)
    mended = _mended({"type": "object", "properties": {}, **schema}, changes)
    return WireSchema(mended, tuple(changes), NO_VALUE if NO_VALUE in changes else "")


def _without_alternatives(schema: JsonSchema, changes: dict[str, None]) -> JsonSchema:
    """Return an object without alternatives at its top, with what they declare and all require."""
    if not any(word in schema for word in _TOP):
        return schema
    changes[ALTERNATIVES] = None
    plain = {key: value for key, value in schema.items() if key not in _TOP}
    members = dict(plain.get("properties", {}))
    required = list(plain.get("required", ()))
    for word in ("allOf", "anyOf", "oneOf"):
        parts = [
            _without_alternatives(one, {}) for one in schema.get(word, ()) if isinstance(one, dict)
        ]
        for part in parts:
            for name, member in part.get("properties", {}).items():
                known = members.get(name)
                members[name] = member if known is None else _either(known, member)
        needed = [set(part.get("required", ())) for part in parts] or [set()]
        common = set.union(*needed) if word == "allOf" else set.intersection(*needed)
        required += sorted(common - {*required})
    plain["properties"] = members
    return {**plain, "required": required} if required else plain


def _either(one: JsonValue, other: JsonValue) -> JsonValue:
    """Return a schema that allows what either allows."""
    if one == other or not isinstance(one, dict) or not isinstance(other, dict):
        return one
    branches = one["anyOf"] if one.keys() == {"anyOf"} else None
    known = branches if isinstance(branches, list) else [one]
    return {"anyOf": [*known, *([] if other in known else [other])]}


def _mended(schema: JsonSchema, changes: dict[str, None]) -> JsonSchema:
    plain = dict(_parts_mended(schema, changes))
    kinds = plain.get("type", [])
    is_array = "array" in (kinds if isinstance(kinds, list) else [kinds])
    if is_array and "items" not in plain:
        changes[NO_ITEMS] = None
        plain["items"] = {}
    elif kinds and not is_array and "items" in plain:
        changes[STRAY_ITEMS] = None
        del plain["items"]
    if isinstance(choices := plain.get("enum"), list):
        once = list({(type(one), str(one)): one for one in choices}.values())
        if len(once) < len(choices):
            changes[REPEATED] = None
            plain["enum"] = once
    return _with_choices(plain, changes)


def _parts_mended(schema: JsonSchema, changes: dict[str, None]) -> Iterator[tuple[str, JsonValue]]:
    for key, value in schema.items():
        if key in _VALUES:
            yield key, value
        elif key in _MAPS and isinstance(value, dict):
            yield key, {name: _mended_part(one, changes) for name, one in value.items()}
        else:
            yield key, _mended_part(value, changes)


def _mended_part(value: JsonValue, changes: dict[str, None]) -> JsonValue:
    if isinstance(value, list):
        return [_mended_part(one, changes) for one in value]
    return _mended(value, changes) if isinstance(value, dict) else value


def _with_choices(schema: JsonSchema, changes: dict[str, None]) -> JsonSchema:
    """Return an object without the optional members that no value fits."""
    members = schema.get("properties")
    if not isinstance(members, dict):
        return schema
    lost = {
        name for name, one in members.items() if isinstance(one, dict) and one.get("enum") == []
    }
    if not lost:
        return schema
    changes[NO_VALUE if lost & {*schema.get("required", ())} else NO_CHOICE] = None
    kept = {name: one for name, one in members.items() if name not in lost}
    return {**schema, "properties": kept}
