"""How live tasks are made: of tasks that were proved, each talked about with an assistant in its world."""

from callwright.generators.families import Family, Kind, Traits
from callwright.generators.multi_step import TASK
from callwright.generators.stages import Step, in_a_row
from callwright.generators.users import LIVE_TASK
from callwright.generators.users.live import STAGE, hold_conversations, obstacle

_TRAITS = Traits(calls="set", asked="path", is_executed=True, is_long=True, is_task=True)

FAMILY = Family(
    "users",
    (
        Kind(
            LIVE_TASK, "a task whose user holds something back, and is asked for it on the way", "live", _TRAITS,
            LIVE_TASK, (TASK,),
        ),
    ),
    stages=in_a_row(
        "users", "Derivation",
        Step(STAGE, "Let an assistant talk with a simulated user and call in the task's world, until it is done as it should be.",
             "Sample", "τ-bench", hold_conversations,
             ("speak_as_user", "hear_question", "multi_step/prompts/call_next"), voiced=("speak_as_user",)),
        group="live",
    ),
    obstacles={LIVE_TASK: obstacle},
    has_fixed_words=True,
)  # fmt: skip
