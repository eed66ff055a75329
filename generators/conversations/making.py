"""How simulated conversations are made: scenarios of a complexity, planned, worded, labelled (CONFETTI 3.1)."""

from collections.abc import Iterator, Sequence
from typing import cast, get_args

from callwright.generators.conversations import CONVERSATION, GROUP
from callwright.generators.conversations.moves import plan_conversations, word_scenarios
from callwright.generators.conversations.scenarios import plan_scenarios, shared_out, tool_obstacle
from callwright.generators.conversations.wording import label_conversations, write_conversations
from callwright.generators.families import Family, Kind, Order, Share, Traits, shared_evenly
from callwright.generators.stages import Step, in_a_row
from callwright.warehouse.records import Complexity, Language, Scenario, Tool


def share_over_complexities(
    _kind: Kind, count: int, languages: Sequence[Language], _tools: Sequence[Tool]
) -> Iterator[Share]:
    """How many conversations of each complexity: as CONFETTI's Table 1 has them, shared out over the languages."""
    for complexity, whole in shared_out(count).items():
        for language, share in zip(languages, shared_evenly(whole, len(languages)), strict=True):
            yield Share(language, share, complexity)


def _plan(order: Order) -> Iterator[Scenario]:
    is_known = order.place in get_args(Complexity)
    return plan_scenarios(cast("Complexity", order.place), order) if is_known else iter(())


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
    stages=in_a_row(
        "conversations", "Scenario",
        Step("conversation_plans", "Plan a scenario's calls, results and dialogue acts; a model gives the values.",
             "ConversationPlan", "CONFETTI 3.1", plan_conversations, ("fill_values",)),
        Step("conversation_goals", "Put into words what the user of a planned conversation wants.",
             "WordedScenario", "CONFETTI 3.1", word_scenarios, ("plan_scenario_goal",),
             voiced=("plan_scenario_goal",)),
        Step("conversations", "Word each turn, again until it says, asks or tells what is planned.",
             "Conversation", "CONFETTI 3.1", write_conversations, ("word_user_turn", "word_agent_turn"),
             voiced=("word_user_turn",)),
        Step("dialogue_acts", "Label the replies whose dialogue acts no plan knows.",
             "Sample", "CONFETTI 3.1", label_conversations, ("label_acts",)),
        group="conversational",
    ),
    drafts=Scenario,
    plan=_plan,
    tool_obstacle=tool_obstacle,
    shares=share_over_complexities,
    kind_at=lambda _complexity: CONVERSATION,
)  # fmt: skip
