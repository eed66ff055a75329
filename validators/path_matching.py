"""What ComplexEval asks of others while it matches: how like calls are, what an environment returns, what a judge says."""

from pydantic import JsonValue

from generators.stage_context import StageContext
from llm.chat import ChatModel
from validators.embeddings import likeness
from validators.metrics.complexeval.turns import Judge, Matchers, Respond
from validators.path_judging import judge_path_call
from warehouse.records import Call, Sample

ENVIRONMENT = "environment="  # the tag that names what answers a sample's calls


def matchers_of(sample: Sample, context: StageContext, judge: ChatModel | None) -> Matchers:
    """The matchers for a sample; without its environment, or without a judge, that matching finds no call equal."""
    return Matchers(likeness, _responding(sample, context), None if judge is None else _judging(sample, context, judge))


def environment_of(sample: Sample) -> str:
    """The name of the environment that a sample's calls were answered by, "" where it tells none."""
    return next((tag.removeprefix(ENVIRONMENT) for tag in sample.tags if tag.startswith(ENVIRONMENT)), "")


def _responding(sample: Sample, context: StageContext) -> Respond | None:
    environment = context.environments.get(environment_of(sample))
    if environment is None:
        return None

    async def respond(call: Call) -> JsonValue:
        answer = await environment.answer(call)
        return None if answer.problem else answer.response

    return respond


def _judging(sample: Sample, context: StageContext, judge: ChatModel) -> Judge:
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}

    async def agree(made: Call, due: Call) -> bool:
        if made.tool != due.tool or due.tool not in tools:
            return False
        return (await judge_path_call(sample.request, tools[due.tool], due, made, judge)).agree

    return agree
