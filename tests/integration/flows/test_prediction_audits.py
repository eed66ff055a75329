"""Audits of the metric: which answers are drawn, who is asked about them, and what comes of what
people say.
"""

import asyncio
import json
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.review.asking_again import (
    AuditablePrediction,
    AuditDraw,
    draw_audits,
    suspects_of_audits,
)
from callwright.llm.models import read_model
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.releases import create_release
from tests.support.annotation.editing import edited
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import ReviewSite, open_site
from tests.support.flows.small_builds import build, run_here, unmeasured_recipe

SAMPLES = {"perfect": 12, "imperfect": 6, "irrelevant": 6}
RATES = dict.fromkeys(("wrong_tool", "missing_argument", "wrong_argument", "malformed_json"), 0.2)


def evaluate(site: ReviewSite, *labels: str, release: str = "v1", **conditions: object) -> None:
    """Ask candidates: `near` understands, others err, each in its own way and in every way."""
    candidates = [
        Candidate(
            label=label,
            model=read_model(
                "template/v1", {"error_rate": {} if label == "near" else RATES, "seed": 5 * seed}
            ),
        )
        for seed, label in enumerate(labels)
    ]
    asyncio.run(
        evaluate_release(
            release, candidates, site.settings, SilentProgress(), Conditions(**conditions)
        )
    )


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a release v1 that two candidates have answered."""
    home = tmp_path_factory.mktemp("evaluated")
    site = open_site(home, PaperStudio())
    build(unmeasured_recipe(samples=SAMPLES, review={"spot_checks": 0}), site.settings)
    create_release(site.warehouse, "v1")
    evaluate(site, "near", "careless")
    return home


@pytest.fixture
def audited(evaluated: Path, tmp_path: Path) -> ReviewSite:
    shutil.copytree(evaluated, tmp_path / "home")
    return open_site(tmp_path / "home", PaperStudio())


def answer_count(site: ReviewSite) -> int:
    """How many answers both candidates gave."""
    return int(site.value("select count(*) from predictions"))


def draw(site: ReviewSite, count: int = 12, *models: str) -> AuditDraw:
    return draw_audits("v1", site.settings, models, count)


def drawn(site: ReviewSite) -> list[dict[str, object]]:
    return site.rows(
        "select prediction, candidate, error_type from audit_draws order by prediction"
    )


def asked(site: ReviewSite) -> list[str]:
    return [
        task["subject"]
        for task in site.studio.tasks.values()
        if task["callwright_key"].startswith("prediction_audit:")
    ]


def test_each_error_type_and_answers_counted_right_are_drawn_alike(audited: ReviewSite) -> None:
    there = Counter(
        {
            row["error_type"]: row["n"]
            for row in audited.rows("select error_type, count(*) as n from predictions group by 1")
        }
    )
    assert len(there) >= 4
    found = draw(audited)
    assert (found.drawn, found.new, found.answers) == (12, 12, answer_count(audited))
    assert found.by_error_type.keys() == there.keys()
    fair = 12 // len(there)
    assert all(count >= min(fair, there[name]) for name, count in found.by_error_type.items())
    right = Counter(row["candidate"] for row in drawn(audited) if not row["error_type"])
    assert right["near"] - right["careless"] in (0, 1, -1)


def test_what_can_not_be_audited_is_told_with_what_can(audited: ReviewSite) -> None:
    with pytest.raises(ConfigurationError, match=r"No release is named 'v9'\. The releases are v1"):
        draw_audits("v9", audited.settings)
    with pytest.raises(
        ConfigurationError,
        match=r"'nobody' has no scored answers .* Models that have: careless, near",
    ):
        draw(audited, 5, "nobody")
    audited.warehouse.execute("delete from scores where run = 0")
    with pytest.raises(ConfigurationError, match="callwright evaluate v1"):
        draw(audited)


def test_the_task_shows_the_answer_and_not_who_gave_it(audited: ReviewSite) -> None:
    draw(audited, answer_count(audited))
    audited.push()
    tasks = [audited.studio.newest_task(subject) for subject in asked(audited)]
    assert len(tasks) == answer_count(audited) > 2 * SAMPLES["perfect"]
    for task in tasks:
        [row] = audited.rows(
            "select p.*, s.gold from predictions p join samples s on s.key = p.subject where"
            " p.key = ?",
            task["subject"],
        )
        assert "careless" not in json.dumps(task)
        assert ("RIGHT" in task["metric"]) == (row["error_type"] == "")
        for side, calls in (("gold", row["gold"]), ("answer", row["calls"])):
            assert all(call["tool"] in task[side] for call in json.loads(calls or "[]"))


def say(site: ReviewSite, subject: str, verdict: str, **typed: Any) -> None:
    """Write an annotation now, by the clock by which questions are asked."""
    site.studio.clock = datetime.now(UTC) - timedelta(minutes=1)
    site.studio.annotate(subject, verdict, **typed)


def decide(
    site: ReviewSite, *reasons: str, by: str = "ann", comment: str = "", error_type: str = ""
) -> str:
    """Decide on the first undecided answer of an error type; its key."""
    [row, *_] = site.rows(
        """
        select prediction from audit_draws where error_type = ? and prediction not in (select subject from reviews)
        order by prediction
        """,
        error_type,
    )
    key = row["prediction"]
    said = {"comment": comment} if comment else {}
    if reasons:
        say(site, key, "reject", by=by, reasons=list(reasons), **said)
    else:
        say(site, key, "accept", by=by, **said)
    return key


def board(site: ReviewSite) -> dict[tuple[str, str], dict[str, object]]:
    return {
        (row["candidate"], row["error_type"]): row
        for row in site.rows("from metric_audit where release = 'v1'")
    }


def test_the_view_tells_how_often_the_metric_is_right(audited: ReviewSite) -> None:
    draw(audited, answer_count(audited))
    audited.push()
    decide(audited, error_type="wrong_tool")
    decide(audited, "too_strict", "also_right", error_type="wrong_value")
    pulled = audited.pull()
    assert (pulled.reviews, pulled.accepted, pulled.rejected, pulled.problems) == (2, 1, 1, ())
    rows = board(audited)
    assert {
        name: rows["careless", "wrong_tool"][name]
        for name in ("n_audited", "n_agreed", "metric_right_share")
    } == {"n_audited": 1, "n_agreed": 1, "metric_right_share": 1.0}
    strict = rows["careless", "wrong_value"]
    assert (strict["n_audited"], strict["n_agreed"], strict["metric_right_share"]) == (1, 0, 0.0)
    assert strict["reasons"] == {"too_strict": 1, "also_right": 1}
    assert (rows["near", ""]["n_audited"], rows["near", ""]["metric_right_share"]) == (0, None)
    assert (
        sum(row["n_answers"] for row in rows.values())
        == sum(row["n_drawn"] for row in rows.values())
        == answer_count(audited)
    )


def suspects(site: ReviewSite) -> list[dict[str, object]]:
    return site.rows(
        "select subject, kind, version, cause, problem, reason from review_queue where cause ="
        " 'suspect'"
    )


def sample_of(site: ReviewSite, prediction: str) -> str:
    return site.value("select subject from predictions where key = ?", prediction)


def test_a_wrong_gold_makes_its_sample_a_suspect_once(audited: ReviewSite) -> None:
    draw(audited, answer_count(audited))
    audited.push()
    key = decide(audited, "gold_wrong", comment="It is five people.", error_type="wrong_value")
    audited.pull()
    [row] = suspects(audited)
    assert (row["subject"], row["kind"]) == (sample_of(audited, key), "sample_review")
    assert "says that the gold is wrong: It is five people." in row["reason"] + row["problem"]
    audited.pull()
    assert suspects_of_audits(audited.warehouse) == 0
    audited.push()
    assert audited.studio.newest_task(row["subject"])["why"].endswith("It is five people.")


def test_an_edit_of_a_suspect_is_checked_and_lands(audited: ReviewSite) -> None:
    draw(audited, answer_count(audited))
    audited.push()
    subject = sample_of(audited, decide(audited, "gold_wrong"))
    audited.pull()
    audited.push()
    typed = edited(
        audited.studio.newest_task(subject, "sample_review")["rows"], audited.polite(subject)
    )
    say(audited, subject, "edit", **typed)
    assert audited.pull().edited == 1
    assert audited.accepted(subject) is None


def test_the_command_draws_and_says_what(evaluated: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(evaluated, home)
    done = run_here("review", "audit", "v1", "--draw", "7", "--json", home=home)
    told = json.loads(done.stdout)
    assert (told["release"], told["drawn"], told["new"], told["answers"]) == (
        "v1",
        7,
        7,
        answer_count(open_site(home, PaperStudio())),
    )
    assert sum(told["by_error_type"].values()) == 7
    again = run_here(
        "review", "audit", "v1", "--draw", "7", "--model", "near", "--model", "careless", home=home
    )
    assert f"7 of {told['answers']} answers to v1 drawn, 0 of them now." in again.stdout
    wrong = run_here("review", "audit", "v1", "--model", "nobody", home=home)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Models that have: careless, near" in wrong.stderr


answers = st.lists(
    st.builds(
        AuditablePrediction,
        key=st.uuids().map(str),
        subject=st.sampled_from("abcd"),
        turn=st.integers(1, 3),
        candidate=st.sampled_from(["m", "n"]),
        error_type=st.sampled_from(["", "refused", "wrong_tool"]),
    ),
    max_size=30,
    unique_by=lambda one: one.key,
)
