"""Ask a model for the sentences that people say to a tool."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, Field

from callwright.llm.chat import ChatModel, Prompt, again
from callwright.llm.prompts import render
from callwright.warehouse.records import Language, Tool

PROMPTS = "callwright.generators.sentences.prompts"
STAGE = "draft_sentences"
_OTHERS = 20

Words = Annotated[str, Field(min_length=1, max_length=500)]


class SaidValue(BaseModel):
    """The words for a value of a flag or a choice; a flag's values are "true" and "false"."""

    parameter: str
    value: str
    words: Words


class AskedParameter(BaseModel):
    """How an assistant asks for a parameter."""

    parameter: str
    question: Words


class SentenceDraft(BaseModel):
    """Templates of requests for a tool, the words for some values, and a question a parameter."""

    requests: list[Words] = Field(min_length=1, max_length=8)
    says: list[SaidValue] = Field(default=[], max_length=400)
    questions: list[AskedParameter] = Field(default=[], max_length=200)


def sentence_prompt(tool: Tool, others: Sequence[Tool], language: Language, opener: str) -> Prompt:
    """Return the prompt for a tool's sentences, with some of the `others` and an `opener`.

    A request may begin with the opener.
    """
    near = [one for one in others if one.category == tool.category and one.key != tool.key]
    shown = [{"name": one.name, "description": one.description} for one in near[:_OTHERS]]
    return render(PROMPTS, STAGE, tool=tool, others=shown, language=language, opener=opener)


async def draft_sentences(prompt: Prompt, chat: ChatModel) -> SentenceDraft:
    """Return a model's first draft. Raises ReplyError if it is not a draft."""
    return await chat.ask(prompt, SentenceDraft)


async def mend_sentences(
    prompt: Prompt, draft: SentenceDraft, problems: Sequence[str], chat: ChatModel
) -> SentenceDraft:
    """Return a draft that replaces an unusable one. Raises ReplyError if it is not a draft."""
    told = "\n".join(f"- {one}" for one in problems)
    wish = f"These are its mistakes:\n{told}\nReply again with the whole, corrected."
    return await chat.ask(again(prompt, draft.model_dump_json(), wish), SentenceDraft)
