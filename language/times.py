"""Times of day in both languages, read as HH:MM; what may be morning or evening says so in its rule."""

from functools import lru_cache
from random import Random

from language.clock import Reading, hour_of_day
from language.en.clock import english_readings
from language.text import VERBATIM, Found, folded
from language.zh.clock import chinese_readings
from language.zh.numerals import write_chinese
from warehouse.records import Language

# ruff: noqa: PLR2004 - hours and minutes are what this file is about


TIME = "time of day"
HALF_DAY = "time of day without am or pm"

_NOON = 12
_DAY = 24
_HOUR = 60
_HOURS_IN_WORDS = (
    "twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
)  # fmt: skip
_PAST = {0: "{0} o'clock", 15: "quarter past {0}", 30: "half past {0}", 45: "quarter to {1}"}
_SPOKEN = {0: "{0}", 15: "{0} fifteen", 30: "{0} thirty", 45: "{0} forty-five"}
_EARLIEST_NIGHT = 21


def find_times(text: str) -> list[Found]:
    """The times of day in `text`; one without am or pm stands under HALF_DAY with its morning reading."""
    return list(_times(text))


def other_half(value: str) -> str:
    """The same place on the clock in the other half of the day: 07:30 for 19:30."""
    return f"{(int(value[:2]) + _NOON) % _DAY:02}:{value[3:5]}"


def write_time(value: str, language: Language, rng: Random) -> str:
    """The time `value` (HH:MM) as a person may say it, in a form that can only mean this time."""
    hour, minute = int(value[:2]), int(value[3:5])
    if language == "zh":
        return _write_chinese(hour, minute, rng)
    return _write_english(hour, minute, rng)


@lru_cache(4096)
def _times(text: str) -> tuple[Found, ...]:
    plain = folded(text)
    found: list[Found] = []
    readings = (*chinese_readings(plain.text), *english_readings(plain.text))
    for reading in sorted(readings, key=lambda one: (one.start, -one.end)):
        value, rule = _value(reading)
        start, end = plain.span(reading.start, reading.end)
        if value and (not found or start >= found[-1].end):
            found.append(Found(value, start, end, VERBATIM if text[start:end] == value else rule))
    return tuple(found)


def _value(reading: Reading) -> tuple[str, str]:
    hour, minute, part = reading.hour, reading.minute, reading.part
    if hour > _DAY or minute >= _HOUR:
        return "", TIME
    if part == "named" or hour > _NOON or hour == 0:
        return f"{hour % _DAY:02}:{minute:02}", TIME
    if not part:
        return f"{hour:02}:{minute:02}", HALF_DAY
    on_the_day = hour_of_day(hour, part)
    return ("", TIME) if on_the_day is None else (f"{on_the_day:02}:{minute:02}", TIME)


def _write_english(hour: int, minute: int, rng: Random) -> str:
    if (hour, minute) in ((_NOON, 0), (0, 0)) and rng.randrange(2):
        return "noon" if hour else "midnight"
    half_day = "am" if hour < _NOON else "pm"
    on_clock = hour % _NOON or _NOON
    digits = (
        f"{on_clock}:{minute:02} {half_day}",
        f"{hour:02}:{minute:02}" if hour > _NOON else f"{on_clock}:{minute:02}{half_day}",
    )
    spoken = [f"{on_clock} {half_day}"] if minute == 0 else []
    names = _HOURS_IN_WORDS[hour % _NOON], _HOURS_IN_WORDS[(hour + 1) % _NOON]
    if minute in _SPOKEN and on_clock != _NOON:
        spoken.append(_SPOKEN[minute].format(*names) + f" {half_day}")
    if minute in _PAST and on_clock not in (_NOON, _NOON - 1):
        spoken.append(f"{_PAST[minute].format(*names)} {_english_part(hour)}")
    return rng.choice((*digits, *spoken))


def _english_part(hour: int) -> str:
    if hour < _NOON:
        return "in the morning"
    if hour < 18:
        return "in the afternoon" if hour != 17 else "in the evening"
    return "in the evening" if hour < _EARLIEST_NIGHT else "at night"


def _write_chinese(hour: int, minute: int, rng: Random) -> str:
    part = _chinese_part(hour)
    on_clock = hour % _NOON or _NOON
    digits = f"{on_clock}点" + (f"{minute}分" if minute else "")
    spoken = "两" if on_clock == 2 else write_chinese(on_clock)
    if minute == 0:
        words = f"{spoken}点"
    elif minute == 30:
        words = f"{spoken}点半"
    else:
        words = f"{spoken}点{'零' if minute < 10 else ''}{write_chinese(minute)}分"
    return part + rng.choice((digits, words, f"{on_clock}:{minute:02}"))


def _chinese_part(hour: int) -> str:
    for limit, part in ((6, "凌晨"), (9, "早上"), (12, "上午"), (13, "中午"), (18, "下午")):
        if hour < limit:
            return part
    return "晚上"
