"""A request that lacks arguments becomes a dialogue; its questions and answers are merged by code (HammerBench 4.2.2).

The kinds of dialogues in which the assistant asks for what is missing (HammerBench 4.2.2; counts of its Table 3).
"""

from callwright.generators.families import Family, Kind, Traits

DIALOGUE, TRAJECTORIES = "dialogue", "trajectories"
_LONG = Traits("HammerBench", is_long=True, is_changed=True)
_OF = ("sQsA",)

FAMILY = Family(
    "dialogues",
    (
        Kind(
            "sQsA",
            "asked and answered one by one",
            DIALOGUE,
            _LONG,
            "sQsA",
            ("imperfect",),
            1098,
            1098,
            favours_lacking=True,
        ),
        Kind("mQmA", "several questions at once, all answered", TRAJECTORIES, _LONG, "mQmA", _OF, 404, 404),
        Kind("mQsA", "several questions at once, one answered", TRAJECTORIES, _LONG, "mQsA", _OF, 404, 404),
        Kind("sQmA", "one question, several answers", TRAJECTORIES, _LONG, "sQmA", _OF, 404, 404),
    ),
)
