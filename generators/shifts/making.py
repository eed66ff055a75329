"""How shifts are made of samples: another intent, or another value (HammerBench 4.2.3)."""

from generators.planning import Making
from generators.shifts import intents, values
from generators.shifts.intents import shift_intents
from generators.shifts.overriding import override_values
from generators.shifts.values import change_values
from generators.stages import Stage

MAKING = Making(
    "shifts",
    stages=(
        Stage(
            "intent_shifts", "intent_shifts", "Let a request for another tool take the place of an answer, by code.",
            "Derivation", "Sample", "HammerBench 4.2.3", shift_intents,
        ),
        Stage(
            "new_values", "argument_shifts", "Choose an argument and another value for it.",
            "Derivation", "ValueChange", "HammerBench 4.2.3",
            change_values, "generator", ("generators/shifts/prompts/change_value.j2",),
        ),
        Stage(
            "overriding", "argument_shifts", "Word the change, and let every snapshot after it hold the new value.",
            "ValueChange", "Sample", "HammerBench 4.2.3",
            override_values, "generator", ("generators/shifts/prompts/word_correction.j2",),
        ),
    ),
    obstacles={
        "IS": intents.obstacle,
        "SO_case1": values.same_turn_obstacle,
        "SO_case2": values.own_turn_obstacle,
        "mSv": values.after_call_obstacle,
    },
)  # fmt: skip
