"""Why people see what was drawn by chance, in their language."""

import inspect

import pytest

from annotation.screens import REVIEW_KINDS, TOOL_REVIEW, screen_words
from flows import landing
from flows.review import path_reviews, prediction_audits, questions
from flows.review.tasks import reason_of
from warehouse.rows import Row


def _row(kind: str, reason: str) -> Row:
    return {"kind": kind, "version": 1, "cause": questions.SPOT_CHECK, "reason": reason, "problem": ""}


@pytest.mark.parametrize("kind", [kind for kind in REVIEW_KINDS if kind != TOOL_REVIEW])
def test_what_was_drawn_is_told_in_the_language_of_the_screen(kind: str) -> None:
    row = _row(kind, questions.DRAWN)
    assert reason_of(row, "en") == questions.DRAWN
    assert reason_of(row, "zh") == screen_words(kind, "zh").drawn != ""


def test_what_a_check_says_is_told_as_it_says_it() -> None:
    assert reason_of(_row("sample_review", "grounding: said nowhere."), "zh") == "grounding: said nowhere."


@pytest.mark.parametrize("module", [landing, path_reviews, prediction_audits, questions])
def test_every_draw_begins_its_reason_alike(module: object) -> None:
    assert '"Drawn from ' in inspect.getsource(module)  # type: ignore[arg-type]
