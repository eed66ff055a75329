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


def test_a_seed_gives_a_person_a_place_a_day_and_an_opening_or_letters() -> None:
    drawn = circumstances_of(7, speaks=True)
    found = re.fullmatch(r"([^,]+ of \d\d), (.+), (\w+), (\d{4}-\d\d-\d\d); begins (.+)", drawn)
    assert found is not None
    assert f"{date.fromisoformat(found[4]):%A}" == found[3]
    assert drawn == circumstances_of(7, speaks=True)
    nobody = circumstances_of(7, speaks=False, is_somebody=False)
    assert re.fullmatch(rf"{found[2]}, {found[3]}, {found[4]}; names begin with \w, \w, \w", nobody)


def test_hardly_two_seeds_have_the_same() -> None:
    assert len({circumstances_of(seed, speaks=True) for seed in range(400)}) == 400
    ends = {circumstances_of(seed, speaks=False).partition(";")[2] for seed in range(400)}
    assert len(ends) > 300


@given(st.integers())
def test_circumstances_stand_where_the_seed_stood_and_the_fixed_part_stays_fixed(seed: int) -> None:
    shown = in_circumstances(prompt_with(seed), {"write_request"})
    text = shown.messages[-1].content
    assert f"<seed>{seed}</seed>\n<conv" not in text
    assert text.startswith("<tool>{}</tool>\n<circumstances>")
    assert shown.messages[0] == in_circumstances(prompt_with(1), {"write_request"}).messages[0]
    assert shown == prompt_with(seed).with_changes(messages=shown.messages)


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
    shown = [circumstances_of(seed, 5, speaks=True).partition(";") for seed in range(1, 9)]
    assert len({who for who, _, _ in shown}) == 1
    assert len({how for _, _, how in shown}) > 1
