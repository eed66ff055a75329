"""Merging questions and answers that were asked one by one, by code alone (HammerBench 4.2.2).

The surface is that of HammerBench's files: questions are joined by a space, and so are answers, in both languages; a
question or an answer that another one follows gets the mark at its end that it lacks.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from generators.exchanges import (
    Exchange,
    Opening,
    join_answers,
    join_questions,
    snapshot_after,
    split_dialogue,
    without_nod,
)
from generators.stage_context import StageContext
from language.calls.parsing import read_answers
from language.calls.tools import ToolView, view_of
from warehouse.errors import RecordError
from warehouse.records import CallTurn, Derivation, Language, Message, Origin, ReplyTurn, Sample, Tool, Turn, UserTurn

STAGE = "trajectories"
_SHUFFLED = 0.5
_FEWEST = 2


class Step(NamedTuple):
    """What the assistant asks for at once, and what the user answers to that."""

    asked: tuple[Exchange, ...]
    answered: tuple[Exchange, ...]


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Why the questions and answers of this sample can't be merged, "" where they can."""
    dialogue = split_dialogue(sample, tools)
    if isinstance(dialogue, str):
        return dialogue
    if len(dialogue.exchanges) < _FEWEST:
        return f"It has {len(dialogue.exchanges)} question, and there is nothing to merge with fewer than {_FEWEST}."
    if sum(one.external is not None for one in dialogue.exchanges) > 1:
        return "Several of its answers lean on a message of their own, and a turn has room for one."
    return ""


async def merge_trajectories(derivation: Derivation, context: StageContext) -> list[Sample]:
    """The source with some of its questions, its answers, or both merged; which ones, the derivation's seed decides.

    Raises RecordError where the source has an obstacle, or where the transform is none of mQmA, mQsA and sQmA.
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
            steps = merge_both(exchanges, rng)
        case "mQsA":
            steps = merge_questions(exchanges, _speaking(exchanges, dialogue.tool), rng)
        case "sQmA":
            steps = merge_answers(exchanges, _speaking(exchanges, dialogue.tool), rng)
        case other:
            raise RecordError(f"Questions and answers are merged as mQmA, mQsA or sQmA, not as {other!r}.")
    turns = _turns(dialogue.opening, steps, source.language)
    origin = Origin(stage=STAGE, parents=(derivation.key,), seed=derivation.seed)
    return [source.with_changes(kind=derivation.transform, turns=turns, tags=(), origin=origin)]


def merge_both(exchanges: Sequence[Exchange], rng: Random) -> list[Step]:
    """Several questions at once, and all of them answered at once (mQmA)."""
    before, group, after = _stretch(exchanges, rng)
    return [*_singly(before), Step(group, group), *_singly(after)]


def merge_questions(exchanges: Sequence[Exchange], speaking: Sequence[Exchange], rng: Random) -> list[Step]:
    """Several questions at once, of which one is answered; the others are asked again, one by one (mQsA).

    An answer that does not say what it is about answers the first question.
    """
    before, group, after = _stretch(exchanges, rng)
    answered = rng.choice(group)
    others = tuple(one for one in group if one is not answered)
    asked = group if answered in speaking else (answered, *others)
    return [*_singly(before), Step(asked, (answered,)), *_singly([*others, *after])]


def merge_answers(exchanges: Sequence[Exchange], speaking: Sequence[Exchange], rng: Random) -> list[Step]:
    """One question, and in the same breath as its answer those to others that nobody has asked yet (sQmA).

    Only answers that say what they are about are given unasked, as long as there are any.
    """
    asked = rng.choice(exchanges)
    if speaking and not any(one is not asked for one in speaking):
        asked = rng.choice([one for one in exchanges if one not in speaking])
    unasked = [one for one in (speaking or exchanges) if one is not asked]
    told = rng.sample(unasked, rng.randint(1, len(unasked)))
    merged = Step((asked,), (asked, *told))
    first = min(exchanges.index(one) for one in merged.answered)
    rest = [one for one in exchanges if one not in merged.answered]
    before = [one for one in rest if exchanges.index(one) < first]
    return [*_singly(before), merged, *_singly(one for one in rest if one not in before)]


def _speaking(exchanges: Sequence[Exchange], tool: Tool) -> list[Exchange]:
    """The exchanges whose answers say what they are about, so that they are understood without the question."""
    view = view_of({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
    return [one for one in exchanges if _speaks(one, view)]


def _speaks(exchange: Exchange, view: ToolView) -> bool:
    return set(exchange.told) <= set(read_answers(view, (), exchange.answer))


def _stretch(
    exchanges: Sequence[Exchange], rng: Random
) -> tuple[Sequence[Exchange], tuple[Exchange, ...], Sequence[Exchange]]:
    """Two or more neighbours, sometimes in another order, with those before and after them."""
    size = rng.randint(_FEWEST, len(exchanges))
    start = rng.randint(0, len(exchanges) - size)
    group = list(exchanges[start : start + size])
    if rng.random() < _SHUFFLED:
        rng.shuffle(group)
    return exchanges[:start], tuple(group), exchanges[start + size :]


def _singly(exchanges: Iterable[Exchange]) -> list[Step]:
    return [Step((one,), (one,)) for one in exchanges]


def _turns(opening: Opening, steps: Sequence[Step], language: Language) -> tuple[Turn, ...]:
    """The conversation that these steps make, with all that is known after each of them."""
    turns: list[Turn] = list(opening.turns)
    snapshot: CallTurn = opening.snapshot
    for step in steps:
        question = join_questions([one.question for one in _later_bare(step.asked)], language)
        answered = _later_bare(step.answered)
        joined = join_answers(answered, language)
        external: Message | None = next((one.external for one in answered if one.external), None)
        user = UserTurn(text=joined.text, external=external)
        snapshot = snapshot_after(snapshot, answered, joined.starts, len(turns) + 1)
        turns += [ReplyTurn(text=question), user, snapshot]
    return tuple(turns)


def _later_bare(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """The exchanges, those behind the first without the nod that they may begin with."""
    return [*exchanges[:1], *(without_nod(one) for one in exchanges[1:])]
