"""How samples of policies are made: the recipe's policies laid over a task that was proved, which decide what is due in it."""

from callwright.generators.families import Family, Kind, Traits
from callwright.generators.multi_step import TASK
from callwright.generators.policies import GROUP, POLICY
from callwright.generators.policies.wording import obstacle, word_policy
from callwright.generators.stages import Step, in_a_row

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
