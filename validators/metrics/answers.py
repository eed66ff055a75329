"""Scores of answers beyond HammerBench's: plans of calls, conversations, and how steady answers are over several runs.

`invented` is the share of answers that call a tool which is no candidate. `election_stability` and
`levenshtein_stability` compare the calls, not how they are written; they are means over samples, of all runs together, and kept
with the first (CallNavi 5.3). A metric
ending in `_macro` is the mean of the difficulties (CallNavi 5.1).
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple, get_args

import orjson

from callwright.generators.kinds import traits_of
from callwright.validators.metrics.callnavi.answers import NAMES, PARAMETERS
from callwright.validators.metrics.callnavi.matching import GoldAnswer, is_routed, match_answer
from callwright.validators.metrics.callnavi.scores import DIFFICULTIES, Stability, measure_stability
from callwright.validators.metrics.confetti.soft import StringScorer, foresee, score_meaning
from callwright.validators.metrics.conversations import ChainScore, ConversationScores, GoldConversation
from callwright.validators.metrics.errors import ErrorType, error_type, pair_calls, plan_error
from callwright.validators.metrics.intervals import Addend, Interval, bounds_of, interval_of, share_interval
from callwright.validators.predictions import CandidateRun, run_of
from callwright.validators.replies.reading import is_valid, join_replies
from callwright.validators.strategies import format_of
from callwright.warehouse.records import Call, CallTurn, GoldCall, Prediction, Sample, Score, Tool

PlanMetric = Literal["syntax_validity", "syntax_validity_repaired", "routing", "structure", "ast"]
BY_DIFFICULTY: tuple[PlanMetric, ...] = get_args(PlanMetric)


class PlanScore(NamedTuple):
    """What is right about one answer, by metric."""

    difficulty: str
    verdicts: dict[PlanMetric, bool]


def score_plan(prediction: Prediction, gold: Sequence[GoldCall], difficulty: str = "") -> PlanScore:
    """Hold an answer against the calls that are due."""
    wanted = GoldAnswer([call.tool for call in gold], [call.arguments for call in gold])
    calls = prediction.calls or ()
    made = {NAMES: [call.tool for call in calls], PARAMETERS: [call.arguments for call in calls]}
    notation = format_of(prediction.strategy)
    valid = is_valid(prediction.text, notation) if notation else bool(calls)
    match = match_answer(made if prediction.calls is not None else None, wanted)
    return PlanScore(
        difficulty,
        {
            "syntax_validity": valid,
            "syntax_validity_repaired": valid or bool(calls),
            "routing": prediction.calls is not None and is_routed(made, wanted.names),
            "structure": match.structure,
            "ast": match.ast,
        },
    )


Values = Iterator[
    tuple[str, float, int, Interval | None]
]  # a metric, its value, how many things it is over, its interval
Traits = tuple[str, ...]  # the values of FIELDS
Answered = tuple[Sample, Sequence[Prediction]]  # a sample, with what runs have answered to it
FIELDS = ("kind", "category", "language", "difficulty")


class AnswerSums:
    """Answers of one run: how many invent a tool, and what is right of plans, turns, chains and dialogue acts.

    `plans` are counted by their difficulty and the verdicts on them.
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.answers = self.invented = 0
        self.plans: Counter[tuple[str, tuple[bool, ...]]] = Counter()
        self.chains = ChainSums()
        self.turns = array("d")
        self.strict = 0.0
        self.acts = self.acts_right = 0
        self.parts: dict[str, Counter[tuple[float, int]]] = defaultdict(Counter)  # what samples add to each metric

    def add_conversation(self, conversation: ConversationScores) -> None:
        """Count the answers to a conversation."""
        soft, strict = (sum(getattr(turn, name) for turn in conversation.turns) for name in ("soft", "strict"))
        self.turns.extend(turn.soft for turn in conversation.turns)
        self.strict += strict
        self.parts["ast_soft"][soft, len(conversation.turns)] += 1
        self.parts["ast_strict"][strict, len(conversation.turns)] += 1
        for chain in conversation.chains:
            self.chains.add(chain)
        agreeing = sum(not due.isdisjoint(stated) for due, stated in conversation.acts)
        self.acts += len(conversation.acts)
        self.acts_right += agreeing
        self.parts["act_accuracy"][agreeing, len(conversation.acts)] += 1

    def add(self, other: "AnswerSums") -> None:
        """Count what another one has counted."""
        self.answers += other.answers
        self.invented += other.invented
        self.plans.update(other.plans)
        self.chains.add_all(other.chains)
        self.turns.extend(other.turns)
        self.strict += other.strict
        self.acts += other.acts
        self.acts_right += other.acts_right
        for metric, parts in other.parts.items():
            self.parts[metric].update(parts)

    def values(self) -> Values:
        """The metrics of what was counted."""
        yield "invented", self.invented / self.answers, self.answers, self._interval("invented")
        yield from self._of_plans()
        if self.turns:
            yield "ast_soft", fmean(self.turns), len(self.turns), self._interval("ast_soft")
            yield "ast_strict", self.strict / len(self.turns), len(self.turns), self._interval("ast_strict")
            yield from self.chains.values()
        if self.acts:
            yield "act_accuracy", self.acts_right / self.acts, self.acts, self._interval("act_accuracy")

    def _interval(self, metric: str) -> Interval | None:
        return interval_of(Addend(met, whole, times) for (met, whole), times in sorted(self.parts[metric].items()))

    def _of_plans(self) -> Values:
        if not self.plans:
            return
        whole = self.plans.total()
        for metric, share in zip(BY_DIFFICULTY, _shares(self.plans), strict=True):
            yield metric, share, whole, share_interval(share * whole, whole)
        levels = [
            _shares(of_level)
            for name in DIFFICULTIES
            if (of_level := {one: times for one, times in self.plans.items() if one[0] == name})
        ]
        if levels:
            for at, metric in enumerate(BY_DIFFICULTY):
                yield f"{metric}_macro", fmean(level[at] for level in levels), whole, None


class ChainSums:
    """The chains of conversations: their soft scores as they are, for an exact mean, and how many are right strictly."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.soft = array("d")
        self.strict = 0.0

    def add(self, chain: ChainScore) -> None:
        """Count a chain."""
        self.soft.append(chain.soft)
        self.strict += chain.strict

    def add_all(self, other: "ChainSums") -> None:
        """Count what another one has counted."""
        self.soft.extend(other.soft)
        self.strict += other.strict

    def values(self) -> Values:
        """The metrics of what was counted."""
        if self.soft:
            chains = len(self.soft)
            parts = (Addend(soft, 1, times) for soft, times in sorted(Counter(self.soft).items()))
            yield "ast_soft_chains", fmean(self.soft), chains, interval_of(parts)
            yield "ast_strict_chains", self.strict / chains, chains, share_interval(self.strict, chains)


class AnswerScores:
    """The scores of any number of runs, gathered from some samples after others: what is kept are sums."""

    def __init__(self, tools: Mapping[str, Tool], scorer: StringScorer = score_meaning) -> None:
        """`tools` by key tell which calls are invented."""
        self._tools = tools
        self._scorer = scorer
        self._sums: dict[tuple[CandidateRun, Traits], AnswerSums] = defaultdict(AnswerSums)
        self._chains: dict[tuple[CandidateRun, str, str], ChainSums] = defaultdict(ChainSums)
        # by the first of the runs, and by how many runs have answered a sample
        self._steady: dict[tuple[CandidateRun, int, Traits], list[Stability]] = defaultdict(list)
        self._runs: set[CandidateRun] = set()

    def add(self, answered: Sequence[Answered]) -> None:
        """Count what was answered to some samples; all answers of all runs to a sample come at once."""
        conversations = {
            sample.key: GoldConversation(sample, self._scorer)
            for sample, _ in answered
            if traits_of(sample.kind).asked == "conversation"
        }
        spoken = ((conversations[sample.key], given) for sample, given in answered if sample.key in conversations)
        foresee(self._scorer, (pair for conversation, given in spoken for pair in conversation.texts_to_compare(given)))
        for sample, given in answered:
            families: dict[CandidateRun, list[str]] = defaultdict(list)
            of_runs: dict[CandidateRun, list[Prediction]] = defaultdict(list)
            for one in given:
                of_runs[run_of(one)].append(one)
            self._add_runs(sample, of_runs, conversations.get(sample.key))
            for run, of_run in sorted(of_runs.items(), key=lambda one: one[0]):
                families[run._replace(run=0)].append(_answer_text(sample, of_run))
            for first, texts in families.items():
                if len(texts) > 1:
                    self._steady[first, len(texts), _traits(sample)].append(measure_stability(texts))

    def _add_runs(
        self,
        sample: Sample,
        of_runs: Mapping[CandidateRun, Sequence[Prediction]],
        conversation: GoldConversation | None,
    ) -> None:
        names = {self._tools[key].name for key in sample.candidates if key in self._tools}
        plans = _GoldPlans(sample)
        traits = _traits(sample)
        self._runs.update(of_runs)
        for run, of_run in of_runs.items():
            sums = self._sums[run, traits]
            sums.answers += len(of_run)
            invented = sum(any(call.tool not in names for call in one.calls or ()) for one in of_run)
            sums.invented += invented
            sums.parts["invented"][invented, len(of_run)] += 1
            if conversation is not None:
                scored = conversation.score(of_run)
                sums.add_conversation(scored)
                for chain in scored.chains:
                    for cell in chain.slices(len(sample.candidates)):
                        self._chains[run, *cell].add(chain)
            elif traits_of(sample.kind).asked == "plan":
                sums.plans.update(plans.verdicts(of_run))

    def scores(self) -> list[Score]:
        """Every score of every run: of plans and conversations, and over runs the stability of all answers, sorted."""
        cells: dict[CandidateRun, dict[tuple[str, str], AnswerSums]] = defaultdict(lambda: defaultdict(AnswerSums))
        for (run, traits), sums in self._sums.items():
            for cell in _slices(traits):
                cells[run][cell].add(sums)
        chains: dict[CandidateRun, dict[tuple[str, str], ChainSums]] = defaultdict(dict)
        for (run, slice_by, slice_value), summed in self._chains.items():
            chains[run][slice_by, slice_value] = summed
        return [
            *(
                score
                for run, of_run in sorted(cells.items(), key=lambda one: one[0])
                for score in (*_scores(run, of_run), *_scores(run, chains[run]))
            ),
            *self._stabilities(),
        ]

    def _stabilities(self) -> Iterator[Score]:
        """How alike the answers of several runs are; only samples that every run has answered count."""
        runs = Counter(run._replace(run=0) for run in self._runs)
        cells: dict[tuple[CandidateRun, str, str], list[Stability]] = defaultdict(list)
        for (first, answered, traits), steady in self._steady.items():
            if answered == runs[first]:
                for cell in _slices(traits):
                    cells[first, *cell] += steady
        for (first, slice_by, slice_value), of_cell in sorted(cells.items(), key=lambda one: one[0]):
            for metric in Stability._fields:
                values = [getattr(one, metric) for one in of_cell]
                parts = (Addend(value, 1, times) for value, times in sorted(Counter(values).items()))
                yield Score(
                    **first._asdict(), slice_by=slice_by, slice_value=slice_value, metric=f"{metric}_stability",
                    value=fmean(values), count=len(of_cell), **bounds_of(interval_of(parts)),
                )  # fmt: skip


def mistakes_of(predictions: Iterable[Prediction], samples: Mapping[str, Sample]) -> Iterator[ErrorType | None]:
    """The mistake of each prediction, "" where there is none, None where no call could have been one."""
    known: dict[tuple[str, int, int], tuple[ErrorType, object]] = {}
    for one in predictions:
        sample = samples[one.subject]
        turn = sample.turns[one.turn] if 0 <= one.turn < len(sample.turns) else None
        if not isinstance(turn, CallTurn) and not has_one_call(sample):
            yield None
            continue
        seen = (one.subject, one.turn, id(one.calls))
        if seen not in known:
            known[seen] = (_mistake(one, sample, turn.calls if isinstance(turn, CallTurn) else ()), one.calls)
        yield known[seen][0]


def has_one_call(sample: Sample) -> bool:
    """Whether a sample is one of those that HammerBench's metrics are about: at most one call is due at a snapshot."""
    return traits_of(sample.kind).asked == "call"


def slices_of(sample: Sample) -> Iterator[tuple[str, str]]:
    """What the scores of a sample are known by: the whole, and each of its traits."""
    return _slices(_traits(sample))


def _traits(sample: Sample) -> Traits:
    return sample.kind, sample.category, sample.language, sample.difficulty


def _slices(traits: Traits) -> Iterator[tuple[str, str]]:
    yield "all", ""
    for field, value in zip(FIELDS, traits, strict=True):
        if value or field != "difficulty":
            yield field, value


def _scores(run: CandidateRun, cells: Mapping[tuple[str, str], AnswerSums | ChainSums]) -> Iterator[Score]:
    for (slice_by, slice_value), sums in sorted(cells.items(), key=lambda one: one[0]):
        for metric, value, count, interval in sums.values():
            yield Score(
                **run._asdict(), slice_by=slice_by, slice_value=slice_value, metric=metric, value=value, count=count,
                **bounds_of(interval),
            )  # fmt: skip


class _GoldPlans:
    """The plans due in a sample, against which the answers of any number of runs are held."""

    def __init__(self, sample: Sample) -> None:
        self._difficulty = sample.difficulty
        self._sample = sample
        self._gold = {at: turn.calls for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)}
        # a score holds on to the calls that it is of: no others can then be taken for them
        self._known: dict[tuple[int, int, str, str | None], tuple[PlanScore, object]] = {}

    def verdicts(self, predictions: Iterable[Prediction]) -> Iterator[tuple[str, tuple[bool, ...]]]:
        """The difficulty and the verdicts on each answer where a plan is due, in the order of the metrics."""
        for one in predictions:
            if one.turn in self._gold:
                yield self._difficulty, tuple(self._score(one).verdicts.values())

    def _ordered(self, one: Prediction) -> Prediction:
        """The answer, where the calls due are a set in the order of those that it is paired with."""
        if not one.calls or traits_of(self._sample.kind).calls != "set":
            return one
        pairs = pair_calls(self._gold[one.turn], one.calls, self._sample.language)
        return one.with_changes(calls=tuple(pair.made for pair in pairs if pair.made is not None))

    def _score(self, one: Prediction) -> PlanScore:
        seen = (one.turn, id(one.calls), one.text, format_of(one.strategy))
        known = self._known.get(seen)
        if known is None:
            known = self._known[seen] = (
                score_plan(self._ordered(one), self._gold[one.turn], self._difficulty),
                one.calls,
            )
        return known[0]


def _answer_text(sample: Sample, predictions: Sequence[Prediction]) -> str:
    """The calls of a run's answers to a sample, written alike where they are alike; replies as they are where they call nothing."""
    in_order = traits_of(sample.kind).calls == "sequence"
    speaks = traits_of(sample.kind).asked == "conversation"
    return join_replies(
        [
            one.text if one.calls is None or (speaks and not one.calls) else _calls_text(one.calls, in_order=in_order)
            for one in sorted(predictions, key=lambda one: one.turn)
        ]
    )


def _calls_text(calls: Sequence[Call], *, in_order: bool) -> str:
    written = [orjson.dumps([call.tool, call.arguments], option=orjson.OPT_SORT_KEYS).decode() for call in calls]
    return ",".join(written if in_order else sorted(written))


def _mistake(prediction: Prediction, sample: Sample, gold: Sequence[GoldCall]) -> ErrorType:
    traits = traits_of(sample.kind)
    in_any_order = traits.asked == "call" or (traits.asked == "plan" and traits.calls == "set")
    return error_type(prediction, sample) if in_any_order else plan_error(prediction, gold, sample.language)


def _shares(plans: Mapping[tuple[str, tuple[bool, ...]], int]) -> list[float]:
    """The share of the plans that is right by each metric."""
    whole = sum(plans.values())
    return [sum(times for (_, right), times in plans.items() if right[at]) / whole for at in range(len(BY_DIFFICULTY))]
