"""Stems: what is inflected is one word, and no noun becomes a negation."""

import pytest

from callwright.language.text import negations, stem
from callwright.language.values import find_boolean

EDITING = {"type": "boolean", "description": "editing allowed"}


@pytest.mark.parametrize("word", ["note", "notes", "noted", "noting"])
def test_a_note_is_no_negation(word: str) -> None:
    assert stem(word) == "note"
    assert stem(word) not in negations()


@pytest.mark.parametrize("word", ["care", "cares", "cared", "caring"])
def test_care_is_no_car(word: str) -> None:
    assert stem(word) == stem("care") != stem("cars")


def test_none_stays_a_negation() -> None:
    assert stem("none") in negations()


def test_sharing_a_note_with_something_is_not_doing_without_it() -> None:
    text = "Share a note by email with editing allowed."
    assert find_boolean(True, EDITING, text) is not None
    assert find_boolean(False, EDITING, text) is None
    assert (
        find_boolean(False, EDITING, "Share a note by email without editing allowed.") is not None
    )


@pytest.mark.parametrize(
    ("description", "text", "stated"),
    [
        ("收藏识别结果", "要收藏识别结果", True),
        ("收藏识别结果", "不要收藏识别结果", False),
        ("免费无线网络", "要免费无线网络", True),
        ("早餐", "特别要早餐", True),
        ("早餐", "别要早餐", False),
    ],
)
def test_a_character_within_a_word_negates_nothing(
    description: str, text: str, *, stated: bool
) -> None:
    schema = {"type": "boolean", "description": description}
    assert find_boolean(stated, schema, text) is not None
    assert find_boolean(not stated, schema, text) is None
