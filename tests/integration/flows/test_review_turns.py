"""Turns in the review loop, and what a push notes; with a drawer in the place of Label Studio."""

import threading
from pathlib import Path
from typing import Any

import pytest

from callwright.annotation.studio.records import PushResult
from callwright.flows.progress import SilentProgress
from callwright.flows.review.servers import review_turn
from callwright.flows.settings import Settings
from tests.support.flows.review_sites import ReviewSite
from tests.support.flows.small_builds import settings_of


class TurnProgress(SilentProgress):
    def __init__(self) -> None:
        self.stated: list[str] = []
        self.has_spoken = threading.Event()

    def say(self, sentence: str) -> None:
        self.stated.append(sentence)
        self.has_spoken.set()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_of(tmp_path / "home")


def test_one_waits_for_the_other_and_says_so(settings: Settings) -> None:
    ear, order, inside = TurnProgress(), [], threading.Event()

    def first() -> None:
        with review_turn(settings, SilentProgress()):
            inside.set()
            ear.has_spoken.wait(60)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait()
    with review_turn(settings, ear):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]
    assert ear.stated == [
        "Another push or pull of this work folder is running. Waiting for it to end."
    ]


def test_pushing_again_forgets_nothing_of_what_was_seen_at_a_task(site: ReviewSite) -> None:
    skipped = site.asked("doubtful")[0]
    site.studio.annotate(skipped, skipped=True)
    site.pull()
    seen = "select * exclude (seen_at) from task_states order by all"
    before = site.rows(seen)
    assert sum(row["skipped"] for row in before) == 1
    site.push(again=True)
    assert site.rows(seen) == before


def test_a_task_that_was_deleted_as_it_was_pushed_still_waits(
    site: ReviewSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = site.asked("doubtful")[0]
    site.warehouse.execute("delete from task_states where subject = ?", [lost])
    site.warehouse.execute("update review_requests set pushed_at = null where subject = ?", [lost])
    push = site.studio.push

    def forgetful(*asked: Any) -> PushResult:
        return push(*asked).with_changes(task_ids={})

    with monkeypatch.context() as busy:
        busy.setattr(site.studio, "push", forgetful)
        site.push()
    assert site.value("select count(*) from review_requests where pushed_at is null") == 1
    site.push()
    assert site.value("select count(*) from review_requests where pushed_at is null") == 0
    assert site.value("select count(*) from task_states where subject = ?", lost) == 1
