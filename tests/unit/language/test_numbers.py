"""Numbers as people write and say them."""

import pytest

from callwright.language.numbers import ORDINAL, PERCENT, find_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a table for 4", [4]),
        ("1,200 dollars and 3.5 stars", [1200, 3.5]),
        ("it costs $2,500.", [2500]),
        ("twenty-five people", [25]),
        ("two hundred and five", [205]),
        ("half a dozen eggs", [6]),
        ("a hundred pages", [100]),
        ("5 million", [5_000_000]),
        ("80k a year", [80_000]),
        ("minus five degrees", [-5]),
        ("set it to -5", [-5]),
        ("two, three and twenty", [2, 3, 20]),
        ("twenty and two", [20, 2]),
        ("two thousand, three hundred and twenty-one", [2321]),
        ("two and a half", [2.5]),
        ("5kg of rice", [5]),
        ("我要两张票", [2]),
        ("座位数：3。", [3]),
        ("十五个人", [15]),
        ("二百五", [250]),
        ("一百零五元", [105]),
        ("三千五百", [3500]),
        ("1.5万", [15_000]),
        ("1.1万", [11_000]),
        ("120万", [1_200_000]),
        ("体重是68千克", [68]),
        ("一个房间", [1]),
        ("１２３", [123]),
    ],
)
def test_a_number_is_found_however_it_is_written(text: str, values: list[float]) -> None:
    assert [found.value for found in find_numbers(text)] == values


@pytest.mark.parametrize(
    "text",
    [
        "B6789X",
        "terminal T3",
        "at 3pm",
        "on March 3, 2026",
        "3/5/2026",
        "19:30",
        "version 1.2.3",
        "this one please",
        "wait a second",
        "帮我看一下",
        "十分好",
        "周三见",
        "三月出发",
        "3月5号",
        "下午三点",
        "万一下雨",
    ],
)
def test_what_is_part_of_a_name_a_date_or_an_idiom_is_no_number(text: str) -> None:
    assert find_numbers(text) == []


@pytest.mark.parametrize(
    ("text", "value", "rule"),
    [
        ("2.9%", 2.9, PERCENT),
        ("15 percent", 15, PERCENT),
        ("百分之二十", 20, PERCENT),
        ("the third floor", 3, ORDINAL),
        ("第三个", 3, ORDINAL),
        ("the 3rd", 3, ORDINAL),
        ("7", 7, ""),
        ("seven", 7, "number word"),
        ("1,000", 1000, "number"),
    ],
)
def test_the_rule_tells_how_the_number_was_said(text: str, value: float, rule: str) -> None:
    (found,) = find_numbers(text)
    assert (found.value, found.rule) == (value, rule)
