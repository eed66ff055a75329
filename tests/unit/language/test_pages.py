"""Lines of pages: drawn for just what is given, in every language, and read back by the same
templates.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from callwright.language.packs import fallback, known, of
from callwright.language.pages import draw_line, has_line, lines, read_line
from callwright.warehouse.errors import ConfigurationError

PAGES = (
    "requests",
    "dialogues",
    "corrections",
    "conversations",
    "parallel",
    "user",
    "policies",
    "faults",
    "defects",
)
ASSISTANT = ("openers", "refusals", "done", "errors", "found")
SHARED = (
    ("values", "called"),
    ("value",),
    ("phrase",),
    ("old", "value"),
    ("called", "value"),
    ("answer", "called"),
)


def places(code: str) -> Iterator[str]:
    def within(node: Any, place: str) -> Iterator[str]:
        if isinstance(node, dict):
            for name, member in node.items():
                yield from within(member, f"{place}.{name}")
        else:
            yield place

    for page in PAGES:
        yield from within(of(code).data[page], page)
    for name in ASSISTANT:
        yield from within(of(code).data["assistant"][name], f"assistant.{name}")


@pytest.mark.parametrize("code", known())
def test_every_language_has_the_lines_of_every_page(code: str) -> None:
    assert {*places(code)} >= {*places(fallback())} - {"defects.apologies"}
    for place in places(fallback()):
        ours = [slots for slots in SHARED if has_line(fallback(), place, *slots)]
        assert [slots for slots in ours if not has_line(code, place, *slots)] == [], place


@pytest.mark.parametrize("code", known())
def test_a_line_is_drawn_for_just_what_is_given_and_read_back(code: str) -> None:
    for place in places(code):
        for line in lines(code, place):
            words = {slot: f'"x{at}"' for at, slot in enumerate(sorted(line.slots))}
            said = draw_line(code, place, Random(1), **words)
            assert all(word in said for word in words.values()), place
            read = read_line(
                code, place, said, lambda slot, text, words=words: text == words.get(slot)
            )  # type: ignore[misc]
            assert words in [*read], (place, said)


def test_lines_are_those_of_their_slots() -> None:
    for seed in range(20):
        assert "{" not in draw_line("en", "corrections.mSv", Random(seed), value="noon")
        assert "oven" in draw_line(
            "en", "corrections.mSv", Random(seed), value="noon", called="oven"
        )
    with pytest.raises(
        ConfigurationError, match=r"No line at 'corrections.mSv' in 'en' says just \['colour'\]"
    ):
        draw_line("en", "corrections.mSv", Random(1), colour="red")
