"""Duckling is asked only what it answers."""

import signal
from datetime import UTC, datetime

import pytest

from callwright.language.readers.duckling_reader import read

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2027年10月34日", "10月 32 号", "十月三十四日晚上", "8月百日", "10月134日"]
)
def test_a_day_that_no_month_has_is_not_asked_for(text: str) -> None:
    assert read(text, "zh", NOW) == ()


def test_the_letters_of_a_hash_are_no_years_before_christ() -> None:
    text = (
        "The gist ID is eff1967b75b9f8d3e7a99ad3a1b0dbad. My sha is"
        " 226a47bb45e7bc44006e860c3de4b36f0527c5ed."
    )
    moments = [one.value for one in read(text, "en", NOW) if one.dimension == "time"]
    assert not any(str(value.get("value", "")).startswith("-") for value in moments)


def test_ctrl_c_stays_python_s_when_duckling_is_loaded() -> None:
    read("tomorrow at eight", "en", datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
