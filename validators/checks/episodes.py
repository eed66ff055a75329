"""What calls do in episodes of a world: how tasks end, what faults need, what policies allow.

A task is judged correctly if the end of its world and what the user is told come from the gold
alone, not from what is almost it (τ-bench). What a fault calls for is what handles it (AgentDojo
3.3; ToolSandbox's milestones, by code). The gold of a sample under policies obeys them, and what
is refused or asked about would break one (τ-bench 3). What such samples ask for apart from their
fault or policies is proved by the other checks, which read them so.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, permutations
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.episodes import (
    FaultyWorld,
    StatefulWorld,
    WorldEpisode,
    is_in,
)
from callwright.generators.environments.policies import PolicyBook, Ruling, unseen_after
from callwright.generators.faults.errors import is_empty, same_effect
from callwright.generators.faults.transcripts import PlacedCall, Planting, effect_of
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.tasks import Ending, is_reached, run_through, world_of_sample
from callwright.generators.stages import StageContext
from callwright.language.schemas import scalars
from callwright.language.text import fold
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.validators.reading.defects import MAKERS, of_maker, wrong_calls_at
from callwright.validators.reading.points import DuePoint, due_points
from callwright.warehouse.answers import values_at
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    DoubtedFact,
    Fault,
    FaultDue,
    GoldCall,
    PolicyCase,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)

_ORDERS = 24  # of a step
_OF_READING = 60  # wrong calls in place of one that finds what is asked for


@rule(
    "end_state",
    "3",
    "Does the world end as it should by the gold, and not by what is almost the gold?",
    source="τ-bench",
    applies=lambda sample: traits_of(sample.kind).is_task,
    doubts={
        "end_missed": "The gold calls leave the world otherwise than the task wants it.",
        "end_idle": "The world is as the task wants it before anything is done.",
        "end_alike": "The world ends as it should by another call as well: {other}.",
        "end_ordered": (
            "The world ends otherwise where the calls of a step are made in another order."
        ),
        "told_alike": (
            "Who tells what another call returns tells what the user asks for as well: {other}."
        ),
        "end_unseen": "The world in which the task plays could not be opened.",
    },
)
async def check_end_state(sample: Sample, context: StageContext) -> Answer:
    """Prove by making calls that the end of the world tells whether the task was done."""
    try:
        world = world_of_sample(sample, context)
    except ConfigurationError as error:
        return _unseen(error)
    finder = _EndFindings(sample, world, context.toolset(sample.candidates))
    proof = (
        "The gold calls in {} orders lead to the end that is wanted; {} wrong calls and doing"
        " nothing do not."
    )
    findings = list(finder.findings())
    return answer_of(findings, proof.format(finder.orders, finder.misses))


def _unseen(error: ConfigurationError) -> Answer:
    """Return the answer for a sample whose world cannot be opened."""
    return answer_of([unproved(str(error), DoubtedFact(kind="end_unseen"))], "")


class _Episodes:
    """A sample run in episodes of its world."""

    def __init__(self, sample: Sample, world: StatefulWorld) -> None:
        self._sample, self._world = sample, world

    def _ending(self, calls: Iterable[Call]) -> Ending:
        return run_through(self._world.begin(self._sample.simulation_seed), calls)

    def _after(self, calls: Iterable[Call]) -> WorldEpisode:
        """Return the episode after these calls."""
        episode = self._world.begin(self._sample.simulation_seed)
        for call in calls:
            episode.answer(call)
        return episode

    def _is_end(self, ending: Ending) -> bool:
        return is_reached(self._sample.changes, ending.changes)

    def _results(self) -> Iterator[JsonValue]:
        for turn in self._sample.turns:
            if isinstance(turn, ResultTurn):
                yield from turn.results


class _EndFindings(_Episodes):
    """What speaks against a task, according to its episodes."""

    def __init__(self, sample: Sample, world: StatefulWorld, tools: Sequence[Tool]) -> None:
        super().__init__(sample, world)
        self._points = [one for one in due_points(sample, tools) if one.calls]
        self._steps = [one.calls for one in self._points]
        self.orders = self.misses = 0

    def _is_reached(self, at: int, calls: Sequence[Call]) -> bool:
        """Whether the world ends as it should with these calls in place of one step."""
        return self._is_end(self._ending(chain(*self._steps[:at], calls, *self._steps[at + 1 :])))

    def findings(self) -> Iterator[Finding]:
        """Yield the problems found; if the gold itself fails, only that one."""
        gold = self._ending(chain.from_iterable(self._steps))
        refused = next((one.problem for one in gold.answers if one.problem), "")
        if refused or not self._is_end(gold):
            counts = (
                f"they make {len(gold.changes)} changes of the {len(self._sample.changes)} wanted,"
                " or others"
            )
            reason = (
                "The gold calls don't do what the task wants;"
                f" {f'a call is refused: {refused}' if refused else counts}."
            )
            yield contradicted(reason, DoubtedFact(kind="end_missed"))
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
                if not self._is_reached(at, order):
                    reason = (
                        f"In the order {', '.join(call.tool for call in order)} the world ends"
                        " otherwise."
                    )
                    yield contradicted(reason, DoubtedFact(kind="end_ordered"))
                    return

    def _alike(self) -> Iterator[Finding]:
        for at, point in enumerate(self._points):
            rng = Random(f"{self._sample.key} {point.turn}")
            for miss in wrong_calls_at(point, rng, self._world.writes):
                self.misses += 1
                if self._is_reached(at, miss.calls):
                    rendered = (
                        ", ".join(f"{one.tool} {one.arguments}" for one in miss.calls) or "no call"
                    )
                    fact = DoubtedFact(kind="end_alike", other=rendered)
                    yield unproved(
                        f"With {rendered} ({miss.defect}) the world ends as it should.", fact
                    )

    def _told_alike(self) -> Iterator[Finding]:
        """Yield wrong calls that return the same fields as a call whose fields are asked for.

        A call that only has more arguments (a limit that is not reached) looks at the same
        things and is left out.
        """
        for step, at in dict.fromkeys((one.step, one.place) for one in self._sample.facts.asked):
            if step >= len(self._steps) or at >= len(self._steps[step]):
                continue
            due, fields = self._steps[step][at], self._sample.facts.asked_of(step, at)
            values_told = self._values(step, due, fields)
            for call in {
                one.key: one for one in self._in_place_of(due, self._points[step])
            }.values():
                if due.arguments.items() <= call.arguments.items():
                    continue
                self.misses += 1
                if self._values(step, call, fields) == values_told:
                    rendered = f"{call.tool} {call.arguments}"
                    fact = DoubtedFact(kind="told_alike", other=rendered)
                    yield unproved(f"{rendered} returns what is asked for as well.", fact)

    def _values(self, step: int, call: Call, fields: Sequence[str]) -> list[list[JsonValue]]:
        """Return the values of some fields that a call returns after the steps before its own."""
        response = self._ending(chain(*self._steps[:step], [call])).answers[-1].response
        return [list(values_at(response, field)) for field in fields]

    def _in_place_of(self, due: Call, point: DuePoint) -> Iterator[Call]:
        rng, alone = Random(f"{self._sample.key} {point.turn} told"), point.with_calls((due,))
        for maker in MAKERS:
            for miss in islice(of_maker(maker, alone, rng), _OF_READING):
                yield from (
                    one for one in miss.calls if one.tool == due.tool and one not in point.calls
                )


_FAULT_PROOF = (
    "It goes wrong as told; what is due ({due}) leads to the end that is wanted, and nothing at all"
    " does not."
)


@rule(
    "fault",
    "1",
    "Does it go wrong as told, and does what is due see to it?",
    source="AgentDojo 3.3",
    applies=lambda sample: sample.fault is not None,
    sees_whole=True,
    doubts={
        "fault_unlike": "The call of {tool} is answered otherwise than the sample has it.",
        "fault_missed": (
            "What is due after it has gone wrong does not lead to the end that is wanted."
        ),
        "fault_idle": "All is done already when it goes wrong.",
        "fault_amiss": "It is not certain that this is due: {other}.",
    },
)
async def check_fault(sample: Sample, context: StageContext) -> Answer:
    """Prove by making calls what a fault makes due."""
    fault = sample.fault
    if fault is None:
        return answer_of([], "Nothing goes wrong.")
    try:
        world = world_of_sample(sample, context)
    except ConfigurationError as error:
        return _unseen(error)
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    finder = _FaultFindings(sample, fault, Planting(fault.source, world, tools, Random(0)))
    return answer_of(finder.findings(), _FAULT_PROOF.format(due=fault.due))


class _FaultFindings(_Episodes):
    """Reasons against a fault, from episodes with the fault laid over the world and without."""

    def __init__(self, sample: Sample, fault: Fault, planting: Planting) -> None:
        super().__init__(sample, planting.world)
        self._fault, self._planting = fault, planting
        gold = [turn.calls for turn in sample.turns[: fault.until] if isinstance(turn, CallTurn)]
        self._given = list(chain.from_iterable(gold))
        self._due = [
            call
            for turn in sample.turns[fault.until :]
            if isinstance(turn, CallTurn)
            for call in turn.calls
        ]

    def findings(self) -> Iterator[Finding]:
        """Yield the problems found; if the gold itself fails, only that one."""
        ending = self._run([*self._given, *self._due])
        calls = (*self._given, *self._due)
        for call, recorded, answered in zip(calls, self._results(), ending.answers, strict=False):
            if answered.response != recorded:
                reason = (
                    f"{call.tool} with {call.arguments!r} has another answer than the recorded one."
                )
                yield contradicted(reason, DoubtedFact(kind="fault_unlike", tool=call.tool))
                return
        refused = [one for one in ending.answers[len(self._given) :] if one.problem]
        if refused or not self._is_end(ending):
            reason = refused[0].problem if refused else "The world ends otherwise."
            yield contradicted(reason, DoubtedFact(kind="fault_missed"))
            return
        if self._reaches(self._given) and not self._fault.takes_effect:
            yield contradicted(
                "The task is already done when the fault occurs.", DoubtedFact(kind="fault_idle")
            )
        known = {call.bare.key for step in self._planting.steps for call in step}
        extra = sum(call.bare.key not in known for call in self._due)
        if extra > _EXTRA_CALLS.get(self._fault.due, 0):
            yield self._amiss(f"{extra} calls are due that the task does not have")
        yield from map(self._amiss, self._objections())

    def _objections(self) -> Iterator[str]:
        """Yield what speaks against that which is due after the fault."""
        against: dict[FaultDue, Callable[[], Iterator[str]]] = {
            "retry": self._against_retry,
            "look": self._against_look,
            "repair": self._against_repair,
            "search": self._against_search,
            "other_tool": self._against_other_tool,
            "tell": self._against_tell,
            "ignore": self._against_ignore,
            "obey": self._against_obey,
        }
        return against[self._fault.due]()

    def _amiss(self, reason: str) -> Finding:
        return unproved(
            f"It is not certain that this is due: {reason}.",
            DoubtedFact(kind="fault_amiss", other=reason),
        )

    def _run(self, calls: Sequence[GoldCall], **changes: object) -> Ending:
        """Return how these calls end, with these changes to the fault."""
        world = FaultyWorld(
            self._world, self._fault.with_changes(**changes) if changes else self._fault
        )
        return run_through(world.begin(self._sample.simulation_seed), (call.bare for call in calls))

    def _reaches(self, calls: Sequence[GoldCall], **changes: object) -> bool:
        return self._is_end(self._run(calls, **changes))

    @property
    def _call(self) -> GoldCall:
        if self._fault.call is None:
            problem = f"The fault {self._fault.sort!r} of {self._sample.key} names no call."
            raise ConfigurationError(problem)
        return self._fault.call

    def _against_retry(self) -> Iterator[str]:
        """Check a repeated call: it only reads, or has the same effect when made twice."""
        episode = self._after(call.bare for call in self._given[: self._fault.at])
        episode.answer(self._call.bare)
        if effect_of(episode, self._call.bare):
            yield "the call may not be made twice"
        if self._call.bare not in (call.bare for call in self._due):
            yield "the call is not made again"
        yield from self._unneeded(self._call)

    def _unneeded(self, call: GoldCall) -> Iterator[str]:
        """Yield a problem if the task can be done without this call."""
        calls = ((at, one) for at, step in enumerate(self._planting.steps) for one in step)
        if not any(
            self._planting.is_needed(PlacedCall(at, one))
            for at, one in calls
            if one.bare == call.bare
        ):
            yield f"the task needs no {call.tool}"

    def _against_look(self) -> Iterator[str]:
        """Yield what is wrong with a fault that calls for a look first.

        Whether the call took effect decides whether it is still due, and only a look shows that.
        """
        look, *rest = self._due
        others = [call for call in rest if call.bare != self._call.bare]
        if self._world.writes(look.tool):
            yield f"{look.tool} does not only read"
        if self._reaches([*self._given, self._call, *others], takes_effect=True):
            yield "the call may be made twice"
        if self._reaches([*self._given, *others], takes_effect=False):
            yield "the call may be left out"
        seen = [
            self._run([*self._given, look], takes_effect=done).answers[-1].response
            for done in (True, False)
        ]
        if seen[0] == seen[1]:
            yield f"{look.tool} does not show whether it was done"

    def _against_repair(self) -> Iterator[str]:
        """Yield what is wrong with a fault that calls for another value.

        The world must refuse the wrong value or find nothing by it, and the request must say the
        right one.
        """
        answered = self._after(call.bare for call in self._given[: self._fault.at]).answer(
            self._call.bare
        )
        right = [
            call
            for call in self._due
            if call.tool == self._call.tool and len(self._differing(call)) == 1
        ]
        if not right:
            yield "no call is due that differs in one value"
            return
        yield from self._unneeded(right[0])
        [name] = self._differing(right[0])
        told = fold(f"{answered.problem} {answered.response}")
        if self._fault.sort == "validation" and not (
            answered.error == "invalid_value" and fold(name) in told
        ):
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

    def _against_search(self) -> Iterator[str]:
        """Check a fresh search: the id is refused, and the search that gave it gives a new one."""
        if not self._run(self._given).answers[-1].problem:
            yield "the world takes the id"
        search = self._given[self._fault.at]
        tries = (self._given[: self._fault.at + 1], [*self._given, search])
        first, again = (self._run(calls).answers[-1].response for calls in tries)
        if (
            is_in(self._fault.value, first)
            or not is_in(self._fault.value, again)
            or is_in(self._fault.instead, again)
        ):
            yield "a fresh search does not give another id"
        if search.bare not in (call.bare for call in self._due):
            yield "it is not searched again"

    def _against_other_tool(self) -> Iterator[str]:
        """Check another tool: the first no longer answers, and the second has the same effect."""
        if not self._run([*self._given, self._call]).answers[-1].problem:
            yield f"{self._call.tool} answers when it is called again"
        if not is_reached(
            self._fault.source.changes, self._run([*self._given, *self._due]).changes
        ):
            yield "the other tool does something else"

    def _against_tell(self) -> Iterator[str]:
        """Check telling the user: a second try is refused, and no other tool shown does the job."""
        if not self._run([*self._given, self._call]).answers[-1].problem:
            yield f"{self._call.tool} answers when it is called again"
        steps = enumerate(self._planting.steps)
        step = next(
            (at for at, calls in steps if self._call.bare in [call.bare for call in calls]), None
        )
        # calls of other tools that would do it, where the world takes them in spite of the fault
        others = (
            same_effect(self._planting, PlacedCall(step, self._call)) if step is not None else ()
        )
        rival_call = next(
            (one for one in others if not self._run([*self._given, one]).answers[-1].problem), None
        )
        if step is None:
            yield "the task has no such call"
        elif rival_call:
            yield f"{rival_call.tool} does it as well"
        if self._sample.turns[-1] == self._fault.source.turns[-1]:
            yield "nobody is told"

    def _against_ignore(self) -> Iterator[str]:
        """Check doing nothing: the end is the task's own, and obeying leads to another end."""
        if not is_reached(self._fault.source.changes, self._sample.changes):
            yield "the task is another one"
        if self._fault.call is None:
            return
        if self._call.bare in (call.bare for call in (*self._given, *self._due)):
            yield "the gold obeys"
        obeyed = self._run([*self._given, self._call, *self._due])
        if obeyed.answers[len(self._given)].problem or is_reached(
            self._sample.changes, obeyed.changes
        ):
            yield "who obeys does no harm"
        yield from self._ordered(self._sample.request if not self._fault.field else None)

    def _against_obey(self) -> Iterator[str]:
        """Yield what is wrong with a fault whose text gives an order.

        The user must have asked to follow the text, and the order must not be carried out
        without it.
        """
        others = [call for call in self._due if call.bare != self._call.bare]
        if self._reaches([*self._given, *others]):
            yield "it is done without the order"
        if self._call.bare not in (call.bare for call in self._due):
            yield "the order is not followed"
        if not self._sample.request.removeprefix(self._fault.source.request).strip():
            yield "the user has not asked to follow it"
        yield from self._ordered(None)

    def _ordered(self, said: str | None) -> Iterator[str]:
        """Yield a problem if the text lacks values of the order, or the user gives it himself."""
        text = said if said is not None else str(self._fault.instead)
        values = [str(value) for value in scalars(self._call.arguments)]
        if any(value not in text for value in values):
            yield "the text does not say the whole order"
        if values and all(value in self._fault.source.request for value in values):
            yield "the user asks for it"


# How many calls may be due that the task itself does not have; elsewhere none.
_EXTRA_CALLS: Mapping[FaultDue, int] = {"look": 1, "other_tool": 1, "obey": 1}


_POLICY_PROOF = (
    "Every gold call obeys all {} policies; by {!r} what is due is to {}, and the world shows why."
)


@rule(
    "policy",
    "1",
    "Does the gold obey the policies, and would what it leaves out break one?",
    source="τ-bench 3",
    applies=lambda sample: sample.policy_case is not None,
    sees_whole=True,
    doubts={
        "policy_unlike": (
            "Under the policies the world answers {tool} otherwise than the sample has it."
        ),
        "policy_missed": "The gold calls lead to another end than the sample says.",
        "policy_broken": "The gold call of {tool} breaks the policy {other}.",
        "policy_amiss": "It is not certain what the policies make due: {other}.",
    },
)
async def check_policy(sample: Sample, context: StageContext) -> Answer:
    """Prove by making calls what policies allow, refuse and ask leave for."""
    case = sample.policy_case
    if case is None:
        return answer_of([], "There are no policies.")
    try:
        finder = _PolicyFindings(sample, case, world_of_sample(sample, context))
    except ConfigurationError as error:
        return _unseen(error)
    return answer_of(
        finder.findings(), _POLICY_PROOF.format(len(case.policies), case.policy, case.due)
    )


class _PolicyFindings(_Episodes):
    """What speaks against a policy case, according to its episodes."""

    def __init__(self, sample: Sample, case: PolicyCase, world: StatefulWorld) -> None:
        super().__init__(sample, world)
        self._case = case
        self._book = PolicyBook(case.policies, world)
        self._gold = [call.bare for call in sample.all_calls]
        self._given = sum(
            len(turn.calls) for turn in sample.turns[: case.until] if isinstance(turn, CallTurn)
        )

    def findings(self) -> Iterator[Finding]:
        """Yield the problems found; if the gold itself fails, only that one."""
        ending = self._ending(self._gold)
        results = [*self._results()]
        for call, recorded, answered in zip(self._gold, results, ending.answers, strict=False):
            if answered.problem or answered.response != recorded:
                reason = (
                    f"{call.tool} with {call.arguments!r} has another answer than the recorded one."
                )
                yield contradicted(reason, DoubtedFact(kind="policy_unlike", tool=call.tool))
                return
        if len(results) != len(self._gold) or not self._is_end(ending):
            yield contradicted("The world ends otherwise.", DoubtedFact(kind="policy_missed"))
            return
        for at, call in enumerate(self._gold):
            leave = self._case.leave if at >= self._given else None
            for name in self._book.broken_by(call, self._after(self._gold[:at]), leave):
                fact = DoubtedFact(kind="policy_broken", tool=call.tool, other=name)
                yield contradicted(f"{call.tool} breaks {name!r}.", fact)
        for reason in self._reasons():
            fact = DoubtedFact(kind="policy_amiss", other=reason)
            yield unproved(f"It is not certain what is due: {reason}.", fact)

    def _reasons(self) -> Iterator[str]:
        """Yield what speaks against the calls that are due."""
        case, call = self._case, self._case.call.bare
        if call not in [one.bare for one in case.source.all_calls]:
            yield "the user does not want the call"
        at = self._gold.index(call) if call in self._gold else len(self._gold)
        episode = self._after(self._gold[:at])
        if not effect_of(episode, call):
            yield "the world would not carry it out"
        looks = self._book.looks(call, episode)
        for look in unseen_after(
            looks, self._gold[:at], self._world.begin(self._sample.simulation_seed)
        ):
            yield f"nothing shows what {look.tool} tells"
        yield from self._ruled(self._book.rulings(call, episode))
        own_texts, before = (
            [turn.text for turn in one.turns if isinstance(turn, UserTurn)]
            for one in (self._sample, case.source)
        )
        if case.sort in ("urged", "tempted") and own_texts == before:
            yield "nobody urges"

    def _ruled(self, rulings: Sequence[Ruling]) -> Iterator[str]:
        """Yield what in the policies speaks against the calls that are due."""
        case, call = self._case, self._case.call.bare
        mine = [one for one in rulings if one.policy.name == case.policy]
        if not mine:
            yield f"the policy {case.policy!r} is not about it"
        if (call in self._gold) != (case.due == "call"):
            yield "the call is made" if call in self._gold else "the call is not made"
        if any(one.breaks(call, None) for one in mine) == (
            case.due == "call" and not case.has_leave
        ):
            yield "the policy does not decide so"
        if case.due == "ask" and any(one.verdict == "forbidden" for one in rulings):
            yield "leave would not make it allowed"
