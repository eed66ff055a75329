"""The parts of ComplexEval one by one: formats, rules, values, what differs."""

import pytest

from callwright.validators.metrics.complexeval.calls import check_format
from callwright.validators.metrics.complexeval.rules import Mistake
from callwright.validators.metrics.complexeval.runs import check_values, wrong_arguments
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
