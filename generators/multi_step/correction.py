"""Compare the shortest path with a preliminary one that a model calls from the request alone.

The model also knows the tools and responses. Then complete the request so that it says all that
the path needs (ComplexFuncBench 2.1.1, 2.1.2).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, Field, JsonValue

from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.disambiguation import calls_of
from callwright.generators.multi_step.resolving import RememberedEnvironment, as_text, resolve
from callwright.generators.multi_step.samples import schema_of, unstated
from callwright.generators.multi_step.search import ShortestPath, find_plans
from callwright.generators.multi_step.tasks import environment_of
from callwright.generators.multi_step.wording import PROMPTS
from callwright.generators.stages import StageContext, asked_origin
from callwright.generators.tools import nearest_tools
from callwright.generators.transcripts import shown_tools
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Call,
    Correction,
    CorrectionKind,
    Exchange,
    Goal,
    GoalPath,
    Language,
    Tool,
    TracedGoal,
    WordedGoal,
)

TRACES_STAGE = "traces"
MOST_TURNS = 10
MOST_CALLS = 16
MOST_SHOWN = 30  # tools, each with its schema
CALL_TEMPLATE = "call_next"
MOST_CHARACTERS = 24_000
_PROSE = 160
_INNER = (4, 1)  # how many entries of lists within entries are kept, the second time fewer


class NextCall(BaseModel):
    """A call to make now."""

    name: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class NextCalls(BaseModel):
    """The calls to make at once, or, where none is left to make, the answer to the user."""

    calls: list[NextCall] = Field(default_factory=list)
    answer: str = ""


async def trace_goals(worded: WordedGoal, context: StageContext) -> list[TracedGoal]:
    """Return the worded goal with the model's calls; `problem` says why it had to be stopped."""
    goal = worded.goal
    environment = environment_of(goal, context)
    tools = _tools_to_call(goal, context)
    trace: list[Exchange] = []
    problem = f"It was still calling after {MOST_TURNS} turns."
    for turn in range(MOST_TURNS):
        shown = [one.with_changes(responses=tuple(map(abridged, one.responses))) for one in trace]
        prompt = next_calls_prompt(worded.request, tools, shown, goal.language)
        try:
            reply = await context.chat.ask(prompt, NextCalls)
        except ReplyError as error:
            problem = str(error)
            break
        if not reply.calls:
            problem = "" if reply.answer.strip() else "It neither called nor answered."
            break
        if len(reply.calls) > MOST_CALLS:
            problem = f"It made {len(reply.calls)} calls at once; {MOST_CALLS} are the most."
            break
        calls = tuple(Call(tool=call.name, arguments=call.arguments) for call in reply.calls)
        answers = [await environment.answer(call) for call in calls]
        responses = tuple(
            {"error": one.problem} if one.problem else one.response for one in answers
        )
        trace.append(Exchange(calls=calls, responses=responses))
        problem = f"It was still calling after {turn + 1} turns."
    origin = asked_origin(TRACES_STAGE, worded, goal.seed, context, (PROMPTS, CALL_TEMPLATE))
    return [TracedGoal(worded=worded, trace=tuple(trace), problem=problem, origin=origin)]


def _tools_to_call(goal: Goal, context: StageContext) -> list[Tool]:
    """Return the goal's candidates; of many, those that are due and the tools most like them."""
    tools = context.toolset(goal.candidates)
    due = {call.tool for call in goal.calls}
    each = MOST_SHOWN // len(due)
    alike = {
        one.key for tool in tools if tool.name in due for one in nearest_tools(tool, tools, each)
    }
    return tools if len(tools) <= MOST_SHOWN else [tool for tool in tools if tool.key in alike]


def next_calls_prompt(
    request: str,
    tools: Sequence[Tool],
    history: Sequence[Exchange],
    language: Language = DEFAULT_LANGUAGE,
) -> Prompt:
    """Return the prompt that shows request, tools and answers so far, and asks for NextCalls."""
    shown = shown_tools(tools)
    return render(
        PROMPTS,
        CALL_TEMPLATE,
        tools=shown,
        request=request,
        history=shown_past(history),
        language=language,
    )


def shown_past(history: Sequence[Exchange]) -> list[dict[str, Any]]:
    """Return past calls, results and words in the form that prompts show."""
    return [
        (
            {"assistant": one.said, "user": one.told}
            if one.told
            else {
                "calls": [{"name": call.tool, "arguments": call.arguments} for call in one.calls],
                "responses": one.responses,
            }
        )
        for one in history
    ]


def abridged(response: JsonValue, most: int = MOST_CHARACTERS) -> JsonValue:
    """Shorten a response with more than `most` bytes of JSON, keeping all outer list entries."""
    if len(orjson.dumps(response)) <= most:
        return response
    shown = response
    for kept in _INNER:
        shown = _shorter(response, kept, 0)
        if len(orjson.dumps(shown)) <= most:
            break
    return shown


def _shorter(value: JsonValue, kept: int, lists: int) -> JsonValue:
    if isinstance(value, str):
        return value[:_PROSE] + "…" if len(value) > _PROSE and " " in value else value
    if isinstance(value, list):
        members = value if lists < 1 else value[:kept]
        return [_shorter(member, kept, lists + 1) for member in members]
    if isinstance(value, dict):
        return {name: _shorter(member, kept, lists) for name, member in value.items()}
    return value


STAGE = "corrections"
TEMPLATE = "rewrite_goal"
ATTEMPTS = 3
_ROUNDS = 3
_ABSENT = ""


class MendedRequest(BaseModel):
    """The request with what it lacked."""

    request: Paragraph


async def correct_paths(traced: TracedGoal, context: StageContext) -> list[GoalPath]:
    """Return the shortest path with its differences from the model's, completing the request.

    Raises RecordError if no path meets the goal, or a shorter one can't be told by conditions.
    """
    worded = traced.worded
    environment = RememberedEnvironment(environment_of(worded.goal, context))
    tools = context.toolset(worded.goal.candidates)
    plan = await _shortest(worded.goal, environment, tools)
    if calls_of((await resolve(plan.goal, environment)).path) != calls_of(plan.path):
        raise RecordError(
            "There is a shorter path than the planned one, but no condition tells which values it"
            " takes."
        )
    request = await _mended(WordedGoal(goal=plan.goal, request=worded.request), tools, context)
    corrections = compare_paths(traced.trace, plan.path)
    if request != worded.request:
        corrections.append(Correction(kind="request", before=worded.request, after=request))
    return [
        GoalPath(
            traced=traced.with_changes(worded=worded.with_changes(goal=plan.goal)),
            request=request,
            path=plan.path,
            corrections=tuple(corrections),
            origin=asked_origin(STAGE, traced, worded.goal.seed, context, (PROMPTS, TEMPLATE)),
        )
    ]


async def _shortest(goal: Goal, environment: Environment, tools: Sequence[Tool]) -> ShortestPath:
    """Find the shortest path and its goal, repeating the search from each shorter one found."""
    plan: ShortestPath | None = None
    for _ in range(_ROUNDS):
        plans = await find_plans(plan.goal if plan else goal, environment, tools, limit=1)
        if not plans:
            raise RecordError("No path meets the goal with the tools among its candidates.")
        if plan is not None and plans[0].goal == plan.goal:
            break
        plan = plans[0]
    if plan is None:
        raise RecordError("No path meets the goal with the tools among its candidates.")
    return plan


async def _mended(worded: WordedGoal, tools: Sequence[Tool], context: StageContext) -> str:
    goal, request = worded.goal, worded.request
    by_name = {tool.name: tool for tool in tools}
    missing = unstated(goal, request, by_name)
    if not missing:
        return request
    details: list[dict[str, JsonValue]] = []
    for leaf, stated_value in missing:
        tool = by_name[goal.calls[leaf.call].tool]
        schema = schema_of(tool, leaf.argument)
        parameter = schema.get("title", leaf.argument)
        details.append(
            {
                "tool": tool.name,
                "parameter": parameter,
                "value": stated_value.value,
                "schema": dict(schema),
            }
        )
    prompt = render(
        PROMPTS, TEMPLATE, request=request, missing=details, language=goal.language, seed=goal.seed
    )
    best = request, len(missing)
    for attempt in range(ATTEMPTS):
        answer = await context.chat.ask(prompt, MendedRequest, sample_index=attempt)
        left = len(unstated(goal, answer.request, by_name))
        if left < best[1]:
            best = answer.request, left
        if not left:
            break
    # what no rule reads in it stays without evidence, and is for the checks and people
    return best[0]


class _Placed(NamedTuple):
    step: int
    call: Call


def compare_paths(before: Sequence[Exchange], after: Sequence[Exchange]) -> list[Correction]:
    """Return the corrections that turn one path into the other, in the order of their steps.

    Pairs the same calls at the same steps first, then the same calls, then those of the same
    tools that are most alike.
    """
    placed, due = (
        [_Placed(step, call) for step, exchange in enumerate(path) for call in exchange.calls]
        for path in (before, after)
    )
    corrections: list[Correction] = []
    for own in list(placed):
        if own in due:
            placed.remove(own)
            due.remove(own)
    for is_same in (True, False):
        for own in list(placed):
            alike = [
                one
                for one in due
                if (one.call == own.call if is_same else one.call.tool == own.call.tool)
            ]
            if alike:
                match = alike[0] if is_same else _nearest(own, alike)
                corrections += _differences(own, match)
                placed.remove(own)
                due.remove(match)
    return sorted(corrections + _tools(placed, due), key=lambda one: (one.step or 0, one.kind))


def _nearest(own: _Placed, others: Sequence[_Placed]) -> _Placed:
    """Return the call that shares most arguments with `own`; among equals, at the nearest step."""

    def likeness(other: _Placed) -> tuple[int, int]:
        same = sum(
            own.call.arguments.get(name) == value for name, value in other.call.arguments.items()
        )
        return same, -abs(own.step - other.step)

    return max(others, key=likeness)


def _differences(own: _Placed, match: _Placed) -> list[Correction]:
    """Return the differences between two calls of one tool, in arguments and in step."""
    corrections: list[Correction] = []
    for name in dict.fromkeys((*match.call.arguments, *own.call.arguments)):
        rendered = [_value(call.arguments, name) for call in (own.call, match.call)]
        if rendered[0] != rendered[1]:
            kind = _kind(own.call.arguments.get(name), match.call.arguments.get(name))
            before, after = (
                f"{match.call.tool}.{name} = {one}" if one else _ABSENT for one in rendered
            )
            corrections.append(Correction(kind=kind, step=match.step, before=before, after=after))
    if own.step != match.step:
        before, after = (f"step {one.step + 1}: {_written(own.call)}" for one in (own, match))
        corrections.append(Correction(kind="order", step=match.step, before=before, after=after))
    return corrections


def _value(arguments: dict[str, JsonValue], name: str) -> str:
    return orjson.dumps(arguments[name]).decode() if name in arguments else _ABSENT


def _kind(own: JsonValue, other: JsonValue) -> CorrectionKind:
    """Return the kind of a correction: values that read the same differ only in JSON type."""
    if own is None or other is None or type(own) is type(other):
        return "value"
    return "type" if as_text(own) == as_text(other) else "value"


def _tools(made: Sequence[_Placed], due: Sequence[_Placed]) -> list[Correction]:
    """Return corrections for tools that only one path calls; calls at the same step are paired."""
    left, corrections = list(due), []
    for own in made:
        match = next((one for one in left if one.step == own.step), None)
        if match is None:
            corrections.append(
                Correction(kind="needless", step=own.step, before=_written(own.call))
            )
            continue
        left.remove(match)
        corrections.append(
            Correction(
                kind="function",
                step=match.step,
                before=_written(own.call),
                after=_written(match.call),
            )
        )
    return corrections + [
        Correction(kind="missing", step=one.step, after=_written(one.call)) for one in left
    ]


def _written(call: Call) -> str:
    return f"{call.tool}({', '.join(f'{name}={_value(call.arguments, name)}' for name in call.arguments)})"  # noqa: E501
