"""Times of day as people write and say them."""

import pytest

from callwright.language.dates import HALF_DAY, TIME, find_times


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("19:30", "19:30"),
        ("7:30 pm", "19:30"),
        ("7.30pm", "19:30"),
        ("half past seven in the evening", "19:30"),
        ("seven thirty pm", "19:30"),
        ("quarter to nine in the morning", "08:45"),
        ("a quarter past six in the evening", "18:15"),
        ("10 a.m.", "10:00"),
        ("tonight at 8", "20:00"),
        ("8 o'clock tonight", "20:00"),
        ("noon", "12:00"),
        ("midnight", "00:00"),
        ("12 am", "00:00"),
        ("12pm", "12:00"),
        ("晚上七点半", "19:30"),
        ("下午3点15分", "15:15"),
        ("中午十二点", "12:00"),
        ("中午一点", "13:00"),
        ("早上8:30", "08:30"),
        ("凌晨两点", "02:00"),
        ("15点", "15:00"),
        ("上午九点一刻", "09:15"),
    ],
)
def test_a_time_that_can_mean_one_time_only_is_read(text: str, value: str) -> None:
    (found,) = find_times(text)
    assert found.value == value
    assert found.rule in ("", TIME)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("at 7:30", "07:30"),
        ("half past seven", "07:30"),
        ("七点半", "07:30"),
        ("8 o'clock", "08:00"),
    ],
)
def test_a_time_without_am_or_pm_says_so(text: str, value: str) -> None:
    (found,) = find_times(text)
    assert (found.value, found.rule) == (value, HALF_DAY)
