"""The table of stages: what each reads, who does it, and where the paper asks for it.

The runner, the Prefect flows, the command line, docs/stages.md and the tests all iterate this one table.
"""

from collections.abc import Sequence

from generators.conversations.acts import label_conversations
from generators.conversations.plans import plan_conversations, word_scenarios
from generators.conversations.wording import write_conversations
from generators.dialogues.dialogues import plan_slots, write_dialogues
from generators.dialogues.trajectories import merge_trajectories
from generators.external.entities import find_entities
from generators.external.messages import write_messages
from generators.external.rewriting import rewrite_requests
from generators.multi_step.correction import correct_paths
from generators.multi_step.disambiguation import disambiguate
from generators.multi_step.generalisation import generalise
from generators.multi_step.tracing import trace_goals
from generators.multi_step.wording import word_goals
from generators.routing.wording import word_routing
from generators.shifts.intents import shift_intents
from generators.shifts.overriding import override_values
from generators.shifts.values import change_values
from generators.single_turn.requests import choose_parameters, fill_values, write_requests
from generators.stages import Stage
from generators.toolset.steps import choose_returns, choose_tool_parameters, describe_tools, name_tools
from llm.prompts import prompt_version
from validators.checks.table import CHECKS, SCENARIO_CHECK
from validators.checks.table import GROUP as CHECK_GROUP
from warehouse.errors import ConfigurationError
from warehouse.rows import Row

_NAMED, _AND = ".", "+"

STAGES: tuple[Stage, ...] = (
    Stage(
        "tool_names", "toolset", "Name the tools of a category, one for each thing that people want done there.",
        "ToolsetPlan", "NamedTool", "HammerBench 4.2, D.1",
        name_tools, "generator", ("generators/toolset/prompts/name_tools.j2",),
    ),
    Stage(
        "tool_descriptions", "toolset", "Describe each tool by a short command.",
        "NamedTool", "DescribedTool", "HammerBench 4.2, D.1",
        describe_tools, "generator", ("generators/toolset/prompts/describe_tool.j2",),
    ),
    Stage(
        "tool_parameters", "toolset", "Choose parameters that are simple enough to be said in a request.",
        "DescribedTool", "ParameterisedTool", "HammerBench 4.2, D.1",
        choose_tool_parameters, "generator", ("generators/toolset/prompts/choose_tool_parameters.j2",),
    ),
    Stage(
        "tool_returns", "toolset", "Choose what each tool returns.",
        "ParameterisedTool", "Tool", "HammerBench 4.2, D.1",
        choose_returns, "generator", ("generators/toolset/prompts/choose_returns.j2",),
    ),
    Stage(
        "tool_complexity", "toolset_checks", "Can the tool be called from what people say?",
        "Tool", "Verdict", "HammerBench 4.2, D.1",
    ),
    Stage(
        "tool_redundancy", "toolset_checks", "Does it do something that no tool before it in its category does?",
        "Tool", "Verdict", "HammerBench 4.2",
    ),
    Stage(
        "tool_review", "toolset_checks", "Do people accept what a check could not prove?",
        "Tool", "Review", "HammerBench 4.2",
    ),
    Stage(
        "parameters", "single_turn", "Choose the parameters that everyday users give.",
        "Assignment", "ParameterChoice", "HammerBench 4.2.1, D.3",
        choose_parameters, "generator", ("generators/single_turn/prompts/choose_parameters.j2",),
    ),
    Stage(
        "values", "single_turn", "Give each chosen parameter a value that its schema allows.",
        "ParameterChoice", "DraftCall", "HammerBench 4.2.1, D.2",
        fill_values, "generator", ("generators/single_turn/prompts/fill_values.j2",),
    ),
    Stage(
        "requests", "single_turn", "Word the drafted call as a request, again until it says exactly the arguments.",
        "DraftCall", "Sample", "HammerBench 4.2.1, D.2",
        write_requests, "generator", ("generators/single_turn/prompts/write_request.j2",),
    ),
    Stage(
        "slots", "dialogue", "Choose in which order the missing arguments are asked for, and a value for each.",
        "Derivation", "SlotPlan", "HammerBench 4.2.2",
        plan_slots, "generator", ("generators/dialogues/prompts/fill_slots.j2",),
    ),
    Stage(
        "dialogues", "dialogue", "Word each question and each answer, and note the call that is due after every answer.",
        "SlotPlan", "Sample", "HammerBench 4.2.2, D.7",
        write_dialogues, "generator",
        ("generators/dialogues/prompts/ask_question.j2", "generators/dialogues/prompts/answer_question.j2"),
    ),
    Stage(
        "trajectories", "trajectories", "Merge questions and answers of a dialogue, by code.",
        "Derivation", "Sample", "HammerBench 4.2.2", merge_trajectories,
    ),
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
    Stage(
        "entities", "external", "Find the arguments that people would rather point to, and choose one and an app.",
        "Derivation", "EntityReference", "HammerBench 4.2.4",
        find_entities, "generator", ("generators/external/prompts/find_entities.j2",),
    ),
    Stage(
        "messages", "external", "Word the phrase that points to the value, and the message that holds it.",
        "EntityReference", "ExternalMessage", "HammerBench 4.2.4, D.6",
        write_messages, "generator",
        ("generators/external/prompts/word_pronoun.j2", "generators/external/prompts/write_message.j2"),
    ),
    Stage(
        "rewriting", "external", "Reword what the user says, with the phrase in the place of the value.",
        "ExternalMessage", "Sample", "HammerBench 4.2.4, D.6",
        rewrite_requests, "generator", ("generators/external/prompts/rewrite_request.j2",),
    ),
    Stage(
        "goal_requests", "multi_step", "Word what a user wants as a request that says every value and every condition.",
        "Goal", "WordedGoal", "ComplexFuncBench 2.1.1, A.3",
        word_goals, "generator", ("generators/multi_step/prompts/word_goal.j2",),
    ),
    Stage(
        "traces", "multi_step", "Let a model call step by step, each call answered by the environment.",
        "WordedGoal", "TracedGoal", "ComplexFuncBench 2.1.1",
        trace_goals, "generator", ("generators/multi_step/prompts/call_next.j2",),
    ),
    Stage(
        "corrections", "multi_step", "Find the shortest path by search, compare, and reword a request that lacks a detail.",
        "TracedGoal", "GoalPath", "ComplexFuncBench 2.1.2",
        correct_paths, "generator", ("generators/multi_step/prompts/rewrite_goal.j2",),
    ),
    Stage(
        "disambiguation", "multi_step", "Remove tools that overlap, and strike entries that leave an argument open.",
        "GoalPath", "GoalPath", "ComplexFuncBench 2.1.2", disambiguate,
    ),
    Stage(
        "generalisation", "multi_step", "Replace what may be replaced, call again, and prove each variant anew.",
        "GoalPath", "Sample", "ComplexFuncBench 2.1.3, A.4", generalise,
    ),
    Stage(
        "routing_requests", "routing", "Word calls of a domain's whole catalog as one question, again until it says all.",
        "RoutingPlan", "Sample", "CallNavi 4.1",
        word_routing, "generator", ("generators/routing/prompts/word_routing.j2",),
    ),
    Stage(
        "conversation_plans", "conversational", "Plan a scenario's calls, results and dialogue acts; a model gives the values.",
        "Scenario", "ConversationPlan", "CONFETTI 3.1",
        plan_conversations, "generator", ("generators/single_turn/prompts/fill_values.j2",),
    ),
    Stage(
        "conversation_goals", "conversational", "Put into words what the user of a planned conversation wants.",
        "ConversationPlan", "WordedScenario", "CONFETTI 3.1",
        word_scenarios, "generator", ("generators/conversations/prompts/plan_scenario_goal.j2",),
    ),
    SCENARIO_CHECK,
    Stage(
        "conversations", "conversational", "Word each turn, again until it says, asks or tells what is planned.",
        "WordedScenario", "Conversation", "CONFETTI 3.1",
        write_conversations, "generator",
        ("generators/conversations/prompts/word_user_turn.j2", "generators/conversations/prompts/word_agent_turn.j2"),
    ),
    Stage(
        "dialogue_acts", "conversational", "Label the replies whose dialogue acts no plan knows.",
        "Conversation", "Sample", "CONFETTI 3.1",
        label_conversations, "generator", ("generators/conversations/prompts/label_acts.j2",),
    ),
    *CHECKS,
    Stage("duplicates", "landing", "Is the sample unlike those before it?", "Sample", "Verdict", "HammerBench 5"),
    Stage("review", "landing", "Do people accept what a check could not prove?", "Sample", "Review", "HammerBench 4.2.1, 5"),
    Stage("land", "landing", "Keep each accepted sample once.", "Sample", "Acceptance", "HammerBench 5"),
)  # fmt: skip


def stage_named(name: str) -> Stage:
    """The stage with this name. Raises ConfigurationError that lists the names there are."""
    for stage in STAGES:
        if stage.name == name:
            return stage
    known = ", ".join(stage.name for stage in STAGES)
    raise ConfigurationError(f"There is no stage {name!r}; the stages are {known}.")


def stages_of(group: str) -> tuple[Stage, ...]:
    """The stages of a group, in order; or those of it that are named, as `some_of` writes them.

    Raises ConfigurationError that lists the groups there are.
    """
    group, _, names = group.partition(_NAMED)
    found = tuple(stage for stage in STAGES if stage.group == group)
    if not found:
        known = ", ".join(dict.fromkeys(stage.group for stage in STAGES))
        raise ConfigurationError(f"There is no group of stages {group!r}; the groups are {known}.")
    return tuple(stage for stage in found if stage.name in names.split(_AND)) if names else found


def some_of(group: str, names: Sequence[str]) -> str:
    """The part of a group that has the stages of these names; the group where that is all of it."""
    if len(names) == len(stages_of(group)):
        return group
    return f"{group}{_NAMED}{_AND.join(names)}"


def todays_checks() -> dict[str, str]:
    """The version of each check that samples go through, in their order."""
    return {stage.name: version_of(stage) for stage in stages_of(CHECK_GROUP)}


def version_of(stage: Stage) -> str:
    """A stage's version: that of its code, where it is a check, and those of its prompts."""
    return "+".join((stage.version, *map(_prompt_version, stage.templates)))


def _prompt_version(path: str) -> str:
    package, _, name = path.removesuffix(".j2").rpartition("/")
    return prompt_version(package.replace("/", "."), name)


def stage_rows() -> list[Row]:
    """The table as the warehouse keeps it, for views to order by."""
    return [
        {"name": stage.name, "position": position, "stage_group": stage.group, "source": stage.source}
        for position, stage in enumerate(STAGES)
    ]
