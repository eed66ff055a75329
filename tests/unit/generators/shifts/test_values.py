"""What the user changes, and to what: valid, of the same type, different, and never said before."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from callwright.generators.shifts.changeable import (
    affected,
    find_places,
    interruptions,
    obstacle_to,
)
from callwright.generators.shifts.making import NewValue, change_values, value_problem
from callwright.generators.tools import argument_problems, tools_by_name
from callwright.language.values import locate
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, Derivation, GoldCall, Sample, Tool, UserTurn

Made = Mapping[str, Callable[[], Sample]]
PROMPT = "change_value"


def planned(source: Sample, transform: Any = "SO_case1", seed: int = 1) -> Derivation:
    return Derivation(transform=transform, source=source, seed=seed)


@pytest.mark.parametrize("transform", ["SO_case1", "SO_case2", "mSv"])
@pytest.mark.parametrize("name", ["asked", "asked_in_chinese", "asked_without_snapshots"])
async def test_a_new_value_is_valid_different_and_not_yet_said(
    name: str, transform: Any, conversations: Made, catalog: Mapping[str, Tool], context_for: Any
) -> None:
    source = conversations[name]()
    for seed in range(5):
        [change] = await change_values(planned(source, transform, seed), context_for(seed))
        snapshots = {snapshot.turn: snapshot.calls for snapshot in source.snapshots()}
        call = snapshots[change.turn][change.call]
        tool = tools_by_name(source, catalog)[call.tool]
        assert change.old == call.arguments[change.argument]
        assert not argument_problems(tool, {change.argument: change.new}, partial=True)
        said = [turn.text for turn in source.turns if isinstance(turn, UserTurn)]
        assert not any(locate(change.new, tool.properties[change.argument], text) for text in said)


async def test_a_value_that_three_answers_did_not_give_is_drawn(
    conversations: Made, context_for: Any
) -> None:
    chat = ScriptedModel({PROMPT: [NewValue(value=value) for value in ("Rome", "", "ROME")]})
    [change] = await change_values(planned(conversations["imperfect"]()), context_for(1, chat))
    assert isinstance(change.new, str)
    assert change.new not in ("", "Rome", "ROME")


async def test_a_yes_becomes_a_no_without_asking_anybody(
    conversations: Made, catalog: Mapping[str, Tool], context_for: Any
) -> None:
    source = conversations["single"]()
    [call] = source.gold
    for arguments, old, new in (
        ({"direct": True}, True, False),
        ({"cabin": "economy"}, "economy", "business"),
    ):
        turn = source.turns[1].with_changes(
            calls=(call.with_changes(arguments=arguments, evidence=()),)
        )
        sample = source.with_changes(
            turns=(UserTurn(text="Economy flights, direct flights only."), turn)
        )
        [change] = await change_values(planned(sample, "mSv"), context_for(1, ScriptedModel({})))
        assert (change.old, change.new) == (old, new)
        assert change.origin is not None
        assert change.origin.model == ""


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "empty"),
        (4, "not fit"),
        ("Rome", "means the same"),
        ("Boston", "is the value of 'destination'"),
        ("rome, please", "means the same"),
    ],
)
def test_a_value_that_does_not_do_is_told_why(
    value: Any, reason: str, conversations: Made, catalog: Mapping[str, Tool]
) -> None:
    source = conversations["single"]()
    place = next(
        one for one in find_places(source, catalog, "SO_case1") if one.argument == "origin"
    )
    tool = tools_by_name(source, catalog)["Air.Search.findFlights"]
    assert reason in value_problem(value, place, source, tool)
    assert value_problem("Lisbon", place, source, tool) == ""


@pytest.mark.parametrize(
    ("name", "transform", "reason"),
    [
        ("replies_only", "SO_case1", "No call is due"),
        ("irrelevant", "mSv", "No call is due"),
        ("executed", "SO_case1", "executed"),
        ("executed_in_turns", "SO_case2", "executed"),
        ("imperfect", "mSv", "imperfect"),
        ("single", "SO_case2", "No question is open"),
        ("parallel", "SO_case1", "nobody could tell which one"),
    ],
)
async def test_an_obstacle_is_told_in_advance_and_is_the_reason_of_the_failure(
    name: str,
    transform: Any,
    reason: str,
    conversations: Made,
    catalog: Mapping[str, Tool],
    context_for: Any,
) -> None:
    source = conversations[name]()
    told = obstacle_to(transform, source, catalog)
    if (name, transform) == (
        "parallel",
        "SO_case1",
    ):  # its date can be changed for both at once, its cities can't
        assert [one.argument for one in find_places(source, catalog, transform)] == ["date"]
        return
    assert reason in told
    with pytest.raises(RecordError, match=reason):
        await change_values(planned(source, transform), context_for())


def test_a_change_reaches_every_later_snapshot_and_stops_where_the_value_was_overridden(
    conversations: Made, catalog: Mapping[str, Tool]
) -> None:
    source = conversations["asked"]()
    place = next(
        one for one in find_places(source, catalog, "SO_case1") if one.argument == "origin"
    )
    assert affected(source, place) == {1: [0], 4: [0], 7: [0]}
    last = source.turns[7].with_changes(
        calls=(source.gold[0].with_changes(arguments={"origin": "Oslo"}),)
    )
    assert affected(source.with_changes(turns=(*source.turns[:7], last)), place) == {1: [0], 4: [0]}
    assert interruptions(source, place, tools_by_name(source, catalog)) == [3, 6]


def _stay(**described: str) -> tuple[Tool, Sample, Mapping[str, Tool]]:
    day = {"type": "string", "format": "date"}
    tool = Tool(
        name="bookRoom",
        description=" ".join(["Book a room.", *described.values()]),
        parameters={
            "type": "object",
            "properties": {
                "start_date": day,
                "due_date": day,
                "board": {"type": "string", "enum": ["full", "none", "half"]},
                "dinner_time": {"type": "string"},
            },
            "required": ["start_date", "due_date"],
        },
        category="test",
    )
    text = "Book a room. Start date: 2027-05-03; due date: 2027-05-09; board: full; dinner at 7."
    arguments = {"start_date": "2027-05-03", "due_date": "2027-05-09", "board": "full"}
    call = GoldCall(tool="bookRoom", arguments={**arguments, "dinner_time": "7"})
    turns = (UserTurn(text=text), CallTurn(calls=(call,)))
    sample = Sample(
        kind="sQsA", language="en", category="test", candidates=(tool.key,), turns=turns
    )
    return tool, sample, {tool.key: tool}


def test_a_changed_end_still_comes_after_its_start() -> None:
    tool, source, catalog = _stay()
    end = next(one for one in find_places(source, catalog, "mSv") if one.argument == "due_date")
    assert "would come before" in value_problem("2027-05-01", end, source, tool)
    assert value_problem("2027-05-11", end, source, tool) == ""


def test_a_changed_value_breaks_no_rule_about_another_one() -> None:
    tool, source, catalog = _stay(
        rule="`dinner_time` is required if `board` is `full`, otherwise not allowed."
    )
    board = next(one for one in find_places(source, catalog, "mSv") if one.argument == "board")
    assert "breaks what its description says" in value_problem("none", board, source, tool)
