"""Samples of policies: those of the recipe laid over a task that was proved, which decide what is due, and the words for it.

How leave is asked for and given, how a call is refused, and how users urge is worded; the world answers anew.
"""

from collections.abc import Mapping
from typing import Literal

from callwright.generators.environments.policies import PolicyBook
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.faults.making import FaultWords, planting_of, words_problem
from callwright.generators.faults.transcripts import Planting, Telling, Words, replayed, until_turn
from callwright.generators.multi_step import TASK
from callwright.generators.policies import GROUP, POLICY
from callwright.generators.policies.cases import CasePlan, plans_of
from callwright.generators.stages import ATTEMPTS, StageContext, Step, asked_origin, first_fit, in_a_row
from callwright.language.packs import of
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Derivation, Policy, PolicyCase, ReplyTurn, Sample, Tool, Turn, UserTurn

PROMPTS = "callwright.generators.policies.prompts"
TEMPLATE = "word_policy"
STAGE = "policy_cases"
Purpose = Literal["question", "leave", "no_leave", "kept", "refusal", "again", "urge"]


class PolicyWords(FaultWords):
    """The words that were asked for, and nothing else."""


def obstacle(sample: Sample, _tools: Mapping[str, Tool]) -> str:
    """Why no policies can be laid over a sample, "" where they can."""
    return "" if sample.changes and sample.underlying is sample else "Policies are laid over what is to change a world."


async def word_policy(derivation: Derivation, context: StageContext) -> list[Sample]:
    """The task of a derivation under the recipe's policies. Raises RecordError where none is about what it calls."""
    planting = planting_of(derivation.source, context, derivation.seed)
    policies = policies_in(planting, context.policies)
    plan = next(plans_of(planting, PolicyBook(policies, planting.world)), None)
    if plan is None:
        raise RecordError("No policy decides over exactly one thing that it does.")
    sample = await _worded(plan, planting, policies, derivation, context)
    origin = asked_origin(STAGE, derivation, derivation.seed, context, (PROMPTS, TEMPLATE))
    return [sample.with_changes(origin=origin)]


def policies_in(planting: Planting, policies: tuple[Policy, ...]) -> tuple[Policy, ...]:
    """The policies about tools of the task's world: those that its assistant is told."""
    return tuple(one for one in policies if planting.tools.keys() >= {*one.tools})


async def _worded(
    plan: CasePlan, planting: Planting, policies: tuple[Policy, ...], derivation: Derivation, context: StageContext
) -> Sample:
    source = planting.source
    space = of(source.language).space
    says = space.join(one.says for one in policies if one.name in (plan.broken or (plan.policy,)))

    async def word(purpose: Purpose) -> str:
        prompt = render(
            PROMPTS, TEMPLATE, purpose=purpose, request=source.request, policy=says, tool=planting.tools[plan.call.tool].sayable,
            arguments=plan.call.arguments, language=source.language, seed=derivation.seed,
        )  # fmt: skip
        worded = await first_fit(
            context, prompt, PolicyWords, lambda words: words_problem(words.text.strip(), (), (), source),
            f"The {purpose} broke its rules in {ATTEMPTS} wordings",
        )  # fmt: skip
        return worded.text.strip()

    request = space.join([source.request, *([await word("urge")] if plan.is_urged else [])])
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
        sort=plan.sort, due=plan.due, policies=policies, policy=plan.policy, call=plan.call, source=source,
        until=0 if plan.pause is None else until_turn(plan.pause) + 2, has_leave=plan.answer,
    )  # fmt: skip
    shown = {planting.tools[call.tool].key: None for step in plan.steps for call in step}
    candidates = tuple(dict.fromkeys((*source.candidates, *shown)))
    return sample.with_changes(kind=POLICY, candidates=candidates, policy_case=case)


_TRAITS = Traits(calls="set", asked="path", is_executed=True, is_task=True, is_changed=True, is_ruled=True)

FAMILY = Family(
    "policies",
    (
        Kind(
            POLICY, "a task under policies: what they allow is done, what they forbid is refused, whoever urges", GROUP, _TRAITS,
            POLICY, (TASK,), uses=3,
        ),
    ),
    stages=in_a_row(
        "policies", "Derivation",
        Step("policy_cases", "Decide what policies make of a task, word what is asked and refused, and let the world answer anew.",
             "Sample", "τ-bench 3", word_policy, ("word_policy",)),
    ),
    obstacles={POLICY: obstacle},
    has_fixed_words=True,
)  # fmt: skip
