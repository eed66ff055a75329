"""Wording questions and answers one by one: single-question-single-answer dialogues (HammerBench 4.2.2 and D.7)."""

import re
from collections.abc import Sequence
from random import Random
from typing import Literal, NamedTuple

from pydantic import BaseModel, JsonValue

from generators.conversations import conversation_text
from generators.slots import gold_tool, known_arguments
from generators.stage_context import StageContext
from generators.tries import ATTEMPTS, PROMPTS, first_fit
from language.values import locate
from llm.prompts import prompt_version, render
from warehouse.records import (
    Arguments,
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    Language,
    Origin,
    ReplyTurn,
    Sample,
    Slot,
    SlotPlan,
    Tool,
    Turn,
    UserTurn,
)

STAGE = "dialogues"
KIND = "sQsA"
QUESTION = "ask_question"
ANSWER = "answer_question"
LONGEST_QUESTION = 200
LONGEST_ANSWER = 400
Manner = Literal["bare", "sentence"]

_BARE_SHARE = 0.45
_FEWEST_OPTIONS = 2
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_ASKING = re.compile(
    r"[?？]\s*$|\b(?:tell|let|give|provide|say|specify|share|name|enter|choose|pick|need|know)\b"
    r"|请|麻烦|告诉|提供|说一?下|还需要|还缺|还差|哪|什么|多少|几|谁|怎么?|如何",
    re.IGNORECASE,
)


class SlotQuestion(BaseModel):
    """The assistant's question for one parameter."""

    question: str


class SlotAnswer(BaseModel):
    """The user's answer, and the very words in it that state the value."""

    answer: str
    words: str


class _Talk(NamedTuple):
    """What does not change while a dialogue is worded."""

    plan: SlotPlan
    tool: Tool
    context: StageContext

    @property
    def language(self) -> Language:
        return self.plan.derivation.source.language

    @property
    def seed(self) -> int:
        return self.plan.derivation.seed


async def write_dialogues(plan: SlotPlan, context: StageContext) -> list[Sample]:
    """A dialogue in which the assistant asks for one slot after the other, with all that is known after each answer.

    Raises ReplyError where three wordings of a question or an answer do not fit; the reason is that of the last one.
    """
    source = plan.derivation.source
    talk = _Talk(plan, gold_tool(source, context.tools), context)
    known, evidence = known_arguments(source), list(source.gold[0].evidence)
    turns: list[Turn] = [source.turns[0], _snapshot(talk.tool, known, evidence)]
    for slot, manner in zip(plan.slots, manners(len(plan.slots), Random(talk.seed)), strict=True):
        turns.append(ReplyTurn(text=await _ask(slot, known, turns, talk)))
        answer = await _answer(slot, known, manner, turns, talk)
        known = {**known, slot.parameter: slot.value}
        evidence.append(_span(slot.parameter, answer, len(turns)))
        turns += [UserTurn(text=answer.answer), _snapshot(talk.tool, known, evidence)]
    origin = Origin(
        stage=STAGE,
        parents=(plan.key,),
        seed=talk.seed,
        model=context.chat.name,
        prompt_version="+".join(prompt_version(PROMPTS, name) for name in (QUESTION, ANSWER)),
    )
    return [source.with_changes(kind=KIND, turns=tuple(turns), tags=(), origin=origin)]


def manners(count: int, rng: Random) -> list[Manner]:
    """How each of some answers is put: some as the bare value, but not all where there are several."""
    drawn: list[Manner] = ["bare" if rng.random() < _BARE_SHARE else "sentence" for _ in range(count)]
    if count > 1 and "sentence" not in drawn:
        drawn[rng.randrange(count)] = "sentence"
    return drawn


async def _ask(slot: Slot, known: Arguments, turns: Sequence[Turn], talk: _Talk) -> str:
    prompt = render(
        PROMPTS,
        QUESTION,
        tool=talk.tool,
        known=known,
        parameter=slot.parameter,
        language=talk.language,
        seed=talk.seed,
        conversation=conversation_text(turns),
    )
    answer = await first_fit(
        talk.context,
        prompt,
        SlotQuestion,
        lambda given: question_problem(given.question.strip(), slot, known, talk.tool, talk.language),
        f"The question for {slot.parameter!r} did not fit in {ATTEMPTS} wordings",
    )
    return answer.question.strip()


async def _answer(slot: Slot, known: Arguments, manner: Manner, turns: Sequence[Turn], talk: _Talk) -> SlotAnswer:
    prompt = render(
        PROMPTS,
        ANSWER,
        tool=talk.tool,
        parameter=slot.parameter,
        value=slot.value,
        manner=manner,
        language=talk.language,
        seed=talk.seed,
        conversation=conversation_text(turns),
    )
    others = {one.parameter: one.value for one in talk.plan.slots if one != slot} | known
    return await first_fit(
        talk.context,
        prompt,
        SlotAnswer,
        lambda answer: answer_problem(answer, slot, others, talk.tool, talk.language),
        f"The answer for {slot.parameter!r} did not fit in {ATTEMPTS} wordings",
    )


def question_problem(question: str, slot: Slot, known: Arguments, tool: Tool, language: Language) -> str:
    """Why this can't be the question for the slot, "" where it can: one short question that says no value."""
    if not question or len(question) > LONGEST_QUESTION or "\n" in question:
        return f"{question!r} is not one line of 1 to {LONGEST_QUESTION} characters."
    if bool(_CHINESE.search(question)) != (language == "zh"):
        return f"{question!r} is not in the language {language!r}."
    if not _ASKING.search(question):
        return f"{question!r} asks for nothing."
    for name, value in {**known, slot.parameter: slot.value}.items():
        if _gives_away(question, value, name, slot, tool):
            return f"{question!r} says the value {value!r} of {name!r}."
    return ""


def answer_problem(answer: SlotAnswer, slot: Slot, others: Arguments, tool: Tool, language: Language) -> str:
    """Why this can't be the answer for the slot, "" where it can: it says the slot's value and no other one."""
    text = answer.answer
    if not text.strip() or len(text) > LONGEST_ANSWER:
        return f"the answer has {len(text)} characters; 1 to {LONGEST_ANSWER} are allowed."
    if language == "en" and _CHINESE.search(text) and not _CHINESE.search(str(slot.value)):
        return f"the answer {text!r} is not in the language {language!r}."
    if not answer.words or answer.words not in text:
        return f"the words {answer.words!r} do not stand in the answer {text!r}."
    if locate(slot.value, _schema(slot.parameter, tool), answer.words) is None:
        return f"the words {answer.words!r} do not say {slot.value!r} for {slot.parameter!r}."
    at = text.index(answer.words)
    rest = f"{text[:at]} | {text[at + len(answer.words) :]}"
    for name, value in others.items():
        if not isinstance(value, bool) and locate(value, _schema(name, tool), rest) is not None:
            return f"the answer {text!r} also says {value!r} for {name!r}."
    return ""


def _gives_away(question: str, value: JsonValue, name: str, slot: Slot, tool: Tool) -> bool:
    """Whether the question says a value; a yes or no can't be said by naming what it is about, nor by listing options."""
    schema = _schema(name, tool)
    if isinstance(value, bool) or locate(value, schema, question) is None:
        return False
    told = f"{slot.parameter} {tool.properties[slot.parameter].get('description', '')}"
    if name != slot.parameter and locate(value, schema, told) is not None:
        return False  # the name of what is asked for says it too
    options = schema.get("enum") or ()
    listed = sum(locate(option, {}, question) is not None for option in options)
    return name != slot.parameter or listed < _FEWEST_OPTIONS


def _schema(name: str, tool: Tool) -> JsonSchema:
    return {"title": name, **tool.properties.get(name, {})}


def _snapshot(tool: Tool, arguments: Arguments, evidence: Sequence[Evidence]) -> CallTurn:
    proofs = tuple(one for one in evidence if one.argument in arguments)
    return CallTurn(calls=(GoldCall(tool=tool.name, arguments=arguments, evidence=proofs),))


def _span(parameter: str, answer: SlotAnswer, turn: int) -> Evidence:
    start = answer.answer.index(answer.words)
    return Evidence(
        argument=parameter,
        kind="span",
        turn=turn,
        start=start,
        end=start + len(answer.words),
        quote=answer.words,
    )
