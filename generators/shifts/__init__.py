"""Shifts: the user turns to something else, or gives an argument another value (HammerBench 4.2.3).

The kinds of shifts (HammerBench 4.2.3; counts of its Table 3 and section 4.2).

The paper tells 1,462 overridings in all; its files hold 395 of them with an inserted turn.
"""

from callwright.generators.families import Family, Kind, Traits

INTENTS, ARGUMENTS = "intent_shifts", "argument_shifts"
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
    anywhere=(("IS", INTENTS), ("SO_case1", ARGUMENTS), ("SO_case2", ARGUMENTS), ("mSv", ARGUMENTS)),
)  # fmt: skip
