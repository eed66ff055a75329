"""The parts of ComplexEval one by one: formats, rules, values, what differs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.complexeval.calls import check_format
from callwright.validators.metrics.complexeval.rules import Mistake
from callwright.validators.metrics.complexeval.turns import (
    check_values,
    describe_difference,
    match_by_rule,
    wrong_arguments,
)
from callwright.warehouse.records import Call, EvalMode
from tests.support.validators.complexeval.paths import (
    DESTINATION,
    HOTELS,
    TOOLS,
    altered,
    call,
    without,
)

NAMED = {one.name: one for one in TOOLS}
EXACT = {"Search_Hotels": ["dest_id", "categories_filter"]}
MODES: tuple[EvalMode, ...] = ("as_paper", "as_published_code")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


def about(mistake: Mistake | None) -> tuple[str, str] | None:
    return None if mistake is None else (mistake.kind, mistake.parameter)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (HOTELS, None),
        (call("search_hotels", dest_id="7"), ("unknown_function", "")),
        (call("Search_Hotels", adults=2), ("missing_required_parameter", "dest_id")),
        (call("Search_Hotels", adults="2", stars=4), ("missing_required_parameter", "dest_id")),
        (altered(HOTELS, stars=4, adults="2"), ("unknown_parameter", "stars")),
        (altered(HOTELS, adults="2"), ("wrong_parameter_type", "adults")),
        (altered(HOTELS, adults=None), ("wrong_parameter_type", "adults")),
        (altered(HOTELS, refundable=1), ("wrong_parameter_type", "refundable")),
        (altered(HOTELS, adults=2.5), None),
    ],
)
def test_the_first_fault_of_the_form_is_named(
    mode: EvalMode, made: Call, expected: tuple[str, str] | None
) -> None:
    assert about(check_format(made, NAMED, mode)) == expected


def test_what_the_model_is_told_names_what_there_is() -> None:
    unknown = check_format(call("Nope"), NAMED, "as_paper")
    assert unknown is not None
    assert "'Nope'" in unknown.reason
    assert "Search_Hotels" in unknown.reason
    extra = check_format(altered(DESTINATION, stars=4), NAMED, "as_paper")
    assert extra is not None
    assert (
        extra.reason
        == "Search_Hotel_Destination has no parameter 'stars'. Its parameters are: query."
    )


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (HOTELS, None),
        (altered(HOTELS, adults=5), None),
        (without(HOTELS, "adults"), None),
        (altered(HOTELS, search_type="CITY"), None),
        (call("Get_Filter", dest_id="7"), ("func_error", "")),
        (without(HOTELS, "dest_id"), ("param_missing", "dest_id")),
        (altered(HOTELS, dest_id="8"), ("value_error", "dest_id")),
        (altered(HOTELS, adults=5, categories_filter="facility::2, facility::1"), None),
        (altered(HOTELS, categories_filter="facility::2"), ("value_error", "categories_filter")),
    ],
)
def test_listed_values_must_be_equal_and_others_are_left_to_the_judge(
    made: Call, expected: tuple[str, str] | None
) -> None:
    assert about(check_values(made, HOTELS, EXACT)) == expected


def test_every_argument_that_is_wrong_is_counted() -> None:
    assert wrong_arguments(HOTELS, HOTELS) == ()
    assert wrong_arguments(altered(without(HOTELS, "adults"), dest_id="8"), HOTELS) == (
        "dest_id",
        "adults",
    )
    assert wrong_arguments(DESTINATION, HOTELS) == tuple(HOTELS.arguments)


@given(
    arguments=st.dictionaries(
        st.sampled_from(["dest_id", "adults", "categories_filter", "x"]), JSON
    )
)
def test_no_arguments_break_a_check(arguments: dict[str, Any]) -> None:
    made = Call(tool="Search_Hotels", arguments=arguments)
    for mode in MODES:
        check_format(made, NAMED, mode)
    match_by_rule(made, HOTELS, {"categories_filter"})
    check_values(made, HOTELS, EXACT)
    assert describe_difference(made, HOTELS).kind in {
        "value_error",
        "param_missing",
        "param_hallucination",
    }
