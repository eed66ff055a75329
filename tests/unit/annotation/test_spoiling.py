"""Samples with one known defect: wrong in just one place, and well-formed for all that."""

from random import Random
from typing import Any

import pytest

from callwright.annotation.spoiling import Spoiled, can_be_spoiled, spoil_sample
from callwright.language.calls.defects import MISSING_ARGUMENT, NEEDLESS_CALL, WRONG_ARGUMENT, WRONG_TOOL
from callwright.warehouse.records import CallTurn, Evidence, GoldCall, Sample, Tool, UserTurn

FLIGHTS = Tool(
    name="Flights.search",
    description="Search for flights between two cities.",
    category="Travel",
    parameters={
        "type": "object",
        "properties": {
            "origin": {"type": "string", "description": "The city to leave from", "examples": ["Rome", "Oslo", "Lima", "Bonn"]},
            "destination": {"type": "string", "description": "The city to fly to", "examples": ["Rome", "Oslo", "Lima", "Bonn"]},
            "cabin": {"type": "string", "enum": ["economy", "business"], "default": "economy"},
            "stops": {"type": "integer", "minimum": 0, "maximum": 3},
        },
        "required": ["origin", "destination"],
    },
)  # fmt: skip
TRAINS = FLIGHTS.with_changes(name="Trains.search", description="Search for trains between two cities.")
RADIO = Tool(
    name="Radio.off",
    description="Turn the radio off.",
    category="Home",
    parameters={"type": "object", "properties": {}},
)
REQUEST = "Flights from Rome to Oslo with 2 stops, please."


def quote(name: str, words: str) -> Evidence:
    start = REQUEST.index(words)
    return Evidence(argument=name, kind="span", turn=0, start=start, end=start + len(words), quote=words)


CALL = GoldCall(
    tool=FLIGHTS.name,
    arguments={"origin": "Rome", "destination": "Oslo", "stops": 2},
    evidence=(quote("origin", "Rome"), quote("destination", "Oslo"), quote("stops", "2")),
)


def sample(*calls: GoldCall, kind: str = "perfect", executed: bool = False) -> Sample:
    return Sample(
        kind=kind, language="en", category="Travel", candidates=(FLIGHTS.key, TRAINS.key, RADIO.key),
        turns=(UserTurn(text=REQUEST), CallTurn(calls=calls, executed=executed)),
    )  # fmt: skip


def spoiled(one: Sample, seed: int = 0, fits: Any = lambda _: True) -> Spoiled | None:
    return spoil_sample(one, [FLIGHTS, TRAINS, RADIO], fits, Random(seed))


def found(defect: str) -> list[GoldCall]:
    """The spoiled calls of many tries that have this defect."""
    tries = (spoiled(sample(CALL), seed) for seed in range(150))
    return [one.sample.gold[0] for one in tries if one is not None and one.defect == defect]


def test_every_defect_is_made_and_the_same_seed_makes_the_same() -> None:
    made = [spoiled(sample(CALL), seed) for seed in range(60)]
    assert {one.defect for one in made if one} == {WRONG_ARGUMENT, MISSING_ARGUMENT, WRONG_TOOL}
    assert made == [spoiled(sample(CALL), seed) for seed in range(60)]


def test_a_wrong_argument_is_of_the_same_type_and_not_the_one_that_was_said() -> None:
    for call in found(WRONG_ARGUMENT):
        assert call.tool == CALL.tool
        assert call.arguments.keys() == CALL.arguments.keys()
        assert call.arguments != CALL.arguments
        assert isinstance(call.arguments["stops"], int)


def test_values_that_were_mixed_up_bring_their_words_along() -> None:
    swapped = [
        call
        for call in found(WRONG_ARGUMENT)
        if call.arguments["origin"] == "Oslo" and call.arguments["destination"] == "Rome"
    ]
    assert swapped
    proofs = {item.argument: item.quote for item in swapped[0].evidence}
    assert proofs == {"origin": "Oslo", "destination": "Rome", "stops": "2"}


def test_a_missing_argument_takes_its_proof_along() -> None:
    for call in found(MISSING_ARGUMENT):
        assert set(call.arguments) < set(CALL.arguments)
        assert {item.argument for item in call.evidence} == set(call.arguments)


def test_evidence_looks_like_that_of_a_right_call() -> None:
    """Nobody can tell a gold item by a value that claims to be a default, or by words that say another one."""
    for seed in range(150):
        made = spoiled(sample(CALL), seed)
        assert made is not None
        for call in made.sample.gold:
            assert {item.argument for item in call.evidence} == set(call.arguments)
            for item in call.evidence:
                assert item.kind == "span"
                assert item.quote == str(call.arguments[item.argument])
                assert REQUEST[item.start : item.end] == item.quote


def test_a_value_that_is_said_otherwise_may_seem_to_be_read_out_of_the_words() -> None:
    said = CALL.with_changes(
        arguments=CALL.arguments | {"origin": "ROM"},
        evidence=(
            quote("origin", "Rome").with_changes(kind="normalised", rule="airport"),
            quote("destination", "Oslo"),
            quote("stops", "2"),
        ),
    )
    tries = (spoiled(sample(said), seed) for seed in range(150))
    origins = {one.sample.gold[0].arguments.get("origin") for one in tries if one and one.defect == WRONG_ARGUMENT}
    assert origins & {"Lima", "Bonn"}, "the words stay, and only who reads them finds another airport"


def test_another_tool_keeps_the_arguments_that_it_takes_as_well() -> None:
    made = found(WRONG_TOOL)
    assert {call.tool for call in made} == {TRAINS.name}, "the candidate that takes most of them"
    assert all(call.arguments == CALL.arguments for call in made)


def test_what_is_left_to_be_desired_in_a_request_of_no_call_is_a_call() -> None:
    made = spoiled(sample(kind="irrelevant"))
    assert made is not None
    assert made.defect == NEEDLESS_CALL
    assert len(made.sample.gold) == 1
    assert made.sample.kind == "perfect", "as it would be shown if its maker had believed in the call"
    assert {item.argument for item in made.sample.gold[0].evidence} == set(made.sample.gold[0].arguments)


def test_only_one_of_several_calls_is_spoiled() -> None:
    other = CALL.with_changes(arguments={"origin": "Lima", "destination": "Bonn"}, evidence=())
    for seed in range(20):
        made = spoiled(sample(CALL, other), seed)
        assert made is not None
        assert [one == before for one, before in zip(made.sample.gold, (CALL, other), strict=True)].count(False) == 1


def test_what_does_not_fit_is_not_made() -> None:
    assert spoiled(sample(CALL), fits=lambda _: False) is None
    made = spoiled(sample(CALL), fits=lambda one: one.gold[0].tool == TRAINS.name)
    assert made is not None
    assert made.defect == WRONG_TOOL


def test_calls_that_were_executed_are_left_alone() -> None:
    assert not can_be_spoiled(sample(CALL, executed=True))
    assert spoiled(sample(CALL, executed=True)) is None


@pytest.mark.parametrize(
    "call", [GoldCall(tool=RADIO.name), GoldCall(tool=FLIGHTS.name, arguments={"cabin": "economy"})]
)
def test_a_call_with_nothing_to_spoil_gets_another_tool_or_an_argument(call: GoldCall) -> None:
    made = spoiled(sample(call))
    assert made is not None
    assert made.sample.gold != (call,)
