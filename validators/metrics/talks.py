"""CONFETTI's figures over conversations of our own, each turn predicted after the true history (CONFETTI 4, 5).

A call turn is worth the product of its calls, each held against the call that was made for it; a chain, all call turns
before control returns to the user, is worth the product of its turns. Surplus calls make a turn worth 0.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import prod
from typing import NamedTuple

from pydantic import JsonValue

from validators.manners import format_of
from validators.metrics.confetti.acts import read_acts
from validators.metrics.confetti.decoding import MadeCall
from validators.metrics.confetti.scorers import StringScorer, score_exactly
from validators.metrics.confetti.soft import Combining, score_call
from validators.replies.formats import read_value
from warehouse.records import CallTurn, GoldCall, Prediction, ReplyTurn, Sample

SPEECH, ACTS = "say", "acts"


class TurnScore(NamedTuple):
    """One call turn: its chain's number in the conversation, its strict and its soft score."""

    chain: int
    strict: float
    soft: float


class ChainScore(NamedTuple):
    """One chain: how many calls it has, how often the user spoke before it, its strict and its soft score."""

    length: int
    user_turns: int
    strict: float
    soft: float

    def slices(self, tools: int) -> Iterator[tuple[str, str]]:
        """What the paper's figures tell chains apart by (CONFETTI 5.2); `tools` is how many candidates there are."""
        yield "chain_length", _bucket(self.length, ((1, 1), (2, 2), (3, 3)), "4+")
        yield "user_turns", _bucket(self.user_turns, ((1, 5), (6, 10)), "11+")
        yield "tools", _bucket(tools, ((1, 9), (10, 19)), "20+")


def _bucket(number: int, ranges: Sequence[tuple[int, int]], beyond: str) -> str:
    for least, most in ranges:
        if number <= most:
            return str(least) if least == most else f"{least}-{most}"
    return beyond


class TalkScores(NamedTuple):
    """What is right about the answers to one conversation; `acts` are pairs of annotated and predicted ones."""

    turns: tuple[TurnScore, ...]
    chains: tuple[ChainScore, ...]
    acts: tuple[tuple[frozenset[str], frozenset[str]], ...]


def score_talk(predictions: Sequence[Prediction], sample: Sample, scorer: StringScorer) -> TalkScores:
    """Hold one run's answers to a conversation against what was done in it."""
    by_turn = {one.turn: one for one in predictions}
    turns: list[TurnScore] = []
    chains: list[ChainScore] = []
    for number, chain in enumerate(_chains(sample)):
        scored = [_score_turn(by_turn.get(at), turn.calls, scorer) for at, turn in chain]
        turns += [TurnScore(number, strict, soft) for strict, soft in scored]
        length = sum(len(turn.calls) for _, turn in chain)
        spoken = sum(turn.kind == "user" for turn in sample.turns[: chain[0][0]])
        chains.append(
            ChainScore(length, spoken, prod(strict for strict, _ in scored), prod(soft for _, soft in scored))
        )
    return TalkScores(tuple(turns), tuple(chains), tuple(_acts(by_turn, sample)))


def _chains(sample: Sample) -> Iterator[list[tuple[int, CallTurn]]]:
    """The call turns that follow each other without a word of anybody, with their places."""
    spoken = [(at, turn) for at, turn in enumerate(sample.turns) if turn.kind != "result"]
    for is_call, group in groupby(spoken, key=lambda one: isinstance(one[1], CallTurn)):
        if is_call:
            yield [(at, turn) for at, turn in group if isinstance(turn, CallTurn)]


def _score_turn(prediction: Prediction | None, gold: Sequence[GoldCall], scorer: StringScorer) -> tuple[float, float]:
    made = [MadeCall(call.tool, dict(call.arguments)) for call in (prediction.calls or () if prediction else ())]
    if not gold:  # the turn is right where nothing is called
        right = float(prediction is not None and prediction.calls == ())
        return right, right
    if len(made) != len(gold):
        return 0.0, 0.0
    strict = _product(made, gold, score_exactly, Combining("least"))
    return float(strict == 1), _product(made, gold, scorer, Combining())


def _product(made: Sequence[MadeCall], gold: Sequence[GoldCall], scorer: StringScorer, combining: Combining) -> float:
    """Each due call takes the best of the calls that are left, in any order; what is taken is not given back."""
    left, scores = list(made), []
    for due in gold:
        answer = {due.tool: {name: [_accepted(value)] for name, value in due.arguments.items()}}
        worth = [score_call([one], answer, scorer, combining).score for one in left]
        best = max(range(len(left)), key=worth.__getitem__)
        scores.append(worth[best])
        del left[best]
    return prod(scores)


def _accepted(value: JsonValue) -> JsonValue:
    """A value as BFCL's check compares it: the members of objects in lists of their own."""
    if isinstance(value, list):
        return [_members(one) if isinstance(one, dict) else one for one in value]
    return _members(value) if isinstance(value, dict) else value


def _members(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: [member] for name, member in value.items()}


def _acts(by_turn: Mapping[int, Prediction], sample: Sample) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """The acts of every agent turn that was predicted; a turn that calls does nothing else."""
    for at, turn in enumerate(sample.turns):
        prediction = by_turn.get(at)
        if prediction is None:
            continue
        if isinstance(turn, CallTurn) and turn.calls:
            yield frozenset({"call"}), predicted_acts(prediction)
        elif isinstance(turn, ReplyTurn) and turn.acts:
            yield frozenset(turn.acts), predicted_acts(prediction)


def predicted_acts(prediction: Prediction) -> frozenset[str]:
    """The acts of a candidate's turn: a call is one by its form, words have those that the candidate states."""
    if prediction.calls:
        return frozenset({"call"})
    value = read_value(prediction.text, format_of(prediction.strategy))
    stated = value.get(ACTS) if isinstance(value, dict) else None
    return (read_acts(stated) if stated is not None else None) or frozenset()
