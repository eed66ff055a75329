"""A task to plant faults into: its gold calls by step, its world at each, and other versions."""

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
from callwright.generators.multi_step.answers import answer_of, reported
from callwright.generators.multi_step.samples import add_evidence, moved_facts, place_of
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
    """A fault, and the gold calls of its sample (`PlantedFault` describes the other fields)."""

    fault: Fault
    steps: tuple[GoldStep, ...]
    tools: tuple[str, ...] = ()
    entry: str = ""


class PlacedCall(NamedTuple):
    """A gold call and its step."""

    step: int
    call: GoldCall


class Planting(NamedTuple):
    """A task to plant a fault in: its world, its tools by name, and a random generator."""

    source: Sample
    world: StatefulWorld
    tools: Mapping[str, Tool]
    rng: Random

    @property
    def steps(self) -> list[GoldStep]:
        """The gold calls, step by step."""
        return [turn.calls for _, turn in self.source.call_turns]

    def calls(self) -> Iterator[PlacedCall]:
        """Yield every gold call in random order."""
        placed = [PlacedCall(at, call) for at, step in enumerate(self.steps) for call in step]
        yield from self.rng.sample(placed, len(placed))

    def before(self, step: int) -> int:
        """Return how many calls are made before a step."""
        return sum(map(len, self.steps[:step]))

    def episode(self, step: int) -> WorldEpisode:
        """Return the world as it is before a step."""
        episode = self.world.begin(self.source.simulation_seed)
        for call in chain.from_iterable(self.steps[:step]):
            episode.answer(call.bare)
        return episode

    def effect(self, placed: PlacedCall) -> tuple[Change, ...]:
        """Return what a call changes."""
        return effect_of(self.episode(placed.step), placed.call.bare)

    def is_repeatable(self, placed: PlacedCall) -> bool:
        """Whether making a call twice leaves the world as making it once does."""
        episode = self.episode(placed.step)
        episode.answer(placed.call.bare)
        return not effect_of(episode, placed.call.bare)

    def is_needed(self, placed: PlacedCall) -> bool:
        """Whether the task's end state needs the call: it writes, or feeds a needed call."""
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
        """Whether any call of the steps writes."""
        return any(self.world.writes(call.tool) for call in chain.from_iterable(steps))


def effect_of(episode: WorldEpisode, call: Call) -> tuple[Change, ...]:
    """Return what a call changes in an episode, which is restored; nothing if it is refused."""
    start = episode.snapshot()
    episode.answer(call)
    changes = diff(start, episode.state)
    episode.restore(start)
    return changes


def until_turn(steps: int) -> int:
    """Return the index of the turn with the calls of a step."""
    return 1 + 2 * steps


class Words(NamedTuple):
    """The new wording of a sample: its request, and what its last reply says failed, or ""."""

    request: str
    failure: str = ""


def retold(
    planting: Planting, plan: FaultPlan, words: Words, kind: str, aside: tuple[Turn, ...] = ()
) -> Sample:
    """Return the sample of a plan; the world answers its calls with the fault.

    An `aside` is said once it has gone wrong. Raises RecordError if the world refuses a call that
    is due after the fault.
    """
    fault, step = plan.fault, plan.fault.until // 2
    failed = None if fault.is_text else step - 1
    fault = fault.with_changes(until=fault.until + len(aside))
    telling = Telling(plan.steps, words, {step: aside}, failed, due_from=fault.until)
    sample = replayed(planting, FaultyWorld(planting.world, fault), telling)
    candidates = tuple(dict.fromkeys((*sample.candidates, *plan.tools)))
    return sample.with_changes(kind=kind, candidates=candidates, fault=fault, facts=sample.facts)


class Telling(NamedTuple):
    """A new version of a task: its gold calls, its words, and `asides`, the turns before steps.

    The step `failed` does nothing that is wanted; from the turn `due_from` on, no call may be
    refused.
    """

    steps: Sequence[GoldStep]
    words: Words
    asides: Mapping[int, tuple[Turn, ...]] = MappingProxyType({})
    failed: int | None = None
    due_from: int = 0


def replayed(planting: Planting, world: StatefulWorld, telling: Telling) -> Sample:
    """Return the source with other calls and words; a world answers the calls.

    Raises RecordError if a due call is refused.
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
    asked = reported(source.with_changes(turns=turns, facts=facts), source=source)
    reply = [answer_of(asked, source.language)] if asked or not words.failure else []
    turns.append(
        ReplyTurn(text=of(source.language).space.join([*reply, *filter(None, [words.failure])]))
    )
    return source.with_changes(
        turns=add_evidence(turns, planting.tools), facts=facts, changes=ending.changes
    )


def keeps_choices(planting: Planting, plan: FaultPlan) -> bool:
    """Whether all responses that values come from stay as without the fault, and so the choices."""
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
    """Return the steps with only the calls that `keeps` accepts."""
    kept = (tuple(call for call in step if keeps(call)) for step in steps)
    return tuple(step for step in kept if step)
