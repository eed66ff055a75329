"""Schedules of recipes: what each run makes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.recipe.rules import EachRun, Schedule, shared_in_proportion
from callwright.flows.refreshed_tools import compare_tools, told_of_differences
from callwright.warehouse.records import Tool

WEIGHTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 500), min_size=1)


@given(WEIGHTS, st.integers(0, 400))
def test_a_larger_total_takes_nothing_from_anybody_and_is_shared_out_whole(
    weights: dict[str, int], total: int
) -> None:
    fewer, more = shared_in_proportion(total, weights), shared_in_proportion(total + 1, weights)
    assert all(fewer[name] <= more[name] for name in weights)
    assert sum(fewer.values()) == (total if any(weights.values()) else 0)
    assert all(fewer[name] == 0 for name, weight in weights.items() if not weight)


@given(WEIGHTS, st.integers(1, 50), st.integers(2, 30))
def test_runs_add_up_to_the_proportions_of_the_recipe(
    asked: dict[str, int], grow: int, runs: int
) -> None:
    each = EachRun(grow=grow)
    counts = [each.counts(run, asked) for run in range(2, runs + 1)]
    assert all(count >= 0 for one in counts for count in one.values())
    added = {kind: sum(one[kind] for one in counts) for kind in asked}
    assert added == shared_in_proportion(grow * (runs - 1), asked)
    assert each.counts(1, asked) == asked


def test_runs_that_make_more_have_seeds_of_their_own_and_others_that_of_the_recipe() -> None:
    assert [EachRun(grow=5).seed_of(run, 7) for run in (1, 2, 3)] == [7, 8, 9]
    assert [EachRun(seed="new").seed_of(run, 7) for run in (1, 2)] == [7, 8]
    assert EachRun(tools="refresh").seed_of(9, 7) == 7


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"each": {}}, "say what each run does"),
        ({"each": {"grow": 2, "seed": "new"}}, "leave one of them out"),
        ({"each": {"grow": 0}}, "greater than or equal to 1"),
        ({"release": "when reviewed"}, "release needs each"),
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused(rules: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Schedule.model_validate({"cron": "0 3 * * *", **rules})


def a_tool(about: str = "Pay somebody.", **parameters: Any) -> Tool:
    schema = {"type": "object", "properties": parameters, "required": [*parameters][:1]}
    return Tool(name="pay", description=about, parameters=schema, category="Bank")


def test_tools_differ_in_schema_or_in_words_alone() -> None:
    iban = {"type": "string", "description": "The account"}
    old = a_tool(iban=iban, amount={"type": "number"})
    assert compare_tools([old], [old]) == []
    [words] = compare_tools(
        [old], [a_tool("Pay.", iban=iban | {"description": "The IBAN"}, amount={"type": "number"})]
    )
    assert (words.difference, words.parts) == ("words", ("description", "description of iban"))
    [schema] = compare_tools([old], [a_tool(iban=iban, amount={"type": "integer"}, day=iban)])
    assert (schema.difference, schema.parts) == (
        "schema",
        ("parameter amount", "parameter day is new"),
    )
    [gone] = compare_tools([old], [])
    assert told_of_differences([gone]) == ["1 tool is gone: pay."]
