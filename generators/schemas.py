"""Tools as JSON-Schema validators, compiled once each."""

from functools import lru_cache

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
        Draft202012Validator.check_schema(loaded)
    except SchemaError as error:
        raise RecordError(f"A parameter's schema is not valid JSON Schema: {error.message}.") from error
    return Draft202012Validator(loaded, format_checker=FormatChecker())
