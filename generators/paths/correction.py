"""What a model called, held against the shortest path; and a request that says all that the path needs.

(ComplexFuncBench 2.1.2, correction)
"""

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from generators.environments.protocol import Environment
from generators.paths.answers import RememberedEnvironment
from generators.paths.differences import compare_paths
from generators.paths.disambiguation import calls_of
from generators.paths.evidence import schema_of, unsaid
from generators.paths.resolving import resolve
from generators.paths.search import Plan, find_plans
from generators.paths.sources import Leaf
from generators.stage_context import StageContext
from llm.prompts import prompt_version, render
from warehouse.errors import RecordError, ReplyError
from warehouse.records import Correction, Goal, GoalPath, Origin, Said, Tool, TracedGoal, WordedGoal

STAGE = "corrections"
TEMPLATE = "rewrite_goal"
PROMPTS = "generators.prompts"
ATTEMPTS = 3
_ROUNDS = 3


class MendedRequest(BaseModel):
    """The request with what it lacked."""

    request: str


async def correct_paths(traced: TracedGoal, context: StageContext) -> list[GoalPath]:
    """The shortest path, with all that sets the model's apart from it; the request says every detail that it needs.

    Raises RecordError where no path meets the goal, ReplyError where the request could not be mended.
    """
    worded = traced.worded
    environment = RememberedEnvironment(context.environment(worded.goal.environment))
    tools = context.toolset(worded.goal.candidates)
    plan = await _shortest(worded.goal, environment, tools)
    if calls_of((await resolve(plan.goal, environment)).path) != calls_of(plan.path):
        raise RecordError("There is a shorter path than the planned one, but no condition tells which values it takes.")
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
            origin=Origin(
                stage=STAGE,
                parents=(traced.key,),
                seed=worded.goal.seed,
                model=context.chat.name,
                prompt_version=prompt_version(PROMPTS, TEMPLATE),
            ),
        )
    ]


async def _shortest(goal: Goal, environment: Environment, tools: Sequence[Tool]) -> Plan:
    """The shortest path and its goal: where a shorter one than the planned is found, what is shorter than that."""
    plan: Plan | None = None
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
    missing = unsaid(goal, request, by_name)
    if not missing:
        return request
    details = [_detail(leaf, by_name[goal.calls[leaf.call].tool]) for leaf in missing]
    prompt = render(PROMPTS, TEMPLATE, request=request, missing=details, language=goal.language, seed=goal.seed)
    left = missing
    for attempt in range(ATTEMPTS):
        answer = await context.chat.ask(prompt, MendedRequest, sample_index=attempt)
        left = unsaid(goal, answer.request, by_name)
        if not left:
            return answer.request
    names = ", ".join(f"{leaf.argument} = {leaf.source.value!r}" for leaf in left if isinstance(leaf.source, Said))
    raise ReplyError(f"The request still lacks details after {ATTEMPTS} rewritings: {names}.")


def _detail(leaf: Leaf, tool: Tool) -> dict[str, JsonValue]:
    schema = schema_of(tool, leaf.argument)
    value = leaf.source.value if isinstance(leaf.source, Said) else None
    return {"tool": tool.name, "parameter": schema.get("title", leaf.argument), "value": value, "schema": dict(schema)}
