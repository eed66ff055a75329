"""Write what the user says for a value, and the message that holds it (HammerBench 4.2.4, D.6)."""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pydantic import BaseModel

from callwright.generators.external.entities import (
    TurnMention,
    app_named,
    described,
    fills_parameter,
    find_mentions,
    masked,
    other_values,
    says_another_time,
    says_other,
)
from callwright.generators.slots import Slot, about, draw_manner, fill, slots_of, wording_problem
from callwright.generators.stages import ATTEMPTS, StageContext, asked_origin, first_fit
from callwright.generators.stated_values import Place
from callwright.language.dates import HALF_DAY
from callwright.language.packs import of, signs, widened, writes
from callwright.language.values import locate
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Line, Paragraph
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import EntityReference, ExternalMessage, Language

PROMPTS = "callwright.generators.external.prompts"
STAGE = "messages"
PRONOUN = "word_pronoun"
MESSAGE = "write_message"
LONGEST_PHRASE = 120
_AROUND_PHRASE = signs(" \t\n.\"'“”‘’{open}{close}")
_BREAK = re.compile(widened(r"@[\n.!?;]"))


class Pronoun(BaseModel):
    """What the user says instead of the value: an adjective, a noun, and where it was mentioned."""

    phrase: Line


class SimulatedMessage(BaseModel):
    """A message with a slot for the value."""

    message: Paragraph


class WrittenMessage(NamedTuple):
    """A message, and where it states the value, as narrowly as a rule reads it."""

    text: str
    place: Place


async def write_messages(
    reference: EntityReference, context: StageContext
) -> list[ExternalMessage]:
    """Write a phrase that points at the value, and a message that says it and no other value.

    Raises ReplyError if three phrases or three messages in a row break a rule, with the last
    reason.
    """
    mention = mention_of(reference, context)
    phrase = await _word_pronoun(reference, mention, context)
    written = await _write_message(reference, mention, phrase, context)
    (start, end), text = written.place, written.text
    origin = asked_origin(STAGE, reference, reference.derivation.seed, context, (PROMPTS, MESSAGE))
    message = ExternalMessage(
        reference=reference, phrase=phrase, message=text, start=start, end=end
    )
    return [message.with_changes(origin=origin)]


def mention_of(reference: EntityReference, context: StageContext) -> TurnMention:
    """Return where the source states the argument that is pointed at.

    Raises RecordError if it does not.
    """
    for mention in find_mentions(reference.derivation.source, context.tools):
        is_same = (mention.turn, mention.argument) == (reference.turn, reference.argument)
        if is_same and mention.value == reference.value:
            return mention
    message = f"Turn {reference.turn} does not say {reference.value!r} for {reference.argument!r}."
    raise RecordError(message)


async def _word_pronoun(
    reference: EntityReference, mention: TurnMention, context: StageContext
) -> str:
    source = reference.derivation.source
    others = other_values(source, context.toolset(source.candidates), reference.value)
    prompt = render(
        PROMPTS,
        PRONOUN,
        entity=_entity(reference),
        parameter={"name": mention.argument, "schema": mention.schema},
        app=_app(reference),
        detail=about(mention.argument, mention.tool.properties[mention.argument]),
        avoid=[reference.value, *(one.value for one in others)],
        language=source.language,
        seed=reference.derivation.seed,
    )
    answer = await first_fit(
        context,
        prompt,
        Pronoun,
        lambda given: (
            phrase_problem(_bare(given.phrase), mention, source.language)
            or says_other(_bare(given.phrase), others)
        ),
        f"No phrase for {mention.argument!r} was usable in {ATTEMPTS} answers",
    )
    return _bare(answer.phrase)


def _bare(phrase: str) -> str:
    """Return the phrase without what models add around it: quotes, and a final stop."""
    return phrase.strip(_AROUND_PHRASE)


def phrase_problem(phrase: str, mention: TurnMention, language: Language) -> str:
    """Return why the phrase can't stand for the value, or "" if it can."""
    if not phrase or len(phrase) > LONGEST_PHRASE:
        return f"the phrase has {len(phrase)} characters; 1 to {LONGEST_PHRASE} are allowed."
    if _BREAK.search(phrase):
        return f"{phrase!r} is a sentence; a phrase was asked for."
    if not writes(language, phrase):
        return f"{phrase!r} is not in the language {language!r}."
    if locate(mention.value, mention.schema, phrase) is not None:
        return f"{phrase!r} says the value {mention.value!r} itself."
    return fills_parameter(phrase, mention.tool, mention.argument)


async def _write_message(
    reference: EntityReference, mention: TurnMention, phrase: str, context: StageContext
) -> WrittenMessage:
    source, seed = reference.derivation.source, reference.derivation.seed
    others = other_values(source, context.toolset(source.candidates), reference.value)
    slots = _slots(mention, source.language, seed)
    prompt = render(
        PROMPTS,
        MESSAGE,
        app=_app(reference),
        entity=_entity(reference),
        parameter={"name": mention.argument, "schema": mention.schema},
        value=reference.value,
        phrase=phrase,
        slot=slots[0],
        language=source.language,
        seed=seed,
    )

    def problem_of(given: SimulatedMessage) -> str:
        problem = wording_problem(given.message, slots, source.language, known=phrase)
        if problem:
            return problem
        written = _filled(given, slots, mention)
        return message_problem(written, mention, source.language) or says_other(
            masked(written.text, *written.place), others
        )

    complaint = f"No message for {mention.argument!r} was usable in {ATTEMPTS} answers"
    return _filled(
        await first_fit(context, prompt, SimulatedMessage, problem_of, complaint), slots, mention
    )


def _slots(mention: TurnMention, language: Language, seed: int) -> tuple[Slot, ...]:
    """Return the slot of a message, said so that it leaves no half of the day open."""
    calls = [(mention.tool, {mention.argument: mention.value})]
    rng = Random(f"{seed}:message")
    slots = slots_of(calls, language, draw_manner(rng), rng)
    found = locate(mention.value, mention.schema, slots[0].words)
    is_open = found is not None and found.rule == HALF_DAY
    return slots_of(calls, language, "bare", rng) if is_open else slots


def _filled(given: SimulatedMessage, slots: Sequence[Slot], mention: TurnMention) -> WrittenMessage:
    filled = fill(given.message, slots)
    [(start, end)] = filled.places.values()
    read = locate(mention.value, mention.schema, filled.text[start:end])
    place = Place(start + read.start, start + read.end) if read else Place(start, end)
    return WrittenMessage(filled.text, place)


def message_problem(written: WrittenMessage, mention: TurnMention, language: Language) -> str:
    """Return why the message can't hold the value for this argument alone, or "" if it can."""
    shortest, length = of(language).lengths["message"], len(written.text)
    if length < shortest:
        return f"The message has {length} characters. Write {shortest} or more."
    rest = masked(written.text, *written.place)
    if says_another_time(rest, mention.schema):
        return f"The message says a second time or date beside the {mention.argument!r}. Say one."
    return fills_parameter(rest, mention.tool, mention.argument)


def _entity(reference: EntityReference) -> dict[str, str]:
    language = reference.derivation.source.language
    return {"kind": reference.entity, "description": described(reference.entity, language)}


def _app(reference: EntityReference) -> dict[str, str]:
    app = app_named(reference.app)
    return {"key": app.name, "name": app.called(reference.derivation.source.language)}
