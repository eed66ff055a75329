"""Runs as the paper tells them: the format first, the next step each turn, a wrong call goes on
(Algorithm 1).
"""

from callwright.validators.metrics.complexeval.calls import CandidateCall
from callwright.validators.metrics.complexeval.runs import GENERAL_ERROR
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


def test_the_path_of_this_file_is_what_it_says() -> None:
    assert [len(one.calls) for one in CHAIN] == [1, 1, 2]
