"""Write what the user says for a value, and the message that holds it (HammerBench 4.2.4, D.6)."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from callwright.generators.external.entities import (
    OtherValue,
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
from callwright.generators.stages import ATTEMPTS, StageContext, asked_origin, first_fit
from callwright.generators.stated_values import Place, Stated, find_quote, find_value
from callwright.language.dates import HALF_DAY
from callwright.language.packs import of, signs, widened, writes
from callwright.language.values import locate
from callwright.llm.prompts import render
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    EntityReference,
    ExternalMessage,
    Language,
    Sample,
    Tool,
    UserTurn,
)

PROMPTS = "callwright.generators.external.prompts"
STAGE = "messages"
PRONOUN = "word_pronoun"
MESSAGE = "write_message"
LONGEST_PHRASE = 120
LONGEST = 2000
_AROUND_PHRASE = signs(" \t\n.\"'“”‘’{open}{close}")
_BREAK = re.compile(widened(r"@[\n.!?;]"))


class Pronoun(BaseModel):
    """What the user says instead of the value: an adjective, a noun, and where it was mentioned."""

    phrase: str


class SimulatedMessage(BaseModel):
    """A message, and the very words in it that state the value."""

    message: str
    words: str


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
    place = stated_in(written, mention, reference.derivation.source.language).place
    start, end = place or (0, len(written.message))
    origin = asked_origin(STAGE, reference, reference.derivation.seed, context, (PROMPTS, MESSAGE))
    message = ExternalMessage(
        reference=reference, phrase=phrase, message=written.message, start=start, end=end
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
    turn = source.turns[reference.turn]
    others = other_values(source, context.toolset(source.candidates), reference.value)
    prompt = render(
        PROMPTS,
        PRONOUN,
        entity=_entity(reference),
        parameter={"name": mention.argument, "schema": mention.schema},
        app=_app(reference),
        said=turn.text if isinstance(turn, UserTurn) else "",
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


def _message_problem(
    written: SimulatedMessage, mention: TurnMention, source: Sample, others: Sequence[OtherValue]
) -> str:
    problem = message_problem(written, mention, source.language)
    if problem:
        return problem
    quoted = find_quote(written.words, written.message)
    place = quoted or stated_in(written, mention, source.language).place
    return says_other(masked(written.message, *place) if place else written.message, others)


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
) -> SimulatedMessage:
    source = reference.derivation.source
    others = other_values(source, context.toolset(source.candidates), reference.value)
    own = mention.argument
    prompt = render(
        PROMPTS,
        MESSAGE,
        app=_app(reference),
        entity=_entity(reference),
        parameter={"name": own, "schema": mention.schema},
        value=reference.value,
        phrase=phrase,
        forbidden=[one.value for one in others],
        others=[_parameter(mention.tool, name) for name in mention.tool.properties if name != own],
        language=source.language,
        seed=reference.derivation.seed,
    )
    return await first_fit(
        context,
        prompt,
        SimulatedMessage,
        lambda written: _message_problem(written, mention, source, others),
        f"No message for {mention.argument!r} was usable in {ATTEMPTS} answers",
    )


def message_problem(written: SimulatedMessage, mention: TurnMention, language: Language) -> str:
    """Return why the message can't hold the value for this argument alone, or "" if it can."""
    message, words = written.message, written.words
    shortest = of(language).lengths["message"]
    length = len(message.strip())
    if not shortest <= length <= LONGEST:
        return f"the message has {length} characters; {shortest} to {LONGEST} are allowed."
    if not writes(language, message.replace(words, "")):
        return f"the message is not in the language {language!r}."
    stated = stated_in(written, mention, language)
    if stated.place is None or stated.problem:
        return stated.problem
    rest = masked(message, *stated.place)
    if says_another_time(rest, mention.schema):
        return f"the message says more than one time; {mention.argument!r} could be another."
    return fills_parameter(rest, mention.tool, mention.argument)


def stated_in(written: SimulatedMessage, mention: TurnMention, language: Language) -> Stated:
    """Find where the message states the value, as narrowly as a rule reads the quoted words."""
    named = (mention.argument, mention.value)
    quoted_value = find_value(named, mention.schema, written.words, written.message, language)
    if quoted_value.place is None:
        return quoted_value
    text = written.message[quoted_value.place.start : quoted_value.place.end]
    narrow_place = locate(mention.value, mention.schema, text)
    if narrow_place is not None and narrow_place.rule == HALF_DAY:
        half = f"which half of the day {mention.value!r} is in."
        return Stated(None, f"the words {written.words!r} leave open {half}")
    start = quoted_value.place.start
    place = quoted_value.place
    if narrow_place:
        place = Place(start + narrow_place.start, start + narrow_place.end)
    return Stated(place, quoted_value.problem)


def _parameter(tool: Tool, name: str) -> dict[str, Any]:
    schema = tool.properties[name]
    described, choices = schema.get("description", ""), schema.get("enum", [])
    return {"name": name, "description": described, "choices": choices}


def _entity(reference: EntityReference) -> dict[str, str]:
    language = reference.derivation.source.language
    return {"kind": reference.entity, "description": described(reference.entity, language)}


def _app(reference: EntityReference) -> dict[str, str]:
    app = app_named(reference.app)
    return {"key": app.name, "name": app.called(reference.derivation.source.language)}
