"""A judge's word on the parameters of a call: which of them the conversation does not bear out (CONFETTI 4.1, 5.4)."""

from collections.abc import Sequence

from pydantic import BaseModel

from llm.chat import ChatModel
from llm.prompts import prompt_version, render
from validators.conversations import conversation_text
from validators.proposals import PROMPTS
from warehouse.records import Call, Tool, Turn

TEMPLATE = "judge_parameters"


class MadeUp(BaseModel):
    """The names of the parameters whose values nothing states, and why."""

    parameters: list[str]
    reason: str


async def judge_parameters(turns: Sequence[Turn], call: Call, tool: Tool, judge: ChatModel) -> list[str]:
    """The parameters of a call that are made up, in the order of the call; names that it does not have are dropped.

    Raises ReplyError where the judge's reply can't be read: then nothing is known of this call.
    """
    if not call.arguments:
        return []
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[{"name": tool.name, "description": tool.description, "parameters": tool.parameters}],
        conversation=conversation_text(turns),
        call={"tool": call.tool, "arguments": call.arguments},
    )
    said = await judge.ask(prompt, MadeUp)
    return [name for name in call.arguments if name in said.parameters]


def parameter_judge_version() -> str:
    """The version of the judge's prompt: calls judged on another one are asked anew."""
    return prompt_version(PROMPTS, TEMPLATE)
