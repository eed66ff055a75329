"""Moments and amounts that texts mention, in any language, each with all that its words may
mean.
"""

from datetime import UTC, datetime

import pytest

from callwright.language.readers.duckling_reader import is_available, read
from callwright.language.readers.mentions import find_amounts, find_moments, unit_of

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)  # a Monday
needs_duckling = pytest.mark.skipif(
    not is_available(), reason="Duckling has no wheel for this machine."
)


@needs_duckling
@pytest.mark.parametrize(
    ("language", "text", "sort", "day"),
    [
        ("en", "on 5 March 2027", "dated", "2027-03-05"),
        ("de", "am 5. März 2027", "dated", "2027-03-05"),
        ("en", "on March 5", "yearless", "2031-03-05"),
        ("en", "on the 22nd", "monthless", "2026-11-22"),
        ("en", "this Thursday", "weekday", "2026-11-26"),
        ("en", "next Thursday", "weekday", "2026-11-26"),
        ("en", "next Thursday", "weekday", "2026-12-03"),
        ("zh", "下周五", "weekday", "2026-12-04"),
        ("fr", "demain", "counted", "2026-11-24"),
        ("en", "the day after tomorrow", "counted", "2026-11-25"),
        ("en", "2 to 9 January", "yearless", "2027-01-09"),
        ("en", "by Friday", "weekday", "2026-11-27"),
    ],
)
def test_a_day_is_read_with_all_that_its_words_may_mean(
    language: str, text: str, sort: str, day: str
) -> None:
    [found] = find_moments(text, language, NOW)
    assert found.sort == sort
    assert found.may_be_day(day)
    assert not found.may_be_day("2026-07-13")


@needs_duckling
@pytest.mark.parametrize(
    ("language", "text", "value", "unit"),
    [
        ("en", "a timer of two hours", 2, "hour"),
        ("en", "2 hours and 15 minutes", 135, "minute"),
        ("de", "zwei Stunden", 2, "hour"),
        ("en", "$42", 42, "money"),
        ("en", "42 cents", 42, "cent"),
        ("zh", "三公里", 3, "kilometre"),
        ("en", "95 Fahrenheit", 95, "fahrenheit"),
        ("en", "twenty-five people", 25, ""),
    ],
)
def test_an_amount_is_read_with_its_unit(language: str, text: str, value: float, unit: str) -> None:
    [found] = find_amounts(text, language)
    assert (found.value, found.unit, found.is_sure) == (value, unit, True)


@needs_duckling
@pytest.mark.parametrize(
    ("name", "description", "unit"),
    [
        ("duration_minutes", "", "minute"),
        ("radius", "Search radius in meters", "metre"),
        ("time", "时长，单位：分钟", "minute"),
        ("amount", "Amount in the smallest currency unit (cents)", "cent"),
        ("threshold_celsius", "Alert above", "celsius"),
        ("min_price", "The lowest price.", ""),
        ("velocity", "Velocity in km/h", ""),
        ("speed", "In metres per second", ""),
        ("price_per_night", "", ""),
        ("resume_on", "Day the order resumes", ""),
        ("amount", "An amount of money in dollars", ""),
    ],
)
def test_the_unit_of_a_parameter_is_known_from_its_schema(
    name: str, description: str, unit: str
) -> None:
    assert unit_of(name, description, "zh") == unit


def test_a_language_that_duckling_does_not_know_is_left_alone() -> None:
    assert read("whatever 3", "xx", NOW) == ()
