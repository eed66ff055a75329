"""The preliminary path: a model calls step by step, knowing the request, the tools and the responses alone."""

from pydantic import JsonValue

from generators.environments.protocol import Environment
from generators.paths.abridging import abridged
from generators.paths.next_calls import PROMPTS, TEMPLATE, NextCalls, next_calls_prompt
from generators.stage_context import StageContext
from llm.prompts import prompt_version
from warehouse.errors import ReplyError
from warehouse.records import Call, Exchange, Origin, TracedGoal, WordedGoal

STAGE = "traces"
MOST_TURNS = 10
MOST_CALLS = 16


async def trace_goals(worded: WordedGoal, context: StageContext) -> list[TracedGoal]:
    """The worded goal with what the model called; `problem` says why it stopped where it did not end by itself."""
    goal = worded.goal
    environment = context.environment(goal.environment)
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
    origin = Origin(
        stage=STAGE,
        parents=(worded.key,),
        seed=goal.seed,
        model=context.chat.name,
        prompt_version=prompt_version(PROMPTS, TEMPLATE),
    )
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
