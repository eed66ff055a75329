"""What people take back: annotations that they delete or skip, and tasks that somebody deletes."""

from typing import Any

import pytest

from callwright.flows.review.pulling import Pulled
from tests.support.flows.review_sites import (
    NOTHING_NEW,
    OFF_TOPIC,
    ReviewSite,
    doubtful,
    edit,
    erring_recipe,
    spot_check_with_a_call,
)
from tests.support.flows.small_builds import build
from tests.support.sampling import slow

BOOKS = ("acceptances", "outcomes", "samples")


def seats(site: ReviewSite, key: str) -> list[dict[str, Any]]:
    return site.rows(
        "select build, stage, outcome, reason from outcomes where subject = ? order by all", key
    )


def state(
    site: ReviewSite, key: str
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, list[dict[str, Any]]]:
    """Where a sample stands, how it was accepted, and how many have landed in all."""
    landed = site.rows("select count(*) as landed from accepted_samples")
    return seats(site, key), site.accepted(key), landed


def settled(site: ReviewSite) -> None:
    """Nothing is left to do."""
    before = {table: rows for table, rows in site.everything().items() if table in BOOKS}
    assert site.pull() == NOTHING_NEW
    assert {table: rows for table, rows in site.everything().items() if table in BOOKS} == before


def rebuilt(site: ReviewSite) -> None:
    """A rebuild finds nothing to do either."""
    before = {table: rows for table, rows in site.everything().items() if table in BOOKS}
    build(erring_recipe(), site.settings)
    site.balance()
    assert {table: rows for table, rows in site.everything().items() if table in BOOKS} == before


def decide_and_delete(site: ReviewSite, key: str, decision: str) -> None:
    before = state(site, key)
    if "edit" in decision:
        number = edit(site, key, OFF_TOPIC if decision == "contradicted edit" else site.polite(key))
    else:
        number = site.studio.annotate(
            key, decision, **({"reasons": "other"} if decision == "reject" else {})
        )
    site.pull()
    assert state(site, key) != before
    site.studio.delete(number)
    assert site.pull() == Pulled(withdrawn=1)


@pytest.mark.parametrize("decision", [slow("accept"), slow("reject"), "edit"])
def test_a_doubtful_sample_waits_again_when_the_word_about_it_is_deleted(
    site: ReviewSite, decision: str
) -> None:
    key = doubtful(site)
    before = state(site, key)
    decide_and_delete(site, key, decision)
    assert state(site, key) == before
    assert site.value("select is_answered from review_queue where subject = ?", key) is False
    settled(site)
    rebuilt(site)


@pytest.mark.parametrize(
    "decision", [slow("accept"), "reject", slow("edit"), slow("contradicted edit")]
)
def test_a_spot_check_has_landed_by_itself_when_the_word_about_it_is_deleted(
    site: ReviewSite, decision: str
) -> None:
    key = spot_check_with_a_call(site)
    before = state(site, key)
    decide_and_delete(site, key, decision)
    assert state(site, key) == before
    assert site.accepted(key) == {"proved": False, "vouched": False, "accepted_by": "machine"}
    assert len(site.asked("spot check")) == 5
    settled(site)
    rebuilt(site)


def test_all_versions_of_an_annotation_go_with_it(site: ReviewSite) -> None:
    key = doubtful(site)
    before = state(site, key)
    number = site.studio.annotate(key, "accept")
    site.pull()
    edit(site, key, site.polite(key), change=number)
    site.pull()
    site.studio.annotate(key, "reject", change=number, reasons="other")
    site.pull()
    site.studio.delete(number)
    assert site.pull() == Pulled(withdrawn=3)
    assert state(site, key) == before
    settled(site)


def test_a_task_that_is_deleted_undecided_is_asked_anew(site: ReviewSite) -> None:
    key = doubtful(site)
    before = state(site, key)
    site.studio.drop(key)
    assert site.pull() == Pulled(deleted=1)
    assert state(site, key) == before
    assert site.push() == (1, 0)
    site.studio.annotate(key, "accept")
    assert site.pull() == Pulled(reviews=1, accepted=1)
    assert site.accepted(key)


def test_a_project_that_is_deleted_is_made_anew_with_what_nobody_decided(site: ReviewSite) -> None:
    decided = site.asked("doubtful")[0]
    site.studio.annotate(decided, "accept")
    site.pull()
    tasks = len(site.studio.tasks)
    site.studio.projects.clear()
    site.studio.tasks.clear()
    assert site.pull().deleted == tasks
    assert site.push() == (tasks - 1, 0)
    assert decided not in {task["subject"] for task in site.studio.tasks.values()}
    assert site.accepted(decided)
