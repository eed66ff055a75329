"""Times of day in both languages, read as HH:MM; what may be morning or evening says so in its rule."""

from functools import lru_cache
from random import Random

from language.packs import of, packs_of
from language.protocol import ClockReading, hour_of_day
from language.text import VERBATIM, Found, folded
from warehouse.records import Language

TIME = "time of day"
HALF_DAY = "time of day without am or pm"

_NOON = 12
_DAY = 24
_HOUR = 60


def find_times(text: str) -> list[Found]:
    """The times of day in `text`; one without am or pm stands under HALF_DAY with its morning reading."""
    return list(_times(text))


def other_half(value: str) -> str:
    """The same place on the clock in the other half of the day: 07:30 for 19:30."""
    return f"{(int(value[:2]) + _NOON) % _DAY:02}:{value[3:5]}"


def write_time(value: str, language: Language, rng: Random) -> str:
    """The time `value` (HH:MM) as a person may say it, in a form that can only mean this time."""
    return of(language).rules.write_clock(int(value[:2]), int(value[3:5]), rng)


@lru_cache(4096)
def _times(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    found: list[Found] = []
    readings = [reading for pack in reversed(packs_of(text)) for reading in pack.rules.clock_readings(plain.text)]
    for reading in sorted(readings, key=lambda one: (one.start, -one.end)):
        value, rule = _value(reading)
        start, end = plain.span(reading.start, reading.end)
        if value and (not found or start >= found[-1].end):
            found.append(Found(value, start, end, VERBATIM if text[start:end] == value else rule))
    return tuple(found)


def _value(reading: ClockReading) -> tuple[str, str]:
    hour, minute, part = reading.hour, reading.minute, reading.part
    if hour > _DAY or minute >= _HOUR:
        return "", TIME
    if part == "named" or hour > _NOON or hour == 0:
        return f"{hour % _DAY:02}:{minute:02}", TIME
    if not part:
        return f"{hour:02}:{minute:02}", HALF_DAY
    on_the_day = hour_of_day(hour, part)
    return ("", TIME) if on_the_day is None else (f"{on_the_day:02}:{minute:02}", TIME)
