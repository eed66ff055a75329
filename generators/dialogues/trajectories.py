"""Merge questions and answers that were asked one by one, without a model (HammerBench 4.2.2).

The text looks as in HammerBench's files: questions are joined by a space, and so are answers, in
both languages; a question or answer that is followed by another gets its missing end mark.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from callwright.generators.stages import StageContext
from callwright.generators.stated_values import located_evidence
from callwright.generators.tools import EMPTY, titled_schema
from callwright.language.calls.parameters import short_forms, titles_of
from callwright.language.packs import LanguagePattern, of, widened
from callwright.language.text import capitalised
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    NO_FACTS,
    Arguments,
    CallTurn,
    Derivation,
    Evidence,
    Language,
    Message,
    Origin,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

STAGE = "trajectories"
_SHUFFLED = 0.5
_FEWEST = 2


_OPENING = 2
_EXCHANGE = 3
_SENTENCE_END = re.compile(widened(r"@[.?!]\s*"))
_ENDED = re.compile(widened(r"@[.?!…~]@['\"’”){close}]*$"))
_ASKS = LanguagePattern("@{question_word}")
_NOD = LanguagePattern(r"^(?:@{assistant_nod})(?=\S)")


class SlotExchange(NamedTuple):
    """A question, its answer, the values stated, and their spans from the start of the answer."""

    question: str
    answer: str
    external: Message | None
    stated: Arguments
    evidence: tuple[Evidence, ...]


class Dialogue(NamedTuple):
    """A request and its snapshot, with the questions and answers that complete the call."""

    tool: Tool
    request: UserTurn
    snapshot: CallTurn
    exchanges: tuple[SlotExchange, ...]


class DialogueStep(NamedTuple):
    """The questions that the assistant asks at once, and the user's answers."""

    asked: tuple[SlotExchange, ...]
    answered: tuple[SlotExchange, ...]


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why this sample's questions and answers can't be merged, or "" if they can."""
    dialogue = split_dialogue(sample, tools)
    if isinstance(dialogue, str):
        return dialogue
    if reason := too_few(len(dialogue.exchanges)):
        return reason
    if sum(one.external is not None for one in dialogue.exchanges) > 1:
        return "Several of its answers lean on a message of their own, and a turn has room for one."
    return ""


def too_few(questions: int) -> str:
    """Why nothing can be merged of so many questions, "" where something can."""
    if questions >= _FEWEST:
        return ""
    return f"It has {count_of(questions, 'question')}; fewer than {_FEWEST} can't be merged."


async def merge_trajectories(derivation: Derivation, context: StageContext) -> list[Sample]:
    """Return the source with some questions, answers or both merged, chosen by the seed.

    Raises RecordError if the source has an obstacle, or the transform is not mQmA, mQsA or sQmA.
    """
    source = derivation.source
    reason = obstacle(source, context.tools)
    dialogue = split_dialogue(source, context.tools)
    if reason or isinstance(dialogue, str):
        raise RecordError(f"The questions of the sample {source.key!r} can't be merged: {reason}")
    rng = Random(derivation.seed)
    exchanges = dialogue.exchanges
    match derivation.transform:
        case "mQmA":
            before, group, after = _stretch(exchanges, rng)
            steps = [*_singly(before), DialogueStep(group, group), *_singly(after)]
        case "mQsA":
            steps = merge_questions(exchanges, _speaking(exchanges, dialogue.tool), rng)
        case "sQmA":
            steps = merge_answers(exchanges, _speaking(exchanges, dialogue.tool), rng)
        case other:
            message = f"Questions and answers are merged as mQmA, mQsA or sQmA, not as {other!r}."
            raise RecordError(message)
    turns = _turns(dialogue, steps, source.language)
    origin = Origin(stage=STAGE, parents=(derivation.key,), seed=derivation.seed)
    return [
        source.with_changes(kind=derivation.transform, turns=turns, facts=NO_FACTS, origin=origin)
    ]


def merge_questions(
    exchanges: Sequence[SlotExchange], speaking: Sequence[SlotExchange], rng: Random
) -> list[DialogueStep]:
    """Ask several questions at once, answer one, and ask the others again one by one (mQsA).

    An answer that doesn't name its subject answers the first question.
    """
    before, group, after = _stretch(exchanges, rng)
    answered = rng.choice(group)
    others = tuple(one for one in group if one is not answered)
    asked = group if answered in speaking else (answered, *others)
    return [*_singly(before), DialogueStep(asked, (answered,)), *_singly([*others, *after])]


def merge_answers(
    exchanges: Sequence[SlotExchange], speaking: Sequence[SlotExchange], rng: Random
) -> list[DialogueStep]:
    """Ask one question and answer it together with others that were not asked yet (sQmA).

    Unasked answers name their subject, if there are any that do.
    """
    asked_exchange = rng.choice(exchanges)
    if speaking and not any(one is not asked_exchange for one in speaking):
        asked_exchange = rng.choice([one for one in exchanges if one not in speaking])
    unasked = [one for one in speaking or exchanges if one is not asked_exchange]
    stated = rng.sample(unasked, rng.randint(1, len(unasked)))
    merged = DialogueStep((asked_exchange,), (asked_exchange, *stated))
    first = min(exchanges.index(one) for one in merged.answered)
    rest = [one for one in exchanges if one not in merged.answered]
    before = [one for one in rest if exchanges.index(one) < first]
    return [*_singly(before), merged, *_singly(one for one in rest if one not in before)]


def _speaking(exchanges: Sequence[SlotExchange], tool: Tool) -> list[SlotExchange]:
    """Return the exchanges whose answers name their parameters, so they need no question."""
    speaking_exchanges: list[SlotExchange] = []
    for exchange in exchanges:
        answer = exchange.answer
        for said in exchange.evidence:
            answer = answer.replace(said.quote, " ", 1)
        described = (
            (name, str(tool.properties[name].get("description") or "")) for name in exchange.stated
        )
        called = ((*titles_of(name, words), *short_forms(name)) for name, words in described)
        if all(any(title.lower() in answer.lower() for title in titles) for titles in called):
            speaking_exchanges.append(exchange)
    return speaking_exchanges


def _stretch(
    exchanges: Sequence[SlotExchange], rng: Random
) -> tuple[Sequence[SlotExchange], tuple[SlotExchange, ...], Sequence[SlotExchange]]:
    """Pick two or more neighbours, sometimes reordered; return them with those around them."""
    size = rng.randint(_FEWEST, len(exchanges))
    start = rng.randint(0, len(exchanges) - size)
    group = list(exchanges[start : start + size])
    if rng.random() < _SHUFFLED:
        rng.shuffle(group)
    return exchanges[:start], tuple(group), exchanges[start + size :]


def _singly(exchanges: Iterable[SlotExchange]) -> list[DialogueStep]:
    return [DialogueStep((one,), (one,)) for one in exchanges]


def _turns(
    dialogue: Dialogue, steps: Sequence[DialogueStep], language: Language
) -> tuple[Turn, ...]:
    """Return the conversation of these steps, with all known arguments after each step."""
    turns: list[Turn] = [dialogue.request, dialogue.snapshot]
    call = dialogue.snapshot.calls[0]
    for step in steps:
        question, _ = _joined([one.question for one in _later_bare(step.asked)], language)
        answered = _later_bare(step.answered)
        text, starts = _joined([one.answer for one in answered], language)
        proofs, arguments, turn = (
            {one.argument: one for one in call.evidence},
            dict(call.arguments),
            len(turns) + 1,
        )
        for exchange, start in zip(answered, starts, strict=True):
            arguments |= exchange.stated
            proofs |= {one.argument: _moved(one, turn, start) for one in exchange.evidence}
        call = call.with_changes(arguments=arguments, evidence=tuple(proofs.values()))
        external: Message | None = next((one.external for one in answered if one.external), None)
        turns += [
            ReplyTurn(text=question),
            UserTurn(text=text, external=external),
            CallTurn(calls=(call,)),
        ]
    return tuple(turns)


def _later_bare(exchanges: Sequence[SlotExchange]) -> list[SlotExchange]:
    """Drop the leading "Sure," of the exchanges after the first, where it would be odd."""
    bare_exchanges = [*exchanges[:1]]
    for exchange in exchanges[1:]:
        bare = _NOD.of(exchange.question).sub("", exchange.question)
        question = capitalised(bare) if bare != exchange.question else bare
        answer = _NOD.of(exchange.answer).sub("", exchange.answer)
        by = len(answer) - len(exchange.answer)
        if any(
            proof.start is not None and proof.start + by < 1 and not proof.in_message
            for proof in exchange.evidence
        ):
            # the value begins where the capital would stand
            bare_exchanges.append(exchange._replace(question=question))
            continue
        moved = tuple(_moved(proof, proof.turn or 0, by) for proof in exchange.evidence)
        answer = capitalised(answer) if by else answer
        bare_exchanges.append(exchange._replace(question=question, answer=answer, evidence=moved))
    return bare_exchanges


def split_dialogue(sample: Sample, tools: Mapping[str, Tool]) -> Dialogue | str:
    """Split a sample into the parts of a dialogue, or return a sentence that says why not."""
    turns = sample.turns
    match turns[:_OPENING]:
        case (UserTurn() as request, CallTurn(calls=(call,), executed=False) as snapshot):
            pass
        case _:
            return "It does not open with a request for one call."
    tool = next(
        (tools[key] for key in sample.candidates if key in tools and tools[key].name == call.tool),
        None,
    )
    if tool is None:
        return f"The tool {call.tool!r} is not among the candidates."
    exchanges: list[SlotExchange] = []
    known_values = _filled(call.arguments)
    for start in range(_OPENING, len(turns), _EXCHANGE):
        exchange = _exchange(turns[start : start + _EXCHANGE], start + 1, known_values, tool)
        if isinstance(exchange, str):
            return exchange
        exchanges.append(exchange)
        known_values |= exchange.stated
    given = {one.argument: one for one in call.evidence}
    arguments = _filled(call.arguments)
    proofs = [given.get(name) or _found(name, request.text, arguments, tool) for name in arguments]
    evidence = tuple(one.with_changes(turn=one.turn or 0) for one in proofs if one)
    proved = call.with_changes(evidence=evidence)
    update = {"calls": (proved,)}
    return Dialogue(tool, request, snapshot.model_copy(update=update), tuple(exchanges))


def _exchange(
    turns: Sequence[Turn], user_turn: int, known: Arguments, tool: Tool
) -> SlotExchange | str:
    match tuple(turns):
        case (
            ReplyTurn(text=question),
            UserTurn(text=answer, external=message),
            CallTurn(calls=(call,), executed=False),
        ):
            pass
        case _:
            return f"From turn {user_turn - 1} on there is no question with its answer and a call."
    arguments = _filled(call.arguments)
    if call.tool != tool.name:
        return f"After turn {user_turn} another tool is due, {call.tool!r}."
    changed = [name for name, value in known.items() if arguments.get(name) != value]
    if changed:
        return f"After turn {user_turn} the arguments {changed} are no longer what they were."
    new_values = {name: value for name, value in arguments.items() if name not in known}
    if not new_values:
        return f"The answer in turn {user_turn} tells nothing new."
    given = {one.argument: one for one in call.evidence if one.turn == user_turn}
    proofs = [given.get(name) or _found(name, answer, new_values, tool) for name in new_values]
    evidence = tuple(one for one in proofs if one is not None)
    return SlotExchange(question.strip(), answer.rstrip(), message, new_values, evidence)


def _found(name: str, text: str, arguments: Arguments, tool: Tool) -> Evidence | None:
    """Return where a text states an argument that has no evidence yet, or None."""
    return located_evidence(name, arguments[name], titled_schema(tool, name), text)


def _moved(evidence: Evidence, turn: int, by: int) -> Evidence:
    if evidence.in_message or evidence.start is None or evidence.end is None:
        return evidence.with_changes(turn=turn)
    return evidence.with_changes(turn=turn, start=evidence.start + by, end=evidence.end + by)


def _joined(parts: Sequence[str], language: Language) -> tuple[str, list[int]]:
    """Join several questions or answers; return the text and where each part begins."""
    text = ""
    starts: list[int] = []
    for part in parts:
        if text and not _ENDED.search(text):
            last = _SENTENCE_END.split(text)[-1]
            text += of(language).question if _ASKS.of(text).search(last) else of(language).stop
        text += " " if text else ""
        starts.append(len(text))
        text += part
    return text, starts


def _filled(arguments: Arguments) -> Arguments:
    """Return the arguments without those that imported labels leave empty."""
    return {name: value for name, value in arguments.items() if value not in EMPTY}
