"""Evaluating on multi-step samples: driven once, kept whole, scored by domain, beside what is
answered snapshot by snapshot.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from callwright.flows.evaluation.evaluating import domain_board, evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.pages.report import write_report
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings
from callwright.llm.models import ModelSettings, read_model
from tests.support.flows.conversation_release import ALARM, HOTEL
from tests.support.flows.conversation_release import sample as conversation
from tests.support.flows.inn_world import (
    NAME,
    TOOLS,
    Guide,
    Inns,
    inn_and_tour_sample,
    inn_sample,
    release_paths,
)
from tests.support.flows.model_server import ModelServer, ServedRequest
from tests.support.flows.small_builds import (
    one,
    row_counts,
    run_here,
    settings_of,
    stub_settings,
    warehouse_of,
)

SINGLE = [inn_sample(city) for city in ("Rome", "Porto", "Lyon", "Ghent")]
CROSS = [inn_and_tour_sample(city) for city in ("Oslo", "New York")]
SAMPLES = SINGLE + CROSS
REQUESTS = len(SAMPLES) * 4  # three steps and the answer


@pytest.fixture
def released(tmp_path: Path) -> Settings:
    settings = settings_of(tmp_path)
    release_paths(warehouse_of(settings), SAMPLES)
    return settings


def model_of(server: ModelServer, **changes: Any) -> ModelSettings:
    given = stub_settings(server, **{"concurrency": 4} | changes)
    return read_model(given.pop("name"), given)


def guided_by(guide: Guide) -> Any:
    """The behaviour of a server that answers as a guide does, and as a judge who always agrees."""

    def behave(asked: ServedRequest) -> str:
        match asked.title:
            case "Judgement":
                return json.dumps({"agree": True, "reason": "The same city."})
            case "AnswerScore":
                return json.dumps(
                    {
                        "score": 2 if "speak to everything" in asked.question else 1,
                        "reason": "It reads so.",
                    }
                )
            case _:
                return guide.reply(
                    [message["content"] for message in orjson.loads(asked.question)[0]]
                )

    return behave


def evaluate(
    settings: Settings, model: ModelSettings, *, label: str = "far", **conditions: Any
) -> None:
    conditions = {"environments": {"inns": Inns()}} | conditions
    candidate = Candidate(label=label, model=model)
    asyncio.run(
        evaluate_release(NAME, [candidate], settings, SilentProgress(), Conditions(**conditions))
    )


def test_a_perfect_candidate_scores_one_everywhere_and_is_driven_once(
    model_server: ModelServer, released: Settings
) -> None:
    model_server.behaviour = guided_by(Guide(SAMPLES))
    evaluate(released, model_of(model_server))
    assert model_server.requests == REQUESTS
    [row] = leaderboard(NAME, released)
    assert (row["success_rate"], row["call_acc"], row["n_multi_step_runs"]) == (1, 1, len(SAMPLES))
    assert (row["func_acc"], row["completeness"], row["n_predictions"]) == (None, None, 0)
    domains = {row["domain"]: row for row in domain_board(NAME, released)}
    assert list(domains) == ["Cross", "Hotels", "all"]
    assert all(
        (row["success_rate"], row["call_acc"], row["mean_steps"], row["mean_shortest_steps"])
        == (1, 1, 3, 3)
        for row in domains.values()
    )
    assert {name: row["n_runs"] for name, row in domains.items()} == {
        "Cross": 2,
        "Hotels": 4,
        "all": 6,
    }
    before = row_counts(released)
    evaluate(released, model_of(model_server))
    assert model_server.requests == REQUESTS
    assert row_counts(released) == before


def test_domains_are_scored_apart_and_errors_are_counted(
    model_server: ModelServer, released: Settings
) -> None:
    def err(step: int, calls: list[dict[str, Any]], tries: int) -> list[dict[str, Any]]:
        for call in calls:
            if call["name"] == "Tour_Details":
                call["arguments"]["slug"] = "elsewhere"
        return calls

    model_server.behaviour = guided_by(Guide(SAMPLES, err))
    evaluate(released, model_of(model_server))
    scores = warehouse_of(released).rows(
        "select slice_value, success_rate, call_acc from metrics_by_slice where slice_by ="
        " 'category' order by slice_value"
    )
    assert scores == [
        {"slice_value": "Cross", "success_rate": 0, "call_acc": 0.8},
        {"slice_value": "Hotels", "success_rate": 1, "call_acc": 1},
    ]
    errors = warehouse_of(released).rows(
        "select kind, error_type, n_predictions, mode from error_types"
    )
    assert errors == [
        {
            "kind": "multi_step_cross",
            "error_type": "value_error",
            "n_predictions": 2,
            "mode": "as_paper",
        }
    ]
    types = "select parameter_type, n_due, n_wrong, wrong_share from parameter_type_errors where n_wrong > 0"
    assert warehouse_of(released).rows(types) == [
        {"parameter_type": "slug", "n_due": 2, "n_wrong": 2, "wrong_share": 1}
    ]
    steps = "select n_shortest_steps, n_steps, n_extra_steps, n_runs, n_successes from step_distribution"
    assert warehouse_of(released).rows(steps) == [
        {"n_shortest_steps": 3, "n_steps": 3, "n_extra_steps": 0, "n_runs": 6, "n_successes": 4}
    ]
    said = one(released, "select distinct reason from call_errors")
    assert "slug" in said


def test_the_report_shows_domains_parameters_and_steps(
    model_server: ModelServer, released: Settings, tmp_path: Path
) -> None:
    model_server.behaviour = guided_by(Guide(SAMPLES, stop_after=2))
    evaluate(released, model_of(model_server))
    page = write_report(warehouse_of(released), tmp_path / "report.html").read_text(
        encoding="utf-8"
    )
    for said in (
        "Multi-step samples by domain",
        "Call Acc",
        "Errors by type of parameter",
        "Steps beyond",
        "stop_early",
    ):
        assert said in page
    assert "Func Acc" not in page, "nothing was answered snapshot by snapshot"


def test_a_judge_matches_names_and_scores_answers(
    model_server: ModelServer, released: Settings
) -> None:
    def err(step: int, calls: list[dict[str, Any]], tries: int) -> list[dict[str, Any]]:
        if calls[0]["arguments"].get("query") == "New York":
            calls[0]["arguments"]["query"] = "NY"
        return calls

    model_server.behaviour = guided_by(Guide(SAMPLES, err))
    evaluate(released, model_of(model_server))
    judge = model_of(model_server)
    evaluate(released, model_of(model_server), judge=judge)
    rows = {row["judge"]: row for row in leaderboard(NAME, released)}
    assert rows[""]["success_rate"] == pytest.approx(5 / 6)
    assert (rows[judge.name]["success_rate"], rows[judge.name]["call_acc"]) == (1, 1)
    assert (rows[judge.name]["completeness"], rows[judge.name]["correctness"]) == (2, 1)
    matched = one(
        released,
        'select count(*) from multi_step_runs where messages::varchar like \'%"matched":"judge"%\'',
    )
    assert matched == 1


def write_candidate(folder: Path, server: ModelServer, **changes: Any) -> Path:
    """A recipe with the server's model as its candidate."""
    recipe = folder / "candidates.yaml"
    model = {**stub_settings(server), "concurrency": 4, **changes}
    recipe.write_text(
        json.dumps(
            {
                "name": "small",
                "tools": [{"seed": "all"}],
                "samples": {"perfect": 1},
                "candidates": [{"label": "far", "model": model}],
            }
        )
    )
    return recipe


def test_a_release_of_both_is_evaluated_by_one_command(
    model_server: ModelServer, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path)
    samples = [*SAMPLES, conversation("Bergen", 3)]
    release_paths(warehouse_of(settings), samples, [*TOOLS, HOTEL, ALARM])
    guide = guided_by(Guide(SAMPLES))
    model_server.behaviour = lambda asked: guide(asked) if asked.title else None
    recipe = write_candidate(tmp_path, model_server)
    done = run_here("evaluate", NAME, "--recipe", str(recipe), "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)
    assert (
        row["success_rate"],
        row["func_acc"],
        row["n_predictions"],
        row["n_multi_step_runs"],
    ) == (1, 1, 3, 6)
    assert [domain["domain"] for domain in row["domains"]] == ["Cross", "Hotels", "all"]
    assert "far through the multi-step samples of paths: 6 to do" in done.stderr
    shown = run_here("evaluate", NAME, "--recipe", str(recipe), home=tmp_path)
    *_, cross, hotels, whole, _, cost = [line.split() for line in shown.stdout.splitlines()]
    assert [line[:6] for line in (cross, hotels, whole)] == [
        ["far", "direct", "0", "as_paper", domain, "1.0000"]
        for domain in ("Cross", "Hotels", "all")
    ]
    assert cost[:8] == ["far", "direct", "first", "0", "1.0000", "9", "3", "6"]
