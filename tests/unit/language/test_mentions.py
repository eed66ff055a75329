"""Moments and amounts that texts mention, in any language, each with all that its words may
mean.
"""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.readers.duckling_reader import is_available, read
from callwright.language.readers.mentions import (
    converted,
    find_amounts,
    find_moments,
    is_about,
    unit_of,
)

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
def test_a_date_in_figures_may_have_either_order() -> None:
    [found] = find_moments("05/06/2026", "en", NOW)
    assert found.days == {"2026-05-06", "2026-06-05"}


@needs_duckling
@pytest.mark.parametrize("text", ["tomorrow", "on Friday", "this week"])
def test_without_a_day_to_count_from_a_day_that_counts_from_it_is_open(text: str) -> None:
    assert [(one.days, one.sort) for one in find_moments(text, "en", None)] == [
        (frozenset(), "loose")
    ]


@needs_duckling
@pytest.mark.parametrize(
    ("language", "text", "clocks"),
    [
        ("en", "at half past seven", {"07:30", "19:30"}),
        ("en", "quarter past eleven tonight", {"23:15"}),
        ("en", "at 15:30", {"15:30"}),
        ("es", "a las cinco menos cuarto de la tarde", {"16:45"}),
        ("zh", "明儿下午两点", {"14:00"}),
        ("ko", "오후 3시", {"15:00"}),
    ],
)
def test_a_time_without_its_half_of_the_day_stays_open(
    language: str, text: str, clocks: set[str]
) -> None:
    [found] = find_moments(text, language, NOW)
    assert found.clocks == clocks


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
    "text", ["send T-55120 in a box", "half a mile per hour", "between 5 and 10 dollars", "5 km/h"]
)
def test_a_code_a_speed_and_a_range_are_no_exact_amount(text: str) -> None:
    assert not any(one.is_sure and one.unit for one in find_amounts(text, "en"))


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


def test_units_of_one_dimension_are_converted() -> None:
    assert converted(2, "hour", "minute") == 120
    assert converted(42, "money", "cent") == pytest.approx(4200)
    assert is_about(35, converted(95, "fahrenheit", "celsius"))


@given(st.text(max_size=60), st.sampled_from(["en", "zh", "de", "ja"]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    for one in (*find_amounts(text, language), *find_moments(text, language, NOW)):
        assert 0 <= one.start <= one.end <= len(text)


def test_a_language_that_duckling_does_not_know_is_left_alone() -> None:
    assert read("whatever 3", "xx", NOW) == ()
