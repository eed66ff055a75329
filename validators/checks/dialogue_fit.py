"""Whether a value can be one of a parameter: by its schema, and by what it looks like."""

import re

from pydantic import JsonValue

from language.calls.parameters import CLOCKED, PLACES
from language.calls.tools import ParameterView
from language.dates import find_dates
from language.moments import moment_parts
from language.names import split_name
from language.numbers import find_numbers
from language.schemas import DATE_TIME_VALUE, DATE_VALUE, TIME_VALUE, choices_of, kind_of, type_of
from language.times import find_times
from language.values import locate_text

_NUMBERED = frozenset({"id", "number", "no", "phone", "card", "plate"})
_TIME_WORD = re.compile(
    r"day|night|week|month|year|morning|evening|noon|season|hour|minute|time|[节天日周月年时点]|[晚早午](?![餐饭])",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d|^[零〇一二两三四五六七八九十百千]+$")
_CALLED = frozenset({"name", "person", "people", "list", "airline", "brand", "receivers", "recipient", "recipients"})
_NOT_CLOCKED = PLACES | {"person", "phone", "email"}
_LISTING = re.compile(r"e\.g\.?|such as|including|[(,，（:：如]")
_DAY = re.compile(
    r"\b(?:day|week|month|morning|evening|noon|weekend)$|[周月]$|节(?:那天|当天)?$|[这那]天$", re.IGNORECASE
)
_CODE = re.compile(r"[A-Za-z]+\d{2,}|\d{5,}")


def accepts(parameter: ParameterView, value: JsonValue) -> bool:
    """Whether a value is of the type that the parameter's schema asks for."""
    kind = kind_of(parameter.schema)
    match kind:
        case "enum":
            return value in choices_of(parameter.schema)
        case "integer" | "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array" | "object":
            return isinstance(value, list if kind == "array" else dict)
        case _:
            formats = {"date": DATE_VALUE, "time": TIME_VALUE, "date-time": DATE_TIME_VALUE}
            return isinstance(value, str) and (kind not in formats or formats[kind].fullmatch(value) is not None)


def is_moment(value: str) -> bool:
    """Whether the value is nothing but a date or a time, or ends as a day or a season does: "Christmas Day"."""
    return bool(moment_parts(value)) or _DAY.search(value) is not None


def lists(parameter: ParameterView, value: JsonValue) -> bool:
    """Whether the description gives the value as one of those to choose from: "flight type, domestic or international"."""
    told = str(parameter.schema.get("description") or "")
    listing = _LISTING.search(told)
    if listing is None or not isinstance(value, str):
        return False
    return locate_text(value, told[listing.end() :]) is not None


def suits(parameter: ParameterView, value: JsonValue) -> bool:
    """Whether the value looks like one of the parameter: a date where one is asked for, digits in a number."""
    if not isinstance(value, str):
        return accepts(parameter, value) or type_of(parameter.schema) == "string"
    if parameter.kind in CLOCKED:
        is_time = find_dates(value) or find_times(value) or _DIGIT.search(value) or _TIME_WORD.search(value)
        return bool(is_time) and not _CODE.search(value)
    if parameter.kind in _NOT_CLOCKED and moment_parts(value):
        return False
    if parameter.is_number:
        return bool(find_numbers(value) or _DIGIT.search(value))
    last = split_name(parameter.name)[-1]
    if last in _NUMBERED:
        return bool(find_numbers(value) or _DIGIT.search(value))
    return last not in _CALLED or not (value.strip().isdigit() or moment_parts(value))
