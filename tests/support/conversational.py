"""Simulated conversations for tests: made by the template model, and the same with their
complexity taken away.
"""

from collections.abc import Callable, Sequence
from random import Random

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.conversations import CONVERSATION
from callwright.generators.conversations.making import label_conversations, write_conversations
from callwright.generators.conversations.moves import plan_conversations, word_scenarios
from callwright.generators.conversations.scenarios import plan_scenarios
from callwright.generators.families import LeftOut, Order, ignore
from callwright.generators.kinds import all_kinds
from callwright.generators.stages import StageContext
from callwright.llm.chat import Answer, ChatRequest, Completion, Prompt
from callwright.llm.template.model import TemplateModel
from callwright.warehouse.records import Complexity, Language, Sample, Tool

TOOLS = {tool.key: tool for tool in seed_tools()}


class TemplateChat:
    """The template model without a ledger."""

    name = "template/v1"

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        asked = ChatRequest(
            self.name,
            prompt.messages,
            answer.model_json_schema(),
            (),
            (),
            sample_index,
            prompt.marks,
        )
        return answer.model_validate_json((await TemplateModel().send(asked)).text)

    async def complete(
        self, prompt: Prompt, tools: object = (), *, sample_index: int = 0
    ) -> Completion:
        raise AssertionError("No stage here asks for free text.")


def scenario_order(
    complexity: Complexity,
    count: int,
    tools: Sequence[Tool],
    *,
    seed: int = 1,
    language: Language = "en",
    leave_out: Callable[[LeftOut], None] = ignore,
) -> Order:
    """An order of so many scenarios."""
    return Order(
        all_kinds()[CONVERSATION], language, complexity, count, tools, seed, leave_out=leave_out
    )


def template_context(seed: int = 1) -> StageContext:
    return StageContext(chat=TemplateChat(), rng=Random(seed), tools=TOOLS)


async def converse(complexity: Complexity, language: Language = "en", *, seed: int = 1) -> Sample:
    """A conversation with this complexity, made by all stages."""
    (scenario,) = plan_scenarios(
        complexity,
        scenario_order(complexity, 1, list(TOOLS.values()), seed=seed, language=language),
    )
    context = template_context(scenario.seed)
    (plan,) = await plan_conversations(scenario, context)
    (worded,) = await word_scenarios(plan, context)
    (conversation,) = await write_conversations(worded, context)
    (sample,) = await label_conversations(conversation, context)
    return sample
