"""Other values for one value of a call: of its type, allowed by its schema, and never the same in another notation."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from random import Random

from pydantic import JsonValue

from callwright.generators.transcripts import walk
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import choices_of, fits, kind_of
from callwright.validators.matching.calls import is_same_value
from callwright.validators.near_misses.due import Due, Leaf, leaves
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import ResultTurn

_DATE = re.compile(r"^(\d{4})-(\d\d)-(\d\d)(?=$|[ T])")
_CLOCK = re.compile(r"(?<!\d)([01]\d|2[0-3]):([0-5]\d)(?!\d)")
_NOON, _DAY, _MONTHS = 12, 24, 12
_TEN = 10

ValueChange = Callable[[Leaf, Due, Random], Iterable[JsonValue]]


def other_values(change: ValueChange, leaf: Leaf, due: Due, rng: Random) -> Iterator[JsonValue]:
    """What a change offers in the place of a value: of its type, allowed by its schema, and another one by it."""
    for value in change(leaf, due, rng):
        is_alike = type(value) is type(leaf.value) and fits(value, leaf.schema)
        if is_alike and not is_same_value(leaf.value, value, leaf.schema):
            yield value


def _number(leaf: Leaf) -> int | float | None:
    value = leaf.value
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def number_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """One more, one less."""
    value = _number(leaf)
    if value is not None and not choices_of(leaf.schema):
        yield value + 1
        if value >= 1:
            yield value - 1


def magnitude_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """Ten times as much, or a tenth: what a wrong unit or a lost nought makes of a number."""
    value = _number(leaf)
    if value and not choices_of(leaf.schema):
        yield value * _TEN
        if isinstance(value, float) or value % _TEN == 0:
            yield value / _TEN if isinstance(value, float) else value // _TEN


def digit_changed(leaf: Leaf, _due: Due, rng: Random) -> Iterator[JsonValue]:
    """Another digit in a code."""
    value = leaf.value
    if isinstance(value, str) and kind_of(leaf.schema) == "text" and not _is_moment(value):
        digits = [at for at, letter in enumerate(value) if letter.isascii() and letter.isdigit()]
        if digits:
            at = rng.choice(digits)
            yield f"{value[:at]}{(int(value[at]) + rng.randint(1, 9)) % 10}{value[at + 1 :]}"


def letter_changed(leaf: Leaf, _due: Due, rng: Random) -> Iterator[JsonValue]:
    """Another capital in a code that has digits and letters."""
    value = leaf.value
    is_code = isinstance(value, str) and " " not in value and any(map(str.isdigit, value))
    if isinstance(value, str) and is_code and not _is_moment(value):
        capitals = [at for at, letter in enumerate(value) if "A" <= letter <= "Z"]
        if capitals:
            at = rng.choice(capitals)
            yield f"{value[:at]}{chr((ord(value[at]) - 64) % 26 + 65)}{value[at + 1 :]}"


def _is_moment(value: str) -> bool:
    return bool(_DATE.match(value) or _CLOCK.search(value))


def _dates(leaf: Leaf) -> Iterator[tuple[date, str]]:
    """The day that a value begins with, and the rest of it."""
    found = _DATE.match(leaf.value) if isinstance(leaf.value, str) else None
    try:
        if found:
            yield date(int(found[1]), int(found[2]), int(found[3])), found.string[found.end() :]
    except ValueError:  # 31 February
        return


def day_shifted(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """The next day or the one before, a week later or earlier."""
    for day, rest in _dates(leaf):
        for step in (1, -1, 7, -7):
            yield f"{day + timedelta(days=step)}{rest}"


def month_and_day_exchanged(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """The fourth of March for the third of April."""
    for day, rest in _dates(leaf):
        if day.day <= _MONTHS:
            yield f"{day.replace(month=day.day, day=day.month)}{rest}"


def year_shifted(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """The same day of the year after, or before."""
    for day, rest in _dates(leaf):
        if (day.month, day.day) != (2, 29):
            yield f"{day.year + 1}{str(day)[4:]}{rest}"
            yield f"{day.year - 1}{str(day)[4:]}{rest}"


def half_day_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """Evening for morning."""
    found = _CLOCK.search(leaf.value) if isinstance(leaf.value, str) else None
    if found:
        yield f"{_before(found)}{(int(found[1]) + _NOON) % _DAY:02}:{found[2]}{_behind(found)}"


def hour_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """An hour or half an hour later or earlier."""
    found = _CLOCK.search(leaf.value) if isinstance(leaf.value, str) else None
    for step in (60, -60, 30, -30) if found else ():
        at = int(found[1]) * 60 + int(found[2]) + step if found else 0
        if found and 0 <= at < _DAY * 60:
            yield f"{_before(found)}{at // 60:02}:{at % 60:02}{_behind(found)}"


def _before(found: re.Match[str]) -> str:
    return found.string[: found.start()]


def _behind(found: re.Match[str]) -> str:
    return found.string[found.end() :]


def neighbour_choice(leaf: Leaf, _due: Due, rng: Random) -> list[JsonValue]:
    """Another choice of the schema."""
    choices: list[JsonValue] = [one for one in choices_of(leaf.schema) if one not in (None, "")]  # type: ignore[misc]
    return rng.sample(choices, len(choices))


def flag_flipped(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """No for yes."""
    if isinstance(leaf.value, bool):
        yield not leaf.value


def value_of_other(leaf: Leaf, due: Due, rng: Random) -> Iterator[JsonValue]:
    """The value of another entity: one that stands in the conversation's results or in another call, else one that is made up."""
    if isinstance(leaf.value, bool) or choices_of(leaf.schema) or not isinstance(leaf.value, str):
        return
    told = [*_in_results(leaf, due), *(one.value for one in leaves(due) if one.name == leaf.name)]
    yield from rng.sample(told, len(told))
    try:
        yield make_value(leaf.name, leaf.schema, due.language, rng)
    except ReplyError:  # a schema of which no value can be made
        return


def _in_results(leaf: Leaf, due: Due) -> list[JsonValue]:
    """What stands in results under the names under which the value stands there."""
    held = [
        (path.rpartition(".")[2], value)
        for turn in due.prefix if isinstance(turn, ResultTurn)
        for result in turn.results for path, value in walk(result, "")
        if isinstance(value, str)
    ]  # fmt: skip
    names = {name for name, value in held if value == leaf.value}
    return list(dict.fromkeys(value for name, value in held if name in names))
