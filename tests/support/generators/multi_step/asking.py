"""The template model as stages are handed it, and a context with an environment on it."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from callwright.generators.environments.protocol import Environment
from callwright.generators.stages import StageContext
from callwright.llm.asking import parse_answer
from callwright.llm.chat import Answer, ChatModel, ChatRequest, Completion, Prompt
from callwright.llm.template.model import TemplateModel
from callwright.warehouse.records import Tool


class ErringTemplateChat:
    """template/v1 without a ledger; `planted` are the defects it owned up to."""

    name = "template/v1"

    def __init__(self, error_rate: Mapping[str, float] | None = None, seed: int = 0) -> None:
        self._model = TemplateModel(seed=seed, error_rate=error_rate or {})
        self.planted: list[str] = []

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        schema: dict[str, Any] = answer.model_json_schema()
        reply = await self._model.send(
            ChatRequest(self.name, prompt.messages, schema, (), (), sample_index, prompt.marks)
        )
        self.planted.append(reply.planted)
        return parse_answer(reply.text, answer)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        return Completion("", None)


def context_of(
    environment: Environment, chat: ChatModel | None = None, seed: int = 0
) -> StageContext:
    tools = {tool.key: tool for tool in environment.tools}
    return StageContext(
        chat or ErringTemplateChat(), Random(seed), tools, {environment.name: environment}
    )
