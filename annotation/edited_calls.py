"""Calls that a person typed: read strictly, and refused with a sentence that says what to put right."""

import json
from collections.abc import Sequence
from math import isfinite

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match

from warehouse.errors import RecordError
from warehouse.records import Arguments, GoldCall, Tool


def read_calls(text: str, tools: Sequence[Tool], *, may_leave_out: bool = False) -> tuple[GoldCall, ...]:
    """The calls that `text` holds; RecordError says why it holds none that `tools` allow.

    `may_leave_out` lets a required parameter be missing, as an imperfect request does.
    """
    try:
        value = json.loads(text, object_pairs_hook=_no_doubles, parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise RecordError(
            f"The calls are not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from error
    except RecursionError as error:
        raise RecordError("The calls are nested too deeply.") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise RecordError(f"The calls can't be read: {error}.") from error
    _check_storable(value)
    if not isinstance(value, list):
        raise RecordError('The calls must be a JSON list: [{"tool": …, "arguments": {…}}].')
    return tuple(_read_call(item, tools, may_leave_out=may_leave_out) for item in value)


def _read_call(item: object, tools: Sequence[Tool], *, may_leave_out: bool) -> GoldCall:
    if not isinstance(item, dict) or set(item) != {"tool", "arguments"}:
        raise RecordError(f'A call must have just "tool" and "arguments", not {_short(item)}.')
    name, arguments = item["tool"], item["arguments"]
    if not isinstance(arguments, dict):
        raise RecordError(f'"arguments" must be an object, not {_short(arguments)}.')
    named = [tool for tool in tools if tool.name == name]
    if not named:
        raise RecordError(f"{_short(name)} is none of the candidate tools ({', '.join(tool.name for tool in tools)}).")
    _check_arguments(named[0], arguments, may_leave_out=may_leave_out)
    return GoldCall(tool=named[0].name, arguments=arguments)


def _check_arguments(tool: Tool, arguments: Arguments, *, may_leave_out: bool) -> None:
    unknown = [name for name in arguments if name not in tool.properties]
    if unknown:
        raise RecordError(
            f"{tool.name} has no parameter {unknown[0]!r}; it has {', '.join(tool.properties) or 'none'}."
        )
    try:
        Draft202012Validator.check_schema(tool.parameters)
    except SchemaError:
        return  # an imported schema that is itself broken is the catalog's problem; the checks will say so
    checker = Draft202012Validator(tool.parameters, format_checker=Draft202012Validator.FORMAT_CHECKER)
    errors = [error for error in checker.iter_errors(arguments) if not (may_leave_out and _is_left_out(error))]
    worst = best_match(errors)
    if worst is not None:
        place = ".".join(map(str, worst.absolute_path))
        raise RecordError(f"{tool.name}{f', {place}' if place else ''}: {worst.message[:300]}.")


def _is_left_out(error: ValidationError) -> bool:
    return error.validator == "required" and not error.absolute_path


def _no_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
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


def _check_storable(value: object) -> None:
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError as error:
        raise RecordError(f"The calls hold a value that can't be stored: {error}.") from error


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:120]
