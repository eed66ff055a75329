"""The proof that a multi-step sample has one shortest path, from the sample alone."""

from typing import Any

import pytest

from callwright.generators.multi_step.disambiguation import disambiguate
from callwright.generators.multi_step.samples import write_sample
from callwright.validators.checks.path import check_path
from callwright.warehouse.records import (
    CallPlace,
    CallTurn,
    Condition,
    EntryRule,
    Goal,
    GoldCall,
    ResultTurn,
    Sample,
    SampleFacts,
    Turn,
    Verdict,
)
from tests.support.generators.multi_step.town import goal, keys_of, request
from tests.unit.generators.multi_step.test_disambiguation import context, path_of


async def sample_of(wish: Goal, text: str = "") -> Sample:
    (path,) = await disambiguate(await path_of(wish, text), context())
    return await write_sample(path, context(), path)


async def verdict_on(sample: Sample) -> Verdict:
    (verdict,) = await check_path(sample, context())
    assert verdict.subject == sample.key
    return verdict


def with_turn(sample: Sample, index: int, turn: Turn) -> Sample:
    return sample.with_changes(turns=(*sample.turns[:index], turn, *sample.turns[index + 1 :]))


def with_call(sample: Sample, index: int, place: int, call: GoldCall) -> Sample:
    turn = sample.turns[index]
    assert isinstance(turn, CallTurn)
    calls = (*turn.calls[:place], call, *turn.calls[place + 1 :])
    return with_turn(sample, index, turn.with_changes(calls=calls))


def call_of(sample: Sample, index: int, place: int = 0) -> GoldCall:
    turn = sample.turns[index]
    assert isinstance(turn, CallTurn)
    return turn.calls[place]


def response_of(sample: Sample, index: int) -> Any:
    turn = sample.turns[index]
    assert isinstance(turn, ResultTurn)
    return turn.results[0]


@pytest.mark.parametrize(
    "wish",
    [
        goal(),
        goal(city="Bern"),
        goal(where=(Condition(test="contains", field="name", value="Fjord House"),)),
        goal(where=(Condition(test="equals", field="stars", value=4),)),
    ],
)
async def test_a_sample_that_was_disambiguated_is_proved(wish: Goal) -> None:
    city = str(wish.calls[0].arguments["query"].value)  # type: ignore[union-attr]
    verdict = await verdict_on(await sample_of(wish, request(city)))
    assert (verdict.decision, verdict.reason) == (
        "proved",
        "No other path has 3 steps and 4 calls or fewer.",
    )


async def test_two_entries_that_fit_are_not_proved() -> None:
    sample = await sample_of(goal())
    hotels = response_of(sample, 4)["data"]["hotels"]
    twin = {**hotels[1], "hotel_id": "h9"}
    verdict = await verdict_on(
        with_turn(sample, 4, ResultTurn(results=({"data": {"hotels": [*hotels, twin]}},)))
    )
    assert verdict.decision == "unproved"
    assert "entry 2 of 'data.hotels' of search_hotels fits as well as entry 1" in verdict.reason


@pytest.mark.parametrize("tool", ["locate_place", "hotel_card"])
async def test_an_overlapping_tool_that_was_left_in_is_not_proved(tool: str) -> None:
    sample = await sample_of(goal())
    verdict = await verdict_on(sample.with_changes(candidates=(*sample.candidates, *keys_of(tool))))
    assert verdict.decision == "unproved"
    assert f"Another path is as short: {tool}" in verdict.reason


async def test_a_value_that_its_evidence_does_not_hold_is_contradicted() -> None:
    sample = await sample_of(goal())
    call = call_of(sample, 5)
    verdict = await verdict_on(
        with_call(sample, 5, 0, call.with_changes(arguments={"hotel_id": "h1"}))
    )
    assert (verdict.decision, "'h1', but" in verdict.reason) == ("contradicted", True)


async def test_a_response_without_the_value_is_contradicted() -> None:
    sample = await sample_of(goal())
    verdict = await verdict_on(
        with_turn(sample, 4, ResultTurn(results=({"data": {"hotels": []}},)))
    )
    assert (verdict.decision, "leads nowhere" in verdict.reason) == ("contradicted", True)


async def test_a_needless_call_is_contradicted() -> None:
    sample = await sample_of(goal(), request() + " What of Bern?")
    first = call_of(sample, 1)
    start = sample.request.index("Bern")
    span = first.evidence[0].with_changes(
        start=start, end=start + 4, quote="Bern", kind="span", rule=""
    )
    other = first.with_changes(arguments={"query": "Bern"}, evidence=(span,))
    sample = with_turn(sample, 1, CallTurn(calls=(first, other), executed=True))
    results = (response_of(sample, 2), {"data": [{"id": "p2", "name": "Bern", "lat": 46.9}]})
    verdict = await verdict_on(with_turn(sample, 2, ResultTurn(results=results)))
    assert (verdict.decision, "A shorter path" in verdict.reason) == ("contradicted", True)


async def test_a_missing_call_is_contradicted() -> None:
    sample = await sample_of(goal())
    shorter = with_turn(sample, 5, CallTurn(calls=(call_of(sample, 5),), executed=True))
    verdict = await verdict_on(with_turn(shorter, 6, ResultTurn(results=(response_of(sample, 6),))))
    assert (verdict.decision, verdict.reason) == (
        "contradicted",
        "The user asks for call 2.1, which is missing.",
    )


async def test_a_value_out_of_a_later_response_is_contradicted() -> None:
    sample = await sample_of(goal())
    call = call_of(sample, 5)
    later = call.evidence[0].with_changes(
        path="turns[6].results[0].data.hotel_id",
        turn=6,
        rule=EntryRule(entries="data", field="hotel_id"),
    )
    verdict = await verdict_on(with_call(sample, 5, 0, call.with_changes(evidence=(later,))))
    assert (verdict.decision, "which comes later than turn 5" in verdict.reason) == (
        "contradicted",
        True,
    )


async def test_calls_of_one_step_that_were_made_one_after_another_are_contradicted() -> None:
    sample = await sample_of(goal())
    one, two = (CallTurn(calls=(call_of(sample, 5, place),), executed=True) for place in (0, 1))
    results = sample.turns[6]
    assert isinstance(results, ResultTurn)
    first, second = (ResultTurn(results=(result,)) for result in results.results)
    longer = sample.with_changes(
        turns=(*sample.turns[:5], one, first, two, second, sample.turns[-1]),
        facts=SampleFacts(environment="town", wanted=(CallPlace(2, 0), CallPlace(3, 0))),
    )
    verdict = await verdict_on(longer)
    assert (verdict.decision, "order is not the shortest" in verdict.reason) == (
        "contradicted",
        True,
    )


async def test_an_argument_without_evidence_is_not_proved() -> None:
    sample = await sample_of(goal())
    verdict = await verdict_on(
        with_call(sample, 5, 0, call_of(sample, 5).with_changes(evidence=()))
    )
    assert (verdict.decision, "There is no evidence for 'hotel_id'" in verdict.reason) == (
        "unproved",
        True,
    )


async def test_a_default_that_nothing_gives_is_not_proved() -> None:
    sample = await sample_of(goal())
    call = call_of(sample, 3)
    verdict = await verdict_on(
        with_call(sample, 3, 0, call.with_changes(arguments={**call.arguments, "adults": 3}))
    )
    assert (verdict.decision, "Nothing gives 3" in verdict.reason) == ("unproved", True)


async def test_an_environment_that_is_not_there_proves_nothing() -> None:
    sample = (await sample_of(goal())).with_changes(facts=SampleFacts(environment="elsewhere"))
    assert (await verdict_on(sample)).decision == "unproved"
