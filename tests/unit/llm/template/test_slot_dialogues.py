"""Asking for one value and answering it, and understanding what a question asks for."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.language.calls.sampling import fill_in
from callwright.language.calls.tools import ParameterView, ToolView, view_of
from callwright.language.values import locate
from callwright.llm.template.defects import (
    EXTRA_ARGUMENT,
    HALLUCINATED_VALUE,
    WRONG_ARGUMENT,
    spoil_answer,
)
from callwright.llm.template.questions import asked_parameters, word_answer, word_question
from callwright.warehouse.records import JsonSchema, Language
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: (view_of(tool.signature), tool.language) for tool in TOOLS}
NAMED = st.sampled_from(
    [(name, one.name) for name, (view, _) in VIEWS.items() for one in view.parameters]
)
TABLE, TRAINS = VIEWS["Dining.Tables.bookTable"][0], VIEWS["Travel.Trains.findTrains"][0]


def slot(
    tool: str, parameter: str, seed: int
) -> tuple[ToolView, ParameterView, JsonValue, Language]:
    view, language = VIEWS[tool]
    value = fill_in([parameter], view.properties, language, Random(seed))[parameter]
    return view, view.parameter(parameter), value, language


@given(NAMED, st.integers(0, 10_000))
def test_a_question_is_understood_as_the_question_for_its_parameter(
    named: tuple[str, str], seed: int
) -> None:
    view, parameter, _, language = slot(*named, seed)
    question = word_question(view, parameter, {}, language, Random(seed))
    assert asked_parameters(view, question) == (parameter,)
    assert "{" not in question


@given(NAMED, st.integers(0, 10_000), st.booleans())
def test_an_answer_quotes_words_that_say_its_value(
    named: tuple[str, str], seed: int, is_bare: bool
) -> None:
    view, parameter, value, language = slot(*named, seed)
    answered = word_answer(view, (parameter, value), language, Random(seed), is_bare=is_bare)
    assert answered.words in answered.text
    assert locate(value, {"title": parameter.name, **parameter.schema}, answered.words)
    assert "{" not in answered.text


def test_a_text_that_begins_an_answer_keeps_its_letters() -> None:
    schema: JsonSchema = {"type": "object", "properties": {"login": {"type": "string"}}}
    view = view_of({"name": "add_user", "description": "Adds a user.", "parameters": schema})
    answers = [
        word_answer(view, (view.parameter("login"), "unicorn"), "en", Random(seed), is_bare=True)
        for seed in range(30)
    ]
    assert any(one.text.startswith("unicorn") for one in answers)
    assert all(one.words == "unicorn" for one in answers)


@pytest.mark.parametrize("defect", [WRONG_ARGUMENT, EXTRA_ARGUMENT, HALLUCINATED_VALUE])
@pytest.mark.parametrize("seed", range(5))
def test_a_spoilt_answer_is_not_understood_as_the_right_one(defect: str, seed: int) -> None:
    parameter = TABLE.parameter("guests")
    spoilt = spoil_answer(defect, TABLE, (parameter, 4), "en", Random(seed))
    assert spoilt
    assert spoilt.text not in {
        word_answer(TABLE, (parameter, 4), "en", Random(other), is_bare=is_bare).text
        for other in range(20)
        for is_bare in (True, False)
    }
