"""Scoring what a candidate has answered, as it is kept: piece by piece, whatever the number of answers."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby

from flows.evaluation.answers import Piece, put_scores, read_agreements, read_grades, read_pieces
from validators.metrics.answers import Answered, AnswerScores, has_one_call, mistakes_of
from validators.metrics.grades import GradeScores
from validators.metrics.predictions import SnapshotScores
from validators.predictions import CandidateRun
from warehouse.records import Sample
from warehouse.releases import ReleaseContent
from warehouse.store import Warehouse


def score_by_rule(warehouse: Warehouse, content: ReleaseContent, run: CandidateRun) -> None:
    """Score all runs of a candidate without asking anybody, and name the mistakes."""
    samples = {sample.key: sample for sample in content.samples}
    snapshots, answers = SnapshotScores(content.tools), AnswerScores(content.tools)
    with warehouse.together(), _no_search_for_garbage():
        for piece in read_pieces(warehouse, run):
            answered = list(_by_sample(piece, samples))
            for sample, predictions in answered:
                if has_one_call(sample):
                    snapshots.add(sample, predictions)
            answers.add(answered)
            _mark_errors(warehouse, piece, samples)
        put_scores(warehouse, [*snapshots.scores(), *answers.scores()])


def score_by_judge(warehouse: Warehouse, content: ReleaseContent, run: CandidateRun, judge: str) -> None:
    """Score all runs of a candidate by what a judge has said of them."""
    samples = {sample.key: sample for sample in content.samples}
    agreements = read_agreements(warehouse, content.release.name, judge)
    snapshots = SnapshotScores(content.tools, judge=judge, agreements=agreements)
    graded = GradeScores(read_grades(warehouse, content.release.name, judge), judge)
    with warehouse.together(), _no_search_for_garbage():
        for piece in read_pieces(warehouse, run):
            for sample, predictions in _by_sample(piece, samples):
                if has_one_call(sample):
                    snapshots.add(sample, predictions)
                graded.add(sample, predictions)
        put_scores(warehouse, [*snapshots.scores(), *graded.scores()])


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Leave records to be freed when they are let go: the collector would look through all of them again and again.

    That takes a fifth of the time, and there are no circles to find.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _by_sample(piece: Piece, samples: Mapping[str, Sample]) -> Iterator[Answered]:
    for subject, given in groupby(piece.predictions, key=lambda one: one.subject):
        yield samples[subject], list(given)


def _mark_errors(warehouse: Warehouse, piece: Piece, samples: Mapping[str, Sample]) -> None:
    """Note the mistakes that are not noted yet."""
    named = mistakes_of(piece.predictions, samples)
    changed = {
        key: mistake
        for key, before, mistake in zip(piece.keys, piece.mistakes, named, strict=True)
        if mistake is not None and mistake != before
    }
    if changed:
        warehouse.mark_errors(changed)
