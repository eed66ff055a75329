"""Another value for an argument, and the words that bring it."""

from random import Random
from typing import Any

import pytest

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.values import locate
from callwright.llm.template.changing import CallChange, read_correction, word_change
from callwright.warehouse.records import Tool

CALL = {"restaurant": "Blue Door", "guests": 4}


@pytest.fixture(scope="module")
def tables(tools: tuple[Tool, ...]) -> ToolView:
    return view_of(tools[0].model_dump())


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
