"""A judge's word on runs over multi-step samples: calls written otherwise, and final answers (ComplexFuncBench 3.1, 3.2)."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, JsonValue

from llm.chat import ChatModel, Prompt
from llm.prompts import prompt_version, render
from validators.checks.judge import Judgement
from validators.conversations import conversation_text
from validators.proposals import PROMPTS
from warehouse.errors import ReplyError
from warehouse.records import Call, Exchange, Tool, UserTurn

CALLS = "judge_path_call"
COMPLETENESS = "judge_completeness"
CORRECTNESS = "judge_correctness"


class AnswerScore(BaseModel):
    """How good a final answer is in one respect: not at all, in part, wholly."""

    score: Literal[0, 1, 2]
    reason: str


async def judge_path_call(request: str, tool: Tool, due: Call, made: Call, judge: ChatModel) -> Judgement:
    """Whether a call asks for what the due one does; a reply that can't be read is no agreement."""
    prompt = render(
        PROMPTS,
        CALLS,
        tools=[{"name": tool.name, "description": tool.description, "parameters": tool.parameters}],
        conversation=conversation_text([UserTurn(text=request)]),
        expected=_shown(due),
        given=_shown(made),
    )
    try:
        return await judge.ask(prompt, Judgement)
    except ReplyError as error:
        return Judgement(agree=False, reason=f"The judge gave no answer that can be read: {error}")


async def score_completeness(request: str, answer: str, judge: ChatModel) -> int | None:
    """Whether an answer speaks to all of the request: 0, 1 or 2; None where the judge's reply can't be read."""
    return await _score(render(PROMPTS, COMPLETENESS, request=request, answer=answer), judge)


async def score_correctness(request: str, history: Sequence[Exchange], answer: str, judge: ChatModel) -> int | None:
    """Whether what an answer states is in the responses: 0, 1 or 2; None where the judge's reply can't be read."""
    shown: list[JsonValue] = [
        {"calls": [_shown(call) for call in exchange.calls], "responses": list(exchange.responses)}
        for exchange in history
    ]
    return await _score(render(PROMPTS, CORRECTNESS, request=request, history=shown, answer=answer), judge)


def path_judge_version() -> list[JsonValue]:
    """The versions of the prompts: a run judged on other ones is another run."""
    return [prompt_version(PROMPTS, name) for name in (CALLS, COMPLETENESS, CORRECTNESS)]


async def _score(prompt: Prompt, judge: ChatModel) -> int | None:
    try:
        return (await judge.ask(prompt, AnswerScore)).score
    except ReplyError:
        return None


def _shown(call: Call) -> dict[str, JsonValue]:
    return {"tool": call.tool, "arguments": call.arguments}
