"""The user's turn said anew: the phrase for the value, all else as it was, and evidence where it
now is.
"""

import re

import pytest

from callwright.generators.external.making import PointedRequest, rewrite_requests
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    EntityReference,
    Evidence,
    ExternalMessage,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    UserTurn,
)
from tests.support.generators.external.fixtures import context_of, derivation, said

PHRASE = "the place my sister texted me"
TEXT = "Hello! Everybody is coming to Central Station this time. Write back soon!"
GOOD = PointedRequest(request=f"Order a car from the old mill to {PHRASE} for 3 passengers.")


def message_about(source: Sample, turn: int, argument: str = "destination") -> ExternalMessage:
    reference = EntityReference(
        derivation=derivation(source),
        turn=turn,
        argument=argument,
        value="Central Station",
        entity="location",
        app="sms",
    )
    start = TEXT.index("Central Station")
    return ExternalMessage(
        reference=reference, phrase=PHRASE, message=TEXT, start=start, end=start + 15
    )


def quoted(sample: Sample) -> dict[tuple[int, str], str]:
    """What each piece of evidence points at, by call turn and argument."""
    seen = {}
    for index, turn in enumerate(sample.turns):
        for one in (
            (one for call in turn.calls for one in call.evidence)
            if isinstance(turn, CallTurn)
            else ()
        ):
            where = sample.turns[one.turn or 0]
            assert isinstance(where, UserTurn)
            text = where.external.text if one.in_message and where.external else where.text
            assert text[one.start : one.end] == one.quote
            seen[index, one.argument] = f"{'message' if one.in_message else one.turn}: {one.quote}"
    return seen


async def test_a_single_turn_becomes_external(perfect: Sample) -> None:
    (made,) = await rewrite_requests(message_about(perfect, 0), context_of(rewrite_request=[GOOD]))
    assert (made.kind, made.facts) == ("external", SampleFacts(shifts=(0,)))
    assert made.request == GOOD.request
    assert isinstance(made.turns[0], UserTurn)
    assert made.turns[0].external is not None
    assert (made.turns[0].external.app, made.turns[0].external.text) == ("SMS", TEXT)
    assert made.gold[0].arguments == perfect.gold[0].arguments
    assert quoted(made) == {
        (1, "pickup"): "0: the old mill",
        (1, "destination"): "message: Central Station",
        (1, "passengers"): "0: 3",
    }


async def test_later_snapshots_point_into_the_message_too(dialogue: Sample) -> None:
    first = dialogue.with_changes(
        turns=tuple(
            (
                turn.with_changes(text="Central Station.")
                if index == 3
                else turn.with_changes(text="From the old mill.")
                if index == 6
                else turn
            )
            for index, turn in enumerate(dialogue.turns)
        )
    )
    opening = said("passengers", "3", 0, dialogue.request)
    there, here = (
        said("destination", "Central Station", 3, "Central Station."),
        said("pickup", "the old mill", 6, "From the old mill."),
    )
    calls = [
        GoldCall(tool="order_ride", arguments={"passengers": 3}, evidence=(opening,)),
        GoldCall(
            tool="order_ride",
            arguments={"passengers": 3, "destination": "Central Station"},
            evidence=(opening, there),
        ),
        GoldCall(
            tool="order_ride",
            arguments={"passengers": 3, "destination": "Central Station", "pickup": "the old mill"},
            evidence=(opening, there, here),
        ),
    ]
    due = iter(calls)
    source = first.with_changes(
        turns=tuple(
            CallTurn(calls=(next(due),)) if isinstance(turn, CallTurn) else turn
            for turn in first.turns
        )
    )
    context = context_of(rewrite_request=[PointedRequest(request="The place my sister texted me.")])
    (made,) = await rewrite_requests(message_about(source, 3), context)
    assert (made.kind, made.facts) == ("sQsA_external", SampleFacts(shifts=(1,)))
    assert (
        quoted(made)[4, "destination"]
        == quoted(made)[7, "destination"]
        == "message: Central Station"
    )
    assert quoted(made)[7, "pickup"] == "6: the old mill"


async def test_several_executed_calls_and_results_stay_true(perfect: Sample) -> None:
    call = perfect.gold[0]
    back = GoldCall(
        tool="order_ride",
        arguments={"pickup": "Central Station", "passengers": 3},
        evidence=(call.evidence[1].with_changes(argument="pickup"), call.evidence[2]),
    )
    given_by_result = Evidence(argument="date", kind="response", turn=2, path="/0/day")
    later = GoldCall(
        tool="order_ride",
        arguments={"destination": "Central Station", "date": "2027-03-04"},
        evidence=(call.evidence[1], given_by_result),
    )
    source = perfect.with_changes(
        kind="multi_step",
        turns=(
            perfect.turns[0],
            CallTurn(calls=(call, back), executed=True),
            ResultTurn(results=({"day": "2027-03-04"}, {"day": "2027-03-05"})),
            CallTurn(calls=(later,), executed=True),
            ResultTurn(results=({"driver": "on the way to Central Station"},)),
            ReplyTurn(text="Your car is on its way to Central Station."),
        ),
    )
    (made,) = await rewrite_requests(message_about(source, 0), context_of(rewrite_request=[GOOD]))
    assert made.kind == "multi_step_external"
    calls = [call for turn in made.turns if isinstance(turn, CallTurn) for call in turn.calls]
    pointing = [one.argument for call in calls for one in call.evidence if one.in_message]
    assert pointing == ["destination", "pickup", "destination"]
    assert given_by_result in calls[2].evidence
    assert made.turns[2] == source.turns[2]


@pytest.mark.parametrize(
    ("request_text", "reason"),
    [
        (
            f"Order a car from the old mill to {PHRASE}, Central Station, for 3 passengers.",
            "still says 'Central Station'",
        ),
        (
            f"Order a car to {PHRASE} for 3 passengers.",
            "no longer says 'the old mill' for 'pickup'",
        ),
        (
            "Order a car from the old mill to where you know for 3 passengers.",
            f"Wanted: [it], which stands for '{PHRASE}'",
        ),
        ("", "has 0 characters"),
        (f"从 the old mill 到 {PHRASE} 3 passengers", "not in the language 'en'"),
    ],
)
async def test_a_turn_that_says_too_much_or_too_little_is_reworded(
    perfect: Sample, request_text: str, reason: str
) -> None:
    bad = PointedRequest(request=request_text)
    (made,) = await rewrite_requests(
        message_about(perfect, 0), context_of(rewrite_request=[bad, bad, GOOD])
    )
    assert made.request == GOOD.request
    with pytest.raises(ReplyError, match=re.escape(reason)):
        await rewrite_requests(message_about(perfect, 0), context_of(rewrite_request=[bad] * 3))


async def test_a_phrase_and_words_with_a_letter_changed_are_still_those(perfect: Sample) -> None:
    loose = PointedRequest(
        request=(
            f"Order a car from the old mil to {PHRASE.replace('sister', 'sisters')} for 3"
            " passengers."
        )
    )
    (made,) = await rewrite_requests(message_about(perfect, 0), context_of(rewrite_request=[loose]))
    assert made.request == loose.request


async def test_the_phrase_takes_the_place_of_its_slot(perfect: Sample) -> None:
    slotted = PointedRequest(request="Order a car from the old mill to [it] for 3 passengers.")
    (made,) = await rewrite_requests(
        message_about(perfect, 0), context_of(rewrite_request=[slotted])
    )
    assert made.request == GOOD.request


async def test_a_value_that_another_turn_says_too_is_refused(dialogue: Sample) -> None:
    turns = list(dialogue.turns)
    turns[0] = UserTurn(text=f"{dialogue.request} I have a train at Central Station.")
    with pytest.raises(RecordError, match="said more than once"):
        await rewrite_requests(
            message_about(dialogue.with_changes(turns=tuple(turns)), 6), context_of()
        )
