"""Dates as people write and say them."""

import pytest

from callwright.language.dates import DATE, RELATIVE, date_spans, find_dates


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-05",
        "March 5, 2026",
        "5 March 2026",
        "the 5th of March 2026",
        "Thursday, March 5, 2026",
        "05/Mar/2026",
        "5 MAR 2026",
        "March 05 2026",
        "2026/3/5",
        "2026.03.05",
        "2026年3月5日",
        "2026年3月5号",
        "二〇二六年三月五日",
        "the fifth of March, 2026",
        "２０２６年３月５日",
    ],
)
def test_an_absolute_date_is_read_as_iso(text: str) -> None:
    (found,) = find_dates(f"x {text} y")
    assert (found.value, found.start, found.end) == ("2026-03-05", 2, 2 + len(text))
    assert found.rule in ("", DATE)


def test_a_date_that_may_be_read_both_ways_is_no_proof_but_takes_its_place() -> None:
    assert find_dates("on 3/5/2026") == []
    assert date_spans("on 3/5/2026") == [(3, 11)]
    assert [found.value for found in find_dates("on 13/5/2026 or 3/3/2026")] == [
        "2026-05-13",
        "2026-03-03",
    ]


@pytest.mark.parametrize(
    "text",
    ["tomorrow", "the day after tomorrow", "next Friday", "Monday", "后天", "下周三", "星期天"],
)
def test_a_relative_day_is_kept_as_it_was_said(text: str) -> None:
    (found,) = find_dates(f"，{text}，")
    assert (found.value, found.rule) == (text, RELATIVE)
