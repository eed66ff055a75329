"""Runs as the published code goes, with its quirks (EVALUATORS 2.3 to 2.5)."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.complexeval.calls import CandidateCall, sorted_call
from callwright.validators.metrics.complexeval.rules import Runner
from callwright.validators.metrics.complexeval.runs import GENERAL_ERROR, FreeCalls
from callwright.warehouse.records import Call, Exchange
from tests.support.validators.complexeval.paths import (
    DESTINATION,
    FILTER,
    HOTELS,
    REVIEWS,
    altered,
    call,
    drive,
    made,
    matchers,
    open_run,
    step,
    without,
)

MODE = "as_published_code"
PERFECT = ([DESTINATION], [FILTER], [HOTELS, REVIEWS])
TAXI = call("Taxi_Search_Location", query="Penn Station")
LATITUDE = call("Location_to_Lat_Long", query="Central Park")
SEARCH = call("Search_Hotels", dest_id="9", search_type="hotel")


async def test_a_perfect_run_succeeds() -> None:
    outcome, _ = await drive(open_run(MODE), *PERFECT, "Done.")
    assert (outcome.message, outcome.correct_calls, outcome.success_turns) == ("Success.", 4, 3)


@given(
    steps=st.lists(
        st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True), min_size=1, max_size=4
    )
)
async def test_a_perfect_run_scores_one_in_the_published_mode_too(steps: list[list[str]]) -> None:
    calls = [
        [call("Get_Reviews", hotel_id=f"{at}{name}") for name in names]
        for at, names in enumerate(steps)
    ]
    run = open_run(MODE, chain=[step(*one) for one in calls])
    outcome, _ = await drive(run, *calls, "Done.")
    assert outcome.success
    assert outcome.correct_calls == outcome.total_calls


async def test_a_step_of_free_calls_shows_the_next_one_at_once() -> None:
    run = open_run(MODE)
    assert run.due == (DESTINATION, FILTER)
    outcome, _ = await drive(run, [FILTER], [HOTELS, REVIEWS], "Done.")
    assert outcome.success  # the free call was left out, and is forgiven
    assert outcome.correct_calls == 3


async def test_a_turn_without_a_success_ends_the_run() -> None:
    outcome, judged = await drive(
        open_run(MODE), [altered(DESTINATION, query="Boston")], [DESTINATION]
    )
    assert len(judged) == 1
    assert [(one.kind, one.parameter) for one in outcome.mistakes] == [("value_error", "query")]
    assert outcome.real_turns == 1


async def test_a_fault_of_the_form_alone_does_not_end_it() -> None:
    broken = without(FILTER, "dest_id")
    outcome, judged = await drive(
        open_run(MODE), [DESTINATION], [broken], [FILTER], [HOTELS, REVIEWS], "Done."
    )
    assert outcome.success
    assert isinstance(judged[1][0].observation, dict)


async def test_a_surplus_call_is_neither_checked_nor_held_against_the_run() -> None:
    surplus = call("Nope", x=1)
    run = open_run(MODE, runner="llama")
    outcome, judged = await drive(run, [DESTINATION], [FILTER], [HOTELS, surplus, REVIEWS], "Done.")
    assert outcome.success
    assert [one.matched for one in judged[2]] == ["rule", "", "rule"]
    assert judged[2][1].observation == GENERAL_ERROR


@pytest.mark.parametrize(
    ("runner", "kind"), [("gpt", "decode_error"), ("claude", "decode_error"), ("llama", None)]
)
async def test_an_unknown_name_ends_the_runs_of_two_models(
    runner: Runner, kind: str | None
) -> None:
    run = open_run(MODE, runner=runner)
    await run.take(made(DESTINATION, call("Nope")))
    assert (run.outcome and run.outcome.error and run.outcome.error.kind) == kind


@pytest.mark.parametrize("arguments", ["{", "[1]", "", None, [], 7])
async def test_arguments_that_are_no_object_end_the_run(arguments: Any) -> None:
    run = open_run(MODE)
    assert await run.take([CandidateCall("Search_Hotel_Destination", arguments)]) == ()
    assert run.outcome is not None
    assert run.outcome.message == {
        "error_type": "decode_error",
        "content": run.outcome.error.reason,
    }  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("runner", "success"), [("gpt", False), ("mistral", False), ("claude", True), ("qwen", True)]
)
async def test_errors_of_the_last_turn_with_calls_count_for_two_models(
    runner: Runner, success: bool
) -> None:
    run = open_run(MODE, chain=[step(FILTER, TAXI)], runner=runner)
    wrong = altered(TAXI, query="Boston")
    outcome, _ = await drive(run, [FILTER, wrong], "Done.")
    assert outcome.success == success
    assert outcome.correct_calls == 1


async def test_calling_on_when_all_is_done_fails() -> None:
    outcome, judged = await drive(open_run(MODE), *PERFECT, [HOTELS])
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.error_type) == ("func_hallucination", "func_error")
    assert (len(judged), outcome.real_turns) == (4, 3)


async def test_nothing_due_counts_as_nothing_but_free_calls() -> None:
    run = open_run(MODE)
    outcome, _ = await drive(run, *PERFECT, "Done.")
    assert outcome.last_step == 5  # 1 at the start, 3 successes, and 1 for the empty list


async def test_a_hotel_search_makes_a_list_count_as_free_and_is_forgiven() -> None:
    run = open_run(MODE, chain=[step(SEARCH, FILTER), step(REVIEWS)])
    assert run.due == (SEARCH, FILTER, REVIEWS)
    outcome, _ = await drive(run, [FILTER], [REVIEWS], "Done.")
    assert outcome.success
    other = open_run(MODE, chain=[step(altered(SEARCH, search_type="CITY"), FILTER), step(REVIEWS)])
    assert len(other.due) == 2


@pytest.mark.parametrize(
    ("left", "remaining"),
    [
        ([DESTINATION], []),
        ([DESTINATION, TAXI], [TAXI]),
        ([DESTINATION, TAXI, altered(TAXI, query="x")], [TAXI]),
        ([DESTINATION, LATITUDE, TAXI], [LATITUDE]),
        ([LATITUDE, DESTINATION, TAXI], [LATITUDE, TAXI]),
        ([DESTINATION, SEARCH], [SEARCH]),
        ([SEARCH, LATITUDE], [LATITUDE]),
    ],
)
async def test_of_leftovers_that_stand_together_every_second_one_survives(
    left: Sequence[Call], remaining: Sequence[Call]
) -> None:
    run = open_run(MODE, chain=[step(*left, FILTER)])
    outcome, _ = await drive(run, [FILTER], "Done.")
    assert list(outcome.remaining) == list(remaining)
    assert outcome.success == (not remaining)


async def test_a_free_call_may_be_made_later_and_again() -> None:
    outcome, judged = await drive(
        open_run(MODE), [FILTER], [HOTELS, DESTINATION], [REVIEWS, DESTINATION], "Done."
    )
    assert outcome.success
    assert outcome.correct_calls == 5
    assert [one.matched for turn in judged for one in turn] == [
        "rule",
        "rule",
        "rule",
        "rule",
        "free",
    ]
    assert judged[2][1].observation == "about Search_Hotel_Destination"


async def test_a_free_call_that_was_made_before_it_was_due_is_not_due_any_more() -> None:
    chain = [step(FILTER), step(TAXI, HOTELS)]
    run = open_run(MODE, chain=chain)
    outcome, judged = await drive(run, [FILTER, TAXI], [HOTELS], "Done.")
    assert judged[0][1].matched == "free"
    assert outcome.success


async def test_where_the_next_step_is_only_free_calls_that_were_made_the_published_code_breaks_off() -> (
    None
):
    run = open_run(MODE, chain=[step(FILTER), step(TAXI), step(TAXI), step(HOTELS)])
    judged = await run.take(
        made(FILTER, TAXI)
    )  # takes the free call off the list, which then counts as free and grows
    assert [one.matched for one in judged] == ["rule", "free"]
    assert run.due == (TAXI,)
    await run.take(made(HOTELS))
    assert run.outcome is not None
    assert run.outcome.error is not None
    assert run.outcome.error.error_type == "crash"


async def test_only_calls_made_before_being_due_is_a_crash_told_as_a_failure() -> None:
    run = open_run(MODE, chain=[step(TAXI)])
    run._free.mark(TAXI)
    outcome, _ = await drive(run, [TAXI])
    assert outcome.error is not None
    assert outcome.error.error_type == "crash"
    assert "free calls" in outcome.error.reason


def test_a_free_call_is_known_by_its_text_as_it_stands() -> None:
    turned = call("Taxi_Search_Location", query="x", languagecode="en")
    free = FreeCalls([Exchange(calls=(turned,), responses=(1,))], {"Taxi_Search_Location"})
    assert free.find(sorted_call(turned)) is None
    assert free.find(turned) is not None


async def test_the_last_response_of_a_free_call_counts() -> None:
    chain = [
        step(TAXI, responses=["first"]),
        step(FILTER),
        step(TAXI, HOTELS, responses=["last", "hotels"]),
    ]
    run = open_run(MODE, chain=chain)
    judged = await run.take(made(TAXI, TAXI))
    assert [one.observation for one in judged] == ["first", "last"]


async def test_an_empty_response_breaks_the_published_code_where_the_judge_does_not_help() -> None:
    wrong = altered(FILTER, adults=3)
    run = open_run(MODE, using=matchers({wrong.key: {}, FILTER.key: {}}))
    outcome, _ = await drive(run, [DESTINATION], [wrong])
    assert outcome.error is not None
    assert outcome.error.error_type == "crash"
    assert "empty response" in outcome.error.reason


async def test_an_empty_response_that_the_judge_makes_good_stays_an_error_of_the_turn() -> None:
    other = altered(REVIEWS, sort_by="score")
    using = matchers({other.key: {}}, alike=[(other, REVIEWS)])
    for runner, success in (("gpt", False), ("glm", True)):
        run = open_run(MODE, chain=[step(REVIEWS)], using=using, runner=runner)
        outcome, judged = await drive(run, [other], "Done.")
        assert judged[0][0].matched == "judge"
        assert outcome.success == success


async def test_listed_values_are_not_left_to_response_or_judge() -> None:
    other = altered(DESTINATION, query="NY")
    using = matchers({one.key: [1] for one in (other, DESTINATION)}, alike=[(other, DESTINATION)])
    run = open_run(MODE, using=using, exact={"Search_Hotel_Destination": ["query"]})
    outcome, _ = await drive(run, [other])
    assert [one.kind for one in outcome.mistakes] == ["value_error"]
    free, judged = await drive(open_run(MODE, using=using), [other], "Done.")
    assert judged[0][0].matched == "response"
    assert free.problem is not None


async def test_filters_in_another_order_are_the_same() -> None:
    turned = altered(HOTELS, categories_filter="facility::2, facility::1")
    for mode in (MODE, "as_paper"):
        outcome, judged = await drive(
            open_run(mode), [DESTINATION], [FILTER], [turned, REVIEWS], "Done."
        )
        assert outcome.success
        assert judged[2][0].matched == "rule"
    other = altered(turned, adults=7)
    outcome, _ = await drive(
        open_run("as_paper"), [DESTINATION], [FILTER], [other, REVIEWS], "Done."
    )
    assert [(one.kind, one.parameter) for one in outcome.mistakes] == [("value_error", "adults")]


async def test_a_model_that_makes_the_same_fault_for_ever_is_stopped() -> None:
    outcome, judged = await drive(
        open_run(MODE, turn_limit=7), *[[without(DESTINATION, "query")]] * 20
    )
    assert len(judged) == 7
    assert outcome.error is not None
    assert outcome.error.error_type == "turn_limit"


async def test_a_sample_without_gold_is_a_failure_with_a_reason() -> None:
    for mode in ("as_paper", MODE):
        run = open_run(mode, chain=[])  # type: ignore[arg-type]
        assert run.outcome is not None
        assert run.outcome.error is not None
        assert "no gold call" in run.outcome.error.reason
