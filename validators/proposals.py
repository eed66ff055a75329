"""Asking a model which call is due after a conversation, without showing it the gold."""

from pydantic import BaseModel, JsonValue

from generators.stage_context import StageContext
from llm.prompts import render
from validators.conversations import conversation_text
from warehouse.records import Call, GoldCall, Sample, Snapshot

PROMPTS = "validators.prompts"
ZERO_SHOT = "call_zero_shot"
ONE_SHOT = "call_one_shot"


class ProposedCall(BaseModel):
    """The call that a model thinks is due; `tool` is null where it finds none that fits."""

    tool: str | None
    arguments: dict[str, JsonValue] = {}

    @property
    def call(self) -> Call | None:
        """The call itself, None where no tool is named."""
        return Call(tool=self.tool, arguments=self.arguments) if self.tool else None


async def propose_call(template: str, sample: Sample, snapshot: Snapshot, context: StageContext) -> Call | None:
    """The call that the context's model makes after the snapshot's prefix, None where it calls nothing."""
    prompt = render(
        PROMPTS,
        template,
        tools=shown_tools(sample, context),
        conversation=conversation_text(snapshot.prefix),
        language=sample.language,
    )
    return (await context.chat.ask(prompt, ProposedCall)).call


def shown_tools(sample: Sample, context: StageContext) -> list[dict[str, JsonValue]]:
    """The candidate tools as models see them: name, description and parameters."""
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in context.toolset(sample.candidates)
    ]


def due_call(snapshot: Snapshot) -> Call | None:
    """The one call due at a snapshot, None where none is; use `has_one_call_at_most` before."""
    return as_call(snapshot.calls[0]) if snapshot.calls else None


def as_call(gold: GoldCall) -> Call:
    """A gold call without its evidence."""
    return Call(tool=gold.tool, arguments=gold.arguments)


def has_one_call_at_most(sample: Sample) -> bool:
    """Whether the sample has snapshots, and none of them has several calls due at once."""
    snapshots = list(sample.snapshots())
    return bool(snapshots) and all(len(snapshot.calls) <= 1 for snapshot in snapshots)
