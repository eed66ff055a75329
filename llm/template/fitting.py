"""Whether a value satisfies a parameter's schema; quick for plain schemas, by jsonschema for the rest."""

import re
from functools import lru_cache

import orjson
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import UnknownType
from pydantic import JsonValue

from llm.template.kinds import type_of
from warehouse.records import JsonSchema

_PLAIN = frozenset({"type", "description", "title", "examples", "default", "enum", "minimum", "maximum", "pattern"})
_TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}


def fits(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether `value` validates against `schema`; False too where the schema itself is not valid."""
    allowed = _TYPES.get(type_of(schema))
    if allowed and _PLAIN.issuperset(schema):
        return _fits_plainly(value, schema, allowed)
    try:
        return bool(_validator(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)).is_valid(value))
    except (re.error, TypeError, UnknownType):  # a bad schema shows itself only when it is used
        return False


def _fits_plainly(value: JsonValue, schema: JsonSchema, allowed: tuple[type, ...]) -> bool:
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, str):
        return "pattern" not in schema or _found(schema["pattern"], value)
    number = float(value) if isinstance(value, int | float) else 0.0
    return bool(schema.get("minimum", number) <= number <= schema.get("maximum", number))


def _found(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


@lru_cache(4096)
def _validator(schema: bytes) -> Draft202012Validator:
    return Draft202012Validator(orjson.loads(schema), format_checker=FormatChecker())
