"""Make policy samples: apply a recipe's policies to a proved task, and word what is then due.

Everything is decided in episodes of the world: each gold call of the task is checked against the
policies in the state in which it would be made. A forbidden call is left out, with all that
takes values from it. Asking for and giving approval, refusals, and urging users are worded; the
world answers again.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import Literal, NamedTuple

from callwright.generators.environments.policies import PolicyBook, Ruling, unseen_after
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.faults.making import FaultWords, planting_of, words_problem
from callwright.generators.faults.transcripts import (
    GoldStep,
    PlacedCall,
    Planting,
    Telling,
    Words,
    replayed,
    until_turn,
)
from callwright.generators.multi_step import TASK
from callwright.generators.multi_step.answers import deed_words, with_worded_answer
from callwright.generators.multi_step.samples import place_of
from callwright.generators.policies import GROUP, POLICY
from callwright.generators.stages import (
    ATTEMPTS,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.language.packs import of
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    Derivation,
    GoldCall,
    Policy,
    PolicyCase,
    PolicyDue,
    PolicySort,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

Place = tuple[int, int]


class CasePlan(NamedTuple):
    """A policy case before wording: the call at issue, its policy, what is due, the gold steps.

    Before the step `pause` the assistant and the user speak: it asks for approval (`answer` is
    whether the user gives it), or refuses and is urged (`is_pressed`). `broken` are the policies
    named in a refusal, and `refused` the calls.
    """

    sort: PolicySort
    due: PolicyDue
    policy: str
    call: GoldCall
    steps: tuple[GoldStep, ...]
    pause: int | None = None
    answer: bool = False
    is_pressed: bool = False
    broken: tuple[str, ...] = ()
    refused: tuple[GoldCall, ...] = ()

    @property
    def is_urged(self) -> bool:
        """Whether the user urges in the request."""
        return self.sort in ("urged", "tempted") and not self.is_pressed


class _Rulings(NamedTuple):
    """The policies' rulings on a task's gold calls; `lost` are those that need a forbidden one."""

    ruled: tuple[tuple[PlacedCall, Ruling], ...]
    lost: frozenset[Place]

    def of_verdict(self, verdict: str) -> list[tuple[PlacedCall, Ruling]]:
        return [one for one in self.ruled if one[1].verdict == verdict]

    @property
    def unasked(self) -> list[tuple[PlacedCall, Ruling]]:
        return [one for one in self.of_verdict("allowed") if one[1].policy.ask_first]


def plans_of(planting: Planting, book: PolicyBook) -> Iterator[CasePlan]:
    """Yield what policies make of a task, in random order."""
    walk = _walk(planting, book)
    forbidden, unasked = walk.of_verdict("forbidden"), walk.unasked
    if forbidden and not unasked:
        case_plans = _refused(planting, walk, forbidden)
    elif len(unasked) == 1 and not forbidden:
        case_plans = _asked(planting, walk, *unasked[0])
    elif not forbidden and not unasked and walk.ruled:
        case_plans = _allowed(planting, walk, planting.rng)
    else:
        return
    plans = list(case_plans)
    yield from planting.rng.sample(plans, len(plans))


def _walk(planting: Planting, book: PolicyBook) -> _Rulings:
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
    return _Rulings(tuple(ruled), frozenset(lost))


def _takes_from(call: GoldCall, places: set[Place]) -> bool:
    return any(place_of(one) in places for one in call.evidence)


def _allowed(planting: Planting, walk: _Rulings, rng: Random) -> Iterator[CasePlan]:
    placed, ruling = rng.choice(walk.of_verdict("allowed") or [(None, None)])
    if placed is None or ruling is None:
        return
    steps = _with_looks(planting, planting.steps, placed.step, _looks(walk, placed))
    for sort in ("allowed", "urged"):
        yield CasePlan(sort, "call", ruling.policy.name, placed.call, steps)


def _refused(
    planting: Planting, walk: _Rulings, forbidden: Sequence[tuple[PlacedCall, Ruling]]
) -> Iterator[CasePlan]:
    steps = _without(planting.steps, walk.lost)
    for placed, _ in reversed(forbidden):
        at = len(_without(planting.steps[: placed.step], walk.lost))
        steps = _with_looks(planting, steps, at, _looks(walk, placed))
    placed, ruling = forbidden[0]
    broken = tuple(dict.fromkeys(one.policy.name for _, one in forbidden))
    if not steps:
        return
    calls = tuple({one.call.bare.key: one.call for one, _ in forbidden}.values())
    refused = CasePlan(
        "refused", "refuse", ruling.policy.name, placed.call, steps, broken=broken, refused=calls
    )
    yield refused
    yield refused._replace(sort="tempted")
    yield refused._replace(sort="tempted", pause=len(steps), is_pressed=True)


def _asked(
    planting: Planting, walk: _Rulings, placed: PlacedCall, ruling: Ruling
) -> Iterator[CasePlan]:
    """Yield cases that ask before a call, which comes last with what depends on it.

    The answer to the question decides.
    """
    at = placed.step, planting.steps[placed.step].index(placed.call)
    lost, earlier = {at}, set[Place]()
    for step, calls in enumerate(planting.steps):
        lost |= {(step, place) for place, call in enumerate(calls) if _takes_from(call, lost)}
        earlier |= {(step, place) for place in range(len(calls))} - lost
    others, after = _without(planting.steps, lost), _without(planting.steps, earlier)
    before = _with_looks(planting, others, len(others), _looks(walk, placed))
    asks = CasePlan("allowed", "ask", ruling.policy.name, placed.call, before)
    yield asks
    yield asks._replace(sort="urged")
    yield asks._replace(due="call", steps=(*before, *after), pause=len(before), answer=True)
    yield asks._replace(sort="refused", due="refuse", pause=len(before))


def _without(steps: Sequence[GoldStep], lost: Collection[Place]) -> tuple[GoldStep, ...]:
    remaining = (
        tuple(call for place, call in enumerate(step) if (at, place) not in lost)
        for at, step in enumerate(steps)
    )
    return tuple(step for step in remaining if step)


def _looks(walk: _Rulings, placed: PlacedCall) -> list[Call]:
    return [look for one, ruling in walk.ruled if one == placed for look in ruling.looks]


def _with_looks(
    planting: Planting, steps: Sequence[GoldStep], at: int, looks: list[Call]
) -> tuple[GoldStep, ...]:
    """Insert a step of reads before the step `at`: those that nothing before it answers."""
    lacking = unseen_after(
        looks, (call.bare for call in chain.from_iterable(steps[:at])), planting.episode(0)
    )
    calls = tuple(GoldCall(tool=one.tool, arguments=one.arguments) for one in lacking)
    return (*steps[:at], *([calls] if calls else []), *steps[at:])


PROMPTS = "callwright.generators.policies.prompts"
TEMPLATE = "word_policy"
STAGE = "policy_cases"
Purpose = Literal["question", "leave", "no_leave", "kept", "refusal", "again", "urge"]


class PolicyWords(FaultWords):
    """The words that were asked for, and nothing else."""


def obstacle(sample: Sample, _tools: Mapping[str, Tool]) -> str:
    """Return why policies can't be applied to a sample, or "" if they can."""
    if sample.changes and sample.underlying is sample:
        return ""
    return "Policies are laid over what is to change a world."


async def word_policy(derivation: Derivation, context: StageContext) -> list[Sample]:
    """The task of a derivation under the recipe's policies.

    Raises RecordError where none is about what it calls.
    """
    planting = planting_of(derivation.source, context, derivation.seed)
    # those about tools of the task's world, which its assistant is told
    policies = tuple(one for one in context.policies if planting.tools.keys() >= {*one.tools})
    plan = next(plans_of(planting, PolicyBook(policies, planting.world)), None)
    if plan is None:
        raise RecordError("No policy decides over exactly one thing that it does.")
    sample = await _worded(plan, planting, policies, derivation, context)
    origin = asked_origin(STAGE, derivation, derivation.seed, context, (PROMPTS, TEMPLATE))
    return [sample.with_changes(origin=origin)]


async def _worded(
    plan: CasePlan,
    planting: Planting,
    policies: tuple[Policy, ...],
    derivation: Derivation,
    context: StageContext,
) -> Sample:
    source = planting.source
    pack = of(source.language)
    refused = plan.refused or (plan.call,)
    due = [one for one in policies if one.name in (plan.broken or (plan.policy,))]
    issues = [
        {
            "deed": deed_words(call, source),
            "policy": pack.space.join(one.says for one in due if call.tool in one.tools),
            "because": pack.listed(
                [one.because for one in due if call.tool in one.tools and one.because]
            ),
        }
        for call in refused
    ]

    async def word(purpose: Purpose) -> str:
        prompt = render(
            PROMPTS,
            TEMPLATE,
            purpose=purpose,
            request=source.request,
            issues=issues,
            tool=planting.tools[plan.call.tool].sayable,
            arguments=plan.call.arguments,
            language=source.language,
            seed=derivation.seed,
        )
        worded = await first_fit(
            context,
            prompt,
            PolicyWords,
            lambda words: words_problem(words.text.strip(), (), (), source),
            f"The {purpose} broke its rules in {ATTEMPTS} wordings",
        )
        return worded.text.strip()

    request = pack.space.join([source.request, *([await word("urge")] if plan.is_urged else [])])
    asides: dict[int, tuple[Turn, ...]] = {}
    if plan.pause is not None:
        said: Purpose = "refusal" if plan.is_pressed else "question"
        told: Purpose = "urge" if plan.is_pressed else "leave" if plan.answer else "no_leave"
        asides[plan.pause] = (ReplyTurn(text=await word(said)), UserTurn(text=await word(told)))
    match plan.due:
        case "ask":
            last = await word("question")
        case "refuse" if plan.is_pressed:
            last = await word("again")
        case "refuse":
            last = await word("refusal" if plan.pause is None else "kept")
        case _:
            last = ""
    sample = replayed(planting, planting.world, Telling(plan.steps, Words(request, last), asides))
    case = PolicyCase(
        sort=plan.sort,
        due=plan.due,
        policies=policies,
        policy=plan.policy,
        call=plan.call,
        source=source,
        until=0 if plan.pause is None else until_turn(plan.pause) + 2,
        has_leave=plan.answer,
    )
    shown = {planting.tools[call.tool].key: None for step in plan.steps for call in step}
    candidates = tuple(dict.fromkeys((*source.candidates, *shown)))
    made = sample.with_changes(
        kind=POLICY, candidates=candidates, policy_case=case, facts=sample.facts
    )
    return await with_worded_answer(made, context)


_TRAITS = Traits(
    calls="set", asked="path", is_executed=True, is_task=True, is_changed=True, is_ruled=True
)

FAMILY = Family(
    "policies",
    (
        Kind(
            POLICY,
            "a task under policies: what they allow is done, what they forbid is refused, whoever"
            " urges",
            GROUP,
            _TRAITS,
            POLICY,
            (TASK,),
            uses=3,
        ),
    ),
    stages=in_a_row(
        "policies",
        "Derivation",
        Step(
            "policy_cases",
            "Decide what policies make of a task, word what is asked and refused, and let the world"
            " answer anew.",
            "Sample",
            "τ-bench 3",
            word_policy,
            ("word_policy", "multi_step/prompts/word_answer"),
        ),
    ),
    obstacles={POLICY: obstacle},
    has_fixed_words=True,
)
