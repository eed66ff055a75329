"""A judge's word on predictions: whether a call that is written otherwise does what the gold call does (HammerBench D.4)."""

from generators.stage_context import StageContext
from llm.prompts import prompt_version, render
from validators.checks.judge import Judgement
from validators.conversations import conversation_text
from validators.metrics.errors import gold_at, said_arguments
from validators.proposals import PROMPTS
from warehouse.errors import RecordError, ReplyError
from warehouse.records import JudgeVerdict, Prediction, Sample

TEMPLATE = "judge_prediction"


async def judge_prediction(prediction: Prediction, sample: Sample, context: StageContext) -> JudgeVerdict:
    """Ask the context's model about a prediction; a reply that can't be read is no agreement, as in the paper's runs.

    Raises RecordError where the prediction makes no call, or none is due.
    """
    gold = gold_at(prediction, sample)
    if gold is None or not prediction.calls:
        raise RecordError(f"The prediction {prediction.key} has no two calls to compare; a judge has nothing to say.")
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in context.toolset(sample.candidates)
            if tool.name == gold.tool
        ],
        conversation=conversation_text(sample.turns[: prediction.turn]),
        expected={"tool": gold.tool, "arguments": gold.arguments},
        given={"tool": prediction.calls[0].tool, "arguments": said_arguments(prediction.calls[0].arguments)},
    )
    try:
        judgement = await context.chat.ask(prompt, Judgement)
    except ReplyError as error:
        judgement = Judgement(agree=False, reason=f"The judge gave no answer that can be read: {error}")
    return JudgeVerdict(
        prediction=prediction.key,
        judge=context.chat.name,
        agree=judgement.agree,
        reason=judgement.reason,
        version=judge_version(),
    )


def judge_version() -> str:
    """The version of the judge's prompt: verdicts on another one are asked anew."""
    return prompt_version(PROMPTS, TEMPLATE)
