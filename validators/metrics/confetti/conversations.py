"""CONFETTI's metrics over our own answers to conversations.

Each turn is predicted after the true history. A call turn is worth the product of its calls, each
held against the call that was made for it; a chain, all call turns before control returns to the
user, is worth the product of its turns. Surplus calls make a turn worth 0 (CONFETTI 4, 5). Of a
judge's grades, `parameter_validity` is the share of valid parameters in calls with the right name,
as the text has it (4.1), `…_of_all` in all predicted calls, as its formula has it. What the
judge's reply could not be read for counts in none of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import prod
from statistics import fmean
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.language.packs import LanguagePattern
from callwright.validators.metrics.callnavi.answers import notation_of, read_value
from callwright.validators.metrics.confetti.bfcl import OPTIONAL, DecodedCall
from callwright.validators.metrics.confetti.scores import bucket_of, read_acts
from callwright.validators.metrics.confetti.soft import (
    Combining,
    StringScorer,
    foresee,
    score_call,
    score_exactly,
    score_meaning,
    score_value,
    texts_to_compare,
)
from callwright.validators.metrics.ratios import CandidateRun, by_run, run_of
from callwright.validators.metrics.table import Answered, MetricSet, Opinions, RatioScores
from callwright.warehouse.records import CallTurn, GoldCall, Prediction, ReplyTurn, Sample

ACTS = "acts"
_CALLING = frozenset({"call"})
_PLAIN = (str, int, float, bool)
# the act of words that state none, the first that holds; all others inform
_SHOWS = {"reject": LanguagePattern("@{rejects}|@{refuses}"), "seek": LanguagePattern("@[?]")}


_BY_RULE = ("ast_soft", "ast_strict", "ast_soft_chains", "ast_strict_chains", "act_accuracy")


class TurnScore(NamedTuple):
    """One call turn: its strict and its soft score."""

    strict: float
    soft: float


_RIGHT, _WRONG = TurnScore(1.0, 1.0), TurnScore(0.0, 0.0)


class ChainScore(NamedTuple):
    """One chain: its number of calls, the user turns before it, its strict and soft score."""

    length: int
    user_turns: int
    strict: float
    soft: float

    def slices(self, tools: int) -> Iterator[tuple[str, str]]:
        """Yield the properties that the paper's figures slice chains by (CONFETTI 5.2).

        `tools` is the number of candidates.
        """
        for what, number in (
            ("chain_length", self.length),
            ("user_turns", self.user_turns),
            ("tools", tools),
        ):
            yield what, bucket_of(number, what)


class ConversationScores(NamedTuple):
    """Scores of the answers to one conversation; `acts` pairs annotated with predicted ones."""

    turns: tuple[TurnScore, ...]
    chains: tuple[ChainScore, ...]
    acts: tuple[tuple[frozenset[str], frozenset[str]], ...]


class GoldConversation:
    """A conversation to compare with answers of any number of runs; earlier scores are reused."""

    def __init__(self, sample: Sample, scorer: StringScorer) -> None:
        """Find the chains of the conversation once."""
        self._scorer = scorer
        self._chains = list(_chains(sample))
        self._gold = {at: turn for chain, _ in self._chains for at, turn in chain}
        self._acts = dict(_gold_acts(sample))
        # a score holds on to the calls that it is of: no others can then be taken for them
        self._turns: dict[tuple[int, int], tuple[TurnScore, object]] = {}
        self._stated: dict[tuple[str, str], frozenset[str]] = {}

    def score(self, predictions: Sequence[Prediction]) -> ConversationScores:
        """Score one run's answers against what was done in the conversation."""
        by_turn = {one.turn: one for one in predictions}
        turns: list[TurnScore] = []
        chains: list[ChainScore] = []
        for calling, spoken in self._chains:
            scored = [self._score_turn(by_turn.get(at), at) for at, _ in calling]
            turns += scored
            length = sum(len(turn.calls) for _, turn in calling)
            chains.append(
                ChainScore(
                    length,
                    spoken,
                    prod(one.strict for one in scored),
                    prod(one.soft for one in scored),
                )
            )
        acts = tuple(
            (due, self._predicted_acts(by_turn[at]))
            for at, due in self._acts.items()
            if at in by_turn
        )
        return ConversationScores(tuple(turns), tuple(chains), acts)

    def texts_to_compare(self, predictions: Iterable[Prediction]) -> Iterator[tuple[str, str]]:
        """Yield the due and given texts that a scorer will be asked about, with few others."""
        different = {(one.turn, id(one.calls)): one for one in predictions if one.calls}
        for prediction in different.values():
            gold = self._gold.get(prediction.turn)
            if (
                gold is None
                or len(prediction.calls or ()) != len(gold.calls)
                or _is_plainly_same(prediction, gold.calls)
            ):
                continue
            predicted_calls = _made(prediction)
            # a call that lacks a parameter, an empty one aside, is worth nothing whatever its
            # values
            for due in gold.calls:
                needed = {name for name, value in due.arguments.items() if value != OPTIONAL}
                complete = [call for call in predicted_calls if needed <= call.arguments.keys()]
                yield from (
                    pair for call in complete for pair in texts_to_compare(call, _answer(due))
                )

    def _score_turn(self, prediction: Prediction | None, at: int) -> TurnScore:
        if prediction is None:
            return _WRONG
        seen = (at, id(prediction.calls))
        if seen not in self._turns:
            self._turns[seen] = (
                _score_turn(prediction, self._gold[at].calls, self._scorer),
                prediction.calls,
            )
        return self._turns[seen][0]

    def _predicted_acts(self, prediction: Prediction) -> frozenset[str]:
        """Return the acts of a prediction: a call by its form, words by those that it states."""
        if prediction.calls:
            return _CALLING
        seen = (prediction.text, prediction.strategy)
        if seen not in self._stated:
            self._stated[seen] = _acts_of(prediction)
        return self._stated[seen]


def _acts_of(prediction: Prediction) -> frozenset[str]:
    """Return the acts that words state, or else the one that plain words show."""
    value = read_value(prediction.text, notation_of(prediction.strategy) or "json")
    if isinstance(value, dict):
        stated = value.get(ACTS)
        return (read_acts(stated) if stated is not None else None) or frozenset()
    said = prediction.text.strip()
    shown = (act for act, pattern in _SHOWS.items() if pattern.of(said).search(said))
    return frozenset([next(shown, "inform")]) if said else frozenset()


def _chains(sample: Sample) -> Iterator[tuple[list[tuple[int, CallTurn]], int]]:
    """Yield the uninterrupted call turns with their positions, and the user turns before them."""
    spoken = [(at, turn) for at, turn in enumerate(sample.turns) if turn.kind != "result"]
    for is_call, group in groupby(spoken, key=lambda one: isinstance(one[1], CallTurn)):
        if is_call:
            chain = [(at, turn) for at, turn in group if isinstance(turn, CallTurn)]
            yield chain, sum(turn.kind == "user" for turn in sample.turns[: chain[0][0]])


def _score_turn(
    prediction: Prediction, gold: Sequence[GoldCall], scorer: StringScorer
) -> TurnScore:
    if not gold:  # the turn is right where nothing is called
        return _RIGHT if prediction.calls == () else _WRONG
    if len(prediction.calls or ()) != len(gold):
        return _WRONG
    if _is_plainly_same(prediction, gold):
        return _RIGHT
    predicted_calls = _made(prediction)
    if len(predicted_calls) > 1:
        strictly = _product(predicted_calls, gold, score_exactly, Combining("least"))
        return TurnScore(float(strictly == 1), _product(predicted_calls, gold, scorer, Combining()))
    # of one call the scorer is asked only about values that are not accepted
    answer = _answer(gold[0])
    strict = score_call(predicted_calls, answer, score_exactly, Combining("least"))
    if strict.problem or strict.score == 1:
        return TurnScore(strict.score, strict.score)
    accepted = next(iter(answer.values()))
    soft = [
        worth
        if worth == 1
        else score_value(predicted_calls[0].arguments[name], accepted[name], scorer)
        for name, worth in strict.parameters.items()
    ]
    return TurnScore(0.0, fmean(soft))


def _made(prediction: Prediction) -> list[DecodedCall]:
    return [DecodedCall(call.tool, dict(call.arguments)) for call in prediction.calls or ()]


def _is_plainly_same(prediction: Prediction, gold: Sequence[GoldCall]) -> bool:
    """Whether the calls are exactly the due ones, in order, with only text and number values."""
    return all(
        made.tool == due.tool
        and made.arguments == due.arguments
        and all(
            type(value) in _PLAIN and type(due.arguments[name]) is type(value)
            for name, value in made.arguments.items()
        )
        for made, due in zip(prediction.calls or (), gold, strict=True)
    )


def _product(
    made: Sequence[DecodedCall],
    gold: Sequence[GoldCall],
    scorer: StringScorer,
    combining: Combining,
) -> float:
    """Return the product of due calls' scores, each taking the best call left, in any order."""
    left, scores = list(made), []
    for due in gold:
        answer = _answer(due)
        worth = [score_call([one], answer, scorer, combining).score for one in left]
        best = max(range(len(left)), key=worth.__getitem__)
        scores.append(worth[best])
        del left[best]
    return prod(scores)


def _answer(due: GoldCall) -> dict[str, dict[str, list[JsonValue]]]:
    """Return the call as BFCL's check compares it: members of objects in lists of their own."""

    def wrapped(value: JsonValue) -> JsonValue:
        return (
            {name: [member] for name, member in value.items()} if isinstance(value, dict) else value
        )

    return {
        due.tool: {
            name: [list(map(wrapped, value)) if isinstance(value, list) else wrapped(value)]
            for name, value in due.arguments.items()
        }
    }


def _gold_acts(sample: Sample) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the acts of each agent turn with its position; a turn that calls has no others."""
    for at, turn in enumerate(sample.turns):
        if isinstance(turn, CallTurn) and turn.calls:
            yield at, _CALLING
        elif isinstance(turn, ReplyTurn) and turn.acts:
            yield at, frozenset(turn.acts)


class SpokenScores(RatioScores):
    """The scores of answers to conversations."""

    def __init__(self, scorer: StringScorer = score_meaning) -> None:
        """`scorer` says how alike two texts are."""
        super().__init__()
        self._scorer = scorer

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples; the texts of all are read ahead together."""
        spoken = [
            (GoldConversation(sample, self._scorer), sample, given)
            for sample, given in answered
            if traits_of(sample.kind).asked == "conversation"
        ]
        foresee(
            self._scorer,
            (pair for gold, _, given in spoken for pair in gold.texts_to_compare(given)),
        )
        for gold, sample, given in spoken:
            for run, of_run in by_run(given).items():
                self._count(run, sample, gold.score(of_run))

    def _count(self, run: CandidateRun, sample: Sample, scored: ConversationScores) -> None:
        ratios, turns = self.of(run, sample), scored.turns
        if turns:
            ratios.count("ast_soft", sum(turn.soft for turn in turns), len(turns))
            ratios.count("ast_strict", sum(turn.strict for turn in turns), len(turns))
        for one in scored.chains:
            slices = (self.cell(run, *where) for where in one.slices(len(sample.candidates)))
            for counted in (ratios, *slices):
                counted.count("ast_soft_chains", one.soft)
                counted.count("ast_strict_chains", one.strict)
        agreeing = sum(not due.isdisjoint(stated) for due, stated in scored.acts)
        ratios.count("act_accuracy", agreeing, len(scored.acts))


class ParameterGrades(RatioScores):
    """A judge's grades of the parameters in calls of conversations."""

    def __init__(self, opinions: Opinions) -> None:
        """The grades are by the keys of predictions."""
        super().__init__(opinions.judge)
        self._grades = opinions.grades

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers; of no call with a due name the judge has said anything."""
        for sample, given in answered:
            for one in given if traits_of(sample.kind).asked == "conversation" else ():
                grade = self._grades.get(one.key)
                if grade is not None and not grade.count:
                    continue
                judged, valid = (grade.count, round(grade.value)) if grade else (0, 0)
                ratios = self.of(run_of(one), sample)
                ratios.count("parameter_validity", valid, judged)
                made = sum(len(call.arguments) for call in one.calls or ())
                ratios.count("parameter_validity_of_all", valid, made)


CONFETTI = MetricSet(
    "confetti",
    "answers in conversations, by turns, chains and acts",
    (*_BY_RULE, "parameter_validity", "parameter_validity_of_all"),
    of_answers=lambda _tools: SpokenScores(),
    of_opinions=lambda _tools, opinions: ParameterGrades(opinions),
)
