"""A judge on predictions: equal calls, nearness of plans, and stated parameters.

Whether a call written otherwise does what is due is HammerBench's question (D.4); how near a
plan comes is CallNavi's judge score (5.2, B.2); which parameters are stated is CONFETTI's
parameter validity (4.1), asked for each call with the right name.
"""

from collections import Counter

from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import shown_call
from callwright.validators.judges import (
    PARAMETERS,
    PLAN,
    SAME_AS_PREDICTED,
    Judgement,
    PlanGrade,
    agreed,
    ask_opinion,
    find_made_up,
    judge_calls,
    opinion_versions,
)
from callwright.validators.metrics.hammerbench.snapshots import pairs_to_judge
from callwright.validators.metrics.mistakes import pair_calls
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Grade,
    GradeMetric,
    JudgeVerdict,
    Prediction,
    Sample,
)


async def judge_prediction(
    prediction: Prediction, sample: Sample, context: StageContext
) -> JudgeVerdict:
    """Ask the context's model, call by call, whether the predicted calls do what is due.

    It stops at the first that does not. Raises RecordError if no two calls differ in their
    values alone.
    """
    pairs = pairs_to_judge(prediction, sample)
    if not pairs:
        raise RecordError(
            f"The prediction {prediction.key} has no two calls to compare; a judge has nothing to"
            " say."
        )
    judgements: list[Judgement] = []
    for due, made in pairs:
        tools = [tool for tool in context.toolset(sample.candidates) if tool.name == due.tool]
        turns, pair, briefing = sample.turns[: prediction.turn], (due, made), sample.time_sentence
        asked = judge_calls(context.chat, SAME_AS_PREDICTED, tools, turns, pair, briefing=briefing)
        judgements.append(await agreed(asked))
        if not judgements[-1].agree:
            break
    agree = judgements[-1].agree
    return JudgeVerdict(
        prediction=prediction.key,
        judge=context.chat.name,
        agree=agree,
        reason=" ".join(dict.fromkeys(one.reason for one in judgements if one.agree is agree)),
        version=judge_version(),
    )


def judge_version() -> str:
    """Return the version of the prompt about predicted calls; a new one asks for verdicts anew."""
    return opinion_versions(SAME_AS_PREDICTED)[0]


def graded_metric(prediction: Prediction, sample: Sample) -> GradeMetric | None:
    """Return what a judge can grade a prediction for, or None."""
    match traits_of(sample.kind).asked:
        case "plan":
            return "judge_score"
        case "conversation":
            has_parameters = any(call.arguments for call in rightly_named(prediction, sample))
            return "parameter_validity" if has_parameters else None
        case _:
            return None


def rightly_named(prediction: Prediction, sample: Sample) -> list[Call]:
    """Return the predicted calls of tools that are due at the turn, one for each due call."""
    turn = sample.turns[prediction.turn] if 0 <= prediction.turn < len(sample.turns) else None
    left = (
        Counter(call.tool for call in turn.calls) if isinstance(turn, CallTurn) else Counter[str]()
    )
    named: list[Call] = []
    for call in prediction.calls or ():
        if left[call.tool]:
            left[call.tool] -= 1
            named.append(call)
    return named


async def grade_prediction(prediction: Prediction, sample: Sample, context: StageContext) -> Grade:
    """Ask the context's model to grade a prediction.

    A reply that can't be read says nothing about it, and counts nowhere. Raises RecordError if
    there is nothing to grade.
    """
    metric = graded_metric(prediction, sample)
    if metric is None:
        raise RecordError(
            f"The prediction {prediction.key} has nothing that a judge could grade. Leave it out."
        )
    ask = _grade_plan if metric == "judge_score" else _grade_parameters
    try:
        value, count, reason = await ask(prediction, sample, context)
    except ReplyError as error:
        value, count, reason = 0, 0, f"The judge gave no answer that can be read: {error}"
    return Grade(
        prediction=prediction.key,
        judge=context.chat.name,
        metric=metric,
        value=value,
        count=count,
        reason=reason,
        version=grade_versions()[metric],
    )


def grade_versions() -> dict[GradeMetric, str]:
    """Return the versions of the judge's prompts; a new version is graded anew."""
    plan, parameters = opinion_versions(PLAN, PARAMETERS)
    return {"judge_score": plan, "parameter_validity": parameters}


async def _grade_plan(
    prediction: Prediction, sample: Sample, context: StageContext
) -> tuple[float, int, str]:
    """Return how much is right, out of how much, and why."""
    due, compared_calls = sample.calls_at(prediction.turn), prediction.calls
    # the judge of plans looks at the order, which is free here
    if compared_calls and traits_of(sample.kind).calls == "set":
        compared_calls = tuple(
            pair.made
            for pair in pair_calls(due, compared_calls, sample.language)
            if pair.made is not None
        )
    given: JsonValue = (
        prediction.text if compared_calls is None else [shown_call(call) for call in compared_calls]
    )
    expected = [shown_call(call) for call in due]
    grade = await ask_opinion(
        context.chat, PLAN, PlanGrade, sample.time_sentence, expected=expected, given=given
    )
    return grade.score, 1, grade.reason


async def _grade_parameters(
    prediction: Prediction, sample: Sample, context: StageContext
) -> tuple[float, int, str]:
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    history = sample.turns[: prediction.turn]
    judged, made_up = 0, []
    for call in rightly_named(prediction, sample):
        judged += len(call.arguments)
        invented = await find_made_up(
            context.chat, history, call, tools[call.tool], sample.time_sentence
        )
        made_up += [f"{call.tool}.{name}" for name in invented]
    return judged - len(made_up), judged, f"Not stated: {', '.join(made_up)}." if made_up else ""
