"""Translate OpenAPI 3.0 and 3.1 schemas into plain JSON Schema with the fewest keywords.

`before` takes a node with its references; `as_json_schema` takes nodes with references written
out, innermost first.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note
from callwright.generators.catalogs.descriptions import plain_text, without_choices
from callwright.generators.catalogs.rewriting import ANNOTATIONS, LOWER, UPPER, resolve, without
from callwright.generators.catalogs.schema_words import (
    EXCLUDING,
    KINDS,
    are_names,
    as_current,
    exclusive,
    is_null,
    is_number,
    nullable,
    of_its_type,
    with_examples,
)
from callwright.warehouse.records import JsonSchema

FOREIGN = frozenset({"discriminator", "xml", "externalDocs", "nullable", "x-nullable"})
_BRANCHES = ("oneOf", "anyOf")
_LONGEST_GLOSSARY = 600
_MOST_EXAMPLES = 20


def before(schema: JsonSchema, root: JsonValue) -> JsonSchema:
    """Resolve what depends on references: shared properties, draft-3 `required`, discriminators."""
    members = schema.get("properties")
    pointer = members.get("$ref") if isinstance(members, dict) else None
    found = resolve(pointer, root) if isinstance(pointer, str) else None
    if isinstance(found, dict):
        schema = {**schema, "properties": found}
    return _told_apart(as_current(schema), root)


def _told_apart(schema: JsonSchema, root: JsonValue) -> JsonSchema:
    """Add the discriminator's value to the alternatives that don't state it themselves."""
    discriminator = schema.get("discriminator")
    name = discriminator.get("propertyName") if isinstance(discriminator, dict) else None
    key = next((one for one in _BRANCHES if isinstance(schema.get(one), list)), "")
    if not isinstance(discriminator, dict) or not isinstance(name, str) or not key:
        return schema
    stated = discriminator.get("mapping")
    mapping = stated if isinstance(stated, dict) else {}
    branches = [_named_branch(one, name, mapping, root) for one in schema[key]]
    return {**without(schema, "discriminator"), key: branches}


def _named_branch(
    branch: JsonValue, name: str, mapping: Mapping[str, JsonValue], root: JsonValue
) -> JsonValue:
    pointer = branch.get("$ref") if isinstance(branch, dict) else None
    if not isinstance(pointer, str):
        return branch
    target, title = resolve(pointer, root), pointer.rpartition("/")[2]
    members = target.get("properties") if isinstance(target, dict) else None
    own = members.get(name) if isinstance(members, dict) else None
    if not isinstance(own, dict) or own.keys() & {"enum", "const", "$ref"}:
        return branch
    values: list[JsonValue] = [value for value, one in mapping.items() if one in (pointer, title)]
    told: JsonSchema = {"properties": {name: {"enum": values or [title]}}, "required": [name]}
    return {"allOf": [branch, told]}


def as_json_schema(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Return a schema node without OpenAPI keywords, with alternatives merged where equivalent."""
    stated = with_examples(schema)
    own = [key for key in stated if key not in FOREIGN and not key.startswith("x-")]
    plain = {key: stated[key] for key in own}
    for bound in ("minimum", "maximum"):
        plain = exclusive(plain, bound, f"exclusive{bound.capitalize()}")
    plain = of_its_type(_merged(plain), notes)
    for key in _BRANCHES:
        plain = _simpler(plain, key)
    if isinstance(plain.get("description"), str):
        items = plain.get("items")  # it lists choices, or its items do
        choices = (items if isinstance(items, dict) else plain).get("enum")
        listed = choices if isinstance(choices, list) else []
        plain["description"] = without_choices(plain_text(plain["description"]), listed)
    return nullable(plain) if True in (schema.get("nullable"), schema.get("x-nullable")) else plain


def _simpler(schema: JsonSchema, key: str) -> JsonSchema:
    """Merge alternatives that are choices, differ only in wording, or are one schema or null."""
    branches = schema.get(key)
    if not _are_schemas(branches):
        return schema
    rest = without(schema, key)
    others = _distinct([one for one in branches if not is_null(one)])
    may_be_null = any(map(is_null, branches))
    if may_be_null and rest.keys() & EXCLUDING:
        return schema
    joined = _as_choices(others) or _as_open(others) or (others[0] if len(others) == 1 else None)
    whole = None if joined is None else _both(joined, rest)
    if joined is None or whole is None:
        return schema
    text, more = rest.get("description"), joined.get("description", "")
    if isinstance(text, str) and "description" in joined:
        is_said = not isinstance(more, str) or more in text
        whole["description"] = text if is_said else f"{text.rstrip()} {more}"
    said = nullable(whole) if may_be_null else whole
    # what stood inside may be simpler beside what stood here
    return said if said == schema else _simpler(said, key)


def _distinct(branches: list[JsonSchema]) -> list[JsonSchema]:
    """Return the alternatives that allow different values."""
    distinct_branches: list[JsonSchema] = []
    for one in branches:
        if not any(_bare(one) == _bare(other) for other in distinct_branches):
            distinct_branches.append(one)
    return distinct_branches


def _bare(schema: JsonSchema) -> JsonSchema:
    return without(schema, *ANNOTATIONS)


def _as_choices(branches: list[JsonSchema]) -> JsonSchema | None:
    """Merge alternatives that are only values into one enum with their descriptions, or None."""
    if len(branches) < 2 or not all(_values_of(one) for one in branches):  # noqa: PLR2004 - one is no alternative
        return None
    kinds = {
        one["type"] if isinstance(one["type"], str) else "" for one in branches if "type" in one
    }
    values: list[JsonValue] = []
    for branch in branches:
        values += [value for value in _values_of(branch) if value not in values]
    fits = KINDS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if kinds and (fits is None or not all(map(fits, values))):
        return None
    joined: JsonSchema = {"type": kinds.pop()} if kinds else {}
    joined["enum"] = values
    said = "; ".join(_glossary(branches))
    return joined | ({"description": f"{said}."} if said and len(said) <= _LONGEST_GLOSSARY else {})


def _values_of(schema: JsonSchema) -> list[JsonValue]:
    """Return the values that a schema lists if it states nothing else but their type."""
    bare = _bare(schema)
    if bare.keys() <= {"type", "const"} and "const" in bare:
        return [bare["const"]]
    choices = bare.get("enum")
    return list(choices) if bare.keys() <= {"type", "enum"} and isinstance(choices, list) else []


def _glossary(branches: list[JsonSchema]) -> Iterator[str]:
    for one in branches:
        branch_text, values = one.get("description") or one.get("title"), _values_of(one)
        if (
            len(values) == 1
            and isinstance(branch_text, str)
            and not _are_alike(branch_text, str(values[0]))
        ):
            yield f"{values[0]}: {plain_text(branch_text).strip().rstrip('.')}"


def _are_alike(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _as_open(branches: list[JsonSchema]) -> JsonSchema | None:
    """Return the open alternative, with the values that the others list as examples, or None."""
    opened = [one for one in branches if _bare(one).keys() == {"type"}]
    listed = [one for one in branches if _values_of(one)]
    if len(opened) != 1 or not listed or len(opened) + len(listed) < len(branches):
        return None
    values = [value for one in listed for value in _values_of(one)]
    fits = KINDS.get(str(opened[0]["type"]))
    if fits is None or not all(map(fits, values)):
        return None
    return {**opened[0], "examples": values[:_MOST_EXAMPLES]}


def _merged(schema: JsonSchema) -> JsonSchema:
    """Merge the parts of `allOf` into one schema if a single schema can express them all."""
    parts = schema.get("allOf")
    if not _are_schemas(parts):
        return schema
    whole: JsonSchema | None = {}
    for part in (*parts, without(schema, "allOf")):
        whole = None if whole is None else _both(whole, part)
    return schema if whole is None else whole


def _both(one: JsonSchema, other: JsonSchema) -> JsonSchema | None:
    """Merge two schemas, the second one's annotations winning; None if one can't express both."""
    whole = dict(one)
    for key, value in other.items():
        if key not in whole or whole[key] == value or key in ANNOTATIONS:
            whole[key] = value
            continue
        join = _JOINS.get(key)
        joined = join(whole[key], value) if join else None
        if joined is None:
            return None
        whole[key] = joined
    return _of_both(whole)


def _of_both(whole: JsonSchema) -> JsonSchema | None:
    """Return the schema with the choices that have its type; None if no choice has."""
    kind, choices = whole.get("type"), [whole["const"]] if "const" in whole else whole.get("enum")
    if "const" in whole and isinstance(whole.get("enum"), list):
        if whole["const"] not in whole["enum"]:
            return None
        whole = without(whole, "enum")
    kinds = [kind] if isinstance(kind, str) else kind if are_names(kind) else []
    if not isinstance(choices, list) or not kinds or not set(kinds) <= KINDS.keys():
        return whole
    left = [one for one in choices if any(KINDS[name](one) for name in kinds)]
    if left and len(left) < len(choices) and "const" not in whole:
        return {**whole, "enum": left}
    return whole if left else None


def _both_types(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    kinds, others = ([kind] if isinstance(kind, str) else kind for kind in (one, other))
    if not are_names(kinds) or not are_names(others):
        return None
    common_types = [
        kind for kind in kinds if kind in others or (kind == "integer" and "number" in others)
    ]
    if "number" in kinds and "integer" in others and "integer" not in common_types:
        common_types.append("integer")
    return common_types[0] if len(common_types) == 1 else common_types or None


def _both_choices(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    if not isinstance(one, list) or not isinstance(other, list):
        return None
    return [value for value in one if value in other] or None


def _both_members(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    if not isinstance(one, dict) or not isinstance(other, dict):
        return None
    members = dict(one)
    for name, schema in other.items():
        members[name] = _both_schemas(members[name], schema) if name in members else schema
    return members


def _both_schemas(one: JsonValue, other: JsonValue) -> JsonValue:
    if one == other or not isinstance(other, dict):
        return one
    if not isinstance(one, dict):
        return other
    whole = _both(one, other)
    return {"allOf": [one, other]} if whole is None else whole


def _both_required(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    if not are_names(one) or not are_names(other):
        return None
    return [*one, *(name for name in other if name not in one)]


def _both_rests(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    if one is True or one == {}:
        return other
    return one if other is True or other == {} else None


def _bound(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: choose(one, other) if is_number(one) and is_number(other) else None


_JOINS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _both_types,
    "enum": _both_choices,
    "properties": _both_members,
    "required": _both_required,
    "additionalProperties": _both_rests,
    **dict.fromkeys(LOWER, _bound(max)),
    **dict.fromkeys(UPPER, _bound(min)),
}


def _are_schemas(value: object) -> TypeGuard[list[JsonSchema]]:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
