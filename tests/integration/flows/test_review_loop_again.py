"""The review loop over time: pulls that are cut off, builds that come again, other work folders,
and what is told.
"""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.review import pulling
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.pushing import waiting_reviews
from callwright.flows.review.status import review_status
from callwright.flows.run.plan import build_dataset
from callwright.warehouse.engine import DatabaseFile
from callwright.warehouse.releases import create_release
from tests.support.annotation.editing import more_of
from tests.support.flows.review_sites import (
    NOTHING_NEW,
    OFF_TOPIC,
    ReviewSite,
    edit,
    erring_recipe,
    open_site,
    spot_check_with_a_call,
)
from tests.support.flows.small_builds import run_here, write_unmeasured_recipe
from tests.support.sampling import slow


@pytest.mark.parametrize(
    ("step", "resumed"),
    [
        slow("settle_decisions", 2),
        ("_check_edited", 2),
        slow("suspects_of_audits", 0),
        slow("push_reviews", 0),
    ],
)
def test_what_a_pull_did_not_get_to_is_done_by_the_next_one(
    site: ReviewSite, step: str, resumed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted, rejected, broken = site.asked("doubtful")[:3]
    spot = spot_check_with_a_call(site)
    good = next(key for key in site.asked("spot check") if key != spot)
    site.studio.annotate(accepted, "accept")
    site.studio.annotate(rejected, "reject", reasons="other")
    more = more_of(site.studio.newest_task(broken)["rows"])
    site.studio.annotate(broken, "edit", **{more: "no line"})
    edit(site, spot, OFF_TOPIC)
    edit(site, good, site.polite(good))
    with monkeypatch.context() as dying:
        dying.setattr(pulling, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            site.pull()
    assert site.value("select count(*) from reviews") == 4
    again = site.pull()
    assert again[:5] == NOTHING_NEW[:5], "nothing is noted twice"
    assert again.resumed == resumed, "it tells how many edits the one before had not checked"
    assert site.accepted(accepted)
    assert site.standing(rejected)[1] == "rejected"
    assert site.standing(spot) == ("review", "waiting")
    assert site.standing(good) == ("review", "passed")
    assert site.value("select count(*) from accepted_samples where accepted_by = 'ann'") == 2
    asked_again = {
        task["subject"]
        for task in site.studio.tasks.values()
        if "`name = value`" in task["why"] or "As edited" in task["why"]
    }
    assert asked_again >= {
        broken,
        site.value("select result from decisions where subject = ?", spot),
    }
    assert waiting_reviews(site.settings) == 0


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_a_rebuild_keeps_what_people_decided_and_asks_nobody_again(site: ReviewSite) -> None:
    accepted, rejected, edited, contradicted = site.asked("doubtful")[:4]
    spot, respot = site.asked("spot check")[:2]
    site.studio.annotate(accepted, "accept")
    site.studio.annotate(rejected, "reject", reasons="other")
    site.studio.annotate(spot, "reject", reasons="unnatural")
    edit(site, respot, site.polite(respot))
    site.pull()
    child = site.value("select result from decisions where subject = ?", respot)
    for recipe in (erring_recipe(), erring_recipe(checks={"rouge_l": 0.71})):
        asyncio.run(build_dataset(recipe, site.settings, SilentProgress()))
        site.balance()
        assert site.accepted(accepted)["accepted_by"] == "ann"
        assert site.accepted(child)["accepted_by"] == "ann"
        assert [site.accepted(key) for key in (rejected, spot, respot)] == [None, None, None]
        assert site.push() == (0, 0)
    assert site.value("select count(*) from builds") == 2
    release = create_release(site.warehouse, "first")
    released = {row["subject"] for row in site.rows("select subject from release_samples")}
    assert {accepted, child} <= released
    assert not {rejected, spot, respot} & released
    assert release.samples == site.value("select count(*) from accepted_samples")
    site.studio.annotate(edited, "accept")  # asked by the first build, decided after the second
    site.studio.annotate(contradicted, "reject", reasons="other")
    site.pull()
    assert create_release(site.warehouse, "second").samples == release.samples + 1


def test_the_status_says_who_has_what_to_do(site: ReviewSite) -> None:
    doubtful = site.asked("doubtful")
    site.studio.annotate(doubtful[0], "accept", by="ann")
    site.studio.annotate(doubtful[1], "reject", by="bob", reasons="other")
    site.pull()
    status = review_status(site.settings)
    tasks = len(doubtful)
    assert status["samples"] == [
        {
            "cause": "doubtful",
            "tasks": tasks,
            "to_push": 0,
            "with_people": tasks - 2,
            "reviewed": 2,
            "outdated": 0,
        },
        {
            "cause": "spot check",
            "tasks": 5,
            "to_push": 0,
            "with_people": 5,
            "reviewed": 0,
            "outdated": 0,
        },
    ]
    assert [(row["reviewer"], row["accepted"], row["rejected"]) for row in status["reviewers"]] == [
        ("ann", 1, 0),
        ("bob", 0, 1),
    ]


def test_many_decisions_take_as_many_transactions_as_one(
    site: ReviewSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, first, *others = [*site.asked("doubtful"), *site.asked("spot check")]
    site.studio.annotate(before, "accept")
    site.pull()  # from here on the file has a log beside it, which whoever comes looks after
    opened = count_transactions(monkeypatch)
    site.studio.annotate(first, "accept")
    site.pull()
    few = len(opened)
    opened.clear()
    for key in others:
        site.studio.annotate(key, "accept")
    site.pull()
    assert len(others) >= 8
    assert len(opened) <= few


def count_transactions(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    opened: list[bool] = []
    really: Callable[..., Any] = DatabaseFile.open

    def counted(self: DatabaseFile, *, read_only: bool, **how: bool) -> Any:
        opened.append(read_only)
        return really(self, read_only=read_only, **how)

    monkeypatch.setattr(DatabaseFile, "open", counted)
    return opened


@pytest.mark.parametrize("form", [slow(()), ("--json",)])
def test_a_build_is_kept_where_label_studio_is_away(tmp_path: Path, form: tuple[str, ...]) -> None:
    recipe = write_unmeasured_recipe(tmp_path, samples={"perfect": 3}, review={"spot_checks": 2})
    away = {"LABEL_STUDIO_URL": "http://127.0.0.1:9", "LABEL_STUDIO_API_KEY": "0" * 40}
    done = run_here("build", str(recipe), *form, home=tmp_path / "home", **away)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("callwright: ")]
    assert len(said) == 1
    assert "No Label Studio answers at http://127.0.0.1:9" in said[0]
    assert "Traceback" not in done.stderr
    if form:
        assert json.loads(done.stdout)["review"] is None
        assert json.loads(done.stdout)["landed"] == 3
    else:
        assert "small: 3 of 3 samples accepted" in done.stdout
    again = run_here("build", str(recipe), "--no-review", home=tmp_path / "home", **away)
    assert again.returncode == 0
    assert "to do" not in again.stderr, "what was built is not built again"


def test_a_work_folder_pulls_only_what_it_asked_itself(site: ReviewSite, tmp_path: Path) -> None:
    """Another folder of the same recipe has the same samples, and the same questions."""
    shutil.copytree(site.settings.home, tmp_path / "other")
    other = open_site(tmp_path / "other", site.studio)
    for table in ("review_requests", "review_rounds"):
        other.warehouse.execute(f"update {table} set pushed_at = null, server = null")
    other.warehouse.execute("delete from task_states")
    first, second = site.asked("doubtful")[:2]
    site.studio.annotate(first, "accept")
    assert other.pull() == Pulled(elsewhere=1)
    assert other.rows("from reviews") == other.rows("from task_states") == []
    assert site.pull() == Pulled(reviews=1, accepted=1)
    other.push()
    assert other.pull() == Pulled(reviews=1, accepted=1), (
        "now it asks that too, and reads what was stated before"
    )
    site.studio.annotate(second, "accept")
    assert (site.pull().reviews, other.pull().reviews) == (1, 1)


def test_a_second_answer_of_one_person_to_a_task_replaces_the_first(site: ReviewSite) -> None:
    key = spot_check_with_a_call(site)
    edit(site, key, site.polite(key))
    site.pull()
    [edited] = site.rows("select result from decisions where subject = ?", key)
    assert site.accepted(edited["result"]) is not None
    site.studio.annotate(key, "accept")  # from a tab that was still open
    pulled = site.pull()
    assert (pulled.reviews, pulled.withdrawn) == (1, 1)
    assert site.rows("select decision from standing_reviews where subject = ?", key) == [
        {"decision": "accept"}
    ]
    assert site.accepted(edited["result"]) is None
    assert site.accepted(key) is not None
    assert site.pull() == NOTHING_NEW


def test_an_edit_without_an_edit_goes_back_and_lands_nothing(site: ReviewSite) -> None:
    key = site.asked("doubtful")[0]
    edit(site, key, site.sample(key).request)
    assert site.pull().returned == 1
    assert site.accepted(key) is None
    assert "nothing is edited" in site.studio.newest_task(key)["why"]
