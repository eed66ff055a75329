"""OpenAPI's own schema words, put as JSON Schema draft 2020-12 has them."""

from generators.catalogs.catalog import Note
from generators.catalogs.rewriting import ANNOTATIONS
from warehouse.records import JsonSchema

FOREIGN = frozenset({"discriminator", "xml", "externalDocs", "nullable", "example"})
MERGEABLE = frozenset({"type", "properties", "required", *ANNOTATIONS})


def as_json_schema(schema: JsonSchema, _: list[Note]) -> JsonSchema:
    """One schema node without OpenAPI's words: `nullable`, `example`, boolean exclusive bounds; trivial `allOf` merged.

    A node that went through here comes out the same when it goes through again.
    """
    plain = {key: value for key, value in schema.items() if key not in FOREIGN and not key.startswith("x-")}
    if "example" in schema:
        plain.setdefault("examples", [schema["example"]])
    plain = _merged(_exclusive(plain, "minimum", "exclusiveMinimum"))
    plain = _exclusive(plain, "maximum", "exclusiveMaximum")
    return _nullable(plain) if schema.get("nullable") is True else plain


def _exclusive(schema: JsonSchema, bound: str, exclusive: str) -> JsonSchema:
    """In OpenAPI 3.0 `exclusiveMinimum` says whether `minimum` itself is allowed."""
    flag = schema.get(exclusive)
    if not isinstance(flag, bool):
        return schema
    rest = {key: value for key, value in schema.items() if key != exclusive}
    if flag and bound in rest:
        rest[exclusive] = rest.pop(bound)
    return rest


def _nullable(schema: JsonSchema) -> JsonSchema:
    kind = schema.get("type")
    if not isinstance(kind, str):
        return schema if not schema or isinstance(kind, list) else {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": kind if kind == "null" else [kind, "null"]}
    choices = schema.get("enum")
    if isinstance(choices, list) and None not in choices:
        nullable["enum"] = [*choices, None]
    return nullable


def _merged(schema: JsonSchema) -> JsonSchema:
    """`allOf` written out where it says no more than its parts: one part, or object schemas that don't overlap."""
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
        return schema
    outer = {key: value for key, value in schema.items() if key != "allOf"}
    if len(parts) == 1 and not (set(outer) - ANNOTATIONS) & set(parts[0]):
        return {**parts[0], **outer}
    every = [*parts, outer]
    names = [name for part in every for name in _mapping(part.get("properties"))]
    if len(names) != len(set(names)) or not all(_is_simple_object(part) for part in every):
        return schema
    merged: JsonSchema = {"type": "object"}
    for part in every:
        merged |= {key: value for key, value in part.items() if key not in ("properties", "required")}
    merged["properties"] = {name: value for part in every for name, value in _mapping(part.get("properties")).items()}
    required = list(dict.fromkeys(name for part in every for name in part.get("required", [])))
    return {**merged, "required": required} if required else merged


def _is_simple_object(part: JsonSchema) -> bool:
    required = part.get("required", [])
    named = isinstance(required, list) and all(isinstance(name, str) for name in required)
    return set(part) <= MERGEABLE and part.get("type", "object") == "object" and named


def _mapping(value: object) -> JsonSchema:
    return value if isinstance(value, dict) else {}
