"""What people are told when Label Studio refuses."""

import pytest

from annotation.studio.connection import MissingError, refusal
from warehouse.errors import AnnotationError


def told(body: object, status: int = 400) -> str:
    error = refusal("http://x", status, body)
    assert isinstance(error, AnnotationError)
    return str(error).removeprefix(f"The Label Studio at http://x refused ({status}): ")


def test_a_refusal_of_another_kind_is_passed_on_with_its_words():
    assert told({"detail": "Bad label config."}) == "Bad label config."
    assert told({"error": "odd"}) == "{'error': 'odd'}."
    assert told("") == "no explanation."


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ({"label_config": ["Bad tag."]}, "Validation error: label_config: Bad tag."),
        ({"non_field_errors": ["Error at item 0: no key"]}, "Validation error: Error at item 0: no key."),
        ({"a": {"b": ["x", "y"]}, "c": []}, "Validation error: a: b: x; y."),
        (["one", {"two": "2"}], "Validation error: one; two: 2."),
        (None, "Validation error."),
    ],
)
def test_what_was_wrong_with_which_field_is_told(errors, sentence):
    assert told({"detail": "Validation error", "validation_errors": errors}) == sentence


def test_a_long_explanation_is_cut_and_seen_to_be():
    text = told({"detail": "Validation error", "validation_errors": {"non_field_errors": ["x" * 5000]}})
    assert text.endswith("x….")
    assert len(text) < 700


def test_what_is_not_there_is_an_error_of_its_own():
    assert isinstance(refusal("http://x", 404, {"detail": "No Task matches the given query."}), MissingError)
    assert not isinstance(refusal("http://x", 404, "<html>"), MissingError)
