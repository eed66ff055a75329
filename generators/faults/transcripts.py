"""A task as faults are planted into it: its gold calls step by step, its world at each step, and
what is made of other steps.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from callwright.generators.environments.episodes import (
    FaultyWorld,
    StatefulWorld,
    WorldEpisode,
    diff,
)
from callwright.generators.multi_step.samples import (
    add_evidence,
    answer_of,
    moved_facts,
    place_of,
    reported,
)
from callwright.generators.multi_step.tasks import run_through
from callwright.language.packs import of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Change,
    Fault,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

GoldStep = Sequence[GoldCall]


class FaultPlan(NamedTuple):
    """What goes wrong, and the gold calls of the sample that is made of it (`PlantedFault` says
    what the others are).
    """

    fault: Fault
    steps: tuple[GoldStep, ...]
    tools: tuple[str, ...] = ()
    entry: str = ""


class PlacedCall(NamedTuple):
    """A gold call and the step that it stands in."""

    step: int
    call: GoldCall


class Planting(NamedTuple):
    """A task that a fault is planted into: its world, its tools by name, and chance."""

    source: Sample
    world: StatefulWorld
    tools: Mapping[str, Tool]
    rng: Random

    @property
    def steps(self) -> list[GoldStep]:
        """The gold calls, step by step."""
        return [turn.calls for _, turn in self.source.call_turns]

    def calls(self) -> Iterator[PlacedCall]:
        """Every gold call, in an order that chance gives."""
        placed = [PlacedCall(at, call) for at, step in enumerate(self.steps) for call in step]
        yield from self.rng.sample(placed, len(placed))

    def before(self, step: int) -> int:
        """How many calls are made before a step."""
        return sum(map(len, self.steps[:step]))

    def episode(self, step: int) -> WorldEpisode:
        """The world as it is before a step."""
        episode = self.world.begin(self.source.simulation_seed)
        for call in chain.from_iterable(self.steps[:step]):
            episode.answer(call.bare)
        return episode

    def effect(self, placed: PlacedCall) -> tuple[Change, ...]:
        """What a call changes."""
        return effect_of(self.episode(placed.step), placed.call.bare)

    def is_repeatable(self, placed: PlacedCall) -> bool:
        """Whether a call that is made twice leaves the world as one that is made once does."""
        episode = self.episode(placed.step)
        episode.answer(placed.call.bare)
        return not effect_of(episode, placed.call.bare)

    def is_needed(self, placed: PlacedCall) -> bool:
        """Whether the world can't end as it should without a call: it writes, or a call that is
        needed takes a value from it.
        """
        if self.world.writes(placed.call.tool):
            return True
        at = placed.step, self.steps[placed.step].index(placed.call)
        later = (
            PlacedCall(step, call)
            for step in range(placed.step + 1, len(self.steps))
            for call in self.steps[step]
        )
        return any(self.is_needed(one) for one in later if at in map(place_of, one.call.evidence))

    def writes(self, steps: Sequence[GoldStep]) -> bool:
        """Whether any call of steps writes."""
        return any(self.world.writes(call.tool) for call in chain.from_iterable(steps))


def effect_of(episode: WorldEpisode, call: Call) -> tuple[Change, ...]:
    """What a call changes in an episode, which stays as it is; nothing where it is refused."""
    start = episode.snapshot()
    episode.answer(call)
    changes = diff(start, episode.state)
    episode.restore(start)
    return changes


def until_turn(steps: int) -> int:
    """The turn at which the calls of a step stand."""
    return 1 + 2 * steps


class Words(NamedTuple):
    """What of a sample is worded anew: the request, and how the last reply tells what could not
    be done, "" where all was.
    """

    request: str
    failure: str = ""


def retold(planting: Planting, plan: FaultPlan, words: Words, kind: str) -> Sample:
    """The sample of a plan, its calls answered by the world with the fault.

    Raises RecordError where the world refuses a call that is due after the fault.
    """
    fault = plan.fault
    failed = None if fault.is_text else fault.until // 2 - 1
    telling = Telling(plan.steps, words, failed=failed, due_from=fault.until)
    sample = replayed(planting, FaultyWorld(planting.world, fault), telling)
    candidates = tuple(dict.fromkeys((*sample.candidates, *plan.tools)))
    return sample.with_changes(kind=kind, candidates=candidates, fault=fault, facts=sample.facts)


class Telling(NamedTuple):
    """How a task is told anew: its gold calls and what is worded; `asides` are the turns that are
    said before a step.

    The step `failed` does nothing that is wanted; from the turn `due_from` on no call may be
    refused.
    """

    steps: Sequence[GoldStep]
    words: Words
    asides: Mapping[int, tuple[Turn, ...]] = MappingProxyType({})
    failed: int | None = None
    due_from: int = 0


def replayed(planting: Planting, world: StatefulWorld, telling: Telling) -> Sample:
    """The source with other calls and words, its calls answered by a world.

    Raises RecordError where a call that is due is refused.
    """
    source, words = planting.source, telling.words
    calls = [call.bare for call in chain.from_iterable(telling.steps)]
    ending = run_through(world.begin(source.simulation_seed), calls)
    answers = iter(ending.answers)
    turns: list[Turn] = [UserTurn(text=words.request)]
    for at, step in enumerate(telling.steps):
        turns += telling.asides.get(at, ())
        answered = [next(answers) for _ in step]
        refused = next((one.problem for one in answered if one.problem), "")
        if refused and len(turns) >= telling.due_from:
            raise RecordError(f"A call that is due is refused: {refused}")
        turns.append(CallTurn(calls=tuple(step), executed=True))
        turns.append(ResultTurn(results=tuple(one.response for one in answered)))
    turns += telling.asides.get(len(telling.steps), ())
    facts = moved_facts(source, telling.steps, telling.failed)
    asked = list(reported(source.with_changes(turns=turns, facts=facts)))
    reply = [answer_of(asked, source.language)] if asked or not words.failure else []
    turns.append(
        ReplyTurn(text=of(source.language).space.join([*reply, *filter(None, [words.failure])]))
    )
    return source.with_changes(
        turns=add_evidence(turns, planting.tools), facts=facts, changes=ending.changes
    )


def keeps_choices(planting: Planting, plan: FaultPlan) -> bool:
    """Whether all that values are taken from is answered in the end as it is without the fault,
    so that the same is chosen.
    """
    fault = plan.fault.with_changes(instead=plan.fault.value) if plan.fault.is_text else plan.fault
    calls = [call.bare for call in chain.from_iterable(plan.steps)]
    answers = run_through(
        FaultyWorld(planting.world, fault).begin(planting.source.simulation_seed), calls
    ).answers
    answered = {call.key: answer.response for call, answer in zip(calls, answers, strict=True)}
    results = [turn.results for turn in planting.source.turns if isinstance(turn, ResultTurn)]
    used = {place_of(one) for step in plan.steps for call in step for one in call.evidence} - {None}
    return all(
        answered.get(planting.steps[step][place].bare.key) == results[step][place]
        for step, place in (at for at in used if at is not None)
    )


def kept_of(steps: Sequence[GoldStep], keeps: Callable[[GoldCall], bool]) -> tuple[GoldStep, ...]:
    """Steps with only the calls that are kept."""
    kept = (tuple(call for call in step if keeps(call)) for step in steps)
    return tuple(step for step in kept if step)
