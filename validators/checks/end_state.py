"""Whether a task is judged rightly by how its world ends and by what is told: by the gold alone, not by what is almost it.

All by making calls in episodes of the world: those of the gold, none at all, every near miss of those that write, and the calls
of a step in other orders, which don't depend on each other.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, permutations
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.episodes import StatefulWorld
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.tasks import Ending, is_reached, run_through, world_of_sample
from callwright.generators.stages import StageContext
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.validators.near_misses.due import Due, Option, acting_points
from callwright.validators.near_misses.table import MAKERS, of_maker
from callwright.validators.tasks import near_misses_of
from callwright.warehouse.answers import values_at
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, DoubtedFact, Sample, Tool

Steps = Sequence[Sequence[Call]]
_ORDERS = 24  # of a step
_OF_READING = 60  # near misses of a call that finds what is asked for


def _is_task(sample: Sample) -> bool:
    return traits_of(sample.kind).is_task


@rule(
    "end_state", "2", "Does the world end as it should by the gold, and not by what is almost the gold?",
    source="τ-bench",
    applies=_is_task,
    doubts={
        "end_missed": "The gold calls leave the world otherwise than the task wants it.",
        "end_idle": "The world is as the task wants it before anything is done.",
        "end_alike": "The world ends as it should by another call as well: {other}.",
        "end_ordered": "The world ends otherwise where the calls of a step are made in another order.",
        "told_alike": "Who tells what another call returns tells what the user asks for as well: {other}.",
        "end_unseen": "The world in which the task plays could not be opened.",
    },
)  # fmt: skip
async def check_end_state(sample: Sample, context: StageContext) -> Answer:
    """Prove by making calls that the end of the world tells whether the task was done."""
    try:
        world = world_of_sample(sample, context)
    except ConfigurationError as error:
        return unseen(error)
    finder = _EndFindings(sample, world, context.toolset(sample.candidates))
    proof = "The gold calls in {} orders lead to the end that is wanted; {} near misses and doing nothing do not."
    findings = list(finder.findings())
    return answer_of(findings, proof.format(finder.orders, finder.misses))


def unseen(error: ConfigurationError) -> Answer:
    """What is answered of a sample whose world can't be opened."""
    return answer_of([unproved(str(error), DoubtedFact(kind="end_unseen"))], "")


class _EndFindings:
    """What speaks against a task, by the episodes that it was tried in."""

    def __init__(self, sample: Sample, world: StatefulWorld, tools: Sequence[Tool]) -> None:
        self._sample, self._world = sample, world
        self._points = [one for one in acting_points(sample, tools) if one.calls]
        self._steps = [one.calls for one in self._points]
        self.orders = self.misses = 0

    def _ending(self, steps: Steps) -> Ending:
        return run_through(self._world.begin(self._sample.simulation_seed), chain.from_iterable(steps))

    def _is_reached(self, steps: Steps) -> bool:
        return is_reached(self._sample.changes, self._ending(steps).changes)

    def findings(self) -> Iterator[Finding]:
        """What is found; nothing more once the gold itself fails."""
        gold = self._ending(self._steps)
        refused = next((one.problem for one in gold.answers if one.problem), "")
        if refused or not is_reached(self._sample.changes, gold.changes):
            counts = f"they make {len(gold.changes)} changes of the {len(self._sample.changes)} wanted, or others"
            reason = f"a call is refused: {refused}" if refused else counts
            yield contradicted(
                f"The gold calls don't do what the task wants; {reason}.", DoubtedFact(kind="end_missed")
            )
            return
        if not self._sample.changes:
            yield contradicted("The task wants nothing to change.", DoubtedFact(kind="end_idle"))
            return
        yield from self._ordered()
        yield from self._alike()
        yield from self._told_alike()

    def _ordered(self) -> Iterator[Finding]:
        for at, calls in enumerate(self._steps):
            for order in islice(permutations(calls), _ORDERS):
                self.orders += 1
                if not self._is_reached([*self._steps[:at], order, *self._steps[at + 1 :]]):
                    rendered = ", ".join(call.tool for call in order)
                    yield contradicted(
                        f"In the order {rendered} the world ends otherwise.", DoubtedFact(kind="end_ordered")
                    )
                    return

    def _alike(self) -> Iterator[Finding]:
        for at, point in enumerate(self._points):
            rng = Random(f"{self._sample.key} {point.turn}")
            for miss in near_misses_of(point, rng, self._world.writes):
                self.misses += 1
                if self._is_reached([*self._steps[:at], miss.option.calls, *self._steps[at + 1 :]]):
                    rendered = ", ".join(f"{one.tool} {one.arguments}" for one in miss.option.calls) or "no call"
                    fact = DoubtedFact(kind="end_alike", other=rendered)
                    yield unproved(f"With {rendered} ({miss.defect}) the world ends as it should.", fact)

    def _told_alike(self) -> Iterator[Finding]:
        """Near misses of a call whose fields are asked for, which return the same in all of these."""
        for step, at in dict.fromkeys((one.step, one.place) for one in self._sample.asked):
            if step >= len(self._steps) or at >= len(self._steps[step]):
                continue
            due, fields = self._steps[step][at], self._sample.asked_of(step, at)
            told = self._values(step, due, fields)
            for call in {one.key: one for one in self._in_place_of(due, self._points[step])}.values():
                self.misses += 1
                if self._values(step, call, fields) == told:
                    rendered = f"{call.tool} {call.arguments}"
                    fact = DoubtedFact(kind="told_alike", other=rendered)
                    yield unproved(f"{rendered} returns what is asked for as well.", fact)

    def _values(self, step: int, call: Call, fields: Sequence[str]) -> list[list[JsonValue]]:
        """What a call returns of some fields after the steps before its own."""
        response = self._ending([*self._steps[:step], [call]]).answers[-1].response
        return [list(values_at(response, field)) for field in fields]

    def _in_place_of(self, due: Call, point: Due) -> Iterator[Call]:
        rng, alone = Random(f"{self._sample.key} {point.turn} told"), point.with_option(Option((due,)))
        for maker in MAKERS:
            for miss in islice(of_maker(maker, alone, rng), _OF_READING):
                yield from (one for one in miss.option.calls if one.tool == due.tool and one not in point.calls)
