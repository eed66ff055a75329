"""The kinds of shifts (HammerBench 4.2.3; counts of its Table 3 and section 4.2).

The paper tells 1,462 overridings in all; its files hold 395 of them with an inserted turn.
"""

from generators.families import Family, Kind, Traits

INTENTS, ARGUMENTS = "intent_shifts", "argument_shifts"
_LONG = Traits("HammerBench", is_long=True, is_changed=True)
_CORRECTED = _LONG._replace(has_correction=True)
_OF = ("sQsA",)

FAMILY = Family(
    "shifts",
    (
        Kind("IS", "the user turns to something else", INTENTS, _LONG, "IS", _OF, 1098, 1098),
        Kind("SO_case1", "a value is overridden in the turn that says it", ARGUMENTS, _CORRECTED, "SO_case1", _OF, 1067, 1067),
        Kind("SO_case2", "a value is overridden in a turn of its own", ARGUMENTS, _CORRECTED, "SO_case2", _OF, 395, 395),
        Kind("mSv", "another value is wanted after the call", ARGUMENTS, _CORRECTED, "mSv", _OF, 1066, 1066),
    ),
    anywhere=(("IS", INTENTS), ("SO_case1", ARGUMENTS), ("SO_case2", ARGUMENTS), ("mSv", ARGUMENTS)),
)  # fmt: skip
