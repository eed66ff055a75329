"""What a phrase or a message must not say: the values of other arguments, and what another parameter could take."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pydantic import JsonValue

from generators.external.mentions import MASK, schema_of
from language.dates import find_dates
from language.phrases import find_phrase
from language.schemas import Kind, choices_of, kind_of
from language.times import find_times
from language.values import locate
from warehouse.records import JsonSchema, Sample, Tool

_DIGIT = re.compile(r"\d")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SHORTEST_CHOICE = 3
_DATED: frozenset[Kind] = frozenset({"date", "date-time"})
_CLOCKED: frozenset[Kind] = frozenset({"time", "date-time"})


class OtherValue(NamedTuple):
    """A gold value that must stay where it is said."""

    argument: str
    value: JsonValue
    schema: JsonSchema


def other_values(sample: Sample, tools: Iterable[Tool], value: JsonValue) -> list[OtherValue]:
    """Every value of the sample's gold calls but `value`, each once."""
    named = {tool.name: tool for tool in tools}
    found: list[OtherValue] = []
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            for argument, other in call.arguments.items():
                tool = named.get(call.tool)
                one = OtherValue(argument, other, schema_of(tool, argument) if tool else {"title": argument})
                if other != value and one not in found:
                    found.append(one)
    return found


def masked(text: str, start: int, end: int) -> str:
    """The text without the stretch `start`..`end`."""
    return text[:start] + MASK + text[end:]


def says_other(text: str, others: Iterable[OtherValue]) -> str:
    """Which of the other values the text says, as a sentence; "" where none."""
    for one in others:
        found = locate(one.value, one.schema, text)
        if found is not None:
            words = text[found.start : found.end]
            return f"{words!r} says {one.value!r}, which is the value of {one.argument!r}."
    return ""


def fills_parameter(text: str, tool: Tool, argument: str) -> str:
    """Which parameter of the tool but `argument` the text has a value for, as a sentence; "" where none.

    Free text is passed over, for any words could fill it.
    """
    for name, schema in tool.properties.items():
        words = _value_for(text, schema) if name != argument else ""
        if words:
            return f"{words!r} could be taken for the parameter {name!r}."
    return ""


def says_another_time(text: str, schema: JsonSchema) -> bool:
    """Whether the text has a date or a time of day that the parameter itself could take."""
    kind = kind_of(schema)
    return bool((kind in _DATED and find_dates(text)) or (kind in _CLOCKED and find_times(text)))


def _value_for(text: str, schema: JsonSchema) -> str:
    kind = kind_of(schema)
    if kind == "enum":
        options = [str(option) for option in choices_of(schema)]
        return next((option for option in options if _is_telling(option) and find_phrase(option, text)), "")
    if kind in ("integer", "number"):
        match = _DIGIT.search(text)
        return match.group() if match else ""
    typed = (find_dates(text) if kind in _DATED else []) + (find_times(text) if kind in _CLOCKED else [])
    return text[typed[0].start : typed[0].end] if typed else ""


def _is_telling(option: str) -> bool:
    return len(option) >= _SHORTEST_CHOICE or (len(option) > 1 and _CHINESE.search(option) is not None)
