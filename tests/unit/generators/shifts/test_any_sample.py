"""Any transform on any sample: what comes out is well-formed and grounded, or the reason why
nothing does is a sentence.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.generators.kinds import name_of, obstacle_to
from callwright.generators.shifts.making import change_values, override_values
from callwright.generators.shifts.turns import mismatch, shift_intents
from callwright.generators.stages import StageContext
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Transform,
    Turn,
    UserTurn,
)

Made = Mapping[str, Callable[[], Sample]]
SHIFTS: tuple[Transform, ...] = ("IS", "SO_case1", "SO_case2", "mSv")


async def shifted(
    transform: Transform, source: Sample, other: Sample | None, context_for: Any, tools: Any
) -> Sample:
    derivation = Derivation(transform=transform, source=source, other=other, seed=1)
    context: StageContext = context_for(derivation.key, tools=tools)
    if transform == "IS":
        [sample] = await shift_intents(derivation, context)
    else:
        [change] = await change_values(derivation, context)
        [sample] = await override_values(change, context_for(change.key, tools=tools))
    return sample


async def decisions(sample: Sample, context: StageContext) -> list[str]:
    [form] = await check_format(sample, context)
    [grounds] = await check_grounding(sample, context)
    return [form.decision, grounds.decision]


def obstacle_of(transform: Transform, source: Sample, tools: Mapping[str, Tool]) -> str:
    return obstacle_to(transform)(source, tools)


@pytest.mark.parametrize("transform", SHIFTS)
async def test_a_sample_of_any_shape_gives_a_proved_sample_or_a_reason(
    transform: Transform,
    conversation: Sample,
    conversations: Made,
    catalog: Mapping[str, Tool],
    context_for: Any,
) -> None:
    other = conversations["several"]().with_changes(
        turns=(
            UserTurn(text="Refill my prescription RX12345."),
            CallTurn(
                calls=(
                    GoldCall(
                        tool="Pharmacy.Orders.refillPrescription",
                        arguments={"prescription_number": "RX12345"},
                    ),
                )
            ),
        )
    )
    reason = obstacle_of(transform, conversation, catalog)
    if not reason and transform == "IS":
        reason = mismatch(conversation, other, catalog)
    if reason:
        assert reason.endswith(".")
        with pytest.raises(RecordError) as raised:
            await shifted(transform, conversation, other, context_for, catalog)
        assert str(raised.value) == reason
        return
    sample = await shifted(transform, conversation, other, context_for, catalog)
    assert await decisions(sample, context_for()) == ["proved", "proved"]
    assert sample.kind == name_of(conversation.kind, transform)
    [shift] = sample.facts.shifts
    assert 0 <= shift < len(list(sample.snapshots()))


@pytest.mark.parametrize("first", SHIFTS[1:])
@pytest.mark.parametrize("second", SHIFTS[1:])
async def test_what_was_shifted_can_be_shifted_again(
    first: Transform,
    second: Transform,
    conversations: Made,
    catalog: Mapping[str, Tool],
    context_for: Any,
) -> None:
    once = await shifted(first, conversations["asked"](), None, context_for, catalog)
    if obstacle_of(second, once, catalog):
        pytest.fail(obstacle_of(second, once, catalog))
    twice = await shifted(second, once, None, context_for, catalog)
    assert twice.kind == f"{first}_{second}"
    assert await decisions(twice, context_for()) == ["proved", "proved"]
    assert len(twice.facts.shifts) == 1


PLACES = ("Rome", "Oslo", "Lisbon", "Dublin", "Boston", "Seattle", "Lima", "Cairo")


@st.composite
def talks(draw: st.DrawFn) -> list[Turn]:
    """A conversation of a few exchanges: asked, executed, answered, in any mixture that turns
    can stand in.
    """
    turns: list[Turn] = []
    arguments: dict[str, Any] = {}
    for number in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(["origin", "destination", "passengers"]))
        value: Any = (
            draw(st.integers(1, 9)) if name == "passengers" else draw(st.sampled_from(PLACES))
        )
        turns.append(
            UserTurn(
                text=(
                    f"The {name} is {value}."
                    if number
                    else f"Find flights between two cities. {name}: {value}."
                )
            )
        )
        arguments = {**arguments, name: value}
        calls = (GoldCall(tool="Air.Search.findFlights", arguments=arguments),)
        match draw(st.sampled_from(["snapshot", "executed", "silent"])):
            case "snapshot":
                turns.append(CallTurn(calls=calls))
            case "executed":
                turns += [
                    CallTurn(calls=calls, executed=True),
                    ResultTurn(results=({"found": number},)),
                ]
            case _:
                pass
        turns.append(
            ReplyTurn(
                text=draw(st.sampled_from(["What else?", "Done.", "Which day, please?"])),
                acts=("seek",),
            )
        )
    return turns if draw(st.booleans()) else turns[:-1]


@given(talks(), st.sampled_from(SHIFTS[1:]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_conversation_of_any_make_gives_a_grounded_sample_or_a_reason(
    catalog: Mapping[str, Tool], context_for: Any, turns: list[Turn], transform: Transform
) -> None:
    keys = tuple(key for key, tool in catalog.items() if tool.name.startswith("Air"))
    source = Sample(kind="made", language="en", category="x", candidates=keys, turns=tuple(turns))
    told = obstacle_of(transform, source, catalog)
    try:
        sample = await shifted(transform, source, None, context_for, catalog)
    except ReplyError:
        return
    except RecordError as error:
        reason = str(error)
    else:
        reason = ""
    assert reason == told
    if reason:
        return
    kept = [turn for turn in source.turns if isinstance(turn, ResultTurn)]
    assert [turn for turn in sample.turns if isinstance(turn, ResultTurn)] == kept
    assert "contradicted" not in await decisions(sample, context_for())
    executed = [turn for turn in source.turns if isinstance(turn, CallTurn) and turn.executed]
    assert [
        turn for turn in sample.turns if isinstance(turn, CallTurn) and turn.executed
    ] == executed
