"""Quantities and moments that people mention, in words that no template made."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.readers.duckling_reader import is_available, read
from callwright.language.readers.mentions import find_moments
from callwright.language.readers.quantities import find_quantities
from callwright.language.readers.units import Unit, unit_of

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)  # a Monday
MINUTE, HOUR, METRE, KILOMETRE = (
    Unit("duration", 60),
    Unit("duration", 3600),
    Unit("distance", 1),
    Unit("distance", 1000),
)
DEGREE, YUAN = Unit("degree", 1), Unit("money", 1)
needs_duckling = pytest.mark.skipif(not is_available(), reason="Duckling has no wheel for this machine.")


@needs_duckling
@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("三天后提醒", ["2026-11-26"]),
        ("两周以后再说", ["2026-12-07"]),
        ("周一周四各一次", ["2026-11-23", "2026-11-26"]),
        ("每周二四六", ["2026-11-24", "2026-11-26", "2026-11-28"]),
        ("周六天气怎么样", ["2026-11-28"]),
        ("三号桌", []),
        ("母亲节", ["2027-05-09"]),
        ("12月最后一天", ["2026-12"]),
    ],
)
def test_days_of_chinese_are_those_that_are_counted_or_named(said: str, days: list[str]) -> None:
    assert [day for one in find_moments(said, "zh", NOW) for day in sorted(one.days)] == days


@needs_duckling
def test_minutes_in_figures_are_minutes() -> None:
    assert [one.clocks for one in find_moments("明天下午3点05", "zh", NOW)] == [{"15:05"}]


@pytest.mark.parametrize(
    ("language", "text", "value", "unit"),
    [
        ("en", "start a timer for two hours", 2, HOUR),
        ("en", "within half a kilometre of the square", 0.5, KILOMETRE),
        ("en", "for the next three quarters of an hour", 0.75, HOUR),
        ("en", "an hour and a half of yoga", 1.5, HOUR),
        ("en", "take fifteen hundred out", 1500, None),
        ("en", "half a million of cover", 500_000, None),
        ("en", "speeds up at 3 m/s²", 3, Unit("distance/duration2", 1)),
        ("en", "a density of 700 kg/m3", 700, Unit("mass/volume", 0.001)),
        ("en", "2 m^3 of sand", 2, Unit("volume", 1e6)),
        ("en", "85 kilometres an hour", 85, Unit("speed", 1)),
        ("en", "a baker's dozen of rolls", 13, None),
        ("zh", "周边一公里半之内", 1.5, KILOMETRE),
        ("zh", "刚游了一个半小时", 1.5, HOUR),
        ("zh", "赎两万五出来", 25_000, None),
        ("zh", "烤到七十度五", 70.5, DEGREE),
        ("zh", "放慢到零点七五倍", 0.75, None),
        ("zh", "跑了四点二公里", 4.2, KILOMETRE),
        ("zh", "交了56块4毛3", 56.43, YUAN),
        ("zh", "付两块零七", 2.07, YUAN),
        ("zh", "要5千5", 5500, None),
        ("zh", "练一小时一刻", 1.25, HOUR),
        ("zh", "零下八度", -8, DEGREE),
        ("zh", "涨了百分之一点五", 1.5, Unit("percent", 1)),
        ("zh", "面粉四两", 4, Unit("mass", 50)),
        ("zh", "音量调到一半", 50, Unit("percent", 1)),
        ("zh", "鸡蛋要三打", 36, None),
    ],
)
@needs_duckling
def test_a_quantity_is_read_with_its_unit(language: str, text: str, value: float, unit: Unit | None) -> None:
    [found] = find_quantities(text, language)
    assert (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    ("language", "text", "bound"),
    [
        ("en", "a blender under 200 dollars", "most"),
        ("en", "two hours at the most", "most"),
        ("en", "three bedrooms or more", "least"),
        ("en", "I won't get out of bed for less than 60k", "least"),
        ("en", "no more than 25", "most"),
        ("en", "we can't pay more than 25", "most"),
        ("en", "exactly 25", ""),
        ("zh", "不超过五百万", "most"),
        ("zh", "至少三个", "least"),
    ],
)
def test_a_bound_is_told_from_an_exact_number(language: str, text: str, bound: str) -> None:
    [found] = find_quantities(text, language)
    assert found.bound == bound


@pytest.mark.parametrize(
    ("language", "text"), [("en", "about 10 minutes"), ("zh", "三百多的"), ("zh", "过个十来秒再拍")]
)
def test_an_estimate_is_no_exact_number(language: str, text: str) -> None:
    assert [one.is_estimate for one in find_quantities(text, language)] == [True]


@pytest.mark.parametrize("text", ["来两三个", "大概四五百块", "三十出头的人", "一千多"])
def test_a_vague_number_is_never_an_exact_one(text: str) -> None:
    assert [one for one in find_quantities(text, "zh") if not one.is_estimate] == []


@needs_duckling
def test_what_ends_at_a_time_does_so_after_it_began() -> None:
    first, last = find_moments("早上十点到两点", "zh", NOW)
    assert (first.clocks, last.clocks) == ({"10:00"}, {"14:00"})
    first, last = find_moments("周六到周三", "zh", NOW)
    assert (first.days, last.days) == ({"2026-11-28"}, {"2026-12-02"})


def test_the_first_of_a_range_takes_scale_and_unit_of_the_last() -> None:
    low, high = find_quantities("somewhere from three hundred to four hundred and fifty thousand euros", "en")
    assert (low.value, low.place, high.value, high.place) == (300_000, 1, 450_000, 2)
    assert low.unit == high.unit == Unit("money", 1)


@pytest.mark.parametrize(
    ("language", "text", "days", "clocks"),
    [
        ("en", "on Saturday, quarter to nine at night", {"2026-11-28"}, {"20:45"}),
        ("en", "wake me at twenty past six in the morning", set(), {"06:20"}),
        ("en", "quarter past eleven tonight", {"2026-11-23"}, {"23:15"}),
        ("en", "the day after tomorrow", {"2026-11-25"}, set()),
        ("zh", "下周五到北京", {"2026-12-04"}, set()),
        ("zh", "明儿下午两点", {"2026-11-24"}, {"14:00"}),
        ("zh", "上周四那笔", {"2026-11-19"}, set()),
        ("zh", "今早量的", {"2026-11-23"}, set()),
        ("zh", "明早六点叫我", {"2026-11-24"}, {"06:00"}),
        ("zh", "晚上差十分八点", set(), {"19:50"}),
        ("zh", "早上八点差一刻", set(), {"07:45"}),
        ("zh", "12月12到14号", {"2026-12-12"}, set()),
    ],
)
@needs_duckling
def test_days_and_times_are_read_relative_to_now(language: str, text: str, days: set[str], clocks: set[str]) -> None:
    [found] = find_moments(text, language, NOW)
    assert (set(found.days), set(found.clocks)) == (days, clocks)


@needs_duckling
def test_a_time_without_its_half_of_the_day_stays_open() -> None:
    [found] = find_moments("let's meet at half past seven", "en", NOW)
    assert set(found.clocks) == {"07:30", "19:30"}


@needs_duckling
def test_a_range_of_days_ends_on_its_last_day() -> None:
    [found] = find_moments("2 to 9 January", "en", NOW)
    assert (set(found.days), found.last_day) == ({"2027-01-02"}, "2027-01-09")


def test_a_number_with_a_unit_is_no_time_of_day() -> None:
    assert find_moments("remind me at 10 minutes", "en", NOW) == ()


@pytest.mark.parametrize(
    ("name", "description", "unit"),
    [
        ("duration_minutes", "", MINUTE),
        ("radius", "Search radius in meters", METRE),
        ("duration", "时长，单位：分钟", MINUTE),
        ("min_price", "The lowest price.", None),
        ("min_size_mb", "", Unit("data", 1)),
        ("velocity", "Velocity in km/h", Unit("speed", 1)),
        ("acceleration", "In m/s^2", Unit("distance/duration2", 1)),
        ("amount", "An amount of money in dollars", None),
    ],
)
def test_the_unit_of_a_parameter_is_known_from_its_schema(name: str, description: str, unit: Unit | None) -> None:
    assert unit_of(name, description, "zh") == unit


@given(st.text(max_size=60), st.sampled_from(["en", "zh"]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    for one in (*find_quantities(text, language), *find_moments(text, language, NOW)):
        assert 0 <= one.start <= one.end <= len(text)


def test_a_language_that_duckling_does_not_know_is_left_alone() -> None:
    assert read("whatever 3", "xx", NOW) == ()
