"""What a clock reading is, and which part of the day turns it into a time."""

from typing import NamedTuple

_NOON = 12
_DAY = 24


class Reading(NamedTuple):
    """A time said at `start`..`end` of folded text; `part` is the part of the day said with it, "" where none was."""

    start: int
    end: int
    hour: int
    minute: int
    part: str


# The first and the last hour that each part of the day takes, and what is added to it. Twelve is told apart below.
_HOURS = {
    "am": (1, 11, 0),
    "morning": (1, 11, 0),
    "pm": (1, 11, _NOON),
    "noon": (1, 2, _NOON),
    "afternoon": (1, 7, _NOON),
    "evening": (4, 11, _NOON),
    "night": (6, 11, _NOON),
    "small hours": (1, 6, 0),
}
_TWELVE = {"am": 0, "morning": 0, "pm": _NOON, "noon": _NOON, "afternoon": _NOON, "night": 0, "small hours": 0}


def hour_of_day(hour: int, part: str) -> int | None:
    """The hour on a 24-hour clock, None where hour and part of the day do not go together."""
    if part == "noon" and hour == _NOON - 1:
        return hour
    if hour == _NOON:
        return _TWELVE.get(part)
    if _NOON < hour < _DAY or hour == 0:
        return hour
    first, last, added = _HOURS[part]
    return hour + added if first <= hour <= last else None
