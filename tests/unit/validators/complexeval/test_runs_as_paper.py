"""Runs as the paper tells them: the format first, the next step each turn, a wrong call goes on
(Algorithm 1).
"""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.complexeval.calls import CandidateCall
from callwright.validators.metrics.complexeval.runs import GENERAL_ERROR
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Call
from tests.support.validators.complexeval.paths import (
    CHAIN,
    DESTINATION,
    FILTER,
    HOTELS,
    REVIEWS,
    altered,
    call,
    drive,
    matchers,
    open_run,
    step,
    without,
)

PERFECT = ([DESTINATION], [FILTER], [HOTELS, REVIEWS])


async def test_a_perfect_run_succeeds_and_is_answered_by_the_gold_responses() -> None:
    outcome, judged = await drive(open_run("as_paper"), *PERFECT, "Done.")
    assert outcome.success
    assert (outcome.message, outcome.error, outcome.remaining) == ("Success.", None, ())
    assert (outcome.correct_calls, outcome.total_calls) == (4, 4)
    assert (outcome.success_turns, outcome.total_turns, outcome.real_turns) == (3, 3, 3)
    assert [one.observation for turn in judged for one in turn] == [
        f"about {one.tool}" for calls in PERFECT for one in calls
    ]


async def test_each_turn_adds_the_next_step_whatever_it_found() -> None:
    run = open_run("as_paper")
    assert run.due == (DESTINATION,)
    await run.take([CandidateCall("Get_Reviews", {"hotel_id": "h9"})])
    assert run.due == (DESTINATION, FILTER)
    await run.take([CandidateCall("Get_Reviews", {"hotel_id": "h9"})])
    assert run.due == (DESTINATION, FILTER, HOTELS, REVIEWS)


async def test_a_call_that_comes_too_early_is_told_of_a_general_error() -> None:
    _, judged = await drive(
        open_run("as_paper"), [FILTER, DESTINATION], [FILTER], [HOTELS, REVIEWS], "Done."
    )
    assert [one.matched for one in judged[0]] == ["", "rule"]
    assert judged[0][0].observation == GENERAL_ERROR
    assert judged[1][0].matched == "rule"


async def test_a_wrong_call_that_is_made_good_does_no_harm() -> None:
    wrong = altered(HOTELS, dest_id="8")
    outcome, judged = await drive(
        open_run("as_paper"), [DESTINATION], [FILTER], [wrong, REVIEWS], [HOTELS], "Done."
    )
    assert outcome.success
    assert judged[2][0].observation == GENERAL_ERROR
    assert judged[2][0].mistake is not None
    assert (judged[2][0].mistake.error_type, judged[2][0].mistake.parameter) == (
        "value_error",
        "dest_id",
    )
    assert outcome.real_turns == 4


async def test_a_fault_of_the_form_is_told_in_particular_and_can_be_mended() -> None:
    outcome, judged = await drive(
        open_run("as_paper"), [without(FILTER, "dest_id"), DESTINATION], *PERFECT[1:], "Done."
    )
    assert outcome.success
    assert judged[0][0].observation == {
        "error": "Get_Filter needs the parameter 'dest_id'; give it a value."
    }
    assert judged[0][1].matched == "rule"


async def test_a_call_with_a_fault_of_the_form_does_not_take_a_gold_call_from_another() -> None:
    nameless = altered(
        HOTELS, stars=4
    )  # as like the gold call as can be, but for the parameter that there is not
    close = altered(HOTELS, adults=3)
    run = open_run("as_paper", using=matchers(alike=[(close, HOTELS)]), chain=[step(HOTELS)])
    outcome, judged = await drive(run, [nameless, close], "Done.")
    assert outcome.success
    assert [one.matched for one in judged[0]] == ["", "judge"]


@pytest.mark.parametrize(
    ("script", "error_type", "parameter"),
    [
        (([call("Taxi_Search_Location", query="New York")], "Done."), "func_error", ""),
        (([call("Find_Hotel", query="New York")], "Done."), "func_error", ""),
        (([without(DESTINATION, "query")], "Done."), "param_missing", "query"),
        (
            ([DESTINATION], [FILTER], [without(HOTELS, "adults"), REVIEWS], "Done."),
            "param_missing",
            "adults",
        ),
        (([altered(DESTINATION, country="US")], "Done."), "hallucination", "country"),
        (
            ([DESTINATION], [altered(FILTER, adults=3)], [HOTELS, REVIEWS], "Done."),
            "hallucination",
            "adults",
        ),
        (([altered(DESTINATION, query="Boston")], "Done."), "value_error", "query"),
        (([altered(DESTINATION, query=7)], "Done."), "value_error", "query"),
        (("Done.",), "stop_early", ""),
        (([DESTINATION], [FILTER], [REVIEWS], "Done."), "stop_early", ""),
    ],
)
async def test_each_way_to_err_has_its_name(script: Any, error_type: str, parameter: str) -> None:
    outcome, _ = await drive(open_run("as_paper"), *script)
    assert outcome.error is not None
    assert (outcome.error.error_type, outcome.error.parameter) == (error_type, parameter)


async def test_what_was_made_good_is_not_what_the_run_failed_for() -> None:
    wrong = altered(DESTINATION, query="Boston")
    outcome, _ = await drive(
        open_run("as_paper"), [wrong, call("Nope")], [DESTINATION], [FILTER], "Done."
    )
    assert outcome.error is not None
    assert outcome.error.error_type == "stop_early"
    assert outcome.success_turns == 2


async def test_equal_responses_make_calls_equal() -> None:
    other = altered(HOTELS, adults=3)
    same = {one.key: {"hotels": [1]} for one in (other, HOTELS)}
    run = open_run("as_paper", using=matchers(same))
    outcome, judged = await drive(run, [DESTINATION], [FILTER], [other, REVIEWS], "Done.")
    assert outcome.success
    assert judged[2][0].matched == "response"
    assert judged[2][0].observation == "about Search_Hotels"


async def test_a_default_that_is_left_out_is_found_by_the_response() -> None:
    spelt = altered(FILTER, adults=1)
    same = {one.key: ["filters"] for one in (spelt, FILTER)}
    outcome, judged = await drive(
        open_run("as_paper", using=matchers(same)), [DESTINATION], [spelt], [HOTELS, REVIEWS], ""
    )
    assert outcome.success
    assert judged[1][0].matched == "response"


async def test_another_name_of_the_same_place_is_found_by_the_judge() -> None:
    short = altered(DESTINATION, query="NY")
    run = open_run("as_paper", using=matchers(alike=[(short, DESTINATION)]))
    outcome, judged = await drive(run, [short], *PERFECT[1:], "Done.")
    assert outcome.success
    assert judged[0][0].matched == "judge"


async def test_no_response_is_like_no_response() -> None:
    outcome, _ = await drive(open_run("as_paper"), [altered(DESTINATION, query="NY")], "Done.")
    assert outcome.error is not None
    assert outcome.error.error_type == "value_error"


async def test_another_function_is_never_equal_even_where_it_answers_alike() -> None:
    taxi = call("Taxi_Search_Location", query="New York")
    run = open_run(
        "as_paper",
        using=matchers({taxi.key: [1], DESTINATION.key: [1]}, alike=[(taxi, DESTINATION)]),
    )
    outcome, _ = await drive(run, [taxi], "Done.")
    assert outcome.error is not None
    assert outcome.error.error_type == "func_error"


async def test_calling_on_when_all_is_done_is_told_and_forgiven() -> None:
    outcome, judged = await drive(open_run("as_paper"), *PERFECT, [HOTELS], "Done.")
    assert judged[3][0].observation == GENERAL_ERROR
    assert outcome.success
    assert outcome.correct_calls == 4


async def test_a_model_that_never_stops_is_stopped() -> None:
    outcome, judged = await drive(open_run("as_paper", turn_limit=5), *[[DESTINATION]] * 9)
    assert len(judged) == 5
    assert not outcome.success
    assert outcome.error is not None
    run = open_run("as_paper", turn_limit=3)
    outcome, _ = await drive(run, *PERFECT)
    assert outcome.error is not None
    assert outcome.error.error_type == "turn_limit"


async def test_a_run_that_has_ended_takes_nothing_more() -> None:
    run = open_run("as_paper")
    await run.finish("Done.")
    with pytest.raises(RecordError, match="has ended"):
        await run.take([])
    with pytest.raises(RecordError, match="has ended"):
        await run.finish("Again.")


async def test_no_answer_at_all_is_no_early_stop() -> None:
    outcome, _ = await drive(open_run("as_paper"), None)
    assert outcome.error is not None
    assert outcome.error.error_type == "unreadable"


async def test_two_calls_that_are_the_same_need_two_gold_calls() -> None:
    run = open_run("as_paper", chain=[step(DESTINATION, DESTINATION, responses=["one", "two"])])
    outcome, judged = await drive(run, [DESTINATION], [DESTINATION, DESTINATION], "Done.")
    assert outcome.success
    assert [one.observation for turn in judged for one in turn] == ["one", "two", GENERAL_ERROR]


async def test_calls_that_can_not_be_read_stand_in_their_places() -> None:
    run = open_run("as_paper")
    judged = await run.take(
        [
            CandidateCall("Search_Hotel_Destination", "{"),
            CandidateCall("Search_Hotel_Destination", '{"query": "New York"}'),
            CandidateCall("", {}),
            CandidateCall("Search_Hotel_Destination", ["New York"]),
        ]
    )
    assert [one.matched for one in judged] == ["", "rule", "", ""]
    assert [one.call is None for one in judged] == [True, False, True, True]
    assert judged[0].observation == {
        "error": "The arguments of 'Search_Hotel_Destination' are no JSON."
    }


async def test_names_as_providers_allow_them_are_understood() -> None:
    parenthesised = call("Get_Reviews(Tips)", hotel_id="h1")
    run = open_run("as_paper", chain=[step(parenthesised)])
    run._setting.tools["Get_Reviews(Tips)"] = run._setting.tools["Get_Reviews"]  # type: ignore[index]
    outcome, _ = await drive(run, [call("Get_Reviews-Tips-", hotel_id="h1")], "Done.")
    assert outcome.success


NAMES = st.sampled_from(["Search_Hotel_Destination", "Get_Filter", "Search_Hotels", "Get_Reviews"])
STEPS = st.lists(
    st.lists(
        st.builds(
            lambda name, value: call(name, **{_first(name): value}), NAMES, st.text(max_size=4)
        ),
        min_size=1,
        max_size=3,
    ),
    min_size=1,
    max_size=4,
)


def _first(name: str) -> str:
    return {"Search_Hotel_Destination": "query", "Get_Reviews": "hotel_id"}.get(name, "dest_id")


@given(steps=STEPS, seed=st.randoms(use_true_random=False))
async def test_a_perfect_run_in_any_order_of_calls_and_arguments_scores_one(
    steps: list[list[Call]], seed: Random
) -> None:
    run = open_run("as_paper", chain=[step(*calls) for calls in steps])
    outcome, _ = await drive(run, *[seed.sample(calls, len(calls)) for calls in steps], "Done.")
    assert outcome.success
    assert outcome.correct_calls == outcome.total_calls == sum(map(len, steps))


@given(steps=STEPS, seed=st.randoms(use_true_random=False))
async def test_one_call_left_out_fails_the_run_and_costs_one_call(
    steps: list[list[Call]], seed: Random
) -> None:
    run = open_run("as_paper", chain=[step(*calls) for calls in steps])
    at = seed.randrange(len(steps))
    script = [calls[1:] if number == at else calls for number, calls in enumerate(steps)]
    outcome, _ = await drive(run, *[calls for calls in script if calls], "Done.")
    assert not outcome.success
    assert outcome.correct_calls <= outcome.total_calls - 1


def test_the_path_of_this_file_is_what_it_says() -> None:
    assert [len(one.calls) for one in CHAIN] == [1, 1, 2]
