"""HammerBench's metrics over our own predictions, as a whole and by kind, category and language (HammerBench 6.1.1).

They are those of its logs (`tallies`), over our own conversations; a single turn is a conversation of one snapshot.
`func_acc` asks for the tool at a conversation's first snapshot. `args_acc` is a share of the snapshots chosen, `pr` and `sr` of
the conversations; `pn_hr`, `pn_mr` and `pn_hr_definition` are shares of the snapshots whose conversation began with the right
tool. `pn_hr` counts names that the gold lacks, as the published code does; `pn_hr_definition` those that the tool's definition
lacks, as the paper defines it. Where no call is due, `irrelevant` (and `intent_shift`, the paper's IS, where calls were due
before) is the published count of replies that say sorry; `no_call` counts the replies that call nothing, in whatever words.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from validators.metrics.predicted import CHOICES, Agreements, Counted, GoldSnapshots, Silence
from validators.metrics.tallies import Tally, sum_up_counted
from validators.predictions import CandidateRun, run_of
from warehouse.errors import RecordError
from warehouse.records import Prediction, Sample, Score, SnapshotsScored, Tool

SLICES = ("kind", "category", "language")


class Figure(NamedTuple):
    """One metric over some conversations, and how many things it is a share of."""

    metric: str
    value: float
    whole: int


class SnapshotScores:
    """The metrics of any number of runs, gathered sample by sample: what is kept grows with runs and slices only."""

    def __init__(
        self, tools: Mapping[str, Tool] | None = None, *, judge: str = "", agreements: Agreements | None = None
    ) -> None:
        """`tools` by key, None leaves out `pn_hr_definition`.

        `agreements` are what the model `judge` says of predictions by their keys, None compares values by rule.
        """
        self._tools = tools or {}
        self._judge = judge
        self._agreements = agreements
        self._counted: dict[tuple[CandidateRun, tuple[str, ...]], Counter[Counted]] = defaultdict(Counter)

    def add(self, sample: Sample, predictions: Iterable[Prediction]) -> None:
        """Count what runs have answered to a sample; all answers of a run to it come at once.

        Raises RecordError where a snapshot has no prediction, or the judge was not asked about one that needs it.
        """
        of_runs: dict[CandidateRun, list[Prediction]] = defaultdict(list)
        for prediction in predictions:
            of_runs[run_of(prediction)].append(prediction)
        gold = GoldSnapshots(sample, self._tools)
        traits = tuple(getattr(sample, field) for field in SLICES)
        for run, of_run in of_runs.items():
            self._counted[run, traits][gold.count(of_run, self._agreements)] += 1

    def scores(self) -> list[Score]:
        """The scores of every run, sorted."""
        cells: dict[tuple[CandidateRun, str, str], Counter[Counted]] = defaultdict(Counter)
        for (run, traits), counted in self._counted.items():
            for slice_by, slice_value in (("all", ""), *zip(SLICES, traits, strict=True)):
                cells[run, slice_by, slice_value].update(counted)
        return [
            Score(
                **run._asdict(), judge=self._judge, snapshots=choice, slice_by=slice_by, slice_value=slice_value,
                metric=figure.metric, value=figure.value, count=figure.whole,
            )
            for (run, slice_by, slice_value), counted in sorted(cells.items(), key=lambda cell: cell[0])
            for choice in CHOICES
            for figure in sorted(_figures(counted, choice))
        ]  # fmt: skip


def score_predictions(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    tools: Mapping[str, Tool] | None = None,
    *,
    judge: str = "",
    agreements: Agreements | None = None,
) -> list[Score]:
    """The scores of every run in `predictions`, sorted; see SnapshotScores.

    Raises RecordError where predictions and samples do not fit together, or the judge was not asked.
    """
    by_key = {sample.key: sample for sample in samples}
    asked: dict[str, list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        if prediction.subject not in by_key:
            raise RecordError(
                f"The prediction for {prediction.subject} has no sample in this release. Predict it again."
            )
        asked[prediction.subject].append(prediction)
    scores = SnapshotScores(tools, judge=judge, agreements=agreements)
    for subject, of_sample in asked.items():
        scores.add(by_key[subject], of_sample)
    return scores.scores()


def _figures(counted: Mapping[Counted, int], choice: SnapshotsScored) -> Iterator[Figure]:
    """Every metric that can be asked of the conversations at the snapshots chosen."""
    if choice in {"first", "last"} and not any(one.is_long for one in counted):
        return  # single turns: the first and the last snapshot are all there is
    if choice == "all":
        silences: Counter[Silence] = Counter()
        for one, times in counted.items():
            for silence in one.silences:
                silences[silence] += times
        yield from _where_none_is_due(silences)
    at = CHOICES.index(choice)
    tallies: Counter[Tally] = Counter()
    for one, times in counted.items():
        tally = one.tallies[at]
        if tally is not None:
            tallies[tally] += times
    if tallies:
        yield from _where_calls_are_due(sum_up_counted(tallies))


def _where_calls_are_due(total: Tally) -> Iterator[Figure]:
    shares = {
        "func_acc": (total.opened, total.conversations),
        "args_acc": (total.right, total.snapshots),
        "pr": (total.progress, total.conversations),
        "sr": (total.successes, total.conversations),
        "pn_hr": (total.hallucinated, total.seen),
        "pn_mr": (total.missing, total.seen),
        "pn_hr_definition": (total.undefined, total.defined),
    }
    yield from (Figure(metric, met / count, count) for metric, (met, count) in shares.items() if count)
    if total.opened:  # the paper's "/Func Acc": what is left where the tool is right
        func_acc = total.opened / total.conversations
        for metric in ("args_acc", "pr", "sr"):
            met, count = shares[metric]
            yield Figure(f"{metric}/func_acc", met / count / func_acc, count)


def _where_none_is_due(silences: Counter[Silence]) -> Iterator[Figure]:
    for metric, after_calls in (("irrelevant", False), ("intent_shift", True)):
        group = {one: times for one, times in silences.items() if one.after_calls is after_calls}
        if group:
            whole = sum(group.values())
            yield Figure(metric, sum(times for one, times in group.items() if one.says_sorry) / whole, whole)
    if silences:
        whole = silences.total()
        yield Figure("no_call", sum(times for one, times in silences.items() if one.calls_nothing) / whole, whole)
