"""Policies over the parcel depot, and the errand under them."""

from callwright.generators.environments.protocol import Environment
from callwright.generators.policies.making import word_policy
from callwright.generators.stages import StageContext
from callwright.validators.checks.episodes import check_policy
from callwright.warehouse.records import Derivation, Policy, Sample, Verdict
from tests.support.generators.depot import errand
from tests.support.generators.dialogue_parts import RecordingTemplateChat
from tests.support.generators.multi_step.workshop import context_of

WEIGHT = "get_parcel(parcel_id=given.parcel_id).weight"
LIGHT = Policy(
    name="light",
    tools=("update_parcel",),
    only_if=f"{WEIGHT} > 0",
    says="Change only parcels that weigh something.",
)
HEAVY = Policy(
    name="heavy",
    tools=("update_parcel",),
    only_if=f"{WEIGHT} > 99",
    says="Change only parcels of 99 kilograms and more.",
)
ASK = Policy(
    name="ask",
    tools=("cancel_delivery",),
    ask_first=True,
    says="Ask for leave before you cancel a delivery.",
)


def policed(depot: Environment, *policies: Policy) -> StageContext:
    """What a stage has at hand in the depot, where assistants follow policies."""
    return context_of(depot, RecordingTemplateChat())._replace(policies=policies)


async def under(depot: Environment, policy: Policy, seed: int = 1) -> Sample:
    """The errand under a policy, as the seed has it."""
    [sample] = await word_policy(
        Derivation(transform="policy", source=errand(depot), seed=seed), policed(depot, policy)
    )
    return sample


async def of_due(
    depot: Environment, policy: Policy, due: str, sort: str = "", *, begun: bool = False
) -> Sample:
    """The errand under a policy in which this is due."""
    for seed in range(60):
        sample = await under(depot, policy, seed)
        case = sample.policy_case
        if case and case.due == due and sort in ("", case.sort) and bool(case.until) == begun:
            return sample
    raise AssertionError(f"no seed makes {due} {sort} of it")


async def judged(sample: Sample, depot: Environment) -> Verdict:
    """What the check says of a sample."""
    (verdict,) = await check_policy(sample, policed(depot))
    return verdict
