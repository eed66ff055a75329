"""How dialogues are made of imperfect requests, and merged trajectories of dialogues (HammerBench 4.2.2)."""

from callwright.generators.dialogues import DIALOGUE, TRAJECTORIES, dialogues, trajectories
from callwright.generators.dialogues.dialogues import plan_slots, write_dialogues
from callwright.generators.dialogues.trajectories import merge_trajectories
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.stages import Step, in_a_row

_LONG = Traits("HammerBench", is_long=True, is_changed=True)
_OF = ("sQsA",)

FAMILY = Family(
    "dialogues",
    (
        Kind("sQsA", "asked and answered one by one", DIALOGUE, _LONG, "sQsA", ("imperfect",), 1098, 1098,
             favours_lacking=True),
        Kind("mQmA", "several questions at once, all answered", TRAJECTORIES, _LONG, "mQmA", _OF, 404, 404),
        Kind("mQsA", "several questions at once, one answered", TRAJECTORIES, _LONG, "mQsA", _OF, 404, 404),
        Kind("sQmA", "one question, several answers", TRAJECTORIES, _LONG, "sQmA", _OF, 404, 404),
    ),
    stages=(
        *in_a_row(
            "dialogues", "Derivation",
            Step("slots", "Choose in which order the missing arguments are asked for, and a value for each.",
                 "SlotPlan", "HammerBench 4.2.2", plan_slots, ("fill_slots",)),
            Step("dialogues", "Word each question and each answer, and note the call that is due after every answer.",
                 "Sample", "HammerBench 4.2.2, D.7", write_dialogues, ("ask_question", "answer_question"),
             voiced=("answer_question",)),
            group="dialogue",
        ),
        *in_a_row(
            "dialogues", "Derivation",
            Step("trajectories", "Merge questions and answers of a dialogue, by code.",
                 "Sample", "HammerBench 4.2.2", merge_trajectories),
            group="trajectories",
        ),
    ),
    obstacles={"sQsA": dialogues.obstacle, **dict.fromkeys(("mQmA", "mQsA", "sQmA"), trajectories.obstacle)},
)  # fmt: skip
