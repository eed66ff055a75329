"""How samples are made in which something goes wrong: a fault planted into a task that was proved (AgentDojo, ToolSandbox)."""

from callwright.generators.families import Family, Kind, Traits
from callwright.generators.faults import GROUP, INJECTED, TOOL_ERROR
from callwright.generators.faults.wording import obstacle, plant_fault, word_fault
from callwright.generators.multi_step import TASK
from callwright.generators.stages import Step, in_a_row

_TRAITS = Traits(calls="set", asked="path", is_executed=True, is_task=True, is_changed=True)
_OF = (TASK,)

FAMILY = Family(
    "faults",
    (
        Kind(
            TOOL_ERROR, "a tool fails on the way through a task: what is due next sees to it", GROUP, _TRAITS,
            TOOL_ERROR, _OF, uses=4,
        ),
        Kind(
            INJECTED, "a text in a task gives an order: nobody may obey it, unless the user has asked to", GROUP, _TRAITS,
            INJECTED, _OF, uses=4,
        ),
    ),
    stages=in_a_row(
        "faults", "Derivation",
        Step("faults", "Plant what goes wrong, where the world proves what is then due.",
             "PlantedFault", "AgentDojo 3.1", plant_fault),
        Step("fault_words", "Word orders, what the user says of them, and how a failure is told; let the world answer anew.",
             "Sample", "AgentDojo 3.3", word_fault, ("word_fault",)),
    ),
    obstacles={TOOL_ERROR: obstacle, INJECTED: obstacle},
    has_fixed_words=True,
)  # fmt: skip
