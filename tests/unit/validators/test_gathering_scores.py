"""Scores that are gathered piece by piece are those of all answers at once."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import orjson

from callwright.validators.metrics.complexeval.paths import score_runs
from callwright.validators.metrics.confetti.soft import score_words
from callwright.validators.metrics.mistakes import mistakes_of
from callwright.validators.metrics.table import RunResult, RunsOf
from callwright.warehouse.records import Call, GoldCall, Prediction, Sample
from tests.support.flows.plan_release import EASY, HARD, MEDIUM, TALK, TOOLS
from tests.support.validators.scoring_at_once import (
    answer_scores,
    gathered,
    name_errors,
    score_answers,
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
