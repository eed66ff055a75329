"""Parameters whose names mean something to JSON paths: calls with them are counted and scored."""

import asyncio
from pathlib import Path

from callwright.flows.evaluation.evaluating import evaluate_release, leaderboard
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, parse_recipe
from callwright.llm.models import read_model
from callwright.warehouse.releases import create_release
from tests.support.flows.answer_boards import FOUR, RIGHT, Board, book, sample_of
from tests.support.flows.small_builds import UNMEASURED, build, settings_of, warehouse_of


def test_a_tool_with_a_parameter_called_filter_is_scored(shared: Path, tmp_path: Path) -> None:
    document = shared / "cases" / "inputs" / "odata.json"
    recipe = {
        "name": "odata",
        "tools": [{"import": "openai", "path": str(document)}],
        "samples": {"perfect": 3},
    }
    settings = settings_of(tmp_path)
    landed = build(parse_recipe(recipe | UNMEASURED, tmp_path, "odata"), settings).landed
    assert landed
    assert create_release(warehouse_of(settings), "v1").samples == landed
    candidates = [
        Candidate(label=label, model=read_model("template/v1", {"error_rate": rates}))
        for label, rates in (
            ("near", {}),
            ("careless", {"wrong_argument": 1.0}),
            ("like it", {"wrong_argument": 1.0}),
        )
    ]
    asyncio.run(evaluate_release("v1", candidates, settings, SilentProgress()))
    board = {row["candidate"]: row["args_acc"] for row in leaderboard("v1", settings)}
    assert board["near"] == 1
    assert board["careless"] < 1
    warehouse = warehouse_of(settings)
    suspects = warehouse.rows("select answer from suspects")
    assert all("$filter=" in row["answer"] for row in suspects if row["answer"])
    covered = warehouse.rows(
        "select parameter, n_given as given, n_calls as calls from parameter_coverage"
    )
    assert {row["parameter"] for row in covered} == {"$filter", "$schema"}
    assert all(row["given"] == row["calls"] == landed for row in covered)


def test_an_argument_that_no_tool_has_is_one_hallucinated_argument(tmp_path: Path) -> None:
    board = Board(tmp_path)
    with board.warehouse.together():
        first, second = sample_of(FOUR), sample_of(FOUR, text="Four, please.")
        board.release(first, second)
        leaked = book({**FOUR, "$ref": "#/x", "$.a": 1, "": 2, 'a"b': 3})
        board.answer(first, leaked, leaked)
        board.answer(second, RIGHT, RIGHT)
        rows = board.warehouse.rows("select subject, error_type from predictions")
        assert {row["error_type"] for row in rows if row["subject"] == first.key} == {
            "hallucinated_argument"
        }
        assert {row["error_type"] for row in rows if row["subject"] == second.key} == {""}
        [suspect] = board.suspects()
        assert suspect.subject == first.key
        errors = board.warehouse.rows(
            "select error_type, n_predictions as predictions from error_types"
        )
        assert {row["error_type"]: row["predictions"] for row in errors} == {
            "hallucinated_argument": 1
        }
