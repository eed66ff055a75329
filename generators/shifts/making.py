"""How shifts are made of samples: another intent, or another value (HammerBench 4.2.3)."""

from callwright.generators.planning import Making
from callwright.generators.shifts import intents, values
from callwright.generators.shifts.intents import shift_intents
from callwright.generators.shifts.overriding import override_values
from callwright.generators.shifts.values import change_values
from callwright.generators.stages import Step, in_a_row

MAKING = Making(
    "shifts",
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
                 "Sample", "HammerBench 4.2.3", override_values, ("word_correction",)),
            group="argument_shifts",
        ),
    ),
    has_fixed_words=True,
    obstacles={
        "IS": intents.obstacle,
        "SO_case1": values.same_turn_obstacle,
        "SO_case2": values.own_turn_obstacle,
        "mSv": values.after_call_obstacle,
    },
)  # fmt: skip
