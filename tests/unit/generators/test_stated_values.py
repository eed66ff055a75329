"""Where a model's wording states a value: lenient about its quotes, and strict only where they
say another value.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.stated_values import find_quote, find_value

WHOLE = {"type": "integer", "description": "How many guests"}


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("Blue Hotel", "At the Blue Hotel.", "Blue Hotel"),
        ("the blue hotel.", "At the Blue Hotel, please", "the Blue Hotel"),
        ("Mr Millers office", "Call Mr. Miller's office.", "Miller's office"),
        ("card 4471", "My card 4472 is lost.", None),
        ("", "My card 4472 is lost.", None),
        ("no such words", "My card 4472 is lost.", None),
    ],
)
def test_a_mangled_quote_is_looked_for_in_the_text(
    words: str, text: str, found: str | None
) -> None:
    place = find_quote(words, text)
    assert (place and text[place.start : place.end]) == found


def test_what_no_rule_reads_goes_on_by_the_quote_of_the_model() -> None:
    assert (
        find_value(
            ("guests", 3), WHOLE, "me and my two kids", "A table for me and my two kids.", "en"
        ).problem
        == ""
    )


def test_a_value_that_nothing_says_is_asked_for_again() -> None:
    assert (
        "nothing in it says 3"
        in find_value(("guests", 3), WHOLE, "three people", "A table, please.", "en").problem
    )


def test_right_wordings_in_free_words_are_hardly_ever_asked_for_again(shared: Path) -> None:
    lines = (shared / "cases/free_wordings.jsonl").read_text(encoding="utf-8").splitlines()
    right = [one for one in map(json.loads, lines) if one["label"] == "right"]
    assert sum(map(_is_refused, right)) <= len(right) // 50


def _is_refused(one: dict[str, Any]) -> bool:
    schemas = one["tool"]["parameters"].get("properties", {})
    return any(
        find_value(
            (name, value),
            schemas[name],
            one["quotes"].get(name, ""),
            one["request"],
            one["language"],
        ).problem
        for name, value in one["arguments"].items()
    )


DAY = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("value", "schema", "words", "problem"),
    [
        (6, WHOLE, "six personnes", False),
        (5, WHOLE, "six personnes", True),
        ("2027-03-05", DAY, "5 mars 2027", False),
        ("2027-03-06", DAY, "5 mars 2027", True),
        ("2027-03-05", DAY, "", False),
        ("Lima", {"type": "string"}, "une table", False),
    ],
)
def test_in_a_language_without_rules_duckling_tells_another_value(
    value: Any, schema: Any, words: str, problem: bool
) -> None:
    text = "Réserve une table pour six personnes le 5 mars 2027 à sept heures et demie du soir"
    stated = find_value(("value", value), schema, words, text, "fr")
    assert bool(stated.problem) == problem, stated
