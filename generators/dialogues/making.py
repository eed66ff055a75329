"""How dialogues are made of imperfect requests, and merged trajectories of dialogues (HammerBench 4.2.2)."""

from generators.dialogues import dialogues, trajectories
from generators.dialogues.dialogues import plan_slots, write_dialogues
from generators.dialogues.trajectories import merge_trajectories
from generators.planning import Making
from generators.stages import Stage

MAKING = Making(
    "dialogues",
    stages=(
        Stage(
            "slots", "dialogue", "Choose in which order the missing arguments are asked for, and a value for each.",
            "Derivation", "SlotPlan", "HammerBench 4.2.2",
            plan_slots, "generator", ("generators/dialogues/prompts/fill_slots.j2",),
        ),
        Stage(
            "dialogues", "dialogue", "Word each question and each answer, and note the call that is due after every answer.",
            "SlotPlan", "Sample", "HammerBench 4.2.2, D.7",
            write_dialogues, "generator",
            ("generators/dialogues/prompts/ask_question.j2", "generators/dialogues/prompts/answer_question.j2"),
        ),
        Stage(
            "trajectories", "trajectories", "Merge questions and answers of a dialogue, by code.",
            "Derivation", "Sample", "HammerBench 4.2.2", merge_trajectories,
        ),
    ),
    obstacles={
        "sQsA": dialogues.obstacle,
        "mQmA": trajectories.obstacle,
        "mQsA": trajectories.obstacle,
        "sQmA": trajectories.obstacle,
    },
)  # fmt: skip
