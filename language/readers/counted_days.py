"""Days that words count from a day that they name: "the evening before", "three nights"."""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from callwright.language.readers.mentions import Moment, find_amounts, words_around

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_NAMING = frozenset({"dated", "yearless", "monthless", "weekday", "counted"})
_MOST = 1000  # days or months that anybody counts


class Step(NamedTuple):
    """How far words at `start`..`end` count, in days or months, back if negative."""

    start: int
    end: int
    days: int = 0
    months: int = 0

    def back_from(self, day: date) -> str:
        """Return the ISO date that this step leads from to `day`, "" if no calendar has it."""
        year, month = divmod(day.year * 12 + day.month - 1 - self.months, 12)
        try:
            last = monthrange(year, month + 1)[1]
            start = date(year, month + 1, min(day.day, last)) - timedelta(days=self.days)
        except (ValueError, OverflowError):
            return ""
        return start.isoformat()


@lru_cache(4096)
def find_steps(text: str, language: str) -> tuple[Step, ...]:
    """Return what a text counts days by: an amount, so many nights, or a day before or behind."""
    return tuple(_steps(text, language))


def _steps(text: str, language: str) -> Iterator[Step]:
    for amount in find_amounts(text, language):
        days, months = _DAYS.get(amount.unit, 0), _MONTHS.get(amount.unit, 0)
        count = round(amount.value) if abs(amount.value) <= _MOST else 0
        if count and (days or months):
            is_back = words_around("counted_back", r"\W{0,2}{0}").match(text, amount.end)
            sign = -1 if is_back else 1
            yield Step(amount.start, amount.end, sign * count * days, sign * count * months)
        nights = words_around("nights", r"\s?{0}").match(text, amount.end)
        if nights and count > 0 and not amount.unit:
            yield Step(amount.start, nights.end(), count)
            yield Step(amount.start, nights.end(), count - 1)  # the last of them
    for name, days in (("day_before", -1), ("day_behind", 1)):
        for found in words_around(name).finditer(text):
            yield Step(found.start(), found.end(), days)


def find_counted_day(day: str, text: str, language: str, anchors: Iterable[Moment]) -> Step | None:
    """Return the words of a text that count to an ISO date from one of the days `anchors`."""
    steps = find_steps(text, language)
    named = [one for one in anchors if one.sort in _NAMING] if steps else []
    try:
        wanted = date.fromisoformat(day)
    except ValueError:
        return None
    return next(
        (step for step in steps for anchor in named if anchor.may_be_day(step.back_from(wanted))),
        None,
    )
