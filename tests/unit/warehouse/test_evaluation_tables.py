"""Predictions and scores in their tables and boards; each figure that is shown is defined."""

import re
from collections.abc import Iterable

import pytest

from callwright.validators.metrics.complexeval.results import Figures, StepFigures, Summary
from callwright.validators.metrics.confetti.scores import ActScores, ConfettiScores, Validity
from callwright.validators.metrics.hammerbench.scores import FlatScores, LogScores, per_func_acc
from callwright.validators.metrics.table import METRICS, PUBLISHED
from callwright.warehouse.browsing import list_boards
from callwright.warehouse.errors import StoreError
from callwright.warehouse.records import Prediction, Score
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import TOP

PREDICTION = Prediction(release="v1", subject="s", turn=1, candidate="m", text="{}", calls=())
SCORE = Score(release="v1", candidate="m", metric="args_acc", value=0.5, count=2)


def test_predictions_in_two_contexts_stand_beside_each_other(warehouse: Warehouse) -> None:
    always = PREDICTION.with_changes(tools_shown="always", run=1)
    warehouse.put([PREDICTION, always, PREDICTION, SCORE, SCORE.with_changes(tools_shown="always")])
    counts = warehouse.rows(
        "select tools_shown, is_scored, n_predictions as n from leaderboard order by 1, run"
    )
    assert counts == [
        {"tools_shown": "always", "is_scored": True, "n": 0},
        {"tools_shown": "always", "is_scored": False, "n": 1},
        {"tools_shown": "first", "is_scored": True, "n": 1},
    ]


def test_scores_of_a_choice_or_a_judge_replace_their_own_only(warehouse: Warehouse) -> None:
    warehouse.put(
        [
            SCORE,
            SCORE.with_changes(judge="j", value=0.75),
            SCORE.with_changes(snapshots="last", value=0.1),
        ]
    )
    warehouse.put([SCORE.with_changes(value=0.6)])
    rows = warehouse.rows(
        "select judge, snapshots, value from scores where tools_shown = 'first' order by all"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("", "all", 0.6),
        ("", "last", 0.1),
        ("j", "all", 0.75),
    ]
    with pytest.raises(StoreError, match="CHECK constraint"):
        warehouse.execute("update scores set snapshots = 'middle'")


def answer(warehouse: Warehouse, candidate: str, right: Iterable[Iterable[bool]]) -> None:
    """Put a candidate's answers: of each sample, whether it is right at each of its snapshots."""
    answers = {
        PREDICTION.with_changes(subject=f"s{place}", turn=turn, candidate=candidate): one
        for place, of_sample in enumerate(right)
        for turn, one in enumerate(of_sample)
    }
    warehouse.put(answers)
    warehouse.mark_errors({one.key: "" if it else "refused" for one, it in answers.items()})


def test_the_headline_is_of_all_items_and_wider_where_those_of_a_sample_depend_on_each_other(
    warehouse: Warehouse,
) -> None:
    answer(warehouse, "alone", [[place < 300] for place in range(400)])
    answer(warehouse, "together", [[place < 75] * 4 for place in range(100)])
    answer(warehouse, "fewer", [[place < 75] for place in range(100)])
    warehouse.put([PREDICTION.with_changes(candidate="fewer", subject="s0", turn=8)])
    alone, fewer, together = warehouse.rows("from leaderboard order by candidate")
    assert (fewer["n_items"], fewer["n_judged"], fewer["n_right"]) == (101, 100, 75)
    assert {row["right_share"] for row in (alone, fewer, together)} == {0.75}
    assert together["n_judged"] == alone["n_judged"] == 400
    widths = [row["right_high"] - row["right_low"] for row in (alone, fewer, together)]
    assert widths[2] == pytest.approx(widths[1], abs=0.001)
    assert widths[2] > 1.9 * widths[0]


def test_what_nobody_judged_has_no_headline_and_judges_repeat_that_of_rules(
    warehouse: Warehouse,
) -> None:
    warehouse.put([PREDICTION])
    answer(warehouse, "judged", [[True], [False]])
    scores = [SCORE.with_changes(candidate="judged", judge=judge) for judge in ("", "j")]
    warehouse.put(scores)
    *judged, unjudged = warehouse.rows("from leaderboard order by candidate, judge")
    assert [(row["judge"], row["right_share"]) for row in judged] == [("", 0.5), ("j", 0.5)]
    assert (unjudged["n_items"], unjudged["n_judged"], unjudged["right_share"]) == (1, 0, None)
    boards = list_boards(warehouse)
    assert [(row["candidate"], row["right_share"]) for row in boards] == [
        ("judged", 0.5),
        ("m", None),
    ]


def test_every_figure_is_defined() -> None:
    shown = {
        *LogScores._fields,
        *FlatScores._fields,
        *ConfettiScores._fields,
        *ActScores._fields,
        *Validity._fields,
        *Figures._fields,
        *StepFigures._fields,
        *Summary._fields,
        *per_func_acc(LogScores(*[0] * 9)),
        *(figure.removesuffix(PUBLISHED) for row in METRICS.rows() for figure in row.figures),
    }
    assert sorted(shown - defined_figures() - {"domains", "overall", "problems"}) == []


def defined_figures() -> set[str]:
    """The names that docs/scoring.md sets in type."""
    return set(re.findall(r"`([^`\s]+)`", (TOP / "docs" / "scoring.md").read_text()))
