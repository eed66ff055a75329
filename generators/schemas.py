"""Tools as JSON-Schema validators, compiled once each."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import orjson
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError

from warehouse.errors import RecordError
from warehouse.records import Arguments, JsonSchema, Tool

_COMPILED = 4096


def argument_problems(tool: Tool, arguments: Arguments, *, partial: bool) -> list[str]:
    """What is wrong with `arguments` by the tool's schema, each as a sentence; `partial` allows required ones missing.

    A parameter that the tool does not declare is always a problem. Raises RecordError where the schema itself is bad.
    """
    undeclared = [
        f"The tool {tool.name!r} declares no parameter {name!r}." for name in arguments if name not in tool.properties
    ]
    missing = (
        [] if partial else [f"The parameter {name!r} is required." for name in tool.required if name not in arguments]
    )
    values = [
        f"The value of {name!r}, {value!r}, does not fit: {error.message}."
        for name, value in arguments.items()
        if name in tool.properties
        for error in value_validator(tool.properties[name]).iter_errors(value)
    ]
    return undeclared + missing + values


def value_validator(schema: JsonSchema) -> Draft202012Validator:
    """A validator of one parameter's values; formats (date, time, email) are checked. Raises RecordError."""
    return _compiled(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))


@lru_cache(_COMPILED)
def _compiled(schema: bytes) -> Draft202012Validator:
    loaded = orjson.loads(schema)
    try:
        if not _is_plain(loaded):
            Draft202012Validator.check_schema(loaded)
    except SchemaError as error:
        raise RecordError(f"A parameter's schema is not valid JSON Schema: {error.message}.") from error
    return Draft202012Validator(loaded, format_checker=FormatChecker())


_TYPES = frozenset({"string", "integer", "number", "boolean"})
_PLAIN: dict[str, Callable[[Any], bool]] = {
    "type": lambda value: isinstance(value, str) and value in _TYPES,
    "description": lambda value: isinstance(value, str),
    "format": lambda value: isinstance(value, str),
    "default": lambda _value: True,
    "enum": lambda value: isinstance(value, list),
    "examples": lambda value: isinstance(value, list),
    "minimum": lambda value: type(value) in (int, float),
    "maximum": lambda value: type(value) in (int, float),
}


def _is_plain(schema: object) -> bool:
    """Whether a schema has nothing but the most usual words, and those well-formed; to check one by its meta-schema takes long."""
    return isinstance(schema, dict) and all(name in _PLAIN and _PLAIN[name](value) for name, value in schema.items())
