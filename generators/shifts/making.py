"""How shifts are made of samples: another intent, or another value (HammerBench 4.2.3)."""

from functools import partial

from callwright.generators.families import Family, Kind, Traits
from callwright.generators.shifts import ARGUMENTS, INTENTS
from callwright.generators.shifts.changeable import obstacle_to
from callwright.generators.shifts.overriding import change_values, override_values
from callwright.generators.shifts.turns import obstacle, shift_intents
from callwright.generators.stages import Step, in_a_row

_LONG = Traits("HammerBench", is_long=True, is_changed=True)
_CORRECTED = _LONG._replace(has_correction=True)
_TURNED, _LATER = _LONG._replace(shift="last"), _CORRECTED._replace(shift="last")
_SAME_TURN, _OWN_TURN = _CORRECTED._replace(shift="same_turn"), _CORRECTED._replace(shift="own_turn")
_OF = ("sQsA",)

FAMILY = Family(
    "shifts",
    (
        Kind("IS", "the user turns to something else", INTENTS, _TURNED, "IS", _OF, 1098, 1098, 3, borrows=True),
        Kind("SO_case1", "a value is overridden in the turn that says it", ARGUMENTS, _SAME_TURN, "SO_case1", _OF, 1067, 1067, 3),
        Kind("SO_case2", "a value is overridden in a turn of its own", ARGUMENTS, _OWN_TURN, "SO_case2", _OF, 395, 395, 3),
        Kind("mSv", "another value is wanted after the call", ARGUMENTS, _LATER, "mSv", _OF, 1066, 1066, 3),
    ),
    stages=(
        *in_a_row(
            "shifts", "Derivation",
            Step("intent_shifts", "Let a request for another tool take the place of an answer, by code.",
                 "Sample", "HammerBench 4.2.3", shift_intents),
            group="intent_shifts",
        ),
        *in_a_row(
            "shifts", "Derivation",
            Step("new_values", "Choose an argument and another value for it.",
                 "ValueChange", "HammerBench 4.2.3", change_values, ("change_value",)),
            Step("overriding", "Word the change, and let every snapshot after it hold the new value.",
                 "Sample", "HammerBench 4.2.3", override_values, ("word_correction",),
             voiced=("word_correction",)),
            group="argument_shifts",
        ),
    ),
    has_fixed_words=True,
    obstacles={
        "IS": obstacle,
        "SO_case1": partial(obstacle_to, "SO_case1"),
        "SO_case2": partial(obstacle_to, "SO_case2"),
        "mSv": partial(obstacle_to, "mSv"),
    },
    anywhere=(("IS", INTENTS), ("SO_case1", ARGUMENTS), ("SO_case2", ARGUMENTS), ("mSv", ARGUMENTS)),
)  # fmt: skip
