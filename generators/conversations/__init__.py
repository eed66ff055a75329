"""Simulated conversations with a required complexity (CONFETTI 3.1).

The kind of simulated conversations (CONFETTI 3.1; the count of its Table 2).
"""

from callwright.generators.families import Family, Kind, Traits

GROUP = "conversational"
CONVERSATION = "conversation"
_TRAITS = Traits(
    "CONFETTI", calls="set", asked="conversation", is_executed=True, is_long=True, has_acts=True, spread="complexity"
)

FAMILY = Family(
    "conversations",
    (
        Kind(
            CONVERSATION, "user and agent turns with a required complexity, calls with simulated results", GROUP, _TRAITS,
            paper=109,
        ),
    ),
)  # fmt: skip
