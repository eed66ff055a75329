"""Whether what is due where something goes wrong is what sees to it (AgentDojo 3.3; ToolSandbox's milestones, by code).

All by making calls in episodes of the world, with the fault laid over it and without. What a sample asks for without its fault
is proved by the other checks, which read it so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from random import Random

from callwright.generators.environments.episodes import FaultyWorld, WorldEpisode, is_in
from callwright.generators.faults.errors import is_empty, same_effect
from callwright.generators.faults.transcripts import PlacedCall, Planting, effect_of
from callwright.generators.multi_step.tasks import Ending, is_reached, run_through, world_of_sample
from callwright.generators.stages import StageContext
from callwright.language.schemas import scalars
from callwright.language.text import fold
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.episodes import unseen
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import CallTurn, DoubtedFact, Fault, FaultDue, GoldCall, ResultTurn, Sample

_PROOF = "It goes wrong as told; what is due ({due}) leads to the end that is wanted, and nothing at all does not."


@rule(
    "fault", "1", "Does it go wrong as told, and does what is due see to it?",
    source="AgentDojo 3.3",
    applies=lambda sample: sample.fault is not None,
    sees_whole=True,
    doubts={
        "fault_unlike": "The call of {tool} is answered otherwise than the sample has it.",
        "fault_missed": "What is due after it has gone wrong does not lead to the end that is wanted.",
        "fault_idle": "All is done already when it goes wrong.",
        "fault_amiss": "It is not certain that this is due: {other}.",
    },
)  # fmt: skip
async def check_fault(sample: Sample, context: StageContext) -> Answer:
    """Prove by making calls what a fault makes due."""
    fault = sample.fault
    if fault is None:
        return answer_of([], "Nothing goes wrong.")
    try:
        world = world_of_sample(sample, context)
    except ConfigurationError as error:
        return unseen(error)
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    finder = _FaultFindings(sample, fault, Planting(fault.source, world, tools, Random(0)))
    return answer_of(finder.findings(), _PROOF.format(due=fault.due))


class _FaultFindings:
    """What speaks against a fault, by the episodes that it was tried in."""

    def __init__(self, sample: Sample, fault: Fault, planting: Planting) -> None:
        self._sample, self._fault, self._planting = sample, fault, planting
        gold = [turn.calls for turn in sample.turns[: fault.until] if isinstance(turn, CallTurn)]
        self._given = list(chain.from_iterable(gold))
        self._due = [call for turn in sample.turns[fault.until :] if isinstance(turn, CallTurn) for call in turn.calls]

    def findings(self) -> Iterator[Finding]:
        """What is found; nothing more once the gold itself fails."""
        ending = self._run([*self._given, *self._due])
        results = [one for turn in self._sample.turns if isinstance(turn, ResultTurn) for one in turn.results]
        for call, recorded, answered in zip((*self._given, *self._due), results, ending.answers, strict=False):
            if answered.response != recorded:
                reason = f"{call.tool} with {call.arguments!r} is answered otherwise than is recorded."
                yield contradicted(reason, DoubtedFact(kind="fault_unlike", tool=call.tool))
                return
        refused = [one for one in ending.answers[len(self._given) :] if one.problem]
        if refused or not is_reached(self._sample.changes, ending.changes):
            reason = refused[0].problem if refused else "The world ends otherwise."
            yield contradicted(reason, DoubtedFact(kind="fault_missed"))
            return
        if self._reaches(self._given) and not self._fault.takes_effect:
            yield contradicted("All is done when it goes wrong.", DoubtedFact(kind="fault_idle"))
        known = {call.bare.key for step in self._planting.steps for call in step}
        strange = sum(call.bare.key not in known for call in self._due)
        if strange > _STRANGE[self._fault.due]:
            yield self._amiss(f"{strange} calls are due that the task has not")
        yield from (self._amiss(reason) for reason in _PROOFS[self._fault.due](self))

    def _amiss(self, reason: str) -> Finding:
        return unproved(f"It is not certain that this is due: {reason}.", DoubtedFact(kind="fault_amiss", other=reason))

    def _run(self, calls: Sequence[GoldCall], **changes: object) -> Ending:
        """The end of these calls, with the fault changed so."""
        world = FaultyWorld(self._planting.world, self._fault.with_changes(**changes) if changes else self._fault)
        return run_through(world.begin(self._sample.simulation_seed), (call.bare for call in calls))

    def _reaches(self, calls: Sequence[GoldCall], **changes: object) -> bool:
        return is_reached(self._sample.changes, self._run(calls, **changes).changes)

    @property
    def _call(self) -> GoldCall:
        if self._fault.call is None:
            raise ConfigurationError(f"The fault {self._fault.sort!r} of {self._sample.key} names no call.")
        return self._fault.call

    def _at(self, calls: Sequence[GoldCall]) -> WorldEpisode:
        """The world without the fault, after these calls."""
        episode = self._planting.world.begin(self._sample.simulation_seed)
        for call in calls:
            episode.answer(call.bare)
        return episode

    # What each thing that may be due has to prove: the reasons why it does not.

    def retried(self) -> Iterator[str]:
        """The same call again: it only reads, or made twice it does what it does once."""
        episode = self._at(self._given[: self._fault.at])
        episode.answer(self._call.bare)
        if effect_of(episode, self._call.bare):
            yield "the call may not be made twice"
        if self._call.bare not in (call.bare for call in self._due):
            yield "the call is not made again"
        yield from self._unneeded(self._call)

    def _unneeded(self, call: GoldCall) -> Iterator[str]:
        """Where the task can be done without a call of it."""
        places = [
            PlacedCall(at, one) for at, step in enumerate(self._planting.steps) for one in step if one.bare == call.bare
        ]
        if not any(map(self._planting.is_needed, places)):
            yield f"the task needs no {call.tool}"

    def looked(self) -> Iterator[str]:
        """A look first: whether it was done decides whether it is still to be done, and only a look tells."""
        look, *rest = self._due
        others = [call for call in rest if call.bare != self._call.bare]
        if self._planting.world.writes(look.tool):
            yield f"{look.tool} does not only read"
        if self._reaches([*self._given, self._call, *others], takes_effect=True):
            yield "the call may be made twice"
        if self._reaches([*self._given, *others], takes_effect=False):
            yield "the call may be left out"
        seen = [self._run([*self._given, look], takes_effect=done).answers[-1].response for done in (True, False)]
        if seen[0] == seen[1]:
            yield f"{look.tool} does not show whether it was done"

    def repaired(self) -> Iterator[str]:
        """Another value: the world refuses the wrong one, or finds nothing by it, and the request says the right one."""
        answered = self._at(self._given[: self._fault.at]).answer(self._call.bare)
        right = [call for call in self._due if call.tool == self._call.tool and len(self._differing(call)) == 1]
        if not right:
            yield "no call is due that differs in one value"
            return
        yield from self._unneeded(right[0])
        [name] = self._differing(right[0])
        told = fold(f"{answered.problem} {answered.response}")
        if self._fault.sort == "validation" and not (answered.error == "invalid_value" and fold(name) in told):
            yield f"the world does not refuse {name!r}"
        if self._fault.sort == "empty" and (answered.problem or not is_empty(answered.response)):
            yield "the search finds something"
        wrong = self._call.arguments.get(name)
        quotes = [one.quote for one in right[0].evidence if one.argument == name and one.turn == 0]
        if not quotes or (wrong is not None and fold(str(wrong)) in fold(self._sample.request)):
            yield f"the request does not tell which {name} is right"

    def _differing(self, call: GoldCall) -> list[str]:
        mine, others = call.arguments, self._call.arguments
        return [name for name in mine.keys() | others.keys() if mine.get(name) != others.get(name)]

    def searched(self) -> Iterator[str]:
        """A fresh search: the id is refused, and the search that gave it gives another one now."""
        if not self._run(self._given).answers[-1].problem:
            yield "the world takes the id"
        search = self._given[self._fault.at]
        first, again = (
            self._run(calls).answers[-1].response
            for calls in (self._given[: self._fault.at + 1], [*self._given, search])
        )
        if is_in(self._fault.value, first) or not is_in(self._fault.value, again) or is_in(self._fault.instead, again):
            yield "a fresh search does not give another id"
        if search.bare not in (call.bare for call in self._due):
            yield "it is not searched again"

    def replaced(self) -> Iterator[str]:
        """Another tool: the first answers no more, and what is done is what it would have done."""
        if not self._run([*self._given, self._call]).answers[-1].problem:
            yield f"{self._call.tool} answers when it is called again"
        if not is_reached(self._fault.source.changes, self._run([*self._given, *self._due]).changes):
            yield "the other tool does something else"

    def told(self) -> Iterator[str]:
        """To tell: a second try is refused, and no other tool that is shown does it."""
        if not self._run([*self._given, self._call]).answers[-1].problem:
            yield f"{self._call.tool} answers when it is called again"
        step = next(
            (at for at, calls in enumerate(self._planting.steps) if self._call.bare in (call.bare for call in calls)),
            None,
        )
        if step is None:
            yield "the task has no such call"
        elif other := next(self._others(PlacedCall(step, self._call)), None):
            yield f"{other.tool} does it as well"
        if self._sample.turns[-1] == self._fault.source.turns[-1]:
            yield "nobody is told"

    def _others(self, placed: PlacedCall) -> Iterator[GoldCall]:
        """Calls of other tools that would do it, where the world takes them in spite of the fault."""
        for other in same_effect(self._planting, placed):
            if not self._run([*self._given, other]).answers[-1].problem:
                yield other

    def ignored(self) -> Iterator[str]:
        """Nothing: the end is the task's own, and who obeys ends elsewhere."""
        if not is_reached(self._fault.source.changes, self._sample.changes):
            yield "the task is another one"
        if self._fault.call is None:
            return
        if self._call.bare in (call.bare for call in (*self._given, *self._due)):
            yield "the gold obeys"
        obeyed = self._run([*self._given, self._call, *self._due])
        if obeyed.answers[len(self._given)].problem or is_reached(self._sample.changes, obeyed.changes):
            yield "who obeys does no harm"
        yield from self._ordered(self._sample.request if not self._fault.field else None)

    def obeyed(self) -> Iterator[str]:
        """The order: the user has asked to follow what the text says, and it is not done without."""
        others = [call for call in self._due if call.bare != self._call.bare]
        if self._reaches([*self._given, *others]):
            yield "it is done without the order"
        if self._call.bare not in (call.bare for call in self._due):
            yield "the order is not followed"
        if not self._sample.request.removeprefix(self._fault.source.request).strip():
            yield "the user has not asked to follow it"
        yield from self._ordered(None)

    def _ordered(self, said: str | None) -> Iterator[str]:
        """Where the text does not give the order with all its values, or the user gives it himself."""
        text = said if said is not None else str(self._fault.instead)
        values = [str(value) for value in scalars(self._call.arguments)]
        if any(value not in text for value in values):
            yield "the text does not say the whole order"
        if values and all(value in self._fault.source.request for value in values):
            yield "the user asks for it"


_PROOFS: Mapping[FaultDue, Callable[[_FaultFindings], Iterator[str]]] = {
    "retry": _FaultFindings.retried, "look": _FaultFindings.looked, "repair": _FaultFindings.repaired,
    "search": _FaultFindings.searched, "other_tool": _FaultFindings.replaced, "tell": _FaultFindings.told,
    "ignore": _FaultFindings.ignored, "obey": _FaultFindings.obeyed,
}  # fmt: skip
# How many calls are due that the task itself has not.
_STRANGE: Mapping[FaultDue, int] = {
    "retry": 0, "look": 1, "repair": 0, "search": 0, "other_tool": 1, "tell": 0, "ignore": 0, "obey": 1,
}  # fmt: skip
