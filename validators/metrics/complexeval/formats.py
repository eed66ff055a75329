"""The format check of one call, and what the model is told of it (ComplexFuncBench 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from validators.metrics.complexeval.mistakes import Mistake

if TYPE_CHECKING:
    from pydantic import JsonValue

    from warehouse.records import Call, EvalMode, Tool

_PUBLISHED: Mapping[str, Callable[[JsonValue], bool]] = {  # object and integer pass unchecked, a boolean is a number
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
}
_TYPES: Mapping[str, Callable[[JsonValue], bool]] = {
    **_PUBLISHED,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (isinstance(value, int) and not isinstance(value, bool)) or _is_whole(value),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def check_format(call: Call, tools: Mapping[str, Tool], mode: EvalMode) -> Mistake | None:
    """What is wrong with the form of a call, the first of it; None where nothing is. `tools` are by name."""
    tool = tools.get(call.tool)
    if tool is None:
        offered = ", ".join(tools) or "none"
        return Mistake("unknown_function", "", f"There is no function {call.tool!r}. The functions are: {offered}.")
    missing = next((name for name in tool.required if name not in call.arguments), None)
    if missing is not None:
        return Mistake(
            "missing_required_parameter", missing, f"{call.tool} needs the parameter {missing!r}; give it a value."
        )
    declared = tool.properties
    unknown = next((name for name in call.arguments if name not in declared), None)
    if unknown is not None:
        known = ", ".join(declared) or "none"
        return Mistake(
            "unknown_parameter", unknown, f"{call.tool} has no parameter {unknown!r}. Its parameters are: {known}."
        )
    for name, value in call.arguments.items():
        wanted = declared[name].get("type") if isinstance(declared[name], dict) else None
        if not _has_type(value, wanted, mode):
            reason = f"The parameter {name!r} of {call.tool} must be of the type {_type_words(wanted)}."
            return Mistake("wrong_parameter_type", name, reason)
    return None


def _has_type(value: JsonValue, wanted: JsonValue, mode: EvalMode) -> bool:
    if mode == "as_published_code":
        return not (isinstance(wanted, str) and wanted in _PUBLISHED) or _PUBLISHED[wanted](value)
    accepted = [name for name in (wanted if isinstance(wanted, list) else [wanted]) if isinstance(name, str)]
    return not accepted or any(name not in _TYPES or _TYPES[name](value) for name in accepted)


def _is_whole(value: JsonValue) -> bool:
    return isinstance(value, float) and value.is_integer()


def _type_words(wanted: JsonValue) -> str:
    return " or ".join(str(name) for name in wanted) if isinstance(wanted, list) else str(wanted)
