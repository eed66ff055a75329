"""A judge's grades of plans and conversations, over a real wire and by template/v1: asked once,
kept, and shown.
"""

import asyncio
from pathlib import Path

import orjson
import pytest

from callwright.flows.evaluation.evaluating import answer_board, evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings
from callwright.llm.models import ModelSettings, read_model
from callwright.warehouse.rows import Row
from tests.support.flows.model_server import ModelServer, ServedRequest
from tests.support.flows.plan_release import EASY, PLANS, TALK, release
from tests.support.flows.small_builds import one, row_counts, settings_of, stub_settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = settings_of(tmp_path)
    release(found, *PLANS, TALK)
    return found


def of_server(server: ModelServer, label: str) -> ModelSettings:
    given = stub_settings(server, name=f"openai/{label}", concurrency=1)
    return read_model(given.pop("name"), given)


def evaluate(
    settings: Settings, server: ModelServer, judge: ModelSettings, label: str = "far"
) -> None:
    candidate = Candidate(label=label, model=of_server(server, label))
    asyncio.run(
        evaluate_release("v1", [candidate], settings, SilentProgress(), Conditions(judge=judge))
    )


def judged(settings: Settings, judge: str, slice_value: str = "") -> Row:
    [row] = [
        one
        for one in answer_board("v1", settings)
        if (one["judge"], one["slice_value"]) == (judge, slice_value)
    ]
    return row


def talking(asked: ServedRequest) -> str | None:
    """What a candidate says in the conversation; template/v1 makes the plans."""
    if asked.title:
        return None
    if "G777" in asked.question:
        return '[{"name": "book_sauna", "arguments": {"guest_id": "G777", "hour": 21}}]'
    if "For Ida Berg" in asked.question:
        return '[{"name": "find_guest", "arguments": {"name": "Ida Berg"}}]'
    return None


def strict(asked: ServedRequest) -> str | None:
    if asked.title == "PlanGrade":
        return orjson.dumps(
            {"score": 1 if "storm" in asked.question else 0.25, "reason": "Is it easy?"}
        ).decode()
    if asked.title == "MadeUp":
        return orjson.dumps(
            {"parameters": ["hour", "date"], "reason": "Nine in the evening?"}
        ).decode()
    return talking(asked)


def test_a_judge_grades_each_answer_once_and_the_grades_are_scored(
    model_server: ModelServer, settings: Settings
) -> None:
    model_server.behaviour = strict
    evaluate(settings, model_server, of_server(model_server, "judge"))
    row = judged(settings, "openai/judge")
    assert (row["judge_score"], row["judge_score_macro"], row["n_graded_plans"]) == (
        0.5,
        0.5,
        len(PLANS),
    )
    assert judged(settings, "openai/judge", "easy")["judge_score"] == 1
    assert judged(settings, "openai/judge", "hard")["judge_score"] == 0.25
    valid, parameters = row["parameter_validity"], row["n_judged_parameters"]
    assert (valid, parameters) == (pytest.approx(2 / 3), 3), (
        "of a name, a number and an hour, the hour is not stated"
    )
    by_rule = judged(settings, "")
    assert (by_rule["judge_score"], by_rule["parameter_validity"]) == (None, None)
    assert (by_rule["n_plans"], row["n_plans"]) == (len(PLANS), None)
    asked = dict(model_server.titles)
    assert (asked["PlanGrade"], asked["MadeUp"]) == (len(PLANS), 2)
    assert (
        one(settings, "select count(*) from llm_calls where model = 'openai/judge'")
        == len(PLANS) + 2
    )
    before = row_counts(settings)
    evaluate(settings, model_server, of_server(model_server, "judge"))
    assert row_counts(settings) == before
    assert model_server.titles == asked, "what was graded is not asked again"


def test_template_judges_without_a_key_and_tells_right_from_wrong(
    model_server: ModelServer, settings: Settings
) -> None:
    judge = read_model("template/v1")
    model_server.behaviour = talking
    evaluate(settings, model_server, judge, "right")
    model_server.behaviour = lambda asked: (
        "Close the pool, I guess." if EASY.request in asked.question else None
    )
    evaluate(settings, model_server, judge, "wrong")
    boards = {
        row["candidate"]: row
        for row in answer_board("v1", settings)
        if (row["judge"], row["slice_by"]) == (judge.name, "all")
    }
    right, wrong = boards["right"], boards["wrong"]
    assert right["judge_score"] == right["judge_score_macro"] == 1
    assert right["parameter_validity"] == pytest.approx(2 / 3), "nobody said 21"
    assert wrong["judge_score"] == wrong["judge_score_macro"] == pytest.approx(2 / 3)
