"""Which kind of value a JSON Schema asks for."""

import re
from typing import Literal

from warehouse.records import JsonSchema

Kind = Literal["boolean", "integer", "number", "date", "time", "date-time", "enum", "array", "object", "text"]
DATE_VALUE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
TIME_VALUE = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
DATE_TIME_VALUE = re.compile(rf"({DATE_VALUE.pattern})[ T]({TIME_VALUE.pattern})(?::00)?")
_TYPES: dict[str, Kind] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "float": "number",
    "array": "array",
    "object": "object",
}


def kind_of(schema: JsonSchema) -> Kind:
    """The kind that `schema` asks for; a string with no hint is text."""
    if "enum" in schema or "const" in schema:
        return "enum"
    declared = type_of(schema)
    if declared in _TYPES:
        return _TYPES[declared]
    if schema.get("format") in ("date", "date-time", "time"):
        return {"date": "date", "date-time": "date-time", "time": "time"}[schema["format"]]  # type: ignore[return-value]
    return _by_pattern(str(schema.get("pattern", "")))


def type_of(schema: JsonSchema) -> str:
    """The JSON type that `schema` declares, the first that is not null where it declares several, "" where none."""
    declared = schema.get("type", "")
    if isinstance(declared, list):
        return next((str(name) for name in declared if name != "null"), "")
    return str(declared)


def choices_of(schema: JsonSchema) -> list[object]:
    """The values that `schema` offers, an empty list where it leaves the choice open."""
    return list(schema["enum"]) if "enum" in schema else [schema["const"]] if "const" in schema else []


def _by_pattern(pattern: str) -> Kind:
    has_time = "[0-5]" in pattern and ":" in pattern
    has_date = r"\d{4}-" in pattern or "[0-9]{4}-" in pattern
    if has_time:
        return "date-time" if has_date else "time"
    return "date" if has_date and "-" in pattern.split("-", 1)[-1] and "[A-Z]" not in pattern else "text"
