"""A judge's graded word on predictions: how near a plan comes to the due one, which parameters are borne out.

The first is CallNavi's judge score (5.2, B.2), the second CONFETTI's parameter validity (4.1), asked call by call of calls
with the right name.
"""

from collections import Counter
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, JsonValue

from generators.stage_context import StageContext
from llm.prompts import prompt_version, render
from validators.manners import setting_of
from validators.parameter_judging import judge_parameters, parameter_judge_version
from validators.proposals import PROMPTS
from warehouse.errors import RecordError, ReplyError
from warehouse.records import Call, CallTurn, GoldCall, Grade, GradeMetric, Prediction, Sample

TEMPLATE = "judge_plan"


class PlanGrade(BaseModel):
    """How near a plan comes to the due one, from 0 to 1, and why."""

    score: Annotated[float, Field(ge=0, le=1)]
    reason: str


class _Word(NamedTuple):
    """What a judge says: `value` out of `of`."""

    value: float
    of: int
    reason: str


def graded_metric(prediction: Prediction, sample: Sample) -> GradeMetric | None:
    """What a judge can grade a prediction for, None where there is nothing to grade."""
    match setting_of(sample.kind):
        case "plan":
            return "judge_score"
        case "conversation":
            has_parameters = any(call.arguments for call in rightly_named(prediction, sample))
            return "parameter_validity" if has_parameters else None
        case _:
            return None


def rightly_named(prediction: Prediction, sample: Sample) -> list[Call]:
    """The predicted calls of tools that are due at the turn; each due call lends its name to one."""
    turn = sample.turns[prediction.turn] if 0 <= prediction.turn < len(sample.turns) else None
    left = Counter(call.tool for call in turn.calls) if isinstance(turn, CallTurn) else Counter[str]()
    named: list[Call] = []
    for call in prediction.calls or ():
        if left[call.tool]:
            left[call.tool] -= 1
            named.append(call)
    return named


async def grade_prediction(prediction: Prediction, sample: Sample, context: StageContext) -> Grade:
    """Ask the context's model to grade a prediction; a reply that can't be read says nothing of it, and counts nowhere.

    Raises RecordError where there is nothing to grade.
    """
    metric = graded_metric(prediction, sample)
    if metric is None:
        raise RecordError(f"The prediction {prediction.key} has nothing that a judge could grade. Leave it out.")
    ask = _grade_plan if metric == "judge_score" else _grade_parameters
    try:
        word = await ask(prediction, sample, context)
    except ReplyError as error:
        word = _Word(0, 0, f"The judge gave no answer that can be read: {error}")
    return Grade(
        prediction=prediction.key,
        judge=context.chat.name,
        metric=metric,
        value=word.value,
        count=word.of,
        reason=word.reason,
        version=grade_versions()[metric],
    )


def grade_versions() -> dict[GradeMetric, str]:
    """The versions of the judge's prompts: what was graded on another one is asked anew."""
    return {"judge_score": prompt_version(PROMPTS, TEMPLATE), "parameter_validity": parameter_judge_version()}


async def _grade_plan(prediction: Prediction, sample: Sample, context: StageContext) -> _Word:
    turn = sample.turns[prediction.turn]
    due = turn.calls if isinstance(turn, CallTurn) else ()
    given: JsonValue = prediction.text if prediction.calls is None else [_shown(call) for call in prediction.calls]
    prompt = render(PROMPTS, TEMPLATE, expected=[_shown(call) for call in due], given=given)
    said = await context.chat.ask(prompt, PlanGrade)
    return _Word(said.score, 1, said.reason)


async def _grade_parameters(prediction: Prediction, sample: Sample, context: StageContext) -> _Word:
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    history = sample.turns[: prediction.turn]
    judged, made_up = 0, []
    for call in rightly_named(prediction, sample):
        judged += len(call.arguments)
        invented = await judge_parameters(history, call, tools[call.tool], context.chat)
        made_up += [f"{call.tool}.{name}" for name in invented]
    return _Word(judged - len(made_up), judged, f"Not stated: {', '.join(made_up)}." if made_up else "")


def _shown(call: Call | GoldCall) -> dict[str, JsonValue]:
    return {"tool": call.tool, "arguments": call.arguments}
