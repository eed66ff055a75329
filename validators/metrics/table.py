"""The table of metrics: the papers' own sets, ours, and those of other packages and of files.

A `Metric` gives each answer a number, of which means are kept. A `MetricSet` has several figures
with a way of its own to gather them: from answers, from a judge's opinions, or from runs.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import NamedTuple, Protocol, TypeVar

from callwright.validators.metrics.ratios import (
    Addend,
    CandidateRun,
    Cell,
    Ratios,
    run_of,
    scores_of,
)
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.records import (
    EvalMode,
    Grade,
    Prediction,
    Sample,
    Score,
    Tool,
    ToolsShown,
)
from callwright.warehouse.registry import Registry, blame, whose

PUBLISHED = "_published"  # ends the names of scores of runs as the published code goes
SLICES = ("kind", "category", "language", "difficulty")  # slices that all counted figures have
Tools = Mapping[str, Tool]  # by key
Answered = tuple[Sample, Sequence[Prediction]]  # a sample, with what runs have answered to it
Result = TypeVar("Result")


class Gathering(Protocol):
    """Scores gathered from some samples after others: what is kept does not grow with them."""

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples; all answers of all runs to a sample come at once."""

    def addends(self) -> Mapping[str, Addend]:
        """Return what everything gathered adds to each metric."""

    def scores(self) -> Iterable[Score]:
        """Return every score of every run, sorted."""


class Opinions(NamedTuple):
    """What a judge says of predictions, by their keys: that they agree with the gold, or grades."""

    judge: str
    agreements: Mapping[str, bool]
    grades: Mapping[str, Grade]


class RunResult(NamedTuple):
    """What a run over a multi-step sample came to, and the slices it counts in.

    `times` is how many runs came to just this.
    """

    run: int
    kind: str
    category: str
    language: str
    success: bool
    correct_calls: int
    total_calls: int
    completeness: int | None
    correctness: int | None
    needless_changes: int | None = None
    end_reached: bool | None = None
    untold: int | None = None
    fault: str | None = None
    obeyed: bool | None = None
    policy: str | None = None
    policy_sort: str | None = None
    violated: bool | None = None
    refused: bool | None = None
    times: int = 1


class RunsOf(NamedTuple):
    """The columns that the scores of these runs share."""

    release: str
    candidate: str
    mode: EvalMode
    judge: str = ""
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"


class Metric(NamedTuple):
    """A metric: `score` gives an answer a number, None where it says nothing of it."""

    name: str
    about: str
    score: Callable[[Sample, Prediction], float | None]

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of its scores."""
        return (self.name,)


class MetricSet(NamedTuple):
    """Metrics that are gathered together; `figures` are the names of their scores.

    Each of the functions begins, or is, one way to score them; None where there is no such way.
    """

    name: str
    about: str
    figures: tuple[str, ...]
    of_answers: Callable[[Tools], Gathering] | None = None
    of_opinions: Callable[[Tools, Opinions], Gathering] | None = None
    of_runs: Callable[[Iterable[RunResult], RunsOf], list[Score]] | None = None


Row = Metric | MetricSet


def _problem_beside(row: Row, others: Sequence[Row]) -> str:
    taken = {figure: other.name for other in others for figure in other.figures}
    clash = next((one for one in row.figures if one in taken), "")
    return f"its figure {clash!r} is one of {taken[clash]!r}" if clash else ""


METRICS: Registry[Row] = Registry(
    "metrics",
    Metric | MetricSet,
    "metric",
    "metrics",
    first=("hammerbench", "callnavi", "confetti", "complexeval"),
    problem_of=_problem_beside,
)


class RatioScores:
    """Shares and means gathered by run and by a sample's traits; who counts inherits it."""

    def __init__(self, judge: str = "") -> None:
        """Nothing is counted yet; `judge` is by whose opinions the scores are."""
        self._judge = judge
        self._ratios: dict[tuple[CandidateRun, tuple[str, ...]], Ratios] = defaultdict(Ratios)
        self._cells: dict[Cell, Ratios] = defaultdict(Ratios)

    def of(self, run: CandidateRun, sample: Sample) -> Ratios:
        """Where to count what a run has answered to a sample."""
        traits = (sample.kind, sample.category, sample.language, sample.facts.difficulty)
        return self._ratios[run, traits]

    def cell(self, run: CandidateRun, slice_by: str, value: str) -> Ratios:
        """Where to count in a slice of one's own alone."""
        return self._cells[Cell(run, slice_by, value)]

    def addends(self) -> dict[str, Addend]:
        """Return what everything gathered adds to each metric."""
        total = Ratios()
        for ratios in self._ratios.values():
            total.add(ratios)
        return total.addends()

    def scores(self) -> list[Score]:
        """Return every score of every run, sorted."""
        cells: dict[Cell, Ratios] = defaultdict(Ratios)
        for (run, traits), ratios in self._ratios.items():
            cells[Cell(run)].add(ratios)
            for field, value in zip(SLICES, traits, strict=True):
                if value or field != "difficulty":
                    cells[Cell(run, field, value)].add(ratios)
        return [*scores_of({**cells, **self._cells}, judge=self._judge)]


class MetricScores(RatioScores):
    """The means of one metric's numbers."""

    def __init__(self, metric: Metric) -> None:
        """Start without counts."""
        super().__init__()
        self._metric = metric

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers. Raises ConfigurationError where the metric gives no number."""
        metric = self._metric
        for sample, given in answered:
            for one in given:
                value = metric.score(sample, one)
                if value is None:
                    continue
                if not isinstance(value, int | float) or not isfinite(value):
                    raise ConfigurationError(
                        f"{whose(f'metric {metric.name!r}', metric.score)} gave {value!r}; it must"
                        " give a number, or None."
                    )
                self.of(run_of(one), sample).count(metric.name, value)


class AllScores:
    """The scores of all metrics of the table over some samples.

    A metric of somebody else's that raises, or gives what is no score, has none: the reason is put
    into `problems` by its name.
    """

    def __init__(
        self, tools: Tools, problems: dict[str, str], opinions: Opinions | None = None
    ) -> None:
        """By the answers alone, or by what a judge says of them."""
        self._problems = problems
        self._gathered: list[tuple[Row, Gathering]] = []
        for row in METRICS.rows():
            with _guarded(row, problems):
                gathering = _begun(row, tools, opinions)
                if gathering is not None:
                    self._gathered.append((row, gathering))

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples; all answers of all runs to a sample come at once."""
        for _ in self._each(lambda _row, gathering: gathering.add(answered)):
            pass

    def addends(self) -> dict[str, Addend]:
        """Return what everything gathered adds to each metric."""
        parts = self._each(lambda _row, gathering: gathering.addends())
        return {metric: addend for part in parts for metric, addend in part.items()}

    def scores(self) -> list[Score]:
        """Every score of every run."""
        parts = self._each(lambda row, gathering: _sound(row, gathering.scores()))
        return [score for part in parts for score in part]

    def _each(self, use: Callable[[Row, Gathering], Result]) -> Iterator[Result]:
        for row, gathering in self._gathered:
            results: list[Result] = []
            if row.name not in self._problems:
                with _guarded(row, self._problems):
                    results.append(use(row, gathering))
            yield from results


def score_all_runs(
    results: Iterable[RunResult], of: RunsOf, problems: dict[str, str]
) -> list[Score]:
    """The scores of runs by all metrics that have any; `problems` as of `AllScores`."""
    known, found = [*results], list[Score]()
    for row in METRICS.rows():
        if isinstance(row, MetricSet) and row.of_runs:
            with _guarded(row, problems):
                found += _sound(row, row.of_runs(known, of))
    return found


def run_figures(mode: EvalMode | None = None) -> list[str]:
    """The names of the scores of runs over multi-step samples, those of one mode if it is given."""
    rows = (row for row in METRICS.rows() if isinstance(row, MetricSet) and row.of_runs)
    return [
        figure
        for row in rows
        for figure in row.figures
        if mode is None or figure.endswith(PUBLISHED) is (mode == "as_published_code")
    ]


def _begun(row: Row, tools: Tools, opinions: Opinions | None) -> Gathering | None:
    if isinstance(row, Metric):
        return None if opinions else MetricScores(row)
    if opinions is not None:
        return row.of_opinions(tools, opinions) if row.of_opinions else None
    return row.of_answers(tools) if row.of_answers else None


def _sound(row: Row, scores: Iterable[Score]) -> list[Score]:
    """The scores as a list. Raises ConfigurationError where one is not a score of this metric."""
    found = [*scores]
    names = {name for figure in row.figures for name in (figure, f"{figure}_macro")}
    for one in found:
        if not isinstance(one, Score) or one.metric not in names or not isfinite(one.value):
            raise ConfigurationError(
                f"{whose(f'metric {row.name!r}', _function(row))} gave {one!r}; it must give scores"
                f" of {', '.join(row.figures)}."
            )
    return found


@contextmanager
def _guarded(row: Row, problems: dict[str, str]) -> Iterator[None]:
    """Where a metric is asked: what somebody else's raises costs it its scores."""
    try:
        yield
    except Exception as error:
        if METRICS.is_own(row.name):
            raise
        if isinstance(error, CallwrightError):
            told = str(error)
        else:
            told = f"{blame(f'metric {row.name!r}', _function(row), error)}."
        problems[row.name] = f"{told} It has no score; all else is scored and kept."


def _function(row: Row) -> object:
    return (
        row.score if isinstance(row, Metric) else row.of_answers or row.of_opinions or row.of_runs
    )
