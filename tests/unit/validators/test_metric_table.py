"""Metrics of others beside ours: each costs its own scores, and nobody else's."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext

import pytest

from callwright.validators.metrics.ratios import Addend, run_of
from callwright.validators.metrics.table import (
    METRICS,
    AllScores,
    Answered,
    Metric,
    MetricSet,
    RatioScores,
    RunResult,
    RunsOf,
    score_all_runs,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Prediction, Sample, Score
from callwright.warehouse.registry import Source
from tests.support.flows.plan_release import EASY, TALK, TOOLS

BY_KEY = {tool.key: tool for tool in TOOLS}
OURS = ("hammerbench", "callnavi", "confetti", "complexeval", "invented")
RUN = RunResult(0, "multi_step", "Spa", "en", True, 2, 3, None, None)


def answers(sample: Sample) -> Answered:
    made = [
        Prediction(
            release="v1", subject=sample.key, turn=due.turn, candidate="m", calls=(), text="Hm."
        )
        for due in sample.snapshots()
    ]
    return sample, made


def scored(row: Metric | MetricSet | None = None) -> tuple[dict[str, float], dict[str, str]]:
    """The figures of a few answers over all, with a further metric in the table, and problems."""
    problems: dict[str, str] = {}
    with METRICS.including(row) if row else nullcontext():
        scores = AllScores(BY_KEY, problems)
        scores.add([answers(EASY), answers(TALK)])
        found = [*scores.scores(), *score_all_runs([RUN], RunsOf("v1", "m", "as_paper"), problems)]
    return {one.metric: one.value for one in found if one.slice_by == "all"}, problems


def test_the_papers_sets_are_rows_as_any_others() -> None:
    assert METRICS.names[: len(OURS)] == OURS
    assert {"ast", "ast_soft", "invented", "call_acc"} <= scored()[0].keys()
    figures = [figure for row in METRICS.rows() for figure in row.figures]
    assert len(figures) == len(set(figures))


def test_numbers_are_averaged_and_what_is_none_does_not_count() -> None:
    row = Metric("length", "", lambda _, one: None if one.turn == 1 else len(one.text))
    figures, problems = scored(row)
    assert (figures["length"], problems) == (3, {})
    with METRICS.including(row):
        scores = AllScores(BY_KEY, {})
        scores.add([answers(EASY)])
        assert scores.addends()["invented"] == Addend(0, 1)


def raising(_sample: Sample, _prediction: Prediction) -> float:
    return 1 / 0


class Halting(RatioScores):
    def __init__(self, tools: object = None, *, at: str = "") -> None:
        super().__init__()
        self._at = at

    def add(self, answered: Sequence[Answered]) -> None:
        if self._at == "add":
            raise KeyError("Hm")
        for sample, given in answered:
            for one in given:
                self.of(run_of(one), sample).count("other" if self._at == "name" else "halts", 1)

    def scores(self) -> list[Score]:
        if self._at == "scores":
            raise KeyError("Hm")
        return [3] if self._at == "kind" else super().scores()  # type: ignore[list-item]


def refusing(_tools: object) -> Halting:
    raise KeyError("Hm")


def running(_results: Iterable[RunResult], _of: RunsOf) -> list[Score]:
    raise KeyError("Hm")


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (Metric("own", "", raising), r"\(.*table.py:\d+\) raised ZeroDivisionError: division by"),
        (Metric("own", "", lambda _, one: one.text), r"\(.*table.py:\d+\) gave 'Hm.'; it must"),  # type: ignore[arg-type,return-value]
        (Metric("own", "", lambda *_: float("nan")), r"\(.*table.py:\d+\) gave nan; it must give"),
        (MetricSet("own", "", ("halts",), refusing), r"\(.*table.py:\d+\) raised KeyError: 'Hm'"),
        *(
            (MetricSet("own", "", ("halts",), lambda _, at=at: Halting(at=at)), wrong)
            for at, wrong in (
                ("add", r"\(.*table.py:\d+\) raised KeyError: 'Hm'"),
                ("scores", r"\(.*table.py:\d+\) raised KeyError: 'Hm'"),
                ("kind", r"\(.*table.py:\d+\) gave 3; it must give scores of halts"),
                ("name", r"\(.*table.py:\d+\) gave Score.*; it must give scores of halts"),
            )
        ),
        (MetricSet("own", "", ("halts",), of_runs=running), r"\(.*:\d+\) raised KeyError: 'Hm'"),
    ],
)
def test_a_metric_that_raises_or_gives_nonsense_costs_its_scores_alone(
    row: Metric | MetricSet, wrong: str
) -> None:
    figures, problems = scored(row)
    assert figures == scored()[0]
    assert re.match(rf"Your metric 'own' {wrong}", problems["own"]), problems
    assert problems["own"].endswith("It has no score; all else is scored and kept.")


def test_a_set_counts_by_kind_category_language_and_difficulty() -> None:
    with METRICS.including(MetricSet("own", "", ("halts",), Halting)):
        scores = AllScores(BY_KEY, {})
        scores.add([answers(EASY)])
        found = [one for one in scores.scores() if one.metric == "halts"]
    assert {one.slice_by for one in found} == {"all", "kind", "category", "language", "difficulty"}


@pytest.mark.parametrize(
    "make", [lambda name: Metric(name, "", raising), lambda name: MetricSet("own", "", (name,))]
)
def test_a_figure_that_is_taken_is_refused(make: Callable[[str], Metric | MetricSet]) -> None:
    with pytest.raises(ConfigurationError, match="its figure 'args_acc' is one of 'hammerbench'"):
        METRICS.add(make("args_acc"), Source("own.py:METRIC", "x"))
