"""How a model is asked for the next calls of a path, and what it answers: one form for tracing and for candidates."""

from collections.abc import Sequence

from pydantic import BaseModel, Field, JsonValue

from llm.chat import Prompt
from llm.prompts import render
from warehouse.records import Call, Exchange, Language, Tool

PROMPTS = "generators.prompts"
TEMPLATE = "call_next"


class NextCall(BaseModel):
    """A call to make now."""

    name: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class NextCalls(BaseModel):
    """The calls to make at once, or, where none is left to make, the answer to the user."""

    calls: list[NextCall] = Field(default_factory=list)
    answer: str = ""


def next_calls_prompt(
    request: str, tools: Sequence[Tool], history: Sequence[Exchange], language: Language = "en"
) -> Prompt:
    """The prompt that shows request, tools and what was answered so far, and asks for NextCalls."""
    shown = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in tools]
    past = [
        {"calls": [_shown(call) for call in exchange.calls], "responses": exchange.responses} for exchange in history
    ]
    return render(PROMPTS, TEMPLATE, tools=shown, request=request, history=past, language=language)


def _shown(call: Call) -> dict[str, JsonValue]:
    return {"name": call.tool, "arguments": call.arguments}
