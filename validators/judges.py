"""Asking a model for an opinion, for checks and metrics: one prompt, one schema for the reply.

An opinion about calls never shows which of them is the gold one. A question whose reply can't be
read raises ReplyError, except where the papers count such a reply as no agreement.
"""

from collections.abc import Awaitable, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, JsonValue

from callwright.generators.stages import StageContext
from callwright.generators.transcripts import conversation_text, shown_call, shown_tools
from callwright.llm.answer_schemas import narrowed
from callwright.llm.chat import ChatModel
from callwright.llm.prompts import led_by, prompt_version, render
from callwright.llm.stated_schemas import Line, choice_schema
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Exchange, GoldCall, Sample, Snapshot, Tool, Turn

PROMPTS = "callwright.validators.prompts"
ZERO_SHOT, ONE_SHOT = "call_zero_shot", "call_one_shot"
SAME_MEANING, SAME_AS_PREDICTED, SAME_ON_PATH = "judge_calls", "judge_prediction", "judge_path_call"
PLAN, PARAMETERS = "judge_plan", "judge_parameters"
COMPLETENESS, CORRECTNESS = "judge_completeness", "judge_correctness"
RELEVANCE, SCENARIO, NATURAL = "judge_relevance", "read_scenario", "judge_natural"
WRITE, PICK_TOOLS, SETTLE = "write_calls", "pick_tools", "settle_calls"
REPLY, ACTS, MESSAGE, COMPOSED = "judge_reply", "judge_acts", "judge_message", "judge_composed"
RESULTS = "judge_results"
Opinion = TypeVar("Opinion", bound=BaseModel)


class ProposedCall(BaseModel):
    """The call that a model thinks is due; `tool` is null where it finds none that fits."""

    tool: str | None
    arguments: dict[str, JsonValue] = {}

    @property
    def call(self) -> Call | None:
        """The call itself, or None if no tool is named."""
        return Call(tool=self.tool, arguments=self.arguments) if self.tool else None


class Judgement(BaseModel):
    """Why, and whether two calls do the same for the user."""

    reason: Line
    agree: bool


class Relevance(BaseModel):
    """Why, and the tool that can do what is asked, null where none can."""

    reason: Line
    tool: str | None


class Want(BaseModel):
    """Something that the person wants, and the tool that does it, null where none does."""

    want: Line
    tool: str | None


class ScenarioReading(BaseModel):
    """All that the person wants."""

    wants: list[Want]


class PlanGrade(BaseModel):
    """Why, and how near a plan comes to the due one, from 0 to 1."""

    reason: Line
    score: Annotated[float, Field(ge=0, le=1)]


class MadeUp(BaseModel):
    """Why, and the names of the parameters whose values nothing states."""

    reason: Line
    parameters: list[str]


class AnswerScore(BaseModel):
    """Why, and how good a final answer is in one respect: not at all, in part, wholly."""

    reason: Line
    score: Literal[0, 1, 2]


class ReplyScore(BaseModel):
    """How true a reply is to the results, and how much of what was asked it tells, from 1 to 5."""

    reason: Line
    score: Annotated[int, Field(ge=1, le=5)]


class ResultsScore(BaseModel):
    """How well results answer their calls and agree with what else is said, from 1 to 5."""

    reason: Line
    score: Annotated[int, Field(ge=1, le=5)]


async def ask_opinion(
    judge: ChatModel, template: str, opinion: type[Opinion], briefing: str = "", **shown: object
) -> Opinion:
    """Return a model's answer to a prompt of this package, as `opinion`.

    `briefing` says when a conversation takes place. Raises ReplyError if the answer can't be
    read.
    """
    return await judge.ask(led_by(briefing, render(PROMPTS, template, **shown)), opinion)


def opinion_versions(*templates: str) -> list[str]:
    """Return the versions of prompts; answers to another version are asked for anew."""
    return [prompt_version(PROMPTS, template) for template in templates]


async def propose_call(
    template: str, sample: Sample, snapshot: Snapshot, context: StageContext
) -> Call | None:
    """Return the call that the context's model makes after the snapshot's prefix, or None."""
    tools = context.toolset(sample.candidates)
    named = choice_schema([tool.name for tool in tools], or_none=True)
    proposed = await ask_opinion(
        context.chat,
        template,
        narrowed(ProposedCall, {"tool": named}),
        sample.time_sentence,
        tools=shown_tools(tools),
        conversation=conversation_text(snapshot.prefix),
        language=sample.language,
    )
    return proposed.call


async def judge_calls(
    judge: ChatModel,
    template: str,
    tools: Sequence[Tool],
    turns: Sequence[Turn],
    pair: tuple[Call | GoldCall, Call],
    *,
    briefing: str = "",
) -> Judgement:
    """Return whether the second call of a pair does what the first does, after these turns.

    `template` says how equal they must be.
    """
    expected, given_call = pair
    return await ask_opinion(
        judge,
        template,
        Judgement,
        briefing,
        tools=shown_tools(tools),
        conversation=conversation_text(turns),
        expected=shown_call(expected),
        given=shown_call(given_call),
    )


async def agreed(judgement: Awaitable[Judgement]) -> Judgement:
    """Return a judgement on calls; an unreadable reply counts as disagreement, as in the papers."""
    try:
        return await judgement
    except ReplyError as error:
        return Judgement(agree=False, reason=f"The judge gave no answer that can be read: {error}")


async def find_made_up(
    judge: ChatModel, turns: Sequence[Turn], call: Call, tool: Tool, briefing: str = ""
) -> list[str]:
    """Return a call's made-up parameters in the call's order; names that it lacks are dropped.

    A parameter is made up if the conversation does not support it (CONFETTI 4.1, 5.4).
    """
    if not call.arguments:
        return []
    shown = {
        "tools": shown_tools([tool]),
        "conversation": conversation_text(turns),
        "call": shown_call(call),
    }
    named = {"type": "array", "items": choice_schema(call.arguments)}
    answer = narrowed(MadeUp, {"parameters": named})
    opinion = await ask_opinion(judge, PARAMETERS, answer, briefing, **shown)
    return [name for name in call.arguments if name in opinion.parameters]


async def score_completeness(
    judge: ChatModel, request: str, answer: str, briefing: str = ""
) -> int | None:
    """Return whether an answer addresses all of the request: 0, 1 or 2.

    None if the judge's reply can't be read.
    """
    return await _score(judge, COMPLETENESS, briefing, request=request, answer=answer)


async def score_correctness(
    judge: ChatModel, request: str, history: Sequence[Exchange], answer: str, briefing: str = ""
) -> int | None:
    """Return whether the responses contain what an answer states: 0, 1 or 2.

    None if the judge's reply can't be read.
    """
    shown = [
        {
            "calls": [shown_call(call) for call in exchange.calls],
            "responses": list(exchange.responses),
        }
        for exchange in history
    ]
    return await _score(judge, CORRECTNESS, briefing, request=request, history=shown, answer=answer)


async def _score(judge: ChatModel, template: str, briefing: str, **shown: object) -> int | None:
    try:
        return (await ask_opinion(judge, template, AnswerScore, briefing, **shown)).score
    except ReplyError:
        return None
