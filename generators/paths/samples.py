"""The sample of a path: the request, then calls and responses in turn, evidence for every argument, and an answer."""

from generators.environments.protocol import Environment
from generators.paths.answers import RememberedEnvironment
from generators.paths.evidence import evidence_of
from generators.paths.resolving import Resolved, resolve
from generators.paths.telling import final_answer
from generators.stage_context import StageContext
from warehouse.errors import RecordError
from warehouse.records import CallTurn, Goal, GoalPath, GoldCall, Origin, ReplyTurn, ResultTurn, Sample, Turn, UserTurn

STAGE = "generalisation"
CROSS = "Cross"
KIND, CROSS_KIND = "multi_step", "multi_step_cross"
WANTED_TAG = "wanted="


async def write_sample(path: GoalPath, context: StageContext, template: GoalPath) -> Sample:
    """The sample of a path that was disambiguated: of the template itself, or of a variant of it."""
    goal = path.traced.worded.goal
    environment = context.environment(goal.environment)
    recorded = [pair for exchange in path.path for pair in zip(exchange.calls, exchange.responses, strict=True)]
    resolved = await resolve(goal, RememberedEnvironment(environment, recorded))
    if [exchange.calls for exchange in resolved.path] != [exchange.calls for exchange in path.path]:
        raise RecordError("The goal leads to other calls than the path has, so that no evidence fits them.")
    return Sample(
        kind=CROSS_KIND if goal.domain == CROSS else KIND,
        language=goal.language,
        category=goal.domain,
        candidates=tuple(key for key in goal.candidates if key not in path.removed),
        turns=_turns(path, resolved, environment),
        tags=(
            f"environment={goal.environment}",
            f"template={template.traced.worded.goal.key}",
            wanted_tag(goal, resolved),
        ),
        origin=Origin(stage=STAGE, parents=(template.key,), seed=goal.seed, model=context.chat.name),
    )


def wanted_tag(goal: Goal, resolved: Resolved) -> str:
    """Which calls the user asks for, as "wanted=1.0 2.1": step and place in it."""
    positions = dict.fromkeys(resolved.positions[index] for index, planned in enumerate(goal.calls) if planned.wanted)
    return WANTED_TAG + " ".join(f"{step}.{position}" for step, position in sorted(positions))


def _turns(path: GoalPath, resolved: Resolved, environment: Environment) -> tuple[Turn, ...]:
    goal = path.traced.worded.goal
    tools = {tool.name: tool for tool in environment.tools}
    turns: list[Turn] = [UserTurn(text=path.request)]
    for step, exchange in enumerate(path.path):
        calls: list[GoldCall] = []
        for position, call in enumerate(exchange.calls):
            index = resolved.positions.index((step, position))
            evidence = evidence_of(index, goal, resolved, path.request, tools[call.tool])
            calls.append(GoldCall(tool=call.tool, arguments=call.arguments, evidence=evidence))
        turns.append(CallTurn(calls=tuple(calls), executed=True))
        turns.append(ResultTurn(results=exchange.responses))
    wanted = [
        (resolved.call(index), resolved.response(index)) for index, planned in enumerate(goal.calls) if planned.wanted
    ]
    turns.append(ReplyTurn(text=final_answer(wanted, goal.language)))
    return tuple(turns)
