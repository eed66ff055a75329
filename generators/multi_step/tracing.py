"""The preliminary path: a model calls step by step, knowing the request, the tools and the responses alone."""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel, Field, JsonValue

from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.tasks import environment_of
from callwright.generators.multi_step.wording import PROMPTS
from callwright.generators.stages import StageContext, asked_origin
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    Call,
    Exchange,
    Language,
    Tool,
    TracedGoal,
    WordedGoal,
)

STAGE = "traces"
MOST_TURNS = 10
MOST_CALLS = 16
TEMPLATE = "call_next"
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
    """The worded goal with what the model called; `problem` says why it stopped where it did not end by itself."""
    goal = worded.goal
    environment = environment_of(goal, context)
    tools = context.toolset(goal.candidates)
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
        problem = _excess(reply)
        if problem:
            break
        trace.append(await _made(reply, environment))
        problem = f"It was still calling after {turn + 1} turns."
    origin = asked_origin(STAGE, worded, goal.seed, context, (PROMPTS, TEMPLATE))
    return [TracedGoal(worded=worded, trace=tuple(trace), problem=problem, origin=origin)]


def _excess(reply: NextCalls) -> str:
    if len(reply.calls) <= MOST_CALLS:
        return ""
    return f"It made {len(reply.calls)} calls at once; {MOST_CALLS} are the most."


async def _made(reply: NextCalls, environment: Environment) -> Exchange:
    calls = tuple(Call(tool=call.name, arguments=call.arguments) for call in reply.calls)
    return Exchange(calls=calls, responses=tuple([await _response(call, environment) for call in calls]))


async def _response(call: Call, environment: Environment) -> JsonValue:
    answer = await environment.answer(call)
    return {"error": answer.problem} if answer.problem else answer.response


def next_calls_prompt(
    request: str, tools: Sequence[Tool], history: Sequence[Exchange], language: Language = DEFAULT_LANGUAGE
) -> Prompt:
    """The prompt that shows request, tools and what was answered so far, and asks for NextCalls."""
    shown = [tool.signature for tool in tools]
    return render(PROMPTS, TEMPLATE, tools=shown, request=request, history=shown_past(history), language=language)


def shown_past(history: Sequence[Exchange]) -> list[dict[str, Any]]:
    """What was called and returned, and what was said in between, as prompts show it."""
    return [
        {"assistant": one.said, "user": one.told}
        if one.told
        else {
            "calls": [{"name": call.tool, "arguments": call.arguments} for call in one.calls],
            "responses": one.responses,
        }
        for one in history
    ]


def abridged(response: JsonValue, most: int = MOST_CHARACTERS) -> JsonValue:
    """The response, shortened where its JSON is longer than `most`; every entry of the outer lists stays."""
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
