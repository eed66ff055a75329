"""The thirteen complexities of conversations, and how many dialogues CONFETTI has of each (Table 1)."""

from collections.abc import Mapping

from warehouse.records import Complexity, EpisodeShape

KIND = "conversation"
COMPLEXITY_TAG, TIME_TAG, GOAL_TAG, EXTRA_TAG = "complexity=", "reference_time=", "goal=", "extra="
# The table adds up to 108 of the 109 conversations that the paper tells of.
PAPER: Mapping[Complexity, int] = {
    "exception_in_execution": 5, "failed_conversation": 5, "confirmation": 6, "goal_switching": 6, "no_target_complexity": 6,
    "goal_correction": 7, "goal_stacking": 7, "ambiguous_goal": 9, "follow_up_question": 10, "implicit_descriptive_goal": 10,
    "overfill": 11, "underfill": 11, "goal_not_supported": 15,
}  # fmt: skip
SHAPES: Mapping[Complexity, EpisodeShape] = {
    "exception_in_execution": "exception", "failed_conversation": "failed", "confirmation": "confirmation",
    "goal_switching": "switch", "no_target_complexity": "plain", "goal_correction": "correction", "goal_stacking": "stacked",
    "ambiguous_goal": "ambiguous", "follow_up_question": "follow_up", "implicit_descriptive_goal": "implicit",
    "overfill": "overfill", "underfill": "underfill", "goal_not_supported": "unsupported",
}  # fmt: skip


def shared_out(count: int) -> dict[Complexity, int]:
    """So many conversations over the complexities, in the paper's proportions: the largest remainders round up."""
    total = sum(PAPER.values())
    exact = {complexity: count * share / total for complexity, share in PAPER.items()}
    shares = {complexity: int(value) for complexity, value in exact.items()}
    by_rest = sorted(exact, key=lambda one: (shares[one] - exact[one], -PAPER[one]))
    for complexity in by_rest[: count - sum(shares.values())]:
        shares[complexity] += 1
    return shares
