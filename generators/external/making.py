"""Reword the user's turn to point at the message, not say the value (HammerBench 4.2.4, D.6)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from pydantic import BaseModel

from callwright.generators.external import GROUP, entities
from callwright.generators.external.entities import (
    TurnMention,
    app_named,
    find_entities,
    find_mentions,
    first_call_turn,
    is_pointable,
    say_where,
)
from callwright.generators.external.messages import MESSAGE, PRONOUN, mention_of, write_messages
from callwright.generators.families import Family, Kind, Traits
from callwright.generators.kinds import name_of
from callwright.generators.shifts.turns import snapshots_before, with_shift
from callwright.generators.stages import (
    ATTEMPTS,
    StageContext,
    Step,
    asked_origin,
    first_fit,
    in_a_row,
)
from callwright.generators.stated_values import find_quote, found_evidence, located_evidence
from callwright.generators.tools import titled_schema
from callwright.language.packs import own_letters, writes
from callwright.language.text import VERBATIM, Found, fold
from callwright.language.values import locate
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    ExternalMessage,
    GoldCall,
    Message,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

PROMPTS = "callwright.generators.external.prompts"
STAGE = "rewriting"
TEMPLATE = "rewrite_request"
LONGEST = 2000
_SLOT = "[it]"  # the phrase, while the words around it are made to fit
_LEAST_KEPT = 0.75  # of a phrase's pairs of characters, where no space tells words


class PointedRequest(BaseModel):
    """The turn in the user's voice, with the phrase or its slot where the value was."""

    request: Paragraph


class _Change(NamedTuple):
    """What to reword: the message, the mention it replaces, the turn's new text, and the tools."""

    message: ExternalMessage
    mention: TurnMention
    text: str
    tools: Mapping[str, Tool]


async def rewrite_requests(message: ExternalMessage, context: StageContext) -> list[Sample]:
    """Return the source with one value moved to a message, to which the reworded turn points.

    Raises RecordError if the value is stated elsewhere too, ReplyError if three rewordings break
    a rule.
    """
    reference = message.reference
    source = reference.derivation.source
    mention = mention_of(reference, context)
    mentions = find_mentions(source, context.tools)
    if not is_pointable(mention, mentions, source):
        what = f"{mention.value!r} of {mention.argument!r}"
        raise RecordError(f"{what} is said more than once or with others.")
    kept = [one for one in mentions if one.turn == mention.turn and one.value != mention.value]
    text = await _reword(message, mention, kept, context)
    origin = asked_origin(STAGE, message, reference.derivation.seed, context, (PROMPTS, TEMPLATE))
    index = first_call_turn(source, mention.turn)
    shift = snapshots_before(source.turns, index)  # the first at which the message counts
    tools = {tool.name: tool for tool in context.toolset(source.candidates)}
    change = _Change(message, mention, text, tools)
    return [
        source.with_changes(
            kind=name_of(source.kind, "external"),
            changes=(),
            turns=tuple(_turns(change)),
            facts=with_shift(source, shift),
            origin=origin,
        )
    ]


async def _reword(
    message: ExternalMessage, mention: TurnMention, kept: list[TurnMention], context: StageContext
) -> str:
    source = message.reference.derivation.source
    turn, before = (
        source.turns[mention.turn],
        source.turns[mention.turn - 1] if mention.turn else None,
    )
    turn_text = turn.text if isinstance(turn, UserTurn) else ""
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tool=mention.tool,
        parameter={"name": mention.argument, "schema": mention.schema},
        question=before.text if isinstance(before, ReplyTurn) else "",
        said=turn_text,
        words=turn_text[mention.start : mention.end],
        phrase=message.phrase,
        mark=_SLOT,
        around=f"{turn_text[: mention.start]}{_SLOT}{turn_text[mention.end :]}",
        kept=[{"parameter": one.argument, "words": turn_text[one.start : one.end]} for one in kept],
        language=source.language,
        seed=message.reference.derivation.seed,
    )

    def reworded(given: PointedRequest) -> str:
        return given.request.strip().replace(_SLOT, message.phrase)

    def problem_of(given: PointedRequest) -> str:
        text = reworded(given)
        problem = rewording_problem(
            text, message.phrase, mention, [(one, turn_text[one.start : one.end]) for one in kept]
        )
        if not problem and not writes(source.language, text):
            return f"it is not in the language {source.language!r}."
        return problem

    complaint = f"The turn that says {mention.argument!r} was not usable in {ATTEMPTS} rewordings"
    answer = await first_fit(context, prompt, PointedRequest, problem_of, complaint)
    return reworded(answer)


def rewording_problem(
    text: str, phrase: str, mention: TurnMention, kept: list[tuple[TurnMention, str]]
) -> str:
    """Return why the text can't replace the turn, or ""; only the value may become the phrase.

    `kept` are the other values, each with the words that stated it.
    """
    if not text or len(text) > LONGEST:
        return f"the rewording has {len(text)} characters; 1 to {LONGEST} are allowed."
    if not has_phrase(text, phrase) and find_quote(phrase, text) is None:
        return f"Wanted: {_SLOT}, which stands for {phrase!r}. It is not in the text."
    if locate(mention.value, mention.schema, text) is not None:
        return f"It still says {mention.value!r}. Leave that to {_SLOT}."
    for one, words in kept:
        if locate(one.value, one.schema, text) is None and find_quote(words, text) is None:
            return f"{text!r} no longer says {one.value!r} for {one.argument!r}."
    return ""


def has_phrase(text: str, phrase: str) -> bool:
    """Whether the text contains the phrase, or all its words in another order or sentence form."""
    if fold(phrase) in fold(text):
        return True
    if own_letters(phrase):
        pairs = {phrase[at : at + 2] for at in range(len(phrase) - 1)}
        return sum(pair in text for pair in pairs) >= _LEAST_KEPT * len(pairs)
    return set(fold(phrase).split()) <= set(re.findall(r"\w+", fold(text)))


def _turns(change: _Change) -> Iterator[Turn]:
    """Yield the new sample's turns, with the user's words and the calls' evidence updated."""
    reference = change.message.reference
    source = reference.derivation.source
    app = app_named(reference.app).called(source.language)
    message = Message(app=app, text=change.message.message)
    for index, turn in enumerate(source.turns):
        if isinstance(turn, UserTurn) and index == change.mention.turn:
            yield turn.with_changes(text=change.text, external=message)
        elif isinstance(turn, CallTurn) and index > change.mention.turn:
            calls = tuple(_call(call, source.turns[:index], change) for call in turn.calls)
            yield turn.with_changes(calls=calls)
        else:
            yield turn


def _call(call: GoldCall, prefix: tuple[Turn, ...], change: _Change) -> GoldCall:
    if call.tool not in change.tools:
        return call
    hints = {one.argument: one for one in call.evidence}
    moved_evidence = (
        _evidence(one, call, hints.get(one), prefix, change) for one in call.arguments
    )
    return call.with_changes(evidence=tuple(one for one in moved_evidence if one is not None))


def _evidence(
    argument: str, call: GoldCall, hint: Evidence | None, prefix: tuple[Turn, ...], change: _Change
) -> Evidence | None:
    """Return where the new conversation says an argument, or None if unknown."""
    value, schema = call.arguments[argument], titled_schema(change.tools[call.tool], argument)
    place = say_where(call, argument, value, schema, prefix)
    if place is None:  # words that do not hold the value, as "without a copy" for no
        is_there = hint is not None and hint.turn == change.mention.turn and not hint.in_message
        return _requoted(hint, change.text) if hint and is_there else hint
    if place[0] != change.mention.turn:
        stated = prefix[place[0]]
        text = stated.text if isinstance(stated, UserTurn) else ""
        return hint or located_evidence(argument, value, schema, text, place[0])
    if value == change.mention.value:
        message, start, end = change.message.message, change.message.start, change.message.end
        read = locate(value, change.mention.schema, message[start:end])
        found = Found(value, start, end, read.rule if read else VERBATIM)
        return found_evidence(argument, found, message, change.mention.turn, in_message=True)
    requoted = _requoted(hint, change.text) if hint is not None else None
    return requoted or located_evidence(argument, value, schema, change.text, change.mention.turn)


def _requoted(hint: Evidence, text: str) -> Evidence | None:
    """Find the same words in the new text; None if they are missing or occur more than once."""
    if text.count(hint.quote) != 1:
        return None
    start = text.index(hint.quote)
    return hint.with_changes(start=start, end=start + len(hint.quote))


_REQUEST = Traits("HammerBench", is_changed=True, shift="message")
_DIALOGUE = replace(_REQUEST, is_long=True)
_KINDS = (
    ("external", "a request that points", _REQUEST, ("perfect", "imperfect"), 1175),
    ("sQsA_external", "an answer points", _DIALOGUE, ("sQsA",), 487),
)
_FIND = "Find the arguments that people would rather point to, and choose one and an app."
_HIDE = "Word the phrase that points to the value, and the message that holds it."
_REWORD = "Reword what the user says, with the phrase in the place of the value."
_PAPER, _APPENDIX = "HammerBench 4.2.4", "HammerBench 4.2.4, D.6"
_WORDED, _REWORDED = (PRONOUN, MESSAGE), (TEMPLATE,)
_STEPS = (
    Step("entities", _FIND, "EntityReference", _PAPER, find_entities, (entities.TEMPLATE,)),
    Step("messages", _HIDE, "ExternalMessage", _APPENDIX, write_messages, _WORDED),
    Step("rewriting", _REWORD, "Sample", _APPENDIX, rewrite_requests, _REWORDED, _REWORDED),
)

FAMILY = Family(
    "external",
    tuple(
        Kind(
            name, f"{what} to a message instead of saying a value", GROUP, traits, "external", of
        )._replace(paper=paper, scale=paper, uses=2)
        for name, what, traits, of, paper in _KINDS
    ),
    stages=in_a_row("external", "Derivation", *_STEPS),
    has_fixed_words=True,
    tool_obstacle=entities.tool_obstacle,
    obstacles={"external": entities.obstacle},
    anywhere=(("external", GROUP),),
)
