"""What people take back: annotations that they delete or skip, and tasks that somebody deletes."""

from typing import Any

import pytest

from callwright.annotation.studio.records import TaskState
from callwright.flows.review.pulling import Pulled, changed_states
from tests.support.flows.review_sites import (
    NOTHING_NEW,
    OFF_TOPIC,
    ReviewSite,
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


def unproved(site: ReviewSite) -> str:
    """A doubtful sample that came to the review."""
    return str(
        site.value(
            "select min(subject) from outcomes where outcome = 'waiting' and stage = 'review'"
        )
    )


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


@pytest.mark.parametrize("decision", [slow("accept"), slow("reject"), "edit"])
def test_a_doubtful_sample_waits_again_when_the_word_about_it_is_deleted(
    site: ReviewSite, decision: str
) -> None:
    key = unproved(site)
    before = state(site, key)
    if decision == "edit":
        number = edit(site, key, site.polite(key))
    else:
        number = site.studio.annotate(
            key, decision, **({"reasons": "other"} if decision == "reject" else {})
        )
    site.pull()
    assert state(site, key) != before
    site.studio.delete(number)
    assert site.pull() == Pulled(withdrawn=1)
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
    assert state(site, key) == before
    assert site.accepted(key) == {"proved": False, "vouched": False, "accepted_by": "machine"}
    assert len(site.asked("spot check")) == 5
    settled(site)
    rebuilt(site)


def test_an_annotation_that_was_changed_into_a_skip_counts_no_more(site: ReviewSite) -> None:
    key = unproved(site)
    before = state(site, key)
    number = site.studio.annotate(key, "accept")
    site.pull()
    assert site.accepted(key)
    site.studio.annotate(key, skipped=True, change=number)
    assert site.pull() == Pulled(withdrawn=1)
    assert state(site, key) == before
    site.studio.annotate(key, "accept", change=number)
    assert site.pull() == Pulled(reviews=1, accepted=1)
    assert site.accepted(key)


def test_all_versions_of_an_annotation_go_with_it(site: ReviewSite) -> None:
    key = unproved(site)
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


def test_the_word_of_another_person_counts_when_the_first_one_is_deleted(site: ReviewSite) -> None:
    key = unproved(site)
    first = site.studio.annotate(key, "accept", by="ann")
    site.studio.annotate(key, "reject", by="bob", reasons="other")
    site.pull()
    assert site.accepted(key)
    site.studio.delete(first)
    assert site.pull() == Pulled(withdrawn=1)
    assert site.accepted(key) is None
    assert site.standing(key)[1] == "rejected"
    settled(site)


def test_who_insisted_on_an_edit_may_take_that_back(site: ReviewSite) -> None:
    key = spot_check_with_a_call(site)
    edit(site, key, OFF_TOPIC)
    site.pull()
    edited = site.value("select result from reviews")
    before = site.standing(key), site.accepted(edited)
    number = site.studio.annotate(edited, "accept", by="bob")
    site.pull()
    assert site.accepted(edited)
    site.studio.delete(number)
    assert site.pull() == Pulled(withdrawn=1)
    assert (site.standing(key), site.accepted(edited)) == before == (("review", "waiting"), None)
    assert site.value("select is_answered from review_queue where subject = ?", edited) is False
    site.studio.annotate(edited, "reject", by="cem", reasons="other")
    site.pull()
    assert site.standing(key) == ("review", "rejected")


def test_an_edit_that_is_taken_back_takes_what_was_said_about_it_along(site: ReviewSite) -> None:
    key = spot_check_with_a_call(site)
    before = state(site, key)
    number = edit(site, key, OFF_TOPIC)
    site.pull()
    edited = site.value("select result from reviews")
    site.studio.annotate(edited, "accept", by="bob")
    site.pull()
    assert site.accepted(edited)
    site.studio.delete(number)
    assert site.pull() == Pulled(withdrawn=1)
    assert state(site, key) == before
    assert site.accepted(edited) is None
    settled(site)


def test_a_task_that_is_deleted_undecided_is_asked_anew(site: ReviewSite) -> None:
    key = unproved(site)
    before = state(site, key)
    site.studio.drop(key)
    assert site.pull() == Pulled(deleted=1)
    assert state(site, key) == before
    assert site.push() == (1, 0)
    site.studio.annotate(key, "accept")
    assert site.pull() == Pulled(reviews=1, accepted=1)
    assert site.accepted(key)


def test_a_task_that_is_deleted_decided_stays_decided(site: ReviewSite) -> None:
    key = unproved(site)
    site.studio.annotate(key, "accept")
    site.pull()
    site.studio.drop(key)
    assert site.pull() == Pulled(deleted=1)
    assert site.accepted(key)
    assert site.push() == (0, 0)
    settled(site)


@pytest.mark.slow
def test_a_task_that_comes_back_with_an_edit_is_asked_anew_when_it_is_deleted(
    site: ReviewSite,
) -> None:
    key = unproved(site)
    site.studio.annotate(key, "edit", edited_request="In other words.", edited_calls="[{")
    site.pull()
    assert site.studio.newest_task(key)["version"] == 2
    site.studio.drop(key)
    assert site.pull() == Pulled(deleted=1)
    assert site.push() == (0, 0), "what goes back to people is pushed by the pull itself"
    assert site.studio.newest_task(key)["request"] == "In other words."


def test_two_builds_get_back_what_each_had(site: ReviewSite) -> None:
    build(erring_recipe(checks={"rouge_l": 0.71}), site.settings)
    doubtful, spot = unproved(site), site.asked("spot check")[0]
    before = state(site, doubtful), state(site, spot)
    assert len({row["build"] for row in seats(site, spot)}) == 2
    numbers = [
        site.studio.annotate(doubtful, "accept"),
        site.studio.annotate(spot, "reject", reasons="other"),
    ]
    site.pull()
    site.studio.delete(*numbers)
    assert site.pull() == Pulled(withdrawn=2)
    assert (state(site, doubtful), state(site, spot)) == before


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


def test_a_draft_that_is_not_told_of_any_more_is_gone(site: ReviewSite) -> None:
    project = site.studio.projects["sample_review"]
    begun = TaskState(
        task_id=1, kind="sample_review", subject="s", version=1, submitted=(), skipped=0, drafts=1
    )

    def keep(*states: TaskState) -> None:
        rows = changed_states(site.warehouse, site.studio, project, states)  # type: ignore[arg-type]
        site.warehouse.put_rows({"task_states": rows})

    keep(begun)
    assert site.value("select sum(drafts) from task_states") == 1
    keep(begun)
    assert site.value("select sum(drafts) from task_states") == 1
    keep()
    assert site.value("select sum(drafts) from task_states") == 0
