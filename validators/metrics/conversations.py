"""CONFETTI's figures over conversations of our own, each turn predicted after the true history (CONFETTI 4, 5).

A call turn is worth the product of its calls, each held against the call that was made for it; a chain, all call turns
before control returns to the user, is worth the product of its turns. Surplus calls make a turn worth 0.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import prod
from statistics import fmean
from typing import NamedTuple

from pydantic import JsonValue

from callwright.validators.metrics.confetti.bfcl import OPTIONAL
from callwright.validators.metrics.confetti.decoding import DecodedCall
from callwright.validators.metrics.confetti.scores import bucket_of, read_acts
from callwright.validators.metrics.confetti.soft import (
    Combining,
    StringScorer,
    score_call,
    score_exactly,
    score_value,
    texts_to_compare,
)
from callwright.validators.replies.reading import read_value
from callwright.validators.strategies import format_of
from callwright.warehouse.records import CallTurn, GoldCall, Prediction, ReplyTurn, Sample

ACTS = "acts"
_CALLING = frozenset({"call"})
_PLAIN = (str, int, float, bool)


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
        yield "chain_length", bucket_of(self.length, ((1, 1), (2, 2), (3, 3)), "4+")
        yield "user_turns", bucket_of(self.user_turns, ((1, 5), (6, 10)), "11+")
        yield "tools", bucket_of(tools, ((1, 9), (10, 19)), "20+")


class ConversationScores(NamedTuple):
    """What is right about the answers to one conversation; `acts` are pairs of annotated and predicted ones."""

    turns: tuple[TurnScore, ...]
    chains: tuple[ChainScore, ...]
    acts: tuple[tuple[frozenset[str], frozenset[str]], ...]


class GoldConversation:
    """A conversation, against which the answers of any number of runs are held; what was seen before is known."""

    def __init__(self, sample: Sample, scorer: StringScorer) -> None:
        """The chains of the conversation are found once."""
        self._scorer = scorer
        self._chains = [(chain, _spoken(sample, chain[0][0])) for chain in _chains(sample)]
        self._gold = {at: turn for chain, _ in self._chains for at, turn in chain}
        self._acts = dict(_gold_acts(sample))
        # a score holds on to the calls that it is of: no others can then be taken for them
        self._turns: dict[tuple[int, int], tuple[float, float, object]] = {}
        self._stated: dict[tuple[str, str], frozenset[str]] = {}

    def score(self, predictions: Sequence[Prediction]) -> ConversationScores:
        """Hold one run's answers against what was done in the conversation."""
        by_turn = {one.turn: one for one in predictions}
        turns: list[TurnScore] = []
        chains: list[ChainScore] = []
        for number, (chain, spoken) in enumerate(self._chains):
            scored = [self._score_turn(by_turn.get(at), at) for at, _ in chain]
            turns += [TurnScore(number, strict, soft) for strict, soft in scored]
            length = sum(len(turn.calls) for _, turn in chain)
            chains.append(
                ChainScore(length, spoken, prod(strict for strict, _ in scored), prod(soft for _, soft in scored))
            )
        acts = tuple((due, self._predicted_acts(by_turn[at])) for at, due in self._acts.items() if at in by_turn)
        return ConversationScores(tuple(turns), tuple(chains), acts)

    def texts_to_compare(self, predictions: Iterable[Prediction]) -> Iterator[tuple[str, str]]:
        """The due and the given texts that a scorer will be asked about, and few others."""
        different = {(one.turn, id(one.calls)): one for one in predictions if one.calls}
        for one in different.values():
            gold = self._gold.get(one.turn)
            if gold is None or len(one.calls or ()) != len(gold.calls) or _is_plainly_same(one, gold.calls):
                continue
            made = _made(one)
            for due in gold.calls:
                answer = _answer(due)
                complete = (call for call in made if _has_all(call, due))
                yield from (pair for call in complete for pair in texts_to_compare(call, answer))

    def _score_turn(self, prediction: Prediction | None, at: int) -> tuple[float, float]:
        if prediction is None:
            return _score_turn(None, self._gold[at].calls, self._scorer)
        seen = (at, id(prediction.calls))
        known = self._turns.get(seen)
        if known is None:
            strict, soft = _score_turn(prediction, self._gold[at].calls, self._scorer)
            known = self._turns[seen] = (strict, soft, prediction.calls)
        return known[0], known[1]

    def _predicted_acts(self, prediction: Prediction) -> frozenset[str]:
        if prediction.calls:
            return _CALLING
        seen = (prediction.text, prediction.strategy)
        acts = self._stated.get(seen)
        if acts is None:
            acts = self._stated[seen] = predicted_acts(prediction)
        return acts


def _spoken(sample: Sample, before: int) -> int:
    """How often the user spoke before a turn."""
    return sum(turn.kind == "user" for turn in sample.turns[:before])


def _chains(sample: Sample) -> Iterator[list[tuple[int, CallTurn]]]:
    """The call turns that follow each other without a word of anybody, with their places."""
    spoken = [(at, turn) for at, turn in enumerate(sample.turns) if turn.kind != "result"]
    for is_call, group in groupby(spoken, key=lambda one: isinstance(one[1], CallTurn)):
        if is_call:
            yield [(at, turn) for at, turn in group if isinstance(turn, CallTurn)]


def _score_turn(prediction: Prediction | None, gold: Sequence[GoldCall], scorer: StringScorer) -> tuple[float, float]:
    if not gold:  # the turn is right where nothing is called
        right = float(prediction is not None and prediction.calls == ())
        return right, right
    if prediction is None or len(prediction.calls or ()) != len(gold):
        return 0.0, 0.0
    if _is_plainly_same(prediction, gold):
        return 1.0, 1.0
    made = _made(prediction)
    if len(made) == 1:
        return _score_one(made, _answer(gold[0]), scorer)
    strict = _product(made, gold, score_exactly, Combining("least"))
    return float(strict == 1), _product(made, gold, scorer, Combining())


def _score_one(
    made: Sequence[DecodedCall], answer: dict[str, dict[str, list[JsonValue]]], scorer: StringScorer
) -> tuple[float, float]:
    """The strict and the soft score of one call where one is due; the scorer is asked only about values that are not accepted."""
    strict = score_call(made, answer, score_exactly, Combining("least"))
    if strict.problem or strict.score == 1:
        return strict.score, strict.score
    accepted = next(iter(answer.values()))
    soft = [
        worth if worth == 1 else score_value(made[0].arguments[name], accepted[name], scorer)
        for name, worth in strict.parameters.items()
    ]
    return 0.0, fmean(soft)


def _made(prediction: Prediction) -> list[DecodedCall]:
    return [DecodedCall(call.tool, dict(call.arguments)) for call in prediction.calls or ()]


def _has_all(made: DecodedCall, due: GoldCall) -> bool:
    """Whether no parameter is missing, an empty one aside: else the call is worth nothing, whatever its values."""
    return all(name in made.arguments or value == OPTIONAL for name, value in due.arguments.items())


def _is_plainly_same(prediction: Prediction, gold: Sequence[GoldCall]) -> bool:
    """Whether the calls are the due ones, to the letter and in their order, with no value but texts and numbers."""
    return all(
        made.tool == due.tool
        and made.arguments == due.arguments
        and all(
            type(value) in _PLAIN and type(due.arguments[name]) is type(value) for name, value in made.arguments.items()
        )
        for made, due in zip(prediction.calls or (), gold, strict=True)
    )


def _product(
    made: Sequence[DecodedCall], gold: Sequence[GoldCall], scorer: StringScorer, combining: Combining
) -> float:
    """Each due call takes the best of the calls that are left, in any order; what is taken is not given back."""
    left, scores = list(made), []
    for due in gold:
        answer = _answer(due)
        worth = [score_call([one], answer, scorer, combining).score for one in left]
        best = max(range(len(left)), key=worth.__getitem__)
        scores.append(worth[best])
        del left[best]
    return prod(scores)


def _answer(due: GoldCall) -> dict[str, dict[str, list[JsonValue]]]:
    return {due.tool: {name: [_accepted(value)] for name, value in due.arguments.items()}}


def _accepted(value: JsonValue) -> JsonValue:
    """A value as BFCL's check compares it: the members of objects in lists of their own."""
    if isinstance(value, list):
        return [_members(one) if isinstance(one, dict) else one for one in value]
    return _members(value) if isinstance(value, dict) else value


def _members(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: [member] for name, member in value.items()}


def _gold_acts(sample: Sample) -> Iterator[tuple[int, frozenset[str]]]:
    """The acts of every agent turn that has any, by its place; a turn that calls does nothing else."""
    for at, turn in enumerate(sample.turns):
        if isinstance(turn, CallTurn) and turn.calls:
            yield at, _CALLING
        elif isinstance(turn, ReplyTurn) and turn.acts:
            yield at, frozenset(turn.acts)


def predicted_acts(prediction: Prediction) -> frozenset[str]:
    """The acts of a candidate's turn: a call is one by its form, words have those that the candidate states."""
    if prediction.calls:
        return _CALLING
    value = read_value(prediction.text, format_of(prediction.strategy) or "json")
    stated = value.get(ACTS) if isinstance(value, dict) else None
    return (read_acts(stated) if stated is not None else None) or frozenset()
