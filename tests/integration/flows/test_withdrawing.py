"""What people take back: annotations that they delete or skip, and tasks that somebody deletes."""

from typing import Any

import pytest

from annotation.studio.records import TaskState
from flows.review.pulling import Pulled
from flows.review.reading_reviews import changed_states
from tests.support.flows.offices import NOTHING_NEW, OFF_TOPIC, Office, edit, erring_recipe, spot_check_with_a_call
from tests.support.flows.small_builds import build

BOOKS = ("acceptances", "outcomes", "samples")


def seats(office: Office, key: str) -> list[dict[str, Any]]:
    return office.rows("select build, stage, outcome, reason from outcomes where subject = ? order by all", key)


def state(office: Office, key: str) -> tuple[list[dict[str, Any]], dict[str, Any] | None, list[dict[str, Any]]]:
    """Where a sample stands, how it was accepted, and how many have landed in all."""
    landed = office.rows("select count(*) as landed from accepted_samples")
    return seats(office, key), office.accepted(key), landed


def contradicted(office: Office) -> str:
    """A doubtful sample that a check stopped before the review."""
    sql = "select min(subject) from outcomes where outcome = 'waiting' and stage not in ('review', 'land')"
    return str(office.value(sql))


def unproved(office: Office) -> str:
    """A doubtful sample that came to the review."""
    return str(office.value("select min(subject) from outcomes where outcome = 'waiting' and stage = 'review'"))


def settled(office: Office) -> None:
    """Nothing is left to do, and a rebuild finds nothing to do either."""
    before = {table: rows for table, rows in office.everything().items() if table in BOOKS}
    assert office.pull() == NOTHING_NEW
    assert {table: rows for table, rows in office.everything().items() if table in BOOKS} == before
    build(erring_recipe(), office.settings)
    office.balance()
    assert {table: rows for table, rows in office.everything().items() if table in BOOKS} == before


@pytest.mark.parametrize("doubtful", [contradicted, unproved])
@pytest.mark.parametrize("decision", ["accept", "reject", "edit"])
def test_a_doubtful_sample_waits_again_when_the_word_about_it_is_deleted(
    office: Office, doubtful: Any, decision: str
) -> None:
    key = doubtful(office)
    before = state(office, key)
    if decision == "edit":
        number = edit(office, key, office.polite(key))
    else:
        number = office.studio.annotate(key, decision, **({"reasons": "other"} if decision == "reject" else {}))
    office.pull()
    assert state(office, key) != before
    office.studio.delete(number)
    assert office.pull() == Pulled(withdrawn=1)
    assert state(office, key) == before
    assert office.value("select is_answered from review_queue where subject = ?", key) is False
    settled(office)


@pytest.mark.parametrize("decision", ["accept", "reject", "edit", "contradicted edit"])
def test_a_spot_check_has_landed_by_itself_when_the_word_about_it_is_deleted(office: Office, decision: str) -> None:
    key = spot_check_with_a_call(office)
    before = state(office, key)
    if "edit" in decision:
        number = edit(office, key, OFF_TOPIC if decision == "contradicted edit" else office.polite(key))
    else:
        number = office.studio.annotate(key, decision, **({"reasons": "other"} if decision == "reject" else {}))
    office.pull()
    assert state(office, key) != before
    office.studio.delete(number)
    assert office.pull() == Pulled(withdrawn=1)
    assert state(office, key) == before
    assert office.accepted(key) == {"proved": True, "vouched": False, "accepted_by": "machine"}
    assert len(office.asked("spot check")) == 5
    settled(office)


def test_an_annotation_that_was_changed_into_a_skip_counts_no_more(office: Office) -> None:
    key = unproved(office)
    before = state(office, key)
    number = office.studio.annotate(key, "accept")
    office.pull()
    assert office.accepted(key)
    office.studio.annotate(key, skipped=True, change=number)
    assert office.pull() == Pulled(withdrawn=1)
    assert state(office, key) == before
    office.studio.annotate(key, "accept", change=number)
    assert office.pull() == Pulled(reviews=1, accepted=1)
    assert office.accepted(key)


def test_all_versions_of_an_annotation_go_with_it(office: Office) -> None:
    key = unproved(office)
    before = state(office, key)
    number = office.studio.annotate(key, "accept")
    office.pull()
    edit(office, key, office.polite(key), change=number)
    office.pull()
    office.studio.annotate(key, "reject", change=number, reasons="other")
    office.pull()
    office.studio.delete(number)
    assert office.pull() == Pulled(withdrawn=3)
    assert state(office, key) == before
    settled(office)


def test_the_word_of_another_person_counts_when_the_first_one_is_deleted(office: Office) -> None:
    key = unproved(office)
    first = office.studio.annotate(key, "accept", by="ann")
    office.studio.annotate(key, "reject", by="bob", reasons="other")
    office.pull()
    assert office.accepted(key)
    office.studio.delete(first)
    assert office.pull() == Pulled(withdrawn=1)
    assert office.accepted(key) is None
    assert office.standing(key)[1] == "rejected"
    settled(office)


def test_who_insisted_on_an_edit_may_take_that_back(office: Office) -> None:
    key = spot_check_with_a_call(office)
    edit(office, key, OFF_TOPIC)
    office.pull()
    edited = office.value("select result from reviews")
    before = office.standing(key), office.accepted(edited)
    number = office.studio.annotate(edited, "accept", by="bob")
    office.pull()
    assert office.accepted(edited)
    office.studio.delete(number)
    assert office.pull() == Pulled(withdrawn=1)
    assert (office.standing(key), office.accepted(edited)) == before == (("review", "waiting"), None)
    assert office.value("select is_answered from review_queue where subject = ?", edited) is False
    office.studio.annotate(edited, "reject", by="cem", reasons="other")
    office.pull()
    assert office.standing(key) == ("review", "rejected")


def test_an_edit_that_is_taken_back_takes_what_was_said_about_it_along(office: Office) -> None:
    key = spot_check_with_a_call(office)
    before = state(office, key)
    number = edit(office, key, OFF_TOPIC)
    office.pull()
    edited = office.value("select result from reviews")
    office.studio.annotate(edited, "accept", by="bob")
    office.pull()
    assert office.accepted(edited)
    office.studio.delete(number)
    assert office.pull() == Pulled(withdrawn=1)
    assert state(office, key) == before
    assert office.accepted(edited) is None
    settled(office)


def test_a_task_that_is_deleted_undecided_is_asked_anew(office: Office) -> None:
    key = unproved(office)
    before = state(office, key)
    office.studio.drop(key)
    assert office.pull() == Pulled(deleted=1)
    assert state(office, key) == before
    assert office.push() == (1, 0)
    office.studio.annotate(key, "accept")
    assert office.pull() == Pulled(reviews=1, accepted=1)
    assert office.accepted(key)


def test_a_task_that_is_deleted_decided_stays_decided(office: Office) -> None:
    key = unproved(office)
    office.studio.annotate(key, "accept")
    office.pull()
    office.studio.drop(key)
    assert office.pull() == Pulled(deleted=1)
    assert office.accepted(key)
    assert office.push() == (0, 0)
    settled(office)


def test_a_task_that_comes_back_with_an_edit_is_asked_anew_when_it_is_deleted(office: Office) -> None:
    key = unproved(office)
    office.studio.annotate(key, "edit", edited_request="In other words.", edited_calls="[{")
    office.pull()
    assert office.studio.newest_task(key)["version"] == 2
    office.studio.drop(key)
    assert office.pull() == Pulled(deleted=1)
    assert office.push() == (0, 0), "what goes back to people is pushed by the pull itself"
    assert office.studio.newest_task(key)["request"] == "In other words."


def test_two_builds_get_back_what_each_had(office: Office) -> None:
    build(erring_recipe(checks={"rouge_l": 0.71}), office.settings)
    doubtful, spot = unproved(office), office.asked("spot check")[0]
    before = state(office, doubtful), state(office, spot)
    assert len({row["build"] for row in seats(office, spot)}) == 2
    numbers = [office.studio.annotate(doubtful, "accept"), office.studio.annotate(spot, "reject", reasons="other")]
    office.pull()
    office.studio.delete(*numbers)
    assert office.pull() == Pulled(withdrawn=2)
    assert (state(office, doubtful), state(office, spot)) == before


def test_a_project_that_is_deleted_is_made_anew_with_what_nobody_decided(office: Office) -> None:
    decided = office.asked("doubtful")[0]
    office.studio.annotate(decided, "accept")
    office.pull()
    tasks = len(office.studio.tasks)
    office.studio.projects.clear()
    office.studio.tasks.clear()
    assert office.pull().deleted == tasks
    assert office.push() == (tasks - 1, 0)
    assert decided not in {task["subject"] for task in office.studio.tasks.values()}
    assert office.accepted(decided)


def test_a_draft_that_is_not_told_of_any_more_is_gone(office: Office) -> None:
    project = office.studio.projects["sample_review"]
    begun = TaskState(
        task_id=1, kind="sample_review", subject="s", version=1, submitted=(), skipped=0, drafts=1
    )  # fmt: skip

    def keep(*states: TaskState) -> None:
        rows = changed_states(office.warehouse, office.studio, project, states)  # type: ignore[arg-type]
        office.warehouse.put_rows({"task_states": rows})

    keep(begun)
    assert office.value("select sum(drafts) from task_states") == 1
    keep(begun)
    assert office.value("select sum(drafts) from task_states") == 1
    keep()
    assert office.value("select sum(drafts) from task_states") == 0
