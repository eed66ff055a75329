"""A long text takes as long as it is long: letters that repeat, and much that looks like a value,
are no trap.

Where something grew with the square of the length, these would take hours.
"""

from collections.abc import Callable

import pytest

from callwright.flows.data_checks import check_sample
from callwright.generators.taken.personal_data import MOST_VALUES, without_personal_data
from callwright.language.numbers import find_numbers
from callwright.language.text import words_of
from callwright.testing import make_sample, make_tool
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Sample

LENGTH = 20_000
CITY = make_tool("get_weather", city="string")
TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": lambda length: "a" * length,
    "letters between gaps": lambda length: "a " * (length // 2),
    "one digit": lambda length: "7" * length,
    "digits between gaps": lambda length: "7 " * (length // 2),
    "names": lambda length: "Anna Meyer " * (length // 11),
    "not at all": lambda length: "not 7, no call. " * (length // 16),
    "keys": lambda length: "sk-" * (length // 3),
    "accents": lambda length: "é😀" * (length // 2),
    "dots": lambda length: "." * length,
    "addresses": lambda length: "1 A Main Street " * (length // 16),
    "gaps": lambda length: " " * length + "x",
    "one capital": lambda length: "A" * length,
    "capitals": lambda length: "Ab " * (length // 3),
    "introductions": lambda length: "my name is " * (length // 11),
    "corrections": lambda length: "one or two, no wait, three. " * (length // 28),
    "streets": lambda length: "ул. " * (length // 4),
}


def sample_of(text: str) -> Sample:
    return make_sample(
        [CITY], text, {"get_weather": {"city": text[: len(text) // 2].strip() or "x"}}
    )


@pytest.mark.parametrize("name", TEXTS)
async def test_checks_read_a_long_text(name: str) -> None:
    verdicts = await check_sample(sample_of(TEXTS[name](LENGTH)), {CITY.key: CITY}, None, {})
    assert {one.check for one in verdicts} >= {"format", "grounding"}


@pytest.mark.parametrize("name", TEXTS)
def test_personal_data_is_looked_for_in_a_long_text(name: str) -> None:
    found = without_personal_data(sample_of(TEXTS[name](LENGTH)), [CITY], "seed")
    assert len(found.values) < MOST_VALUES


def test_a_mail_deep_in_a_long_text_is_replaced() -> None:
    text = f"{'word ' * 4000}anna.schmidt@web.de {'word ' * 4000}"
    found = without_personal_data(sample_of(text), [CITY], "seed")
    assert "anna.schmidt" not in found.sample.request
    assert found.counts == {"mail": 1}


def test_more_personal_data_than_can_be_replaced_is_an_error_of_the_record() -> None:
    with pytest.raises(RecordError, match="more than 1000 values"):
        without_personal_data(
            sample_of("".join(f"u{number}@x.org " for number in range(1500))), [CITY], "seed"
        )


def test_a_number_of_thousands_of_digits_is_no_number() -> None:
    assert find_numbers(f"call {'9' * 5000} or 12 or {'一' * 5000}")[0].value == 12


def test_words_are_found_between_edges_alone() -> None:
    words = words_of("aa " * 100)
    assert words.find("aa" * 40) == (0, 39)
    assert words.find("a" * 81) is None
