"""Another value for an argument, and the words that bring it."""

from random import Random
from typing import Any

import pytest

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.schemas import fits
from callwright.language.values import locate
from callwright.llm.template.changing import (
    CallChange,
    ViewedCall,
    other_value,
    read_correction,
    word_change,
)
from callwright.llm.template.reading import read_values
from callwright.llm.template.sections import Turn
from callwright.llm.template.sentences import word_request
from callwright.warehouse.records import Tool

BOOKED = [
    Turn("user", "Please book a table. The restaurant is Blue Door. The number of guests is 4.")
]
CALL = {"restaurant": "Blue Door", "guests": 4}


@pytest.fixture(scope="module")
def tables(tools: tuple[Tool, ...]) -> ToolView:
    return view_of(tools[0].model_dump())


@pytest.mark.parametrize("name", ["restaurant", "guests"])
def test_another_value_fits_and_was_not_said(name: str, tables: ToolView) -> None:
    parameter = tables.parameter(name)
    for seed in range(20):
        value = other_value(parameter, ViewedCall(tables, CALL), BOOKED, "en", Random(seed))
        assert fits(value, parameter.schema)
        assert locate(value, parameter.schema, BOOKED[0].text) is None


@pytest.mark.parametrize("case", ["SO_case1", "SO_case2", "mSv"])
@pytest.mark.parametrize(("name", "new"), [("restaurant", "Corner Kitchen"), ("guests", 7)])
def test_a_worded_change_says_the_new_value(
    case: str, name: str, new: Any, tables: ToolView
) -> None:
    parameter = tables.parameter(name)
    change = CallChange(tables, CALL, parameter, new, case, must_name=True)
    said = set()
    for seed in range(20):
        worded = word_change(change, "en", Random(seed))
        assert locate(new, parameter.schema, worded.words)
        assert worded.words in worded.text
        said.add(worded.text)
    assert len(said) > 3


CASES = ("SO_case1", "SO_case2", "mSv")


@pytest.mark.parametrize("case", CASES)
def test_a_change_that_only_one_argument_may_mean_is_read_back(case: str, tables: ToolView) -> None:
    told: dict[str, Any] = {**CALL, "date": "2027-05-03"}
    for name, new in (("guests", 7), ("date", "2027-05-09"), ("restaurant", "Corner Kitchen")):
        for seed in range(20):
            change = CallChange(tables, told, tables.parameter(name), new, case, must_name=False)
            said = word_change(change, "en", Random(seed)).text
            assert name not in said.lower() or name == "restaurant", said
            read = read_correction(tables, said, told, "en")
            assert read in ({name: new}, {}) if name == "restaurant" else read == {name: new}, said


@pytest.mark.parametrize("case", CASES)
def test_what_could_be_meant_for_another_argument_takes_the_old_value_back_and_names_nothing(
    case: str,
) -> None:
    text = {"type": "string"}
    view = view_of(
        {
            "name": "addBook",
            "parameters": {"type": "object", "properties": {"title": text, "author": text}},
        }
    )
    told: dict[str, Any] = {"title": "Dune", "author": "Frank Herbert"}
    change = CallChange(view, told, view.parameter("title"), "Emma", case, must_name=True)
    for language in ("en", "zh", "es"):
        said = {word_change(change, language, Random(seed)).text for seed in range(20)}
        assert all(one.index("Dune") < one.index("Emma") for one in said)
        assert {str(read_correction(view, one, told, language)) for one in said} == {
            "{'title': 'Emma'}"
        }


def test_a_correction_in_words_of_the_tools_own_names_no_parameter() -> None:
    view = next(
        view_of(one.sayable) for one in seed_tools() if one.name == "Trains.Tickets.rebookTicket"
    )
    told: dict[str, Any] = {"ticket_id": "TK690053", "new_train": "K617", "new_date": "2026-12-21"}
    for text, read in (
        ("On second thought, make it D88.", {"new_train": "D88"}),
        ("Oh, wait, train D88.", {"new_train": "D88"}),
        ("Same again, but swap TK690053 for TK571284, please.", {"ticket_id": "TK571284"}),
        ("Thanks, that's all.", {}),
    ):
        assert read_correction(view, text, told, "en") == read


@pytest.mark.parametrize("language", ["en", "zh", "es"])
@pytest.mark.parametrize("case", CASES)
def test_a_yes_or_no_without_words_of_its_own_is_said_with_its_name(
    case: str, language: str, tools: Any
) -> None:
    view = next(view_of(one.model_dump()) for one in tools if one.name == "Lists.Shopping.addItems")
    change = CallChange(
        view, {"urgent": True}, view.parameter("urgent"), False, case, must_name=True
    )
    for seed in range(9):
        worded = word_change(change, language, Random(seed))
        assert "urgent" in worded.text.lower()
        assert locate(False, {"title": "urgent", "type": "boolean"}, worded.words) is not None


def test_a_correction_is_no_answer_to_the_question_that_is_open() -> None:
    view = next(
        view_of(one.sayable)
        for one in seed_tools()
        if one.name == "FoodDelivery.Courier.leaveInstructions"
    )
    request = word_request(view, {"order_id": "FD46128"}, "en", Random(1)).request
    turns = [Turn("user", request), Turn("assistant", "What shall I tell the courier?")]
    for said in ("Sorry, can we change FD46128 to FD57730?", "Hold on, not FD46128, FD57730."):
        read = read_values(view, [*turns, Turn("user", said)])
        assert read == {"order_id": "FD57730"}, said
