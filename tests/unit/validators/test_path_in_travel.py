"""Samples of the travel world: proved as they are, and never once something in them is broken."""

from collections.abc import AsyncIterator, Iterator
from random import Random

import pytest

from callwright.generators.environments.travel import open_travel
from callwright.generators.multi_step.correction import correct_paths
from callwright.generators.multi_step.disambiguation import disambiguate
from callwright.generators.multi_step.generalisation import generalise
from callwright.generators.multi_step.making import plan_goals
from callwright.generators.multi_step.wording import word_goals
from callwright.generators.stages import StageContext
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.validators.checks.path import check_path
from callwright.warehouse.records import (
    CallTurn,
    GoalPath,
    GoldCall,
    ResultTurn,
    Sample,
    TracedGoal,
)
from tests.support.generators.dialogue_parts import RecordingTemplateChat
from tests.support.sampling import sampled

WORLD = open_travel(seed=3, response_size="short")
DOMAINS = ("Hotels", "Flights", "Car Rental", "Attraction", "Cross")


def context() -> StageContext:
    return StageContext(
        RecordingTemplateChat(),
        Random(1),
        {tool.key: tool for tool in WORLD.tools},
        {WORLD.name: WORLD},
    )


async def paths(domain: str, count: int) -> AsyncIterator[GoalPath]:
    async for goal in plan_goals(domain, "en", count, WORLD, seed=5, variants=3):
        (worded,) = await word_goals(goal, context())
        (path,) = await correct_paths(TracedGoal(worded=worded, trace=()), context())
        yield (await disambiguate(path, context()))[0]


@pytest.mark.parametrize("domain", sampled(DOMAINS, ("Flights", "Car Rental", "Attraction")))
async def test_templates_and_variants_are_proved(domain: str) -> None:
    async for path in paths(domain, 2):
        samples = await generalise(path, context())
        assert len(samples) == 3
        for sample in samples:
            for check in (check_path, check_format):
                (verdict,) = await check(sample, context())
                assert (verdict.decision, verdict.check) == ("proved", verdict.check), (
                    verdict.reason
                )
            (grounds,) = await check_grounding(sample, context())
            assert grounds.decision == "proved", grounds.reason


@pytest.mark.parametrize("domain", sampled(DOMAINS, ("Car Rental", "Attraction", "Cross")))
async def test_a_broken_sample_is_never_proved(domain: str) -> None:
    broken = 0
    async for path in paths(domain, 2):
        sample = (await generalise(path, context()))[0]
        unstruck = [one async for one in _unstruck(sample, path)]
        for other in [
            *_with_removed(sample, path),
            *unstruck,
            *_misvalued(sample),
            *_shortened(sample),
        ]:
            (verdict,) = await check_path(other, context())
            assert verdict.decision != "proved", verdict.reason
            broken += 1
    assert broken > 8


def _with_removed(sample: Sample, path: GoalPath) -> Iterator[Sample]:
    """The sample with all that was removed from its candidates."""
    if path.removed:
        yield sample.with_changes(candidates=(*sample.candidates, *path.removed))


async def _unstruck(sample: Sample, path: GoalPath) -> AsyncIterator[Sample]:
    """The sample with a response as it was before entries were struck from it."""
    for step, place in {(strike.step, strike.call) for strike in path.strikes}:
        turn = 2 * (step + 1)
        held = sample.turns[turn]
        assert isinstance(held, ResultTurn)
        whole = (await WORLD.answer(path.path[step].calls[place])).response
        results = (*held.results[:place], whole, *held.results[place + 1 :])
        yield _with_turn(sample, turn, ResultTurn(results=results))


def _with_turn(sample: Sample, index: int, turn: CallTurn | ResultTurn) -> Sample:
    return sample.with_changes(turns=(*sample.turns[:index], turn, *sample.turns[index + 1 :]))


def _misvalued(sample: Sample) -> Iterator[Sample]:
    """The sample with one argument of a call changed, for every plain argument."""
    for index, turn in enumerate(sample.turns):
        for place, call in enumerate(turn.calls if isinstance(turn, CallTurn) else ()):
            for name, value in call.arguments.items():
                if isinstance(value, str | int | float):
                    wrong = f"{value}x" if isinstance(value, str) else value + 1
                    yield _with_call(
                        sample,
                        index,
                        place,
                        call.with_changes(arguments={**call.arguments, name: wrong}),
                    )


def _with_call(sample: Sample, index: int, place: int, call: GoldCall) -> Sample:
    turn = sample.turns[index]
    assert isinstance(turn, CallTurn)
    return _with_turn(
        sample,
        index,
        turn.with_changes(calls=(*turn.calls[:place], call, *turn.calls[place + 1 :])),
    )


def _shortened(sample: Sample) -> Iterator[Sample]:
    """The sample without one of its calls and the response to it."""
    for index, turn in enumerate(sample.turns):
        for place in range(len(turn.calls)) if isinstance(turn, CallTurn) else ():
            calls = turn.calls  # type: ignore[union-attr]
            results = sample.turns[index + 1]
            assert isinstance(results, ResultTurn)
            less = _with_turn(
                sample, index, CallTurn(calls=(*calls[:place], *calls[place + 1 :]), executed=True)
            )
            yield _with_turn(
                less,
                index + 1,
                ResultTurn(results=(*results.results[:place], *results.results[place + 1 :])),
            )
