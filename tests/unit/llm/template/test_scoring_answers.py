"""The template's scores of final answers: figures that are in the responses, or are not."""

import json

import pytest

from callwright.llm.template.judging import score_answer
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError

HISTORY = [{"calls": [], "responses": [{"price": 455.0, "days": ["2027-08-27"]}]}]


def scored(answer: object, *, history: bool = True) -> object:
    tagged = {"answer": json.dumps(answer)} | ({"history": json.dumps(HISTORY)} if history else {})
    return score_answer(Sections(tagged, None))["score"]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("It costs 455.0 on 2027-08-27.", 2),
        ("It costs 455.0 on 2027-08-29.", 1),
        ("It costs 999.", 0),
        ("Here is everything.", 0),
    ],
)
def test_an_answer_is_as_right_as_its_figures(answer: str, score: int) -> None:
    assert scored(answer) == score


def test_without_responses_an_answer_is_complete_where_it_states_something() -> None:
    assert (scored("It costs 999.", history=False), scored("Here you are.", history=False)) == (
        2,
        0,
    )


def test_an_answer_that_is_no_text_is_refused() -> None:
    with pytest.raises(ReplyError, match="text in the section <answer>"):
        scored(7)
