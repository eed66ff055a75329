"""The review loop over time: pulls that are cut off, builds that come again, other work folders, and what is told."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.build import build_dataset
from flows.progress import Silence
from flows.review import pulling
from flows.review.pulling import Pulled
from flows.review.pushing import waiting_reviews
from flows.review.status import review_status
from tests.support.flows.offices import (
    NOTHING_NEW,
    OFF_TOPIC,
    Office,
    edit,
    erring_recipe,
    open_office,
    spot_check_with_a_call,
)
from tests.support.flows.small_builds import build, run, write_recipe
from warehouse.releases import create_release
from warehouse.store import Warehouse


@pytest.mark.parametrize("step", ["settle_decisions", "_check_edited", "_ask_about_edits", "push_reviews"])
def test_what_a_pull_did_not_get_to_is_done_by_the_next_one(
    office: Office, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted, rejected, broken = office.asked("doubtful")[:3]
    spot = spot_check_with_a_call(office)
    good = next(key for key in office.asked("spot check") if key != spot)
    office.studio.annotate(accepted, "accept")
    office.studio.annotate(rejected, "reject", reasons="other")
    office.studio.annotate(broken, "edit", edited_calls="[{")
    edit(office, spot, OFF_TOPIC)
    edit(office, good, office.polite(good))
    with monkeypatch.context() as dying:
        dying.setattr(pulling, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            office.pull()
    assert office.value("select count(*) from reviews") == 4
    assert office.pull()[:5] == NOTHING_NEW[:5], "nothing is noted twice"
    assert office.accepted(accepted)
    assert office.standing(rejected)[1] == "rejected"
    assert office.standing(spot) == ("review", "waiting")
    assert office.standing(good) == ("review", "passed")
    assert office.value("select count(*) from accepted_samples where accepted_by = 'ann'") == 2
    asked_again = {
        task["subject"] for task in office.studio.tasks.values() if "[{" in task["calls"] or "As edited" in task["why"]
    }
    assert asked_again >= {broken, office.value("select result from decisions where subject = ?", spot)}
    assert waiting_reviews(office.settings) == 0


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_a_rebuild_keeps_what_people_decided_and_asks_nobody_again(office: Office) -> None:
    accepted, rejected, edited, contradicted = office.asked("doubtful")[:4]
    spot, respot = office.asked("spot check")[:2]
    office.studio.annotate(accepted, "accept")
    office.studio.annotate(rejected, "reject", reasons="other")
    office.studio.annotate(spot, "reject", reasons="unnatural")
    edit(office, respot, office.polite(respot))
    office.pull()
    child = office.value("select result from decisions where subject = ?", respot)
    for recipe in (erring_recipe(), erring_recipe(checks={"rouge_l": 0.71})):
        asyncio.run(build_dataset(recipe, office.settings, Silence()))
        office.balance()
        assert office.accepted(accepted)["accepted_by"] == "ann"
        assert office.accepted(child)["accepted_by"] == "ann"
        assert [office.accepted(key) for key in (rejected, spot, respot)] == [None, None, None]
        assert office.push() == (0, 0)
    assert office.value("select count(*) from builds") == 2
    release = create_release(office.warehouse, "first")
    released = {row["subject"] for row in office.rows("select subject from release_samples")}
    assert {accepted, child} <= released
    assert not {rejected, spot, respot} & released
    assert release.samples == office.value("select count(*) from accepted_samples")
    office.studio.annotate(edited, "accept")  # asked by the first build, decided after the second
    office.studio.annotate(contradicted, "reject", reasons="other")
    office.pull()
    assert create_release(office.warehouse, "second").samples == release.samples + 1


def test_samples_of_another_work_folder_are_left_to_it(office: Office, tmp_path: Path) -> None:
    other = open_office(tmp_path / "other", office.studio)
    build(erring_recipe(seed=77, samples={"perfect": 4}), other.settings)
    mine = len(office.studio.tasks)
    assert other.push()[0] == len(office.studio.tasks) - mine > 0
    first = office.asked("doubtful")[0]
    office.studio.annotate(first, "accept")
    other.studio.annotate(other.asked("spot check")[0], "accept")
    assert office.pull() == Pulled(reviews=1, accepted=1, elsewhere=1)
    assert other.pull() == Pulled(reviews=1, accepted=1, elsewhere=1)
    assert other.accepted(first) is None


def test_an_annotation_that_does_not_fit_is_reported_until_it_is_put_right(office: Office) -> None:
    bad, good = office.asked("doubtful")[:2]
    number = office.studio.annotate(bad, "perhaps")
    office.studio.annotate(good, "accept")
    told = office.pull()
    assert (told.accepted, len(told.problems)) == (1, 1)
    assert "'perhaps'" in told.problems[0]
    assert office.pull().problems == told.problems
    office.studio.annotate(bad, "accept", change=number)
    assert office.pull() == Pulled(reviews=1, accepted=1)


def test_the_status_says_who_has_what_to_do(office: Office) -> None:
    doubtful = office.asked("doubtful")
    office.studio.annotate(doubtful[0], "accept", by="ann")
    office.studio.annotate(doubtful[1], "reject", by="bob", reasons="other")
    office.pull()
    status = review_status(office.settings)
    tasks = len(doubtful)
    assert status["samples"] == [
        {"cause": "doubtful", "tasks": tasks, "to_push": 0, "with_people": tasks - 2, "reviewed": 2, "outdated": 0},
        {"cause": "spot check", "tasks": 5, "to_push": 0, "with_people": 5, "reviewed": 0, "outdated": 0},
    ]
    assert [(row["reviewer"], row["accepted"], row["rejected"]) for row in status["reviewers"]] == [
        ("ann", 1, 0),
        ("bob", 0, 1),
    ]


def test_many_decisions_take_as_many_transactions_as_one(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = count_transactions(monkeypatch)
    first, *others = [*office.asked("doubtful"), *office.asked("spot check")]
    office.studio.annotate(first, "accept")
    office.pull()
    few = len(opened)
    opened.clear()
    for key in others:
        office.studio.annotate(key, "accept")
    office.pull()
    assert len(others) >= 9
    assert len(opened) <= few


def count_transactions(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    opened: list[bool] = []
    really: Callable[..., Any] = Warehouse._open

    def counted(self: Warehouse, *, read_only: bool) -> Any:
        opened.append(read_only)
        return really(self, read_only=read_only)

    monkeypatch.setattr(Warehouse, "_open", counted)
    return opened


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_build_is_kept_where_label_studio_is_away(tmp_path: Path, form: tuple[str, ...]) -> None:
    recipe = write_recipe(tmp_path, samples={"perfect": 3}, review={"spot_checks": 2})
    away = {"LABEL_STUDIO_URL": "http://127.0.0.1:9", "LABEL_STUDIO_API_KEY": "0" * 40}
    done = run("build", str(recipe), *form, home=tmp_path / "home", **away)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("callwright: ")]
    assert len(said) == 1
    assert "No Label Studio answers at http://127.0.0.1:9" in said[0]
    assert "Traceback" not in done.stderr
    if form:
        assert json.loads(done.stdout)["review"] is None
        assert json.loads(done.stdout)["landed"] == 3
    else:
        assert "3 of 3 planned samples of 'small' have landed" in done.stdout
    again = run("build", str(recipe), "--no-review", home=tmp_path / "home", **away)
    assert again.returncode == 0
    assert "to do" not in again.stderr, "what was built is not built again"
