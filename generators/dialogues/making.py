"""How dialogues are made of imperfect requests, and merged trajectories of dialogues (HammerBench 4.2.2)."""

from callwright.generators.dialogues import dialogues, trajectories
from callwright.generators.dialogues.dialogues import plan_slots, write_dialogues
from callwright.generators.dialogues.trajectories import merge_trajectories
from callwright.generators.planning import Making
from callwright.generators.stages import Step, in_a_row

MAKING = Making(
    "dialogues",
    stages=(
        *in_a_row(
            "dialogues", "Derivation",
            Step("slots", "Choose in which order the missing arguments are asked for, and a value for each.",
                 "SlotPlan", "HammerBench 4.2.2", plan_slots, ("fill_slots",)),
            Step("dialogues", "Word each question and each answer, and note the call that is due after every answer.",
                 "Sample", "HammerBench 4.2.2, D.7", write_dialogues, ("ask_question", "answer_question")),
            group="dialogue",
        ),
        *in_a_row(
            "dialogues", "Derivation",
            Step("trajectories", "Merge questions and answers of a dialogue, by code.",
                 "Sample", "HammerBench 4.2.2", merge_trajectories),
            group="trajectories",
        ),
    ),
    obstacles={
        "sQsA": dialogues.obstacle,
        "mQmA": trajectories.obstacle,
        "mQsA": trajectories.obstacle,
        "sQmA": trajectories.obstacle,
    },
)  # fmt: skip
