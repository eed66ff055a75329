"""Scores that are gathered piece by piece are those of all answers at once."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import orjson
import pytest

from callwright.validators.embeddings import likeness, read_ahead
from callwright.validators.metrics.complexeval.paths import score_runs
from callwright.validators.metrics.confetti.soft import foresee, score_meaning, score_words
from callwright.validators.metrics.hammerbench.snapshots import GoldSnapshots, SnapshotScores
from callwright.validators.metrics.mistakes import mistakes_of
from callwright.validators.metrics.table import RunResult, RunsOf
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Grade,
    Prediction,
    Sample,
    UserTurn,
)
from tests.support.flows.plan_release import EASY, HARD, MEDIUM, TALK, TOOLS
from tests.support.validators.scoring_at_once import (
    answer_scores,
    gathered,
    grade_scores,
    name_errors,
    score_answers,
    score_grades,
    score_predictions,
)

BY_KEY = {tool.key: tool for tool in TOOLS}
SAMPLES = {sample.key: sample for sample in (EASY, MEDIUM, HARD, TALK)}


def answers(samples: Iterable[Sample], runs: int = 3) -> list[Prediction]:
    """What several runs answer: right in the first, and in each other one wrong in another
    value.
    """
    made = []
    for run in range(runs):
        for sample in samples:
            for due in sample.snapshots():
                calls = tuple(_call(gold, run) for gold in due.calls)
                text = orjson.dumps(
                    [{"name": one.tool, "arguments": one.arguments} for one in calls]
                ).decode()
                made.append(
                    Prediction(
                        release="v1",
                        subject=sample.key,
                        turn=due.turn,
                        candidate="m",
                        run=run,
                        calls=calls,
                        text=text,
                    )
                )
    return made


def _call(gold: GoldCall, run: int) -> Call:
    said = {
        name: f"{value} {run}" if run and isinstance(value, str) else value
        for name, value in gold.arguments.items()
    }
    return Call(tool=gold.tool, arguments=said)


def by_sample(
    predictions: Sequence[Prediction], samples: dict[str, Sample]
) -> list[tuple[Sample, list[Prediction]]]:
    ordered = sorted(predictions, key=lambda one: one.subject)
    return [
        (samples[key], list(given)) for key, given in groupby(ordered, key=lambda one: one.subject)
    ]


def test_plans_and_conversations_may_come_in_pieces() -> None:
    predictions = answers(SAMPLES.values())
    pieces = [[answered] for answered in by_sample(predictions, SAMPLES)]
    at_once = score_answers(predictions, SAMPLES.values(), BY_KEY, score_words)
    assert gathered(answer_scores(BY_KEY, score_words), *pieces) == at_once
    assert {"ast", "ast_soft_chains", "levenshtein_stability"} <= {one.metric for one in at_once}


def conversation(snapshots: int) -> Sample:
    turns = [
        (UserTurn(text=str(at)), CallTurn(calls=(GoldCall(tool="f", arguments={"n": f"v{at}"}),)))
        for at in range(snapshots)
    ]
    flat = tuple(one for turn in turns for one in turn)
    return Sample(
        kind="mQmA" if snapshots > 1 else "perfect",
        language="en",
        category="x",
        candidates=(),
        turns=flat,
    )


def test_snapshots_may_come_in_pieces() -> None:
    samples = {one.key: one for one in (conversation(3), conversation(1))}
    predictions = answers(samples.values())
    pieces = SnapshotScores()
    for sample, given in by_sample(predictions, samples):
        pieces.add([(sample, given)])
    assert pieces.scores() == score_predictions(predictions, samples.values())
    assert {one.metric for one in pieces.scores()} >= {"func_acc", "args_acc", "pr", "sr"}


def test_no_answer_is_taken_for_one_that_is_gone() -> None:
    sample = conversation(1)
    gold = GoldSnapshots(sample, {})
    for run in range(
        50
    ):  # each answer is let go before the next one is made, which may then lie in its place
        counted = gold.count(answers([sample], run + 1)[-1:])
        assert [tally.right for tally in counted.tallies if tally is not None] == [
            int(run == 0)
        ] * 3


def test_grades_may_come_in_pieces() -> None:
    predictions = answers(SAMPLES.values())
    told = {"judge": "j", "reason": "", "version": "1"}
    grades = {
        one.key: Grade(prediction=one.key, metric="judge_score", value=0.5, count=1, **told)
        for one in predictions
        if one.subject != TALK.key
    }
    pieces = [[answered] for answered in by_sample(predictions, SAMPLES)]
    at_once = score_grades(predictions, SAMPLES.values(), grades, "j")
    assert gathered(grade_scores(grades, "j"), *pieces) == at_once


def test_mistakes_are_named_in_the_order_of_the_answers() -> None:
    predictions = answers(SAMPLES.values())
    named = list(mistakes_of(predictions, SAMPLES))
    assert dict(name_errors(predictions, SAMPLES)) == dict(
        zip((one.key for one in predictions), named, strict=True)
    )
    assert set(named) >= {"", "wrong_value"}
    spoken = predictions[0].with_changes(subject=TALK.key, turn=0)
    assert list(mistakes_of([spoken], SAMPLES)) == [None], "nobody could have called there"


def test_runs_that_came_to_the_same_may_be_told_once() -> None:
    of = RunsOf("v1", "m", "as_paper")
    one = RunResult(
        0,
        "multi_step",
        "Hotels",
        "en",
        success=True,
        correct_calls=2,
        total_calls=3,
        completeness=2,
        correctness=None,
    )
    other = one._replace(success=False, correct_calls=0, completeness=None)
    assert score_runs([one._replace(times=3), other], of) == score_runs([one, other, one, one], of)


def test_texts_that_are_read_ahead_are_as_like_as_others() -> None:
    texts = ["A table by the window", "the seat at the window", "两个人的位子"]
    read_ahead(texts[:2])
    found = likeness(texts, texts)
    assert all(found[at][at] == pytest.approx(1, abs=0.002) for at in range(3))
    assert found[0][1] == pytest.approx(found[1][0], abs=0.002)
    foresee(score_words, [("no", "encoder")])
    foresee(score_meaning, [(texts[0], texts[1])])
    assert 0 < score_meaning(texts[0], texts[1]) < 1
