"""Working a scenario out, with all values, calls and results, and putting the user's goal into words (CONFETTI 3.1)."""

from collections.abc import Mapping
from random import Random
from typing import Any

from pydantic import BaseModel

from callwright.generators.conversations.moves import EpisodeContext, moves_of
from callwright.generators.conversations.values import VALUES_TEMPLATE, Values
from callwright.generators.environments.simulated import SimulatedEnvironment
from callwright.generators.stages import ATTEMPTS, StageContext, asked_origin, first_fit, made_by
from callwright.language.packs import writes
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import ConversationPlan, Move, Scenario, Tool, WordedScenario

PLANS, GOALS = "conversation_plans", "conversation_goals"
PROMPTS = "callwright.generators.conversations.prompts"
TEMPLATE = "plan_scenario_goal"
_LONGEST = 2000


class ScenarioGoal(BaseModel):
    """What the user wants, for the actor who plays them."""

    goal: str


async def plan_conversations(scenario: Scenario, context: StageContext) -> list[ConversationPlan]:
    """The scenario with every value, call and result. Raises RecordError where the APIs can't act it out."""
    keys = dict.fromkeys(key for episode in scenario.episodes for key in episode.tools)
    tools = {key: context.tool(key) for key in (*scenario.candidates, *scenario.withheld, *keys)}
    values = Values(context, scenario.language, scenario.seed)
    world = SimulatedEnvironment(list(tools.values()), seed=scenario.seed)
    stage = EpisodeContext(tools, values, world, Random(scenario.seed))
    moves = [move for episode in scenario.episodes for move in await moves_of(episode, stage)]
    problem = _plan_problem(scenario, moves, tools)
    if problem:
        raise RecordError(f"The scenario can't be acted out: {problem}")
    origin = asked_origin(PLANS, scenario, scenario.seed, context, (PROMPTS, VALUES_TEMPLATE))
    return [ConversationPlan(scenario=scenario, moves=tuple(moves), origin=origin)]


def _plan_problem(scenario: Scenario, moves: list[Move], tools: Mapping[str, Tool]) -> str:
    """Why the APIs at hand can't give this conversation, "" where they can."""
    turns = sum(move.speaker == "user" for move in moves)
    if turns < min(scenario.minimum_turns, 2 * len(scenario.episodes)):
        return f"the user has {turns} turns where {scenario.minimum_turns} are asked for."
    at_hand = {tools[key].name for key in scenario.candidates}
    missing = [call.tool for move in moves for call in move.calls if call.tool not in at_hand]
    return f"it calls {missing[0]!r}, which is not among its APIs." if missing else ""


async def word_scenarios(plan: ConversationPlan, context: StageContext) -> list[WordedScenario]:
    """The plan with the user's goal in words. Raises ReplyError where three answers in a row do not fit."""
    scenario = plan.scenario
    prompt = render(
        PROMPTS,
        TEMPLATE,
        language=scenario.language,
        complexity=scenario.complexity,
        reference_time=scenario.reference_time,
        steps=[_step(move, context) for move in plan.moves if move.speaker == "user"],
        seed=scenario.seed,
    )
    answer = await first_fit(
        context,
        prompt,
        ScenarioGoal,
        lambda given: goal_problem(given.goal.strip(), plan, context),
        f"The goal of a conversation did not fit in {ATTEMPTS} wordings",
    )
    origin = made_by(context, GOALS, prompt, parent=plan.key, seed=scenario.seed)
    return [WordedScenario(plan=plan, goal=answer.goal.strip(), origin=origin)]


def goal_problem(goal: str, plan: ConversationPlan, context: StageContext) -> str:
    """Why these words can't be the scenario, "" where they can."""
    if not goal or len(goal) > _LONGEST:
        return f"it has {len(goal)} characters; 1 to {_LONGEST} are allowed."
    if not writes(plan.scenario.language, goal):
        return f"it is not in the language {plan.scenario.language!r}."
    names = {context.tool(part.tool).name for move in plan.moves for part in move.parts}
    named = next((name for name in names if name in goal), "")
    return f"it names the tool {named!r}." if named else ""


def _step(move: Move, context: StageContext) -> dict[str, Any]:
    """A user's turn as the prompt tells of it."""
    parts = [
        {
            "description": context.tool(part.tool).description,
            "name": context.tool(part.tool).name,
            "values": part.arguments,
        }
        for part in move.parts
    ]
    return {"intent": move.intent, "parts": parts}
