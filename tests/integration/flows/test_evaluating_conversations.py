"""Evaluating on conversations: what candidates see, judges who are asked once, and labels whose
settings change.
"""

import asyncio
import json
from pathlib import Path

import pytest

from callwright.flows.evaluation.evaluating import evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings
from callwright.llm.models import ModelSettings, read_model
from callwright.warehouse.records import SampleFacts
from tests.support.flows.conversation_release import away, release, sample
from tests.support.flows.model_server import ModelServer, ServedRequest
from tests.support.flows.small_builds import (
    one,
    row_counts,
    settings_of,
    stub_settings,
    warehouse_of,
)

SNAPSHOTS = 11
JUDGE = read_model("template/v1")


@pytest.fixture
def released(tmp_path: Path) -> Settings:
    settings = settings_of(tmp_path)
    release(
        settings,
        [
            sample("Bergen", 3),
            sample("Porto", 5, kind="mSv", facts=SampleFacts(shifts=(2,))),
            sample("Ghent", 2),
            away("Lyon"),
        ],
    )
    return settings


def evaluate(settings: Settings, candidate: Candidate, **conditions) -> None:
    asyncio.run(
        evaluate_release("v1", [candidate], settings, SilentProgress(), Conditions(**conditions))
    )


def of_server(server: ModelServer, **changes: object) -> ModelSettings:
    given = stub_settings(server, **changes)
    return read_model(given.pop("name"), given)


def test_every_snapshot_is_answered_and_scored(
    model_server: ModelServer, released: Settings
) -> None:
    model_server.behaviour = lambda asked: (
        "Sorry, the stars are none of mine." if "stars" in asked.question else None
    )
    evaluate(released, Candidate(label="far", model=of_server(model_server)))
    [row] = leaderboard("v1", released)
    assert row["n_predictions"] == SNAPSHOTS
    assert (row["func_acc"], row["args_acc"], row["pr"], row["sr"], row["intent_shift"]) == (
        1,
        1,
        1,
        1,
        1,
    )
    choices = warehouse_of(released).rows(
        "select distinct snapshots, judge from scores where slice_by = 'kind' order by all"
    )
    assert choices == [
        {"snapshots": name, "judge": ""} for name in ("all", "first", "last", "shift")
    ]
    shifted = one(
        released,
        "select n_conversations from metrics_by_slice where slice_by = 'all' and snapshots = 'shift'",
    )
    assert shifted == 1


def test_what_was_shown_keeps_predictions_apart(
    model_server: ModelServer, released: Settings
) -> None:
    asked: list[str] = []

    def behave(question: ServedRequest) -> None:
        asked.append(question.question)

    model_server.behaviour = behave
    candidate = Candidate(label="far", model=of_server(model_server))
    evaluate(released, candidate)
    first = [text for text in asked if "set_alarm" in text]
    assert (len(asked), len(first)) == (SNAPSHOTS, 4), "all tools are shown once a conversation"
    evaluate(released, candidate, tools_shown="always")
    rows = leaderboard("v1", released)
    assert sorted((row["tools_shown"], row["n_predictions"]) for row in rows) == [
        ("always", SNAPSHOTS),
        ("first", SNAPSHOTS),
    ]
    assert (
        len([text for text in asked[SNAPSHOTS:] if "set_alarm" in text])
        == len(asked) - SNAPSHOTS
        == 7
    )
    evaluate(released, candidate)
    assert len(asked) == SNAPSHOTS + 7, (
        "nothing is asked twice: what is the same prompt in both is in the ledger"
    )


def test_a_judge_is_asked_once_about_what_rules_leave_open(
    model_server: ModelServer, released: Settings
) -> None:
    last = {
        "3 nights.": {"city": "Bergen", "nights": "3 nights"},
        "5 nights.": {"city": "Lisbon", "nights": 5},
    }

    def behave(asked: ServedRequest) -> str | None:
        given = next(
            (arguments for said, arguments in last.items() if said in asked.question), None
        )
        return None if given is None else json.dumps({"name": "book_hotel", "arguments": given})

    model_server.behaviour = behave
    candidate = Candidate(label="far", model=of_server(model_server))
    evaluate(released, candidate, judge=JUDGE)
    verdicts = warehouse_of(released).rows(
        "select agree, judge, reason from judge_verdicts order by agree"
    )
    assert [(row["agree"], row["judge"]) for row in verdicts] == [
        (False, "template/v1"),
        (True, "template/v1"),
    ]
    by_rule, by_judge = sorted(leaderboard("v1", released), key=lambda row: row["judge"])
    assert (by_rule["judge"], by_judge["judge"]) == ("", "template/v1")
    assert by_rule["args_acc"] < by_judge["args_acc"] < 1
    assert by_rule["func_acc"] == by_judge["func_acc"] == 1
    judged = one(released, "select count(*) from llm_calls where stage = 'judge_prediction'")
    assert judged == 2
    before = row_counts(released)
    evaluate(released, candidate, judge=JUDGE)
    assert row_counts(released) == before
