"""A model that reads is shown circumstances in the place of a seed number; each seed has its
own.
"""

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.voices import circumstances_of, in_circumstances
from callwright.llm.chat import ChatMessage, Prompt

TOP = Path(__file__).parents[3]


def prompt_with(seed: object, name: str = "write_request") -> Prompt:
    data = (
        f"<tool>{{}}</tool>\n<seed>{seed}</seed>\n<conversation>\nuser:"
        " <seed>9</seed>\n</conversation>"
    )
    messages = (
        ChatMessage(role="system", content="Rules."),
        ChatMessage(role="user", content=data),
    )
    return Prompt(name=name, version="v", messages=messages)


def test_a_seed_gives_a_day_letters_a_person_and_for_words_an_opening() -> None:
    drawn = circumstances_of(7, speaks=True)
    assert list(drawn) == ["person", "place", "day", "letters", "opening"]
    weekday, day = drawn["day"].split(", ")
    assert f"{date.fromisoformat(day):%A}" == weekday
    assert len(set(drawn["letters"].split())) == 4
    assert drawn == circumstances_of(7, speaks=True)
    assert circumstances_of(7, speaks=False, is_somebody=False).keys() == {
        "place",
        "day",
        "letters",
    }


def test_hardly_two_seeds_have_the_same() -> None:
    drawn = [circumstances_of(seed, speaks=True) for seed in range(400)]
    assert len({tuple(one.values()) for one in drawn}) == 400
    assert len({one["letters"] for one in drawn}) > 350
    assert len({one["day"] for one in drawn}) > 200


@given(st.integers())
def test_circumstances_stand_where_the_seed_stood_and_the_fixed_part_stays_fixed(seed: int) -> None:
    shown = in_circumstances(prompt_with(seed), {"write_request"})
    text = shown.messages[-1].content
    assert f"<seed>{seed}</seed>\n<conv" not in text
    assert text.startswith("<tool>{}</tool>\n<circumstances>{")
    assert shown.messages[0] == in_circumstances(prompt_with(1), {"write_request"}).messages[0]
    assert shown.version == "v"


@pytest.mark.parametrize(
    "path", sorted((TOP / "generators").rglob("*.j2")), ids=lambda path: path.stem
)
def test_no_prompt_speaks_of_a_seed_number_and_each_seed_stands_in_a_line_of_its_own(
    path: Path,
) -> None:
    text = path.read_text(encoding="utf-8")
    assert "seed number" not in text
    assert text.count("seed") == 2 * len(
        re.findall(r"^<seed>\{\{ (?:plan\.)?seed \}\}</seed>$", text, re.MULTILINE)
    ) + len(re.findall(r"\{\{ (?:plan\.)?seed \}\}", text))


def test_who_speaks_stays_the_same_in_all_that_is_made_of_a_sample_and_the_words_vary() -> None:
    first, second = (circumstances_of(seed, 5, speaks=True) for seed in (1, 2))
    assert [first[name] for name in ("person", "place", "day")] == [
        second[name] for name in ("person", "place", "day")
    ]
    assert first["letters"] != second["letters"]
