"""Translate OpenAPI 3.0 and 3.1 schemas into plain JSON Schema with the fewest keywords.

`before` takes a node with its references; `as_json_schema` takes nodes with references written
out, innermost first.
"""

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, TypeGuard

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note, shown
from callwright.generators.catalogs.descriptions import plain_text, without_choices
from callwright.generators.catalogs.rewriting import ANNOTATIONS, LOWER, UPPER, resolve, without
from callwright.warehouse.records import JsonSchema

FOREIGN = frozenset({"discriminator", "xml", "externalDocs", "nullable", "example", "x-nullable"})
_BRANCHES = ("oneOf", "anyOf")
# keywords by which null may not be allowed
_EXCLUDING = frozenset({"type", "enum", "const", "allOf", "anyOf", "oneOf", "not"})
_LONGEST_GLOSSARY = 600
_MOST_EXAMPLES = 20


def before(schema: JsonSchema, root: JsonValue) -> JsonSchema:
    """Resolve what depends on references: discriminators, shared properties, draft-3 `required`."""
    members = schema.get("properties")
    if isinstance(members, dict):
        pointer = members.get("$ref")
        found = resolve(pointer, root) if isinstance(pointer, str) else None
        if isinstance(found, dict):
            members = found
            schema = {**schema, "properties": members}
        asked = ((name, one) for name, one in members.items() if isinstance(one, dict))
        needed = [name for name, one in asked if one.get("required") is True]
        if needed:  # as the third draft said it
            stated = schema.get("required")
            required = [*(stated if isinstance(stated, list) else []), *needed]
            schema = {**schema, "required": required}
    return _told_apart(schema, root)


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
    own = [key for key in schema if key not in FOREIGN and not key.startswith("x-")]
    plain = _with_examples({key: schema[key] for key in own}, schema)
    for bound in ("minimum", "maximum"):
        plain = _exclusive(plain, bound, f"exclusive{bound.capitalize()}")
    plain = _of_its_type(_merged(plain), notes)
    for key in _BRANCHES:
        plain = _simpler(plain, key)
    if isinstance(plain.get("description"), str):
        items = plain.get("items")  # it lists choices, or its items do
        choices = (items if isinstance(items, dict) else plain).get("enum")
        listed = choices if isinstance(choices, list) else []
        plain["description"] = without_choices(plain_text(plain["description"]), listed)
    if _are_names(plain.get("required")):
        plain["required"] = list(dict.fromkeys(plain["required"]))
    return _nullable(plain) if True in (schema.get("nullable"), schema.get("x-nullable")) else plain


def _with_examples(plain: JsonSchema, schema: JsonSchema) -> JsonSchema:
    """Return the schema with its examples as a list, from a single or from named examples."""
    examples = plain.get("examples", [])
    if isinstance(examples, dict):
        named = (one for one in examples.values() if isinstance(one, dict))
        examples = [one["value"] for one in named if "value" in one]
    elif not isinstance(examples, list):
        examples = [examples]
    if "examples" not in plain and "example" in schema:
        examples = [schema["example"]]
    # `example: null` shows nothing
    plain["examples"] = [one for one in examples if one is not None]
    return plain if plain["examples"] else without(plain, "examples")


def _exclusive(schema: JsonSchema, bound: str, exclusive: str) -> JsonSchema:
    """Replace OpenAPI 3.0's boolean `exclusiveMinimum`, which says if `minimum` is excluded."""
    flag = schema.get(exclusive)
    if not isinstance(flag, bool):
        return schema
    rest = without(schema, exclusive)
    if flag and bound in rest:
        rest[exclusive] = rest.pop(bound)
    return rest


def _nullable(schema: JsonSchema) -> JsonSchema:
    kind, choices = schema.get("type"), schema.get("enum")
    if not set(schema) - ANNOTATIONS:
        return schema
    kinds = [kind] if isinstance(kind, str) else kind
    if schema.keys() & (_EXCLUDING - {"type", "enum"}) or not _are_names(kinds):
        return _with_null_branch(schema)
    nullable = schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
    if not isinstance(choices, list) or None in choices:
        return nullable
    return {**nullable, "enum": [*choices, None]}


def _with_null_branch(schema: JsonSchema) -> JsonSchema:
    known_branches = schema.get("anyOf")
    if isinstance(known_branches, list) and set(schema) <= {"anyOf", *ANNOTATIONS}:
        branches = known_branches
    else:
        branches = []
    if any(isinstance(one, dict) and _is_null(one) for one in branches):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KINDS: Mapping[str, Callable[[JsonValue], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),  # type: ignore[arg-type] # a number
    "number": _is_number,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def _of_its_type(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Cast choices to the declared type: YAML reads 2024 as a number, and some quote numbers."""
    kind, choices = schema.get("type"), schema.get("enum")
    if kind not in ("string", "integer", "number") or not isinstance(choices, list):
        return schema
    wrong = [one for one in choices if one is not None and not _KINDS[kind](one)]
    if not wrong:
        return schema
    if None in (_cast(one, kind) for one in wrong):
        message = f"Of the choices {shown(wrong)} none is of the type {kind!r}; the choices count."
        notes.append(Note("invalid_keyword", message))
        return without(schema, "type")
    fits = _KINDS[kind]
    enum = [one if one is None or fits(one) else _cast(one, kind) for one in choices]
    return {**schema, "enum": enum}


def _cast(value: JsonValue, kind: str) -> JsonValue:
    """Convert the value to the type; return None if it can't be converted."""
    if kind == "string":
        text = str(value) if isinstance(value, int | float) else None
        return text.lower() if text and isinstance(value, bool) else text
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if number is None or not isfinite(number):
        return None
    return int(number) if number.is_integer() else number if kind == "number" else None


def _simpler(schema: JsonSchema, key: str) -> JsonSchema:
    """Merge alternatives that are choices, differ only in wording, or are one schema or null."""
    branches = schema.get(key)
    if not _are_schemas(branches):
        return schema
    rest = without(schema, key)
    others = _distinct([one for one in branches if not _is_null(one)])
    may_be_null = any(map(_is_null, branches))
    if may_be_null and rest.keys() & _EXCLUDING:
        return schema
    joined = _as_choices(others) or _as_open(others) or (others[0] if len(others) == 1 else None)
    whole = None if joined is None else _both(joined, rest)
    if joined is None or whole is None:
        return schema
    text, more = rest.get("description"), joined.get("description", "")
    if isinstance(text, str) and "description" in joined:
        is_said = not isinstance(more, str) or more in text
        whole["description"] = text if is_said else f"{text.rstrip()} {more}"
    said = _nullable(whole) if may_be_null else whole
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


def _is_null(schema: JsonSchema) -> bool:
    bare = _bare(schema)
    return bare in ({"const": None}, {"enum": [None]}) or (
        bare.get("type") == "null" and without(bare, "type") in ({}, {"enum": [None]})
    )


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
    fits = _KINDS.get(next(iter(kinds))) if len(kinds) == 1 else None
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
    fits = _KINDS.get(str(opened[0]["type"]))
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
    kinds = [kind] if isinstance(kind, str) else kind if _are_names(kind) else []
    if not isinstance(choices, list) or not kinds or not set(kinds) <= _KINDS.keys():
        return whole
    left = [one for one in choices if any(_KINDS[name](one) for name in kinds)]
    if left and len(left) < len(choices) and "const" not in whole:
        return {**whole, "enum": left}
    return whole if left else None


def _both_types(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    kinds, others = ([kind] if isinstance(kind, str) else kind for kind in (one, other))
    if not _are_names(kinds) or not _are_names(others):
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
    are_names = _are_names(one) and _are_names(other)
    return [*one, *(name for name in other if name not in one)] if are_names else None


def _both_rests(one: Any, other: Any) -> Any:  # noqa: ANN401 - a keyword's value
    if one is True or one == {}:
        return other
    return one if other is True or other == {} else None


def _bound(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: choose(one, other) if _is_number(one) and _is_number(other) else None


_JOINS: Mapping[str, Callable[[Any, Any], Any]] = {
    "type": _both_types,
    "enum": _both_choices,
    "properties": _both_members,
    "required": _both_required,
    "additionalProperties": _both_rests,
    **dict.fromkeys(LOWER, _bound(max)),
    **dict.fromkeys(UPPER, _bound(min)),
}


def _are_names(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _are_schemas(value: object) -> TypeGuard[list[JsonSchema]]:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
