"""Calls that a person typed: read strictly, and refused with a sentence that says what to put right."""

import json
from collections.abc import Sequence

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match

from annotation.typed_values import read_json
from generators.routing.unknowns import UNKNOWN
from warehouse.errors import RecordError
from warehouse.records import Arguments, GoldCall, Tool


def read_calls(text: str, tools: Sequence[Tool], *, may_leave_out: bool = False) -> tuple[GoldCall, ...]:
    """The calls that `text` holds; RecordError says why it holds none that `tools` allow.

    `may_leave_out` lets a required parameter be missing, as an imperfect request does.
    """
    value = read_json(text, "The list of calls")
    if not isinstance(value, list):
        raise RecordError('The calls must be a JSON list: [{"tool": …, "arguments": {…}}].')
    return tuple(_read_call(item, tools, may_leave_out=may_leave_out) for item in value)


def _read_call(item: object, tools: Sequence[Tool], *, may_leave_out: bool) -> GoldCall:
    if not isinstance(item, dict) or set(item) != {"tool", "arguments"}:
        raise RecordError(f'A call must have just "tool" and "arguments", not {_short(item)}.')
    name, arguments = item["tool"], item["arguments"]
    if not isinstance(arguments, dict):
        raise RecordError(f'"arguments" must be an object, not {_short(arguments)}.')
    tool = tool_named(name, tools)
    check_arguments(tool, arguments, may_leave_out=may_leave_out)
    return GoldCall(tool=tool.name, arguments=arguments)


def leaves_out(calls: Sequence[GoldCall], tools: Sequence[Tool]) -> bool:
    """Whether a required argument is missing in any of the calls."""
    required = {tool.name: set(tool.required) for tool in tools}
    return any(required.get(call.tool, set()) - set(call.arguments) for call in calls)


def tool_named(name: object, tools: Sequence[Tool]) -> Tool:
    """The candidate of this name; RecordError lists the candidates where there is none."""
    found = next((tool for tool in tools if tool.name == name), None)
    if found is None:
        raise RecordError(f"{_short(name)} is none of the candidate tools ({', '.join(tool.name for tool in tools)}).")
    return found


def check_arguments(tool: Tool, arguments: Arguments, *, may_leave_out: bool) -> None:
    """Raise RecordError where `tool` does not take these arguments; what nobody can know yet has any form."""
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
    errors = [
        error
        for error in checker.iter_errors(arguments)
        if not (may_leave_out and _is_left_out(error)) and error.instance != UNKNOWN
    ]
    worst = best_match(errors)
    if worst is not None:
        place = ".".join(map(str, worst.absolute_path))
        raise RecordError(f"{tool.name}{f', {place}' if place else ''}: {worst.message[:300]}.")


def _is_left_out(error: ValidationError) -> bool:
    return error.validator == "required" and not error.absolute_path


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:120]
