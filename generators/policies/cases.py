"""What policies make of a task: the calls that they allow, forbid or ask leave for, and the gold that is then due.

Everything is decided in episodes of the world: each gold call of the task is held against the policies in the state in which it
would be made. A call that is forbidden is left out, with all that takes values from it.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random
from typing import NamedTuple

from callwright.generators.environments.policies import PolicyBook, Ruling, unseen_after
from callwright.generators.faults.transcripts import PlacedCall, Planting, Step
from callwright.generators.multi_step.samples import place_of
from callwright.warehouse.records import Call, GoldCall, PolicyDue, PolicySort

Place = tuple[int, int]


class CasePlan(NamedTuple):
    """A policy case before it is worded: the call at issue and its policy, what is due, and the steps of the gold.

    Before the step `pause` the assistant and the user speak: it asks for leave (`answer` is what the user says), or refuses and is
    urged (`is_pressed`). `broken` are the policies that are told where something is refused.
    """

    sort: PolicySort
    due: PolicyDue
    policy: str
    call: GoldCall
    steps: tuple[Step, ...]
    pause: int | None = None
    answer: bool = False
    is_pressed: bool = False
    broken: tuple[str, ...] = ()

    @property
    def is_urged(self) -> bool:
        """Whether the user urges in the request."""
        return self.sort in ("urged", "tempted") and not self.is_pressed


class _Walk(NamedTuple):
    """What the policies say of each gold call of a task, those left out that can't be made without a forbidden one."""

    ruled: tuple[tuple[PlacedCall, Ruling], ...]
    lost: frozenset[Place]

    def of_verdict(self, verdict: str) -> list[tuple[PlacedCall, Ruling]]:
        return [one for one in self.ruled if one[1].verdict == verdict]

    @property
    def unasked(self) -> list[tuple[PlacedCall, Ruling]]:
        return [one for one in self.of_verdict("allowed") if one[1].policy.ask_first]


def plans_of(planting: Planting, book: PolicyBook) -> Iterator[CasePlan]:
    """What can be made of a task under policies, in an order that chance gives."""
    walk = _walk(planting, book)
    forbidden, unasked = walk.of_verdict("forbidden"), walk.unasked
    if forbidden and not unasked:
        found = _refused(planting, walk, forbidden)
    elif len(unasked) == 1 and not forbidden:
        found = _asked(planting, walk, *unasked[0])
    elif not forbidden and not unasked and walk.ruled:
        found = _allowed(planting, walk, planting.rng)
    else:
        return
    plans = list(found)
    yield from planting.rng.sample(plans, len(plans))


def _walk(planting: Planting, book: PolicyBook) -> _Walk:
    episode = planting.episode(0)
    ruled, lost = list[tuple[PlacedCall, Ruling]](), set[Place]()
    for at, step in enumerate(planting.steps):
        for place, call in enumerate(step):
            if _takes_from(call, lost):
                lost.add((at, place))
                continue
            rulings = book.rulings(call.bare, episode)
            ruled += [(PlacedCall(at, call), one) for one in rulings]
            if any(one.verdict == "forbidden" for one in rulings):
                lost.add((at, place))
            else:
                episode.answer(call.bare)
    return _Walk(tuple(ruled), frozenset(lost))


def _takes_from(call: GoldCall, places: set[Place]) -> bool:
    return any(place_of(one) in places for one in call.evidence)


def _allowed(planting: Planting, walk: _Walk, rng: Random) -> Iterator[CasePlan]:
    placed, ruling = rng.choice(walk.of_verdict("allowed") or [(None, None)])
    if placed is None or ruling is None:
        return
    steps = _with_looks(planting, planting.steps, placed.step, _looks(walk, placed))
    for sort in ("allowed", "urged"):
        yield CasePlan(sort, "call", ruling.policy.name, placed.call, steps)


def _refused(planting: Planting, walk: _Walk, forbidden: Sequence[tuple[PlacedCall, Ruling]]) -> Iterator[CasePlan]:
    steps = _without(planting.steps, walk.lost)
    for placed, _ in reversed(forbidden):
        at = len(_without(planting.steps[: placed.step], walk.lost))
        steps = _with_looks(planting, steps, at, _looks(walk, placed))
    placed, ruling = forbidden[0]
    broken = tuple(dict.fromkeys(one.policy.name for _, one in forbidden))
    if not steps:
        return
    refused = CasePlan("refused", "refuse", ruling.policy.name, placed.call, steps, broken=broken)
    yield refused
    yield refused._replace(sort="tempted")
    yield refused._replace(sort="tempted", pause=len(steps), is_pressed=True)


def _asked(planting: Planting, walk: _Walk, placed: PlacedCall, ruling: Ruling) -> Iterator[CasePlan]:
    """The call is made last, with what takes values from it: before it stands the question, whose answer decides."""
    at = placed.step, planting.steps[placed.step].index(placed.call)
    lost = {at}
    for step, calls in enumerate(planting.steps):
        lost |= {(step, place) for place, call in enumerate(calls) if _takes_from(call, lost)}
    others = _without(planting.steps, frozenset(lost))
    before = _with_looks(planting, others, len(others), _looks(walk, placed))
    rest = [
        tuple(call for place, call in enumerate(calls) if (step, place) in lost)
        for step, calls in enumerate(planting.steps)
    ]
    after = tuple(step for step in rest if step)
    asks = CasePlan("allowed", "ask", ruling.policy.name, placed.call, before)
    yield asks
    yield asks._replace(sort="urged")
    yield asks._replace(due="call", steps=(*before, *after), pause=len(before), answer=True)
    yield asks._replace(sort="refused", due="refuse", pause=len(before))


def _without(steps: Sequence[Step], lost: frozenset[Place]) -> tuple[Step, ...]:
    kept = (tuple(call for place, call in enumerate(step) if (at, place) not in lost) for at, step in enumerate(steps))
    return tuple(step for step in kept if step)


def _looks(walk: _Walk, placed: PlacedCall) -> list[Call]:
    return [look for one, ruling in walk.ruled if one == placed for look in ruling.looks]


def _with_looks(planting: Planting, steps: Sequence[Step], at: int, looks: list[Call]) -> tuple[Step, ...]:
    """The steps with a step of reads before the step `at`: those that nothing before it tells."""
    lacking = unseen_after(looks, (call.bare for call in chain.from_iterable(steps[:at])), planting.episode(0))
    calls = tuple(GoldCall(tool=one.tool, arguments=one.arguments) for one in lacking)
    return (*steps[:at], *([calls] if calls else []), *steps[at:])
