"""CallNavi's metrics over our own answers: plans of calls, and how stable answers are over runs.

`election_stability` and `levenshtein_stability` compare the calls, not how they are written; they
are means over samples, of all runs together, and kept with the first (CallNavi 5.3). A metric
ending in `_macro` is the mean of the difficulties (5.1). Of a judge's grades `judge_score` is a
mean over plans (5.2); what its reply could not be read for does not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Literal, get_args

import orjson

from callwright.generators.kinds import traits_of
from callwright.validators.metrics.callnavi.answers import (
    NAMES,
    PARAMETERS,
    GoldAnswer,
    Stability,
    is_routed,
    is_valid,
    join_replies,
    match_answer,
    measure_stability,
    notation_of,
)
from callwright.validators.metrics.mistakes import pair_calls
from callwright.validators.metrics.ratios import CandidateRun, by_run, run_of
from callwright.validators.metrics.table import Answered, MetricSet, Opinions, RatioScores
from callwright.warehouse.records import GoldCall, Prediction, Sample

PlanMetric = Literal["syntax_validity", "syntax_validity_repaired", "routing", "structure", "ast"]


def score_plan(prediction: Prediction, gold: Sequence[GoldCall]) -> dict[PlanMetric, bool]:
    """Return what is right about an answer, by metric, compared with the due calls."""
    wanted = GoldAnswer([call.tool for call in gold], [call.arguments for call in gold])
    calls = prediction.calls or ()
    predicted_plan = {
        NAMES: [call.tool for call in calls],
        PARAMETERS: [call.arguments for call in calls],
    }
    notation = notation_of(prediction.strategy)
    valid = is_valid(prediction.text, notation) if notation else bool(calls)
    match = match_answer(predicted_plan if prediction.calls is not None else None, wanted)
    return {
        "syntax_validity": valid,
        "syntax_validity_repaired": valid or bool(calls),
        "routing": prediction.calls is not None and is_routed(predicted_plan, wanted.names),
        "structure": match.structure,
        "ast": match.ast,
    }


class _GoldPlans:
    """The plans due in a sample, compared with the answers of any number of runs."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._gold = {at: turn.calls for at, turn in sample.call_turns}
        # a score holds on to the calls that it is of: no others can then be taken for them
        self._known: dict[
            tuple[int, int, str, str | None], tuple[dict[PlanMetric, bool], object]
        ] = {}

    def verdicts(self, one: Prediction) -> Iterable[tuple[PlanMetric, bool]]:
        """Return what is right about an answer, or nothing if no plan is due."""
        if one.turn not in self._gold:
            return ()
        seen = (one.turn, id(one.calls), one.text, notation_of(one.strategy))
        if seen not in self._known:
            gold, ordered = self._gold[one.turn], one
            # in the order of those that they are paired with
            if one.calls and traits_of(self._sample.kind).calls == "set":
                made = (pair.made for pair in pair_calls(gold, one.calls, self._sample.language))
                ordered = one.with_changes(calls=tuple(filter(None, made)))
            self._known[seen] = (score_plan(ordered, gold), one.calls)
        return self._known[seen][0].items()


def _answer_text(sample: Sample, predictions: Sequence[Prediction]) -> str:
    """Return a run's calls for a sample in a uniform notation, and replies without calls as is."""
    in_order = traits_of(sample.kind).calls == "sequence"
    speaks = traits_of(sample.kind).asked == "conversation"
    texts: list[str] = []
    for one in sorted(predictions, key=lambda one: one.turn):
        calls = [[call.tool, call.arguments] for call in one.calls or ()]
        written = [orjson.dumps(call, option=orjson.OPT_SORT_KEYS).decode() for call in calls]
        says_words = one.calls is None or (speaks and not written)
        texts.append(one.text if says_words else ",".join(written if in_order else sorted(written)))
    return join_replies(texts)


class PlanScores(RatioScores):
    """The scores of answers to plans, and how steady all answers are."""

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples."""
        for sample, given in answered:
            plans = _GoldPlans(sample) if traits_of(sample.kind).asked == "plan" else None
            families: dict[CandidateRun, list[str]] = defaultdict(list)
            for run, of_run in sorted(by_run(given).items(), key=lambda one: one[0]):
                families[run._replace(run=0)].append(_answer_text(sample, of_run))
                if plans is not None:
                    ratios = self.of(run, sample)
                    for metric, is_right in chain.from_iterable(map(plans.verdicts, of_run)):
                        ratios.count(metric, is_right, level=sample.facts.difficulty)
            for first, texts in families.items():
                if len(texts) > 1:
                    for name, value in measure_stability(texts)._asdict().items():
                        self.of(first, sample).count(f"{name}_stability", value)


class PlanGrades(RatioScores):
    """A judge's grades of plans."""

    def __init__(self, opinions: Opinions) -> None:
        """The grades are by the keys of predictions."""
        super().__init__(opinions.judge)
        self._grades = opinions.grades

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples."""
        for sample, given in answered:
            for one in given:
                grade = self._grades.get(one.key)
                if grade is not None and grade.metric == "judge_score" and grade.count:
                    ratios = self.of(run_of(one), sample)
                    ratios.count("judge_score", grade.value, level=sample.facts.difficulty)


CALLNAVI = MetricSet(
    "callnavi",
    "answers to plans of calls, and how steady all answers are",
    (*get_args(PlanMetric), "judge_score", *(f"{name}_stability" for name in Stability._fields)),
    of_answers=lambda _tools: PlanScores(),
    of_opinions=lambda _tools, opinions: PlanGrades(opinions),
)
