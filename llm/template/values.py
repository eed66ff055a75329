"""Values for the parameters of one call, that make sense together."""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from random import Random

from pydantic import JsonValue

from llm.language.folding import fold
from llm.template.fitting import fits
from llm.template.kinds import CLOCKED, kind_of
from llm.template.makers import LAST_DAY, make_value
from llm.template.names import split_name
from llm.template.word_lists import words
from warehouse.records import JsonSchema, Language

_TRIES = 12
_NOTHING: Mapping[str, JsonValue] = {}
_LONGEST_STAY = 14
_ENDS = frozenset(
    words("end until return checkout expiry to latest finish arrival last deadline 结束 退房 返程 截止 到期")
)
_STARTS = frozenset(words("start begin from checkin departure pickup earliest first depart 开始 入住 出发"))
_CHINESE_ENDS = ("结束", "退房", "离店", "返程", "截止", "归还", "还车")
_CHINESE_STARTS = ("开始", "入住", "出发", "起始", "取车")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def fill_in(
    names: list[str],
    properties: dict[str, JsonSchema],
    language: Language,
    rng: Random,
    known: Mapping[str, JsonValue] = _NOTHING,
) -> dict[str, JsonValue]:
    """A value for each of the parameters named: no two alike where they could be mixed up, an end after its start.

    They go together with those that are `known`, which stay as they are.
    """
    values: dict[str, JsonValue] = {}
    for _ in range(_TRIES):
        values = _filled(names, properties, language, rng, known)
        if all(values[name] == value for name, value in known.items()):
            break
    return {name: values[name] for name in names}


def _filled(
    names: list[str],
    properties: dict[str, JsonSchema],
    language: Language,
    rng: Random,
    known: Mapping[str, JsonValue],
) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = dict(known)
    for name in names:
        schema = properties[name]
        for _ in range(_TRIES):
            values[name] = make_value(name, schema, language, rng)
            if not _is_mistakable(name, values, properties):
                break
    _put_in_order(values, properties)
    return values


def _is_mistakable(name: str, values: dict[str, JsonValue], properties: dict[str, JsonSchema]) -> bool:
    """Whether another parameter has this value too, or one that says it; booleans and choices may be equal."""
    value = values[name]
    if isinstance(value, bool):
        return False
    said = fold(str(value))
    for other, taken in values.items():
        if other == name or isinstance(taken, bool):
            continue
        heard = fold(str(taken))
        if heard == said or (isinstance(value, str) and isinstance(taken, str) and (said in heard or heard in said)):
            return True
    return False


def _put_in_order(values: dict[str, JsonValue], properties: dict[str, JsonSchema]) -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            members = properties[name].get("properties") or {}
            _put_in_order(value, {member: members.get(member) or {} for member in value})
    for end in list(values):
        start = _start_of(end, values, properties)
        if not start:
            continue
        first, last = str(values[start]), str(values[end])
        if _DAY.fullmatch(first) and _DAY.fullmatch(last):
            first, last = _some_days(first, last)
        first, last = min(first, last), max(first, last)
        if fits(first, properties[start]) and fits(last, properties[end]):
            values[start], values[end] = first, last


def _start_of(end: str, values: dict[str, JsonValue], properties: dict[str, JsonSchema]) -> str | None:
    """The parameter of the same kind that begins what `end` ends."""
    kind = kind_of(end, properties[end])
    if kind not in CLOCKED or not _is_end(end, properties[end]):
        return None
    return next(
        (
            other
            for other in values
            if other != end and kind_of(other, properties[other]) == kind and _is_start(other, properties[other])
        ),
        None,
    )


def _is_end(name: str, schema: JsonSchema) -> bool:
    words = split_name(name)
    if "out" in words and "check" in words:
        return True
    told = str(schema.get("description", ""))
    return bool(_ENDS.intersection(words)) or any(word in told for word in _CHINESE_ENDS)


def _is_start(name: str, schema: JsonSchema) -> bool:
    words = split_name(name)
    if "in" in words and "check" in words:
        return True
    told = str(schema.get("description", ""))
    return bool(_STARTS.intersection(words)) or any(word in told for word in _CHINESE_STARTS)


def _some_days(first: str, last: str) -> tuple[str, str]:
    """The first day and one up to fourteen days later, told by `last` so that no randomness is spent."""
    start = min(date.fromisoformat(first), LAST_DAY - timedelta(days=1))
    end = start + timedelta(days=1 + date.fromisoformat(last).day % _LONGEST_STAY)
    return start.isoformat(), min(end, LAST_DAY).isoformat()
