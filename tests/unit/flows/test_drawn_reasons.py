"""Why people see what was drawn by chance, in their language."""

import pytest

from callwright.annotation.screens import FINDING_REVIEW, REVIEW_KINDS, TOOL_REVIEW, screen_words
from callwright.flows.review import questions
from callwright.flows.review.pushing import reason_of
from callwright.warehouse.rows import Row


def _row(kind: str, reason: str, cause: str = questions.SPOT_CHECK) -> Row:
    return {
        "kind": kind,
        "version": 1,
        "cause": cause,
        "first_cause": cause,
        "reason": reason,
        "problem": "",
    }


@pytest.mark.parametrize(
    "kind", [kind for kind in REVIEW_KINDS if kind not in (TOOL_REVIEW, FINDING_REVIEW)]
)
def test_what_was_drawn_is_told_in_the_language_of_the_screen(kind: str) -> None:
    row = _row(kind, questions.DRAWN)
    assert reason_of(row, "en") == questions.DRAWN
    assert reason_of(row, "zh") == screen_words(kind, "zh").drawn != ""
