"""Conversations with a required complexity: planned by code, worded by a model, with simulated
results.
"""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.conversations.making import (
    AgentWords,
    DialogueActs,
    UserWords,
    label_turns,
    write_conversations,
)
from callwright.generators.conversations.moves import plan_conversations
from callwright.generators.conversations.scenarios import PAPER, plan_scenarios, shared_out
from callwright.generators.conversations.values import Values
from callwright.generators.families import LeftOut
from callwright.generators.stages import StageContext
from callwright.generators.tools import argument_problems
from callwright.language.calls.tools import field_phrase, name_words, tool_title
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ConfigurationError, RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    Complexity,
    ConversationPlan,
    Fact,
    Move,
    Part,
    ReplyTurn,
    ResultTurn,
    Scenario,
    Tool,
    UserTurn,
    WordedScenario,
)
from tests.support.conversational import TOOLS, converse, scenario_order, template_context
from tests.support.warehouse.fixtures import make_tool

COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)
ALL = list(TOOLS.values())


def scenarios(complexity: Complexity, count: int = 3, *, seed: int = 1) -> list[Scenario]:
    return list(plan_scenarios(complexity, scenario_order(complexity, count, ALL, seed=seed)))


async def plan_of(complexity: Complexity) -> ConversationPlan:
    (scenario,) = scenarios(complexity, 1)
    (plan,) = await plan_conversations(scenario, template_context(scenario.seed))
    return plan


@given(st.integers(min_value=0, max_value=2000))
def test_all_conversations_are_shared_out_over_the_complexities(count: int) -> None:
    shares = shared_out(count)
    assert sum(shares.values()) == count
    assert list(shares) == list(PAPER)


@pytest.mark.parametrize("complexity", COMPLEXITIES)
def test_a_scenario_has_its_apis_at_hand_but_for_what_is_withheld(complexity: Complexity) -> None:
    for scenario in scenarios(complexity):
        used = {key for episode in scenario.episodes for key in episode.tools}
        assert used <= {*scenario.candidates, *scenario.withheld}
        assert not set(scenario.candidates) & set(scenario.withheld)
        assert (complexity == "goal_not_supported") <= bool(scenario.withheld)
        assert 3 <= len(scenario.candidates) <= 25


def test_what_is_refused_can_not_be_done_by_a_list_of_one() -> None:
    def tool(name: str, parameter: str) -> Tool:
        schema = {"type": "object", "properties": {parameter: {"type": "string"}}}
        schema["required"] = [parameter]
        return Tool(name=name, description=name, category="Music", parameters=schema)

    tools = [tool("get_artist", "id"), tool("get_artists", "ids"), tool("delete_artist", "id")]
    tools += [tool(f"get_{one}", f"{one}_title") for one in ("album", "track", "show", "episode")]
    names = {one.key: one.name for one in tools}
    refused = set[str]()
    for scenario in plan_scenarios(
        "goal_not_supported", scenario_order("goal_not_supported", 30, tools)
    ):
        gone = {names[key] for key in scenario.withheld}
        refused |= gone
        if any("artist" in one for one in gone):
            assert not any("artist" in names[key] for key in scenario.candidates)
    assert refused >= {"get_artist", "get_artists"}


def test_tools_that_allow_no_conversation_are_told_of() -> None:
    bare = Tool(
        name="A.b",
        description="Do it.",
        parameters={"type": "object", "properties": {}},
        category="A",
    )
    with pytest.raises(ConfigurationError, match="underfill"):
        list(plan_scenarios("underfill", scenario_order("underfill", 1, [bare])))


async def test_a_scenario_whose_apis_are_not_at_hand_is_refused_before_any_conversation_is_made() -> (
    None
):
    (scenario,) = scenarios("underfill", 1)
    without = scenario.with_changes(
        candidates=scenario.candidates[:1], withheld=scenario.candidates[1:]
    )
    with pytest.raises(RecordError, match="not among its APIs"):
        await plan_conversations(without, template_context())


@pytest.mark.parametrize("complexity", COMPLEXITIES)
async def test_every_call_of_a_plan_is_complete_and_valid(complexity: Complexity) -> None:
    plan = await plan_of(complexity)
    tools = {tool.name: tool for tool in ALL if tool.language == "en"}
    for move in plan.moves:
        for call in move.calls:
            assert argument_problems(tools[call.tool], call.arguments, partial=False) == []


async def test_the_same_scenario_becomes_the_same_conversation() -> None:
    assert (await converse("follow_up_question")).key == (await converse("follow_up_question")).key


async def test_calls_come_with_a_result_and_replies_with_acts() -> None:
    for complexity in COMPLEXITIES:
        sample = await converse(complexity)
        for before, after in zip(sample.turns, sample.turns[1:], strict=False):
            if isinstance(before, CallTurn):
                assert before.executed
                assert isinstance(after, ResultTurn)
        assert all(turn.acts for turn in sample.turns if isinstance(turn, ReplyTurn))
        assert sample.facts.complexity == complexity


async def test_a_chain_takes_its_value_from_the_result_before_it() -> None:
    sample = await converse("follow_up_question")
    linked = [
        one
        for turn in sample.turns
        if isinstance(turn, CallTurn)
        for one in turn.calls[0].evidence
        if one.kind == "response"
    ]
    assert linked
    assert all(
        one.turn is not None and isinstance(sample.turns[one.turn], ResultTurn) for one in linked
    )


def worded(moves: tuple[Move, ...], scenario: Scenario) -> WordedScenario:
    return WordedScenario(
        plan=ConversationPlan(scenario=scenario, moves=moves), goal="You want something."
    )


async def test_a_turn_that_leaves_a_value_out_three_times_is_given_up() -> None:
    (scenario,) = scenarios("underfill", 1)
    tool = TOOLS[scenario.candidates[0]]
    name = tool.required[0]
    move = Move(
        speaker="user", intent="request", parts=(Part(tool=tool.key, arguments={name: "x"}),)
    )
    silent = UserWords(text="Do it for me.")
    context = StageContext(
        ScriptedModel({"word_user_turn": [silent, silent, silent]}), template_context().rng, TOOLS
    )
    with pytest.raises(ReplyError, match="Missing: "):
        await write_conversations(worded((move,), scenario), context)


async def test_a_reply_that_tells_a_part_goes_on_after_three_wordings() -> None:
    (scenario,) = scenarios("underfill", 1)
    moves = (
        Move(speaker="user", intent="thank"),
        Move(
            speaker="agent",
            intent="inform",
            facts=(Fact(label="gate", value="B22"), Fact(label="seat", value="14C")),
        ),
    )
    part = AgentWords(text="Your gate is B22.")
    script = ScriptedModel(
        {
            "word_user_turn": [UserWords(text="Thanks!")],
            "word_agent_turn": [AgentWords(text="Done."), part, AgentWords(text="All is well.")],
        }
    )
    (made,) = await write_conversations(
        worded(moves, scenario), StageContext(script, template_context().rng, TOOLS)
    )
    assert made.turns[-1] == ReplyTurn(text=part.text)


async def test_only_replies_without_acts_are_labelled() -> None:
    turns = (
        UserTurn(text="Hello."),
        ReplyTurn(text="Which city?"),
        ReplyTurn(text="Bye.", acts=("other",)),
    )
    script = ScriptedModel({"label_acts": [DialogueActs(acts=["inform", "seek"])]})
    labelled = await label_turns(turns, StageContext(script, template_context().rng, TOOLS))
    assert [turn.acts for turn in labelled if isinstance(turn, ReplyTurn)] == [
        ("seek", "inform"),
        ("other",),
    ]


def test_a_category_that_allows_no_conversation_is_left_out_with_a_word() -> None:
    seeds = [tool for tool in seed_tools(("en",)) if tool.category == "Weather"]
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    makers = [
        Tool(
            name=f"make{word}", description=f"Make a {word}.", parameters=schema, category="Making"
        )
        for word in ("Cake", "Chair", "Boat", "Song")
    ]
    heard: list[LeftOut] = []
    asked = scenario_order("overfill", 12, [*seeds, *makers], leave_out=heard.append)
    found = list(plan_scenarios("overfill", asked))
    assert [one.category for one in found] == ["Weather"] * 12
    (told,) = heard
    assert "'Making' allows no conversation" in told.reason
    with pytest.raises(ConfigurationError, match="allow no conversation"):
        next(plan_scenarios("overfill", scenario_order("overfill", 1, makers)))


async def test_who_describes_a_plight_lets_it_be_heard_what_has_to_be_done() -> None:
    plan = await plan_of("implicit_descriptive_goal")
    said = next(move for move in plan.moves if move.intent == "describe")
    tool = next(tool for tool in ALL if tool.key == said.parts[0].tool)
    sample = await converse("implicit_descriptive_goal")
    spoken = [turn.text for turn in sample.turns if isinstance(turn, UserTurn)]
    assert any(tool_title(tool.name, tool.description) in text for text in spoken)


def test_what_tools_are_about_is_said_without_their_verbs() -> None:
    def phrase(*names: str) -> str:
        return field_phrase(names, "en")

    assert phrase("get_push_token") == "my push token"
    assert phrase("get_errors_for_import_job") == "my errors"
    assert phrase("Roles_DeleteRole") == "my role"
    assert name_words("Offices_GetOpeningHours") == "get opening hours"
    assert phrase("retrieveConversation") == "my conversation"
    assert phrase("getAlertSetting", "deleteAlertSetting") == "my alert setting"
    assert phrase("delete_import_source", "delete_page") == "my account"
    assert phrase("Banking.Accounts.openAccount") == "my banking"


async def test_another_value_leaves_a_call_that_fits_its_schema_as_a_whole() -> None:
    text = {"type": "string"}
    by_card = {"properties": {"way": {"const": "card"}}, "required": ["card"]}
    others = {"properties": {"way": {"enum": ["cash", "bill"]}, "card": False}}
    parameters = {
        "type": "object",
        "properties": {"way": {"type": "string", "enum": ["card", "cash", "bill"]}, "card": text},
        "required": ["way"],
        "oneOf": [by_card, others],
    }
    tool = make_tool("pay").with_changes(parameters=parameters)
    values = Values(template_context(), "en", seed=1)
    assert await values.others(tool, "way", {"way": "card", "card": "5521 0098"}, 1) == []
    assert await values.others(tool, "way", {"way": "cash"}, 1) == ["bill"]
