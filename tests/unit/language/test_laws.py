"""Laws of writing, finding and reading values, for both languages."""

import re
from datetime import date
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.language.dates import HALF_DAY, find_dates, find_times
from callwright.language.numbers import find_numbers
from callwright.language.text import fold, folded
from callwright.language.values import locate, read_value, write_value

LANGUAGES = st.sampled_from(["en", "zh"])
RANDOM = st.integers(0, 10_000).map(Random)
DAYS = st.dates(date(1950, 1, 1), date(2090, 12, 31)).map(date.isoformat)
CLOCKS = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))
MOMENTS = st.builds("{} {}".format, DAYS, CLOCKS)
WHOLE = st.one_of(
    st.integers(-10_000, 10_000),
    st.integers(0, 10**11),
    st.integers(1, 999).map(lambda n: n * 1000),
)
DECIMALS = st.decimals(-10_000, 10_000, places=2).map(float)
TIME = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
MOMENT = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"}
CHOICES = ["economy", "premium_economy", "business", "FIRST_CLASS", "roundTrip", "头等舱", "经济舱"]
TYPED: list[tuple[dict[str, Any], st.SearchStrategy[Any]]] = [
    ({"type": "integer"}, WHOLE),
    ({"type": "number"}, DECIMALS),
    ({"type": "number", "minimum": 0, "maximum": 1}, st.integers(0, 100).map(lambda n: n / 100)),
    ({"type": "string", "format": "date"}, DAYS),
    (TIME, CLOCKS),
    (MOMENT, MOMENTS),
    ({"type": "boolean"}, st.booleans()),
    ({"type": "boolean", "description": "Whether breakfast is included"}, st.booleans()),
    ({"type": "boolean", "description": "是否需要接机服务"}, st.booleans()),
    ({"type": "string", "enum": CHOICES}, st.sampled_from(CHOICES)),
    (
        {"type": "array", "items": {"type": "integer"}},
        st.lists(st.integers(2, 999), min_size=1, max_size=4),
    ),
    ({"type": "array", "items": TIME}, st.lists(CLOCKS, min_size=1, max_size=3)),
]
PIECES = re.split(
    " ",
    "March 5 2026 , at half past seven pm twenty-five % third of 3月 5号 下午 三点 no 第 七 ﬁ ½ İ ㎡",
)
# digits, letters of both languages, marks that mean something, and anything else
TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="0123456789.,:/-%$ 年月日号点半分一二三十百万第上下午晚pmaso'", max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
)


@pytest.mark.parametrize(
    ("schema", "values"), TYPED, ids=lambda part: str(part)[:40] if isinstance(part, dict) else ""
)
def test_a_typed_value_is_found_and_read_where_it_was_written(
    schema: dict[str, Any], values: Any
) -> None:
    @settings(deadline=None)
    @given(values, LANGUAGES, RANDOM)
    def law(value: Any, language: Any, rng: Random) -> None:
        words = write_value(value, schema, language, rng)
        found = locate(value, schema, words)
        assert found is not None, words
        assert found.rule != HALF_DAY, words
        assert read_value(words, schema) == value, words

    law()


@settings(deadline=None)
@given(TEXTS)
def test_recognisers_never_fail_and_point_into_the_text(text: str) -> None:
    for find in (find_numbers, find_dates, find_times):
        places = find(text)
        assert all(0 <= found.start < found.end <= len(text) for found in places)
        assert all(one.end <= other.start for one, other in pairwise(places))
        for found in places:
            if found.rule == "":
                assert text[found.start : found.end] == str(found.value)


@settings(deadline=None)
@given(
    st.one_of(
        TEXTS, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans()
    ),
    TEXTS,
)
def test_locating_anything_anywhere_never_fails_and_stays_inside(value: Any, text: str) -> None:
    found = locate(value, {"description": text[:20], "title": "a_b"}, text)
    if found:
        assert 0 <= found.start < found.end <= len(text)
        assert (
            found.rule
            or not isinstance(value, str)
            or value.strip() == text[found.start : found.end]
        )


@settings(deadline=None)
@given(TEXTS, st.sampled_from([schema for schema, _ in TYPED]))
def test_whatever_is_read_is_a_value_of_the_schema_or_none(
    words: str, schema: dict[str, Any]
) -> None:
    value = read_value(words, schema)
    kinds = {"integer": int, "number": (int, float), "boolean": bool, "array": list, "string": str}
    assert value is None or isinstance(value, kinds[schema["type"]])


@settings(deadline=None)
@given(st.text())
def test_folding_is_settled_after_once_and_maps_back(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    plain = folded(text)
    assert len(plain.offsets) == len(plain.text) + 1
    assert plain.span(0, len(plain.text))[1] <= len(text)
    assert list(plain.offsets) == sorted(plain.offsets)
