"""Shifts of simulated conversations: a value is overridden before a call only where no result
has come of it yet.
"""

import pytest

from callwright.generators.shifts.changeable import find_places, obstacle_to
from callwright.generators.shifts.turns import until_due
from callwright.warehouse.records import CallTurn, ResultTurn, Transform, Turn
from tests.support.conversational import TOOLS, converse


@pytest.mark.parametrize("transform", ["SO_case1", "SO_case2"])
async def test_a_conversation_is_cut_at_a_call_that_is_yet_to_be_made(transform: Transform) -> None:
    sample = await converse("underfill")
    cut = until_due(sample, transform)
    last = cut.turns[-1]
    assert isinstance(last, CallTurn)
    assert not last.executed
    assert cut.turns[:-1] == sample.turns[: len(cut.turns) - 1]
    assert all(one.turn < len(cut.turns) for one in cut.facts.goals)
    assert until_due(cut, transform) == cut
    assert {place.turn for place in find_places(sample, TOOLS, transform)} <= {len(cut.turns) - 1}


@pytest.mark.parametrize("apart", [False, True])
async def test_of_several_calls_at_the_end_none_is_wanted_again_with_another_value(
    apart: bool,
) -> None:
    sample = await converse("goal_stacking")
    at, made = next(
        (at, turn)
        for at, turn in enumerate(sample.turns)
        if isinstance(turn, CallTurn) and len(turn.calls) > 1
    )
    told = sample.turns[at + 1]
    assert isinstance(told, ResultTurn)
    parts: list[Turn] = [made, told]
    if apart:
        alone = zip(made.calls, told.results, strict=True)
        parts = [
            turn
            for call, result in alone
            for turn in (made.with_changes(calls=(call,)), told.with_changes(results=(result,)))
        ]
    ended = sample.with_changes(turns=(*sample.turns[:at], *parts, sample.turns[at + 2]))
    assert ended.turns[-1].kind == "reply"
    assert "several calls" in obstacle_to("mSv", ended, TOOLS)
