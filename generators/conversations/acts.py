"""Dialogue acts of the assistant's turns: those that the plan knows are kept, the others a model names (CONFETTI 3.1)."""

from typing import Literal

from pydantic import BaseModel, Field

from callwright.generators.conversations import CONVERSATION
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import conversation_text
from callwright.llm.prompts import prompt_version, render
from callwright.warehouse.records import Conversation, DialogueAct, Origin, ReplyTurn, Sample, Turn

PROMPTS = "callwright.generators.conversations.prompts"
STAGE = "dialogue_acts"
TEMPLATE = "label_acts"
_ORDER: tuple[DialogueAct, ...] = ("seek", "inform", "reject", "other")


class DialogueActs(BaseModel):
    """What a reply does, one label or more."""

    acts: list[Literal["seek", "inform", "reject", "other"]] = Field(min_length=1)


async def label_conversations(conversation: Conversation, context: StageContext) -> list[Sample]:
    """The conversation as a sample, every reply with its acts."""
    scenario = conversation.worded.plan.scenario
    turns = await label_turns(conversation.turns, context)
    origin = Origin(stage=STAGE, parents=(conversation.key,), seed=scenario.seed)
    if turns != conversation.turns:
        origin = origin.with_changes(model=context.chat.name, prompt_version=prompt_version(PROMPTS, TEMPLATE))
    elif conversation.origin is not None:
        origin = origin.with_changes(model=conversation.origin.model, prompt_version=conversation.origin.prompt_version)
    return [
        Sample(
            kind=CONVERSATION,
            language=scenario.language,
            category=scenario.category,
            candidates=scenario.candidates,
            withheld=scenario.withheld,
            turns=turns,
            tags=conversation.tags,
            origin=origin,
        )
    ]


async def label_turns(turns: tuple[Turn, ...], context: StageContext) -> tuple[Turn, ...]:
    """The turns with acts at every reply; those of an imported conversation too."""
    labelled: list[Turn] = []
    for turn in turns:
        if isinstance(turn, ReplyTurn) and not turn.acts:
            labelled.append(turn.with_changes(acts=await _acts_of(turn.text, labelled, context)))
        else:
            labelled.append(turn)
    return tuple(labelled)


async def _acts_of(reply: str, before: list[Turn], context: StageContext) -> tuple[DialogueAct, ...]:
    prompt = render(PROMPTS, TEMPLATE, reply=reply, conversation=conversation_text(before))
    named = set((await context.chat.ask(prompt, DialogueActs)).acts)
    return tuple(act for act in _ORDER if act in (named - {"other"} or named))
