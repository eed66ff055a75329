"""What candidates answered, read in pieces: whole samples, every answer once, and mistakes noted
where they are new.
"""

from pathlib import Path

import orjson

from callwright.flows.evaluation.answers import (
    complete_runs,
    read_pieces,
    read_predictions,
    score_by_rule,
)
from callwright.validators.predictions import CandidateRun
from callwright.warehouse.records import Call, Prediction
from callwright.warehouse.releases import read_release
from callwright.warehouse.store import Warehouse
from tests.support.flows.plan_release import PLANS, release
from tests.support.flows.small_builds import settings_of, warehouse_of

RUN = CandidateRun("v1", "m")


def answered(tmp_path: Path, runs: int = 3) -> tuple[Warehouse, list[Prediction]]:
    """A release with the answers of several runs: the right calls, in the last run without
    arguments.
    """
    settings = settings_of(tmp_path)
    release(settings, *PLANS)
    made = []
    for run in range(runs):
        for sample in PLANS:
            given = [{} if run == runs - 1 else one.arguments for one in sample.gold]
            calls = tuple(
                Call(tool=one.tool, arguments=said)
                for one, said in zip(sample.gold, given, strict=True)
            )
            text = orjson.dumps([one.model_dump() for one in calls]).decode()
            turn = len(sample.turns) - 1
            made.append(
                Prediction(
                    **RUN._replace(run=run)._asdict(),
                    subject=sample.key,
                    turn=turn,
                    calls=calls,
                    text=text,
                )
            )
    warehouse = warehouse_of(settings)
    warehouse.put(made)
    return warehouse, made


def test_a_piece_has_all_answers_to_its_samples(tmp_path: Path) -> None:
    warehouse, made = answered(tmp_path)
    pieces = list(read_pieces(warehouse, RUN, at_once=4))
    assert len(pieces) > 1
    subjects = [{one.subject for one in piece.predictions} for piece in pieces]
    assert sum(map(len, subjects)) == len(PLANS), "no sample is cut"
    read = [one for piece in pieces for one in piece.predictions]
    assert {one.key for one in read} == {one.key for one in made}
    assert [key for piece in pieces for key in piece.keys] == [one.key for one in read]
    assert sorted(one.key for one in read_predictions(warehouse, RUN)) == sorted(
        one.key for one in made
    )
    assert list(read_pieces(warehouse, RUN._replace(candidate="nobody"))) == []


def test_runs_that_have_answered_all_of_a_split_are_known(tmp_path: Path) -> None:
    warehouse, made = answered(tmp_path)
    assert complete_runs(warehouse, read_release(warehouse, "v1"), RUN) == {"": {0, 1, 2}}
    in_test = made[0].subject
    warehouse.execute(
        "update release_samples set split = if(subject = ?, 'test', 'train')", [in_test]
    )
    warehouse.execute("delete from predictions where run = 2 and subject <> ?", [in_test])
    content = read_release(warehouse, "v1")
    assert complete_runs(warehouse, content, RUN) == {
        "": {0, 1},
        "train": {0, 1},
        "test": {0, 1, 2},
    }
    score_by_rule(warehouse, content, RUN)
    rows = warehouse.rows(
        "select split, run, count from scores where metric = 'ast' and slice_by = 'all' order"
        " by all"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("", 0, 3),
        ("", 1, 3),
        ("test", 0, 1),
        ("test", 1, 1),
        ("test", 2, 1),
        ("train", 0, 2),
        ("train", 1, 2),
    ]


def test_scores_and_mistakes_are_kept_and_the_same_again(tmp_path: Path) -> None:
    warehouse, _ = answered(tmp_path)
    content = read_release(warehouse, "v1")
    found = []
    for _ in range(2):
        score_by_rule(warehouse, content, RUN)
        scores = warehouse.rows("select * from scores order by all")
        errors = warehouse.rows(
            "select run, error_type, count(*) as times from predictions group by all order by all"
        )
        found.append((scores, errors))
    assert found[0] == found[1]
    wrong = [row for row in found[0][1] if row["error_type"]]
    assert {row["run"] for row in wrong} == {2}
    assert {row["error_type"] for row in wrong} == {"missing_argument"}
