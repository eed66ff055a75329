"""Whether two options come to the same by the tools' schemas: another notation, a default that is stated, a free order."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from callwright.language.schemas import choices_of
from callwright.validators.matching.calls import is_same_value
from callwright.validators.near_misses.due import Option
from callwright.warehouse.records import Arguments, Call, JsonSchema, Tool


def is_same_option(one: Option, other: Option, tools: Mapping[str, Tool], *, is_ordered: bool) -> bool:
    """Whether both options do the same; where calls don't depend on each other, in any order.

    >>> is_same_option(Option(act="ask"), Option(act="none"), {}, is_ordered=False)
    False
    """
    if one.act != other.act or len(one.calls) != len(other.calls):
        return False
    if is_ordered:
        return all(is_same_call(*pair, tools) for pair in zip(one.calls, other.calls, strict=True))
    return _is_same_set(one.calls, other.calls, tools)


def _is_same_set(calls: Sequence[Call], others: Sequence[Call], tools: Mapping[str, Tool]) -> bool:
    left = list(others)
    for call in calls:
        found = next((at for at, other in enumerate(left) if is_same_call(call, other, tools)), None)
        if found is None:
            return False
        del left[found]
    return not left


def is_same_call(call: Call, other: Call, tools: Mapping[str, Tool]) -> bool:
    """Whether two calls do the same: of one tool, with arguments that state the same."""
    if call.tool != other.tool:
        return False
    tool = tools.get(call.tool)
    schemas = tool.properties if tool else {}
    first, second = _telling(call.arguments, schemas), _telling(other.arguments, schemas)
    return first.keys() == second.keys() and all(
        _is_same(value, second[name], schemas.get(name, {})) for name, value in first.items()
    )


def _telling(arguments: Arguments, schemas: Mapping[str, JsonSchema]) -> Arguments:
    """The arguments that change what the call does: without those that leave it as it is when they are left out."""
    return {name: value for name, value in arguments.items() if not _is_idle(value, schemas.get(name, {}))}


def _is_idle(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether an argument of this value does what leaving it out does."""
    if value in (None, "", [], {}) and not isinstance(value, bool):
        return True
    if "default" in schema:
        return bool(_is_same(value, schema["default"], schema))
    if isinstance(value, list):
        every = choices_of(schema.get("items") or {})
        return bool(every) and {*map(str, every)} == {*map(str, value)}  # all there are is no choice
    return value is False


def _is_same(value: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    if isinstance(value, list) and isinstance(other, list):
        return is_same_value(_sorted(value), _sorted(other), schema)
    return is_same_value(value, other, schema)


def _sorted(values: list[JsonValue]) -> list[JsonValue]:
    """Plain values in an order of their own; of others the order may count."""
    is_plain = all(isinstance(one, str | int | float) for one in values)
    return sorted(values, key=str) if is_plain else values
