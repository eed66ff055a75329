"""Candidates' and judges' answers on a release: read, scored, compared, and used in exports."""

import gc
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import NamedTuple

import orjson

from callwright.flows.evaluation.gate import find_contestant
from callwright.flows.evaluation.grading import grade_versions, judge_version
from callwright.validators.accepted import AcceptedAnswers, ReadAnswer
from callwright.validators.audit.defects import wrong_calls
from callwright.validators.audit.subjects import AuditSubject, gather
from callwright.validators.metrics.mistakes import mistakes_of
from callwright.validators.metrics.ratios import (
    Addend,
    CandidateRun,
    Interval,
    difference_intervals,
)
from callwright.validators.metrics.table import AllScores, Answered, Opinions, run_figures
from callwright.warehouse.browsing import list_changes
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.formats import EXPORTS
from callwright.warehouse.exports.writing import Format, TableFormat
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Call, Grade, Prediction, Sample, Score, Tool
from callwright.warehouse.releases import (
    Answerers,
    AnswerReader,
    PassRates,
    ReleaseContent,
    ReleaseStream,
    parse_pass_rates,
    samples_by_key,
    splits_of,
)
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_AT_ONCE = 10_000


class CandidateAnswers(NamedTuple):
    """A candidate's answers to some samples in all runs.

    Each comes with its key, its stored mistake, and how it is stored to be right.
    """

    predictions: list[Prediction]
    keys: list[str]
    mistakes: list[str | None]
    matched: list[str | None]


def read_pieces(warehouse: Warehouse, run: CandidateRun) -> Iterator[CandidateAnswers]:
    """Yield a candidate's answers in all runs on a release in pieces, to bound memory."""
    bounds = warehouse.rows(sql("answers.pieces"), [_AT_ONCE, *run[:4]])
    columns = ", ".join(Prediction.model_fields)
    for piece in bounds:
        rows = warehouse.rows(
            sql("answers.of_piece", columns=columns), [*run[:4], piece["lowest"], piece["highest"]]
        )
        keys, mistakes, matched = (
            [row.pop(name) for row in rows] for name in ("key", "error_type", "matched")
        )
        yield CandidateAnswers(list(_predictions(rows)), keys, mistakes, matched)


def _predictions(rows: Iterable[Row]) -> Iterator[Prediction]:
    """Yield the predictions of rows; calls written alike are parsed once."""
    read: dict[str | None, tuple[Call, ...] | None] = {None: None}
    for row in rows:
        written = row["calls"]
        if written not in read:
            read[written] = tuple(Call.model_validate(call) for call in orjson.loads(written))
        yield Prediction(**row | {"calls": read[written]})


def read_predictions(warehouse: Warehouse, run: CandidateRun) -> Iterator[Prediction]:
    """Return a candidate's predictions on a release, in all of its runs."""
    return (one for piece in read_pieces(warehouse, run) for one in piece.predictions)


def complete_runs(
    warehouse: Warehouse, content: ReleaseContent, run: CandidateRun
) -> dict[str, set[int]]:
    """Return by split the runs that answered every sample of it; "" is the whole release.

    Only these runs are scored.
    """
    rows = warehouse.rows(sql("answers.answered"), run[:4])
    sizes = Counter(content.splits.get(sample.key, "") for sample in content.samples)
    return runs_by_split({(row["run"], row["split"]): row["answered"] for row in rows}, sizes)


def runs_by_split(
    answered: Mapping[tuple[int, str], int], sizes: Mapping[str, int]
) -> dict[str, set[int]]:
    """Return by split the runs that answered all its samples, and under "" those of all splits."""
    runs = {run for run, _ in answered}
    of_splits = {
        split: {run for run in runs if answered.get((run, split)) == size}
        for split, size in sizes.items()
        if size
    }
    return {**of_splits, "": runs.intersection(*of_splits.values())}


def answered_subjects(warehouse: Warehouse, run: CandidateRun) -> set[str]:
    """Return the samples that a candidate has answered on a release in one run."""
    return {row["subject"] for row in warehouse.rows(sql("answers.subjects"), run)}


def read_agreements(warehouse: Warehouse, release: str, judge: str) -> dict[str, bool]:
    """Return a judge's verdicts on a release's predictions by key, for the current prompt."""
    return {
        row["prediction"]: row["agree"]
        for row in warehouse.rows(sql("answers.agreements"), [release, judge, judge_version()])
    }


def read_grades(warehouse: Warehouse, release: str, judge: str) -> dict[str, Grade]:
    """Return a judge's grades of a release's predictions by key, for the current prompts."""
    columns = ", ".join(f"g.{name}" for name in Grade.model_fields)
    rows = warehouse.rows(
        sql("answers.grades", columns=columns), [release, judge, list(grade_versions().values())]
    )
    return {row["prediction"]: Grade(**row) for row in rows}


def put_scores(
    warehouse: Warehouse, scores: Sequence[Score], split: str, *, as_published: bool = False
) -> None:
    """Replace a candidate's scores over a split by the same verdicts; others' metrics stay."""
    runs = {
        (one.release, one.candidate, one.strategy, one.tools_shown, one.judge) for one in scores
    }
    for run in runs:
        warehouse.execute(sql("answers.remove_scores"), [*run, split, run_figures()])
    more = {"split": split, "as_published": as_published}
    warehouse.put_rows({"scores": [one.model_dump() | more for one in scores]})


def score_answers(
    warehouse: Warehouse,
    content: ReleaseContent,
    run: CandidateRun,
    judge: str = "",
    split: str = "",
    *,
    as_published: bool = False,
) -> list[str]:
    """Score the complete runs of a candidate over one split, or the release and each split.

    By rule, which names all mistakes too, or by what a judge has said. Any accepted answer counts,
    or the gold alone `as_published`. Gives why metrics of other packages and of files have no
    score.
    """
    samples, release = {sample.key: sample for sample in content.samples}, content.release.name
    complete = complete_runs(warehouse, content, run)
    complete = {split: complete[split]} if split else complete
    opinions = None
    if judge:
        opinions = Opinions(
            judge,
            read_agreements(warehouse, release, judge),
            read_grades(warehouse, release, judge),
        )
    problems: dict[str, str] = {}
    gathered = {one: AllScores(content.tools, problems, opinions) for one in complete}
    with warehouse.together(), _no_search_for_garbage():
        for piece in read_pieces(warehouse, run):
            read = list(_as_gold(piece.predictions, samples, content.tools, as_published))
            as_gold = [one.prediction for one in read]
            answered = list(_by_sample(as_gold, samples))
            for one, scores in gathered.items():
                scores.add(list(_of_split(answered, content, one, complete[one])))
            if not judge:
                _mark_mistakes(warehouse, piece, read, samples)
        for one, scores in gathered.items():
            put_scores(warehouse, scores.scores(), one, as_published=as_published)
    return [*problems.values()]


def score_others_alike(
    warehouse: Warehouse, content: ReleaseContent, *, as_published: bool
) -> list[str]:
    """Score anew whoever was scored on a release the other way: all stand in one table.

    A judge has to be asked about other answers then: its scores are removed. Returns whose.
    """
    of_runs = [*run_figures(), *run_figures("as_published_code")]
    rows = warehouse.rows(
        sql("answers.scored_otherwise"), [content.release.name, as_published, of_runs]
    )
    removed: list[str] = []
    for row in rows:
        judge = row.pop("judge")
        run = CandidateRun(content.release.name, **row)
        if judge:
            warehouse.execute(sql("answers.remove_judged"), [*run[:4], judge, of_runs])
            removed.append(
                f"The scores of {run.candidate} by the judge {judge} counted other answers. They"
                f" are removed; evaluate {run.candidate} again with --judge {judge}."
            )
        else:
            score_answers(warehouse, content, run, as_published=as_published)
    return removed


def read_as_gold(
    warehouse: Warehouse, content: ReleaseContent, run: CandidateRun, *, as_published: bool
) -> Iterator[Prediction]:
    """Yield a candidate's predictions in all runs, with the gold in place of what is as right."""
    samples = {sample.key: sample for sample in content.samples}
    for piece in read_pieces(warehouse, run):
        read = _as_gold(piece.predictions, samples, content.tools, as_published)
        yield from (one.prediction for one in read)


def _as_gold(
    predictions: Iterable[Prediction],
    samples: Mapping[str, Sample],
    tools: Mapping[str, Tool],
    as_published: bool,  # noqa: FBT001 - as its callers were asked
) -> Iterator[ReadAnswer]:
    for subject, given in groupby(predictions, key=lambda one: one.subject):
        accepted = AcceptedAnswers(samples[subject], tools)
        yield from (ReadAnswer(one) if as_published else accepted.read(one) for one in given)


def _mark_mistakes(
    warehouse: Warehouse,
    piece: CandidateAnswers,
    read: Sequence[ReadAnswer],
    samples: Mapping[str, Sample],
) -> None:
    known = zip(piece.keys, piece.mistakes, piece.matched, strict=True)
    mistakes = mistakes_of((one.prediction for one in read), samples)
    changed = {
        key: (mistake, one.sort)
        for (key, before, matched), mistake, one in zip(known, mistakes, read, strict=True)
        if mistake is not None and (mistake, "" if mistake else one.sort) != (before, matched)
    }
    if changed:
        warehouse.mark_errors(
            {key: mistake for key, (mistake, _) in changed.items()},
            {key: sort for key, (_, sort) in changed.items()},
        )


def _of_split(
    answered: Iterable[Answered], content: ReleaseContent, split: str, runs: Container[int]
) -> Iterator[Answered]:
    """Yield the answers of these runs to the samples of a split; "" means all."""
    for sample, given in answered:
        if split in ("", content.splits.get(sample.key, "")):
            counted = [one for one in given if one.run in runs]
            if counted:
                yield sample, counted


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Disable the garbage collector, which would search all records again and again.

    That takes a fifth of the time, and there are no cycles to find.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _by_sample(
    predictions: Iterable[Prediction], samples: Mapping[str, Sample]
) -> Iterator[Answered]:
    for subject, given in groupby(predictions, key=lambda one: one.subject):
        yield samples[subject], list(given)


_GIVING = 1_000  # samples whose values may be put into others


def require_options_fit(
    form: Format | TableFormat,
    from_answers: Sequence[str],
    pass_rate: str,
    *,
    one_call_at_a_time: bool,
) -> None:
    """Raise ConfigurationError if a format cannot hold what the options ask for.

    Pass rates need candidates, and answers of candidates stay as they were given.
    """
    if from_answers and (isinstance(form, TableFormat) or form.answers == "none"):
        takers = ", ".join(
            one.name for one in EXPORTS.rows() if isinstance(one, Format) and one.answers != "none"
        )
        problem = f"The format {form.name!r} cannot hold answers. Formats that can: {takers}."
        raise ConfigurationError(problem)
    if pass_rate:
        parse_pass_rates(pass_rate)
        if not from_answers:
            raise ConfigurationError("--pass-rate needs candidates. Name them with --from-answers.")
    if not one_call_at_a_time:
        return
    if isinstance(form, TableFormat) or not form.is_chat:
        chats = ", ".join(
            one.name for one in EXPORTS.rows() if isinstance(one, Format) and one.is_chat
        )
        raise ConfigurationError(
            f"The format {form.name!r} has no chats in which parallel calls could be written one"
            f" after another. Formats for --one-call-at-a-time: {chats}."
        )
    if from_answers:
        raise ConfigurationError(
            "--one-call-at-a-time can't be combined with --from-answers, because candidates answer"
            " with their calls together."
        )


def with_answers(
    warehouse: Warehouse, stream: ReleaseStream, from_answers: Sequence[str], pass_rate: str
) -> ReleaseStream:
    """Return the release with candidates' answers, people's corrections and planted defects.

    Raises ConfigurationError for an unknown candidate.
    """
    name = stream.release.name
    candidates = tuple(find_contestant(warehouse, name, one) for one in from_answers)
    band = parse_pass_rates(pass_rate) if pass_rate else PassRates()
    keys = [*splits_of(warehouse, name)]
    pool = gather(samples_by_key(warehouse, keys[:: len(keys) // _GIVING + 1]).values())

    def planted(sample: Sample) -> Iterator[tuple[str, Sample]]:
        return wrong_calls(AuditSubject(sample, stream.tools, pool))

    reader = AnswerReader(warehouse, name, Answerers(candidates, band), planted)
    return stream._replace(samples=reader.through(stream.samples), answers=reader.of)


def keep_intervals(
    warehouse: Warehouse, content: ReleaseContent, run: CandidateRun, *, as_published: bool
) -> None:
    """Keep confidence intervals of metric differences between changed and original tools.

    This needs the candidate's answers on both.
    """
    release = content.release.name
    if not warehouse.rows("select 1 from tool_changes where release = ? limit 1", [release]):
        return
    for change in list_changes(warehouse, release):
        of_run = (change.candidate, change.tools_shown) == (run.candidate, run.tools_shown)
        if of_run and change.is_paired and run.strategy in (change.strategy, change.plain_strategy):
            before, after = (
                _addends(
                    warehouse, content, run._replace(strategy=strategy), as_published=as_published
                )
                for strategy in (change.plain_strategy, change.strategy)
            )
            for split in {"", *content.splits.values()}:
                keys = [
                    key
                    for key in before
                    if key in after and split in ("", content.splits.get(key, ""))
                ]
                differences = _intervals(
                    [before[key] for key in keys], [after[key] for key in keys]
                )
                shared = {"release": release, "split": split, **change._asdict()}
                rows = [
                    {**shared, "metric": metric, **interval._asdict()}
                    for metric, interval in differences.items()
                ]
                warehouse.put_rows({"tool_change_intervals": rows})


def _intervals(
    before: Sequence[Mapping[str, Addend]], after: Sequence[Mapping[str, Addend]]
) -> dict[str, Interval]:
    """Return an interval for each metric's difference, from paired addends before and after."""
    metrics = sorted({metric for one in before for metric in one})
    parts = [
        tuple([one.get(metric, _NOTHING) for one in side] for side in (before, after))
        for metric in metrics
    ]
    found = zip(metrics, difference_intervals([(one, other) for one, other in parts]), strict=True)
    return {metric: interval for metric, interval in found if interval is not None}


def _addends(
    warehouse: Warehouse, content: ReleaseContent, run: CandidateRun, *, as_published: bool
) -> dict[str, Mapping[str, Addend]]:
    """Return what the answers of a candidate's first run add to each metric, by sample."""
    samples = {sample.key: sample for sample in content.samples}
    added: dict[str, Mapping[str, Addend]] = {}
    read = read_as_gold(warehouse, content, run, as_published=as_published)
    for key, given in groupby(read, key=lambda one: one.subject):
        first, sample = [one for one in given if one.run == 0], samples[key]
        if first:
            scores = AllScores(content.tools, {})
            scores.add([(sample, first)])
            added[key] = scores.addends()
    return added


_NOTHING = Addend(0, 0)
