"""Whether a scenario is fit to be acted out, before any conversation is made of it (CONFETTI 3.1).

By code: its APIs are at hand or withheld as its episodes need them, its complexity is possible with them, its reference
time is one, and its plan has the turns that it asks for. By the judge: the goal in words wants what the APIs of the
plan do and, where something is to be refused, what none of them does. What is not proved makes no conversation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from callwright.generators.conversations.scenarios import SHAPES, changeable
from callwright.generators.environments.simulated import links_between
from callwright.generators.stages import StageContext
from callwright.generators.tools import are_redundant
from callwright.validators.blind.one_call import find_duplicate_tool
from callwright.validators.checks.declaring import gate
from callwright.validators.checks.verdicts import Answer, Finding, answer_of
from callwright.validators.judges import SCENARIO, ScenarioReading, ask_opinion
from callwright.warehouse.records import Complexity, ConversationPlan, Scenario, Tool, WordedScenario

_TIME = "%Y-%m-%d %H:%M"
_MOST_TURNS = 20
Rule = Callable[[Sequence[Tool]], str]


@gate(
    "scenario", "1",
    "Does the goal want what its APIs do, and is the complexity possible with them?",
    group="conversational",
    source="CONFETTI 3.1",
    prompts=(SCENARIO,),
)  # fmt: skip
async def check_scenario(worded: WordedScenario, context: StageContext) -> Answer:
    """Prove that a scenario can be acted out as it stands; code answers first, then the judge reads the goal."""
    scenario, found = worded.plan.scenario, next(_by_code(worded.plan, context), None)
    if found is None:
        shown = [{"name": tool.name, "description": tool.description} for tool in context.toolset(scenario.candidates)]
        reading = await ask_opinion(context.chat, SCENARIO, ScenarioReading, tools=shown, goal=worded.goal)
        problem = _reading_problem(reading, worded.plan, context)
        found = Finding("unproved", problem) if problem else None
    complexity = scenario.complexity
    proof = f"The goal wants what its APIs do, and {complexity!r} is possible with them."
    return answer_of([found] if found else [], proof)


def _by_code(plan: ConversationPlan, context: StageContext) -> Iterator[Finding]:
    scenario, problems = plan.scenario, list[str]()
    stated, least = scenario.reference_time, scenario.minimum_turns
    turns = sum(move.speaker == "user" for move in plan.moves)
    try:
        moment = datetime.strptime(stated, _TIME)  # noqa: DTZ007 - a wall clock, of no zone
    except ValueError:
        problems.append(f"The reference time {stated!r} is none; it is written like 2026-11-02 08:15.")
    else:
        if f"{moment:{_TIME}}" != stated:
            problems.append(f"The reference time {stated!r} is not written like 2026-11-02 08:15.")
    if least > _MOST_TURNS:
        problems.append(f"It asks for {least} turns of the user; nobody plays more than {_MOST_TURNS}.")
    elif turns < least:
        problems.append(f"It asks for {least} turns of the user, and its plan has {turns}.")
    problems.append(_apis_problem(scenario, context))
    yield from (Finding("contradicted", problem) for problem in problems if problem)
    shape = SHAPES[scenario.complexity]
    own = [episode for episode in scenario.episodes if episode.shape == shape]
    if not own:
        yield Finding("contradicted", f"No episode has the shape {shape!r} that {scenario.complexity!r} takes.")
    # Episodes before and after the scenario's own may have its shape too: one that is possible is enough.
    rule = _NEEDS[scenario.complexity]
    found = [rule([context.tool(key) for key in episode.tools]) for episode in own]
    if found and all(found):
        yield Finding("contradicted", f"{scenario.complexity!r} is not possible with its APIs: {found[0]}")


def _apis_problem(scenario: Scenario, context: StageContext) -> str:
    both = set(scenario.candidates) & set(scenario.withheld)
    if both:
        return f"{context.tool(min(both)).name!r} is at hand and withheld at once."
    for episode in scenario.episodes:
        refused = episode.shape == "unsupported"
        here = scenario.withheld if refused else scenario.candidates
        missing = next((key for key in episode.tools if key not in here), None)
        if missing is not None:
            where = "withheld" if refused else "at hand"
            return f"{context.tool(missing).name!r}, which an episode of the shape {episode.shape!r} takes, is not {where}."
    duplicate = find_duplicate_tool(context.toolset(scenario.withheld), context.toolset(scenario.candidates))
    return f"What no API shall do, one does: {duplicate}." if duplicate else ""


def _reading_problem(reading: ScenarioReading, plan: ConversationPlan, context: StageContext) -> str:
    """How what the judge reads in the goal differs from what the plan serves and refuses, "" where it does not."""
    users = [move for move in plan.moves if move.speaker == "user"]
    withheld = set(plan.scenario.withheld)
    asked = {part.tool for move in users for part in move.parts}
    due = {context.tool(key).name for key in asked - withheld}
    offered = {context.tool(key).name for move in users for key in move.options}
    named = {want.tool for want in reading.wants if want.tool is not None}
    beyond = [want.want for want in reading.wants if want.tool is None]
    if due - named:
        return f"The judge finds no wish in the goal that {min(due - named)!r} does."
    if named - due - offered:
        return f"The judge reads a wish for {min(named - due - offered)!r} in the goal, which the plan does not call."
    if asked & withheld and not beyond:
        return "The judge finds no wish in the goal that none of the APIs does, and one is to be refused."
    if beyond and not asked & withheld:
        return f"The judge reads a wish in the goal that none of the APIs does: {beyond[0]!r}."
    return ""


def _can_vary(tools: Sequence[Tool]) -> str:
    return "" if changeable(tools[0]) else f"{tools[0].name!r} requires no text or number that could be another one."


def _can_ask(tools: Sequence[Tool]) -> str:
    return "" if tools[0].required else f"{tools[0].name!r} requires nothing that could be said."


def _are_two(tools: Sequence[Tool]) -> str:
    if len(tools) > 1 and not are_redundant(tools[0], tools[1]):
        return ""
    return f"it takes two APIs that differ, not {' and '.join(repr(tool.name) for tool in tools)}."


def _are_linked(tools: Sequence[Tool]) -> str:
    if _are_two(tools) or links_between(tools[0], tools[1]):
        return _are_two(tools)
    return f"nothing that {tools[0].name!r} returns is required by {tools[1].name!r}."


def _have_something_beside(tools: Sequence[Tool]) -> str:
    if _are_two(tools) or any(name not in tools[0].properties for name in changeable(tools[1])):
        return _are_two(tools)
    return f"whatever {tools[1].name!r} requires is of use for {tools[0].name!r} too."


_NEEDS: Mapping[Complexity, Rule] = {
    "exception_in_execution": _can_vary, "failed_conversation": _can_vary, "confirmation": _can_ask,
    "goal_switching": _are_two, "no_target_complexity": _can_ask, "goal_correction": _can_vary, "goal_stacking": _are_two,
    "ambiguous_goal": _are_two, "follow_up_question": _are_linked, "implicit_descriptive_goal": _can_ask,
    "overfill": _have_something_beside, "underfill": _can_vary, "goal_not_supported": _can_ask,
}  # fmt: skip
