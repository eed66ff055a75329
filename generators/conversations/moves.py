"""Work out a scenario move by move: values, calls, results and the user's goal (CONFETTI 3.1)."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.conversations.scenarios import changeable, comparable, looks_up
from callwright.generators.conversations.values import VALUES_TEMPLATE, Values
from callwright.generators.environments.linking import is_wrapping, words_of
from callwright.generators.environments.picking import value_at
from callwright.generators.environments.simulated import (
    links_between,
    paging_of,
    shape_of,
    simulated_error,
    simulated_result,
)
from callwright.generators.stages import ATTEMPTS, StageContext, asked_origin, first_fit
from callwright.generators.tools import enough_of, sayable_options
from callwright.generators.whole_calls import made_problems
from callwright.language.calls.examples import ticks_in_a_second
from callwright.language.names import names_one, singular, split_name
from callwright.language.packs import writes
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    ConversationPlan,
    DialogueAct,
    EpisodePlan,
    EpisodeShape,
    ErrorCode,
    Fact,
    JsonSchema,
    Move,
    Part,
    Scenario,
    SimulatedCall,
    Tool,
    WordedScenario,
)


def facts_of(result: JsonValue, tool: Tool) -> list[Fact]:
    """List a result's texts and numbers in order, then what says little.

    Booleans say little, and so does what the tool's name says already ("Type: article"). Of a list,
    the facts of the first entry come first. Where in a longer list it stands is no fact, nor is a
    moment in seconds.
    """
    named = {*words_of(tool.name)}

    def says_little(fact: Fact) -> bool:
        is_name = isinstance(fact.value, str) and named.issuperset(words_of(fact.value))
        return is_name or isinstance(fact.value, bool)

    return sorted(_facts("", result, tool.returns or {}), key=says_little)


def _facts(name: str, value: JsonValue, schema: JsonSchema) -> Iterator[Fact]:
    schema = shape_of(schema)
    if isinstance(value, dict):
        members, paging = schema.get("properties") or {}, paging_of(schema)
        for member, inner_value in value.items():
            if member not in paging:
                is_of = names_one(member) and len(split_name(member)) == 1 and not is_wrapping(name)
                called = f"{singular(name)}_{member}" if is_of and name else member
                yield from _facts(called, inner_value, members.get(member) or {})
    elif isinstance(value, list):
        for inner_value in value:
            yield from _facts(name, inner_value, schema.get("items") or {})
    elif value is not None and not ticks_in_a_second(name, schema):
        yield Fact(label=_label(name or "result", schema), value=value)


def _label(name: str, schema: JsonSchema) -> str:
    """Return the label of a field in replies: its description if it is short, else its name."""
    described = str(schema.get("description") or "").strip().rstrip(".\u3002")
    is_phrase = 0 < len(described) <= _LONGEST_LABEL and not _SENTENCE.search(described)
    return described if is_phrase else " ".join(split_name(name)) or name


_LONGEST_LABEL = 40
_SENTENCE = re.compile("[.!?:;\\n\u3002\uff01\uff1f\uff1a\uff1b]")
STATED_IN = 2  # facts of a result that a reply tells


class EpisodeContext(NamedTuple):
    """The data that episodes are built from; `seed` determines the simulated results."""

    tools: Mapping[str, Tool]
    values: Values
    seed: int
    rng: Random


Moves = list[Move]


async def requested(
    episode: EpisodePlan, stage: EpisodeContext, *, is_plain: bool = False
) -> tuple[Tool, Arguments]:
    """Return the episode's first tool with its required arguments.

    Unless `is_plain`, the model may add options.
    """
    tool = stage.tools[episode.tools[0]]
    needed = enough_of(tool, [*tool.required], stage.rng)
    may = [] if is_plain else [name for name in sayable_options(tool) if name not in needed]
    return tool, await stage.values.fill(tool, needed, may)


async def changed(tool: Tool, arguments: Arguments, stage: EpisodeContext) -> Arguments:
    """Return another value for one of the arguments. Raises RecordError if none takes another."""
    names = changeable(tool)
    for name in stage.rng.sample(names, len(names)):
        if others := await stage.values.others(tool, name, arguments, 1):
            return {name: others[0]}
    raise RecordError(f"No argument of {tool.name!r} has another value that fits: {arguments!r}.")


def asks(*parts: Part) -> Move:
    """Return the user's request for one or more tools."""
    return Move(speaker="user", intent="request", parts=parts)


def seeks(tool: Tool, given: Arguments, missing: list[str]) -> Move:
    """Return the agent's question for parameters that a request lacks."""
    part = Part(tool=tool.key, arguments=given)
    asked = tuple(missing)
    acts = ("seek",)
    return Move(speaker="agent", intent="ask_parameters", parts=(part,), asked=asked, acts=acts)


def simulated(tool: Tool, arguments: Arguments, stage: EpisodeContext) -> SimulatedCall:
    """Return a successful call."""
    result = simulated_result(tool, arguments, stage.seed)
    return SimulatedCall(tool=tool.name, arguments=arguments, result=result)


def served(tool: Tool, arguments: Arguments, stage: EpisodeContext) -> Moves:
    """Return a successful call and the reply that reports its result."""
    call = simulated(tool, arguments, stage)
    return [Move(speaker="calls", calls=(call,)), informs(facts_of(call.result, tool)[:STATED_IN])]


def informs(facts: list[Fact]) -> Move:
    """Return a reply that reports the results of calls."""
    return Move(speaker="agent", intent="inform", facts=tuple(facts), acts=("inform",))


def failing(tool: Tool, arguments: Arguments, change: Arguments, code: ErrorCode) -> Move:
    """Return a failed call."""
    culprit: Arguments = {name: arguments[name] for name in change}
    result = simulated_error(tool, culprit or arguments, code)
    calls = (SimulatedCall(tool=tool.name, arguments=arguments, result=result),)
    return Move(speaker="calls", calls=calls)


def tells_error(tool: Tool, failed: Move, change: Arguments, acts: tuple[DialogueAct, ...]) -> Move:
    """Return a reply that reports an error, and asks for other values if they could help."""
    result: JsonValue = failed.calls[0].result
    returned = str(value_at(result, "error.message"))
    parts = (Part(tool=tool.key),)
    asked = tuple(change)
    return Move(
        speaker="agent", intent="tell_error", parts=parts, asked=asked, error=returned, acts=acts
    )


_TWO_MISSING_SHARE = 0.3
_LOOKED_UP: tuple[ErrorCode, ...] = ("not_found", "invalid_value")
_CHANGED: tuple[ErrorCode, ...] = ("conflict", "invalid_value")
_PASSING: tuple[ErrorCode, ...] = ("unavailable", "too_many_requests")


async def _plain(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage)
    return [asks(Part(tool=tool.key, arguments=arguments)), *served(tool, arguments, stage)]


async def _described(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    opening, *rest = await _plain(episode, stage)
    return [opening.with_changes(intent="describe"), *rest]


async def _underfilled(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage)
    possible = changeable(tool)
    count = 2 if len(possible) > 1 and stage.rng.random() < _TWO_MISSING_SHARE else 1
    drawn = stage.rng.sample(possible, count)
    missing = [name for name in tool.required if name in drawn]
    given_arguments = {name: value for name, value in arguments.items() if name not in missing}
    later = {name: arguments[name] for name in missing}
    return [
        asks(Part(tool=tool.key, arguments=given_arguments)),
        seeks(tool, given_arguments, missing),
        Move(speaker="user", intent="answer", parts=(Part(tool=tool.key, arguments=later),)),
        *served(tool, arguments, stage),
    ]


async def _confirmed(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage, is_plain=True)
    part = Part(tool=tool.key, arguments=arguments)
    approval = Move(speaker="agent", intent="ask_approval", parts=(part,), acts=("seek",))
    approve = Move(speaker="user", intent="approve")
    return [asks(part), approval, approve, *served(tool, arguments, stage)]


async def _switched(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    dropped, wanted = (stage.tools[key] for key in episode.tools)
    first = await stage.values.fill(dropped, dropped.required)
    missing = stage.rng.choice(changeable(dropped))
    given_arguments = {name: value for name, value in first.items() if name != missing}
    second = await stage.values.fill(wanted, wanted.required)
    return [
        asks(Part(tool=dropped.key, arguments=given_arguments)),
        seeks(dropped, given_arguments, [missing]),
        Move(speaker="user", intent="switch", parts=(Part(tool=wanted.key, arguments=second),)),
        *served(wanted, second, stage),
    ]


async def _corrected(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage)
    change = await changed(tool, arguments, stage)
    return [
        asks(Part(tool=tool.key, arguments=arguments)),
        *served(tool, arguments, stage),
        Move(speaker="user", intent="correct", parts=(Part(tool=tool.key, arguments=change),)),
        *served(tool, arguments | change, stage),
    ]


async def _excepted(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments, change, moves = await _retrying(episode, stage)
    return [*moves, *served(tool, arguments | change, stage)]


async def _retrying(
    episode: EpisodePlan, stage: EpisodeContext
) -> tuple[Tool, Arguments, Arguments, Moves]:
    """Build a failed call and its retry: tool, first arguments, changes to them, and moves."""
    tool, arguments = await requested(episode, stage)
    change = await changed(tool, arguments, stage)
    failed = failing(tool, arguments, change, _retried(tool, stage))
    retry = Move(speaker="user", intent="retry", parts=(Part(tool=tool.key, arguments=change),))
    error_report = tells_error(tool, failed, change, ("inform", "seek"))
    moves = [asks(Part(tool=tool.key, arguments=arguments)), failed, error_report, retry]
    return tool, arguments, change, moves


async def _failed(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments, change, moves = await _retrying(episode, stage)
    code = stage.rng.choice((*_PASSING, _retried(tool, stage)))
    second = failing(tool, arguments | change, change, code)
    return [
        *moves,
        second,
        tells_error(tool, second, {}, ("inform",)),
        Move(speaker="user", intent="give_up"),
        Move(speaker="agent", intent="acknowledge", acts=("other",)),
    ]


def _retried(tool: Tool, stage: EpisodeContext) -> ErrorCode:
    """Return an error that another value may avoid and that fits what the tool does."""
    return stage.rng.choice(_LOOKED_UP if looks_up(tool) else _CHANGED)


async def _stacked(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    parts: list[Part] = []
    calls: list[SimulatedCall] = []
    facts: list[Fact] = []
    for tool in (stage.tools[key] for key in episode.tools):
        arguments = await stage.values.fill(tool, tool.required)
        parts.append(Part(tool=tool.key, arguments=arguments))
        calls.append(simulated(tool, arguments, stage))
        facts += facts_of(calls[-1].result, tool)[:1]
    return [asks(*parts), Move(speaker="calls", calls=tuple(calls)), informs(facts)]


async def _ambiguous(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage)
    options = tuple(sorted(episode.tools))
    return [
        Move(speaker="user", intent="hint", options=episode.tools),
        Move(speaker="agent", intent="ask_which", options=options, acts=("seek",)),
        asks(Part(tool=tool.key, arguments=arguments)),
        *served(tool, arguments, stage),
    ]


async def _followed(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    first, second, returned, linked = await _linked(episode, stage)
    before = facts_of(first.result, stage.tools[episode.tools[0]])
    linked_facts = [fact for fact in before if fact.value in linked.arguments.values()]
    return [
        asks(second),
        Move(speaker="calls", calls=(first,)),
        informs(
            [*linked_facts, *(fact for fact in before if fact not in linked_facts)][:STATED_IN]
        ),
        Move(speaker="user", intent="ask_more", parts=(returned,)),
        Move(speaker="calls", calls=(linked,)),
        informs(facts_of(linked.result, stage.tools[episode.tools[1]])[:STATED_IN]),
    ]


async def _chained(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    first, request, returned, linked = await _linked(episode, stage)
    facts = facts_of(linked.result, stage.tools[episode.tools[1]])[:STATED_IN]
    return [asks(request, returned), Move(speaker="calls", calls=(first, linked)), informs(facts)]


async def _linked(
    episode: EpisodePlan, stage: EpisodeContext
) -> tuple[SimulatedCall, Part, Part, SimulatedCall]:
    """Return two linked calls, each with the arguments that the user states for it.

    The second call takes a value that the first one returned. Raises RecordError if that value
    doesn't fit.
    """
    source, tool = (stage.tools[key] for key in episode.tools)
    link = links_between(source, tool)[0]
    arguments = await stage.values.fill(source, source.required)
    # One entry only, so that nobody has to choose.
    result = simulated_result(source, arguments, stage.seed, entries=1)
    call = SimulatedCall(tool=source.name, arguments=arguments, result=result)
    value = value_at(result, f"{link.entries}[0].{link.field}" if link.entries else link.field)
    names = [name for name in tool.required if name != link.parameter]
    spoken_arguments = await stage.values.fill(tool, names)
    due = {
        name: value if name == link.parameter else spoken_arguments[name] for name in tool.required
    }
    problems = made_problems(tool, due, partial=False)
    if problems:
        what = f"What {source.name!r} returns can't be given to {tool.name!r}"
        raise RecordError(f"{what}: {' '.join(problems)}")
    linked = simulated(tool, due, stage).with_changes(linked=(link.parameter,))
    request = Part(tool=source.key, arguments=arguments)
    return call, request, Part(tool=tool.key, arguments=spoken_arguments), linked


async def _compared(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage, is_plain=True)
    name = stage.rng.choice(comparable(tool))
    changes = await stage.values.others(tool, name, arguments, episode.count - 1)
    if not changes:
        raise RecordError(f"{name!r} of {tool.name!r} has no other values to compare.")
    stated = [arguments, *({name: one} for one in changes)]
    parts = [Part(tool=tool.key, arguments=one) for one in stated]
    calls = [simulated(tool, arguments | {name: one}, stage) for one in (arguments[name], *changes)]
    facts = [fact for call in calls for fact in facts_of(call.result, tool)[:1]]
    return [asks(*parts), Move(speaker="calls", calls=tuple(calls)), informs(facts)]


async def _overfilled(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    opening, *rest = await _plain(episode, stage)
    tool, lending_tool = (stage.tools[key] for key in episode.tools)
    possible = [name for name in changeable(lending_tool) if name not in tool.properties]
    extra = await stage.values.fill(lending_tool, [stage.rng.choice(possible)])
    return [opening.with_changes(extra=Part(tool=lending_tool.key, arguments=extra)), *rest]


async def _unsupported(episode: EpisodePlan, stage: EpisodeContext) -> Moves:
    tool, arguments = await requested(episode, stage, is_plain=True)
    refusal = Move(speaker="agent", intent="refuse", options=(tool.key,), acts=("reject",))
    return [asks(Part(tool=tool.key, arguments=arguments)), refusal]


async def _thanked(_episode: EpisodePlan, _stage: EpisodeContext) -> Moves:
    return [
        Move(speaker="user", intent="thank"),
        Move(speaker="agent", intent="acknowledge", acts=("other",)),
    ]


_MAKERS: Mapping[EpisodeShape, Callable[[EpisodePlan, EpisodeContext], Awaitable[Moves]]] = {
    "plain": _plain,
    "implicit": _described,
    "underfill": _underfilled,
    "confirmation": _confirmed,
    "switch": _switched,
    "correction": _corrected,
    "exception": _excepted,
    "failed": _failed,
    "stacked": _stacked,
    "ambiguous": _ambiguous,
    "follow_up": _followed,
    "chained": _chained,
    "compared": _compared,
    "overfill": _overfilled,
    "unsupported": _unsupported,
    "thanks": _thanked,
}


PLANS, GOALS = "conversation_plans", "conversation_goals"
PROMPTS = "callwright.generators.conversations.prompts"
GOAL_TEMPLATE = "plan_scenario_goal"
_LONGEST_GOAL = 2000


class ScenarioGoal(BaseModel):
    """What the user wants, for the actor who plays them."""

    goal: Paragraph


async def plan_conversations(scenario: Scenario, context: StageContext) -> list[ConversationPlan]:
    """The scenario with every value, call and result.

    Raises RecordError where the APIs can't act it out.
    """
    keys = dict.fromkeys(key for episode in scenario.episodes for key in episode.tools)
    tools = {key: context.tool(key) for key in (*scenario.candidates, *scenario.withheld, *keys)}
    values = Values(context, scenario.language, scenario.seed)
    stage = EpisodeContext(tools, values, scenario.seed, Random(scenario.seed))
    moves: Moves = []
    for episode in scenario.episodes:
        moves += await _MAKERS[episode.shape](episode, stage)
    turns = sum(move.speaker == "user" for move in moves)
    if turns < min(scenario.minimum_turns, 2 * len(scenario.episodes)):
        wanted = f"the user has {turns} turns where {scenario.minimum_turns} are asked for."
        raise RecordError(f"The scenario can't be acted out: {wanted}")
    at_hand = {tools[key].name for key in scenario.candidates}
    if missing := [call.tool for move in moves for call in move.calls if call.tool not in at_hand]:
        raise RecordError(f"The scenario calls {missing[0]!r}, which is not among its APIs.")
    origin = asked_origin(PLANS, scenario, scenario.seed, context, (PROMPTS, VALUES_TEMPLATE))
    return [ConversationPlan(scenario=scenario, moves=tuple(moves), origin=origin)]


async def word_scenarios(plan: ConversationPlan, context: StageContext) -> list[WordedScenario]:
    """The plan with the user's goal in words.

    Raises ReplyError where three answers in a row do not fit.
    """
    scenario = plan.scenario
    moves = (move for move in plan.moves if move.speaker == "user")
    steps = [
        {"intent": move.intent, "parts": [_told(part, context) for part in move.parts]}
        for move in moves
    ]
    told = scenario.model_dump(include={"language", "complexity", "reference_time", "seed"})
    prompt = render(PROMPTS, GOAL_TEMPLATE, steps=steps, **told)
    answer = await first_fit(
        context,
        prompt,
        ScenarioGoal,
        lambda given: goal_problem(given.goal.strip(), plan, context),
        f"The goal of a conversation did not fit in {ATTEMPTS} wordings",
    )
    origin = asked_origin(GOALS, plan, scenario.seed, context, (PROMPTS, GOAL_TEMPLATE))
    return [WordedScenario(plan=plan, goal=answer.goal.strip(), origin=origin)]


def goal_problem(goal: str, plan: ConversationPlan, context: StageContext) -> str:
    """Return why these words can't be the scenario's goal, or "" if they can."""
    if not goal or len(goal) > _LONGEST_GOAL:
        return f"it has {len(goal)} characters; 1 to {_LONGEST_GOAL} are allowed."
    if not writes(plan.scenario.language, goal):
        return f"it is not in the language {plan.scenario.language!r}."
    names = {context.tool(part.tool).name for move in plan.moves for part in move.parts}
    named = next((name for name in names if name in goal), "")
    return f"it names the tool {named!r}." if named else ""


def _told(part: Part, context: StageContext) -> dict[str, Any]:
    """Return what the prompt says about one of the user's wishes: its tool and values."""
    tool = context.tool(part.tool)
    return {"description": tool.description, "name": tool.name, "values": part.arguments}
