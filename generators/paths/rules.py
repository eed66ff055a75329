"""The rule by which a value is picked out of a response, as a sentence that people and checks can read.

`hotel_id of data.hotels: name contains "Rome"; lowest price; 90 minutes later`
"""

import json
import re
from typing import cast, get_args

from pydantic import JsonValue

from generators.paths.picking import RANKS
from warehouse.errors import RecordError
from warehouse.records import Condition, Picked
from warehouse.records.paths import Test

_PATH = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s":;]+')
_PLAIN = re.compile(r'[^\s":;]+')
_LATER = re.compile(r"(-?\d+) minutes later")
_COMPARED = re.compile(r" (equals|contains) ")
_ONLY = "only entry"


def write_rule(picked: Picked) -> str:
    """The rule of a picked value; all of it but the call that it comes from."""
    parts = [_write_condition(condition) for condition in picked.where]
    if picked.later_by:
        parts.append(f"{picked.later_by} minutes later")
    start = f"{_write_path(picked.field)} of {_write_path(picked.entries)}"
    return f"{start}: {'; '.join(parts)}" if parts else start


def read_rule(rule: str, call: int) -> Picked:
    """The picked value that `write_rule` wrote, out of the response of call `call`; RecordError where it is none."""
    field, position = _read_path(rule, 0)
    position = _after(rule, position, " of ")
    entries, position = _read_path(rule, position)
    where: list[Condition] = []
    later_by = 0
    while position < len(rule):
        position = _after(rule, position, "; " if where else ": ")
        later = _LATER.match(rule, position)
        if later:
            later_by, position = int(later[1]), later.end()
            break
        condition, position = _read_condition(rule, position)
        where.append(condition)
    if position != len(rule):
        raise RecordError(f"The rule {rule!r} goes on where it should end, with {rule[position:]!r}.")
    return Picked(call=call, entries=entries, field=field, where=tuple(where), later_by=later_by)


def _write_condition(condition: Condition) -> str:
    if condition.test == "only":
        return _ONLY
    if condition.test in RANKS:
        return f"{condition.test} {_write_path(condition.field)}"
    return f"{_write_path(condition.field)} {condition.test} {json.dumps(condition.value, ensure_ascii=False)}"


def _read_condition(rule: str, position: int) -> tuple[Condition, int]:
    if rule.startswith(_ONLY, position):
        return Condition(test="only"), position + len(_ONLY)
    first, after = _read_path(rule, position)
    compared = _COMPARED.match(rule, after)
    if compared:
        value, end = _read_value(rule, compared.end())
        return Condition(test=_test(compared[1], rule), field=first, value=value), end
    field, end = _read_path(rule, _after(rule, after, " "))
    return Condition(test=_test(first, rule), field=field), end


def _test(name: str, rule: str) -> Test:
    if name not in get_args(Test):
        raise RecordError(f"The rule {rule!r} names no test: {name!r}; the tests are {', '.join(get_args(Test))}.")
    return cast("Test", name)


def _write_path(path: str) -> str:
    return path if _PLAIN.fullmatch(path) else json.dumps(path, ensure_ascii=False)


def _read_path(rule: str, position: int) -> tuple[str, int]:
    found = _PATH.match(rule, position)
    if found is None:
        raise RecordError(f"The rule {rule!r} has no path at {rule[position:]!r}.")
    if not found[0].startswith('"'):
        return found[0], found.end()
    path, _ = _read_value(rule, position)
    return str(path), found.end()


def _read_value(rule: str, position: int) -> tuple[JsonValue, int]:
    try:
        value, end = json.JSONDecoder().raw_decode(rule, position)
    except ValueError as error:
        raise RecordError(f"The rule {rule!r} has no value at {rule[position:]!r}.") from error
    return value, end


def _after(rule: str, position: int, word: str) -> int:
    if not rule.startswith(word, position):
        raise RecordError(f"The rule {rule!r} lacks {word!r} before {rule[position:]!r}.")
    return position + len(word)
