"""When two argument values are one value in two notations: 3 and "3.0", "7:30 pm" and "19:30"."""

from pydantic import JsonValue

from language.text import fold
from language.values import read_value
from warehouse.records import JsonSchema


def is_same_value(expected: JsonValue, given: JsonValue, schema: JsonSchema) -> bool:
    """Whether both values state the same for a parameter of this schema."""
    if isinstance(expected, list) and isinstance(given, list):
        return _is_same_list(expected, given, schema)
    if isinstance(expected, dict) and isinstance(given, dict):
        return _is_same_object(expected, given, schema)
    if isinstance(expected, bool) is isinstance(given, bool) and expected == given:
        return True
    if isinstance(expected, str) and isinstance(given, str) and fold(expected) == fold(given):
        return True
    return _is_read_the_same(expected, given, schema)


def _is_read_the_same(expected: JsonValue, given: JsonValue, schema: JsonSchema) -> bool:
    """Whether the words of one read as the other; numbers and words that are neither can't be two notations."""
    if not isinstance(expected, str) and not isinstance(given, str):
        return False
    typed = _schema_for(expected, given, schema)
    first, second = _read(expected, typed), _read(given, typed)
    return first is not None and isinstance(first, bool) is isinstance(second, bool) and first == second


def _read(value: JsonValue, schema: JsonSchema) -> JsonValue:
    return read_value(value, schema) if isinstance(value, str) else value


def _schema_for(expected: JsonValue, given: JsonValue, schema: JsonSchema) -> JsonSchema:
    """The schema, or where it says nothing of a type, that of the value which is no text."""
    if schema.keys() & {"type", "enum", "format", "pattern", "anyOf"}:
        return schema
    plain = given if isinstance(expected, str) else expected
    if isinstance(plain, bool):
        return {"type": "boolean"}
    return {"type": "number"} if isinstance(plain, int | float) else schema


def _is_same_list(expected: list[JsonValue], given: list[JsonValue], schema: JsonSchema) -> bool:
    members = _schema_of(schema, "items")
    return len(expected) == len(given) and all(
        is_same_value(one, other, members) for one, other in zip(expected, given, strict=True)
    )


def _is_same_object(expected: dict[str, JsonValue], given: dict[str, JsonValue], schema: JsonSchema) -> bool:
    members = _schema_of(schema, "properties")
    return expected.keys() == given.keys() and all(
        is_same_value(value, given[name], _schema_of(members, name)) for name, value in expected.items()
    )


def _schema_of(schema: JsonSchema, name: str) -> JsonSchema:
    found = schema.get(name)
    return found if isinstance(found, dict) else {}
