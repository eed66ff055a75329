"""Names and values in lines that people read and type: bare where they can't be mistaken, else as JSON."""

import json
import re
from math import isfinite

import orjson
from pydantic import JsonValue

from warehouse.errors import RecordError
from warehouse.records import JsonSchema

_LITERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|true|false|null", re.ASCII)
_OPENS_JSON = ('"', "[", "{")
_ENDS_A_NAME = frozenset("=＝]］")


def write_value(value: JsonValue) -> str:
    """The value on one line: a text as it is where nothing else could be meant, all else as JSON."""
    if isinstance(value, str) and _is_plain(value) and not _LITERAL.fullmatch(value):
        return value
    return _write_json(value)


def read_value(typed: str, schema: JsonSchema) -> JsonValue:
    """The value that was typed; a bare 19 is a text where `schema` knows only texts. RecordError where it is none."""
    is_number = _LITERAL.fullmatch(typed) and schema.get("type") != "string"
    return read_json(typed, f"The value {typed[:60]}") if is_number or typed.startswith(_OPENS_JSON) else typed


def write_name(name: str) -> str:
    """A name on one line, in quotation marks where it holds what has a meaning of its own."""
    return name if _is_plain(name) and not _ENDS_A_NAME.intersection(name) else _write_json(name)


def read_name(typed: str) -> tuple[str, str]:
    """The name at the start of a line, and the rest of the line."""
    if not typed.startswith('"'):
        end = next((at for at, letter in enumerate(typed) if letter in _ENDS_A_NAME), len(typed))
        return typed[:end].strip(), typed[end:]
    try:
        name, end = json.JSONDecoder().raw_decode(typed)
    except json.JSONDecodeError as error:
        raise RecordError(f"The name {typed[:60]} has no closing quotation mark.") from error
    return str(name), typed[end:].lstrip()


def read_json(text: str, what: str) -> JsonValue:
    """The JSON that was typed, as strict as can be stored; RecordError says what is wrong with `what`."""
    try:
        value: JsonValue = json.loads(text, object_pairs_hook=_no_doubles, parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise RecordError(f"{what} can't be read, it is not JSON: {error.msg} in {place}.") from error
    except RecursionError as error:
        raise RecordError(f"{what} can't be read, it is nested too deeply.") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise RecordError(f"{what} can't be read: {error}.") from error
    check_storable(value, what)
    return value


def check_storable(value: object, what: str) -> None:
    """Raise RecordError where the warehouse could not keep `value`."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise RecordError(f"{what} can't be stored: {error}.") from error


def _is_plain(text: str) -> bool:
    """Whether no letter of it is lost or mistaken on the way through a text box."""
    return bool(text) and text == text.strip() and not text.startswith(_OPENS_JSON) and text.isprintable()


def _write_json(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


def _no_doubles(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    names = [name for name, _ in pairs]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise RecordError(f"{doubled[0]!r} is given twice in one object.")
    return dict(pairs)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise RecordError(f"{text} is not a number that JSON can hold.")
    return value
