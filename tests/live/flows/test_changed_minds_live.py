"""What people change in a real Label Studio after they said it: edited, deleted, said twice,
tasks gone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.review.pulling import Pulled
from tests.support.fault_proxy import Fault
from tests.support.flows.live_sites import LiveSite, live_site
from tests.support.flows.review_sites import NOTHING_NEW, gold_of
from tests.support.killable_studio import KillableStudio

pytestmark = [pytest.mark.labelstudio, pytest.mark.enable_socket]


@pytest.fixture(scope="module")
def pushed(
    built_site: Path, tmp_path_factory: pytest.TempPathFactory, killable_studio: KillableStudio
) -> Iterator[LiveSite]:
    """A site whose tasks were pushed; each test takes samples of which nobody has said anything
    yet.
    """
    home = tmp_path_factory.mktemp("changed") / "home"
    with live_site(built_site, home, killable_studio) as live:
        live.site.push()
        yield live


def undecided(live: LiveSite, cause: str) -> str:
    """A sample that people are asked about for this cause, of which no word was pulled."""
    sql = (
        "select min(subject) from review_requests where cause = ? and subject not in (select"
        " subject from reviews)"
    )
    return str(live.site.value(sql, cause))


def decision_of(live: LiveSite, subject: str) -> str | None:
    rows = live.site.rows("select decision from decisions where subject = ?", subject)
    return rows[0]["decision"] if rows else None


def reviews_of(live: LiveSite, subject: str) -> list[dict[str, Any]]:
    return live.site.rows(
        "select decision, annotation_id, withdrawn_at is null as stands from reviews where subject"
        " = ? order by reviewed_at",
        subject,
    )


def test_an_annotation_edited_after_the_pull_changes_the_decision(pushed: LiveSite) -> None:
    doubtful, spot = undecided(pushed, "doubtful"), undecided(pushed, "spot check")
    tasks = pushed.tasks()
    one, other = (
        pushed.people.annotate(tasks[doubtful], "accept"),
        pushed.people.annotate(tasks[spot], "accept"),
    )
    assert pushed.site.pull() == Pulled(reviews=2, accepted=2)
    assert pushed.site.accepted(doubtful)
    pushed.people.change(one, "reject", reasons="other")
    pushed.people.change(other, "reject", reasons="other")
    assert pushed.site.pull() == Pulled(reviews=2, rejected=2)
    assert pushed.site.accepted(doubtful) is pushed.site.accepted(spot) is None
    assert [row["decision"] for row in reviews_of(pushed, spot)] == ["accept", "reject"], (
        "what was said before is kept"
    )
    pushed.people.change(one, "accept")
    assert pushed.site.pull() == Pulled(reviews=1, accepted=1)
    assert pushed.site.accepted(doubtful)
    assert pushed.site.pull() == NOTHING_NEW
    assert pushed.site.value("select count(*) from acceptances where subject = ?", doubtful) == 1
    pushed.validate_all_is_there_once()


@pytest.mark.slow
def test_an_annotation_deleted_after_the_pull_takes_its_decision_along(pushed: LiveSite) -> None:
    doubtful, spot = undecided(pushed, "doubtful"), undecided(pushed, "spot check")
    before = {
        key: (pushed.site.standing(key), pushed.site.accepted(key)) for key in (doubtful, spot)
    }
    tasks = pushed.tasks()
    said = [
        pushed.people.annotate(tasks[doubtful], "accept"),
        pushed.people.annotate(tasks[spot], "reject", reasons="other"),
    ]
    pushed.site.pull()
    assert pushed.site.accepted(doubtful)
    assert not pushed.site.accepted(spot)
    for annotation in said:
        pushed.people.take_back(annotation)
    assert pushed.site.pull() == Pulled(withdrawn=2)
    assert {key: (pushed.site.standing(key), pushed.site.accepted(key)) for key in before} == before
    assert [row["stands"] for row in reviews_of(pushed, spot)] == [False]
    assert pushed.site.pull() == NOTHING_NEW
    pushed.people.annotate(tasks[doubtful], "reject", reasons="other")
    assert pushed.site.pull() == Pulled(reviews=1, rejected=1)
    pushed.validate_all_is_there_once()


@pytest.mark.slow
def test_an_edited_sample_whose_annotation_is_deleted_leaves_no_child_behind(
    pushed: LiveSite,
) -> None:
    spot = undecided(pushed, "spot check")
    words = {"edited_request": pushed.site.polite(spot), "edited_calls": gold_of(pushed.site, spot)}
    before = pushed.site.accepted(spot)
    annotation = pushed.people.annotate(pushed.tasks()[spot], "edit", **words)
    assert pushed.site.pull() == Pulled(reviews=1, edited=1)
    child = pushed.site.value("select result from decisions where subject = ?", spot)
    assert pushed.site.accepted(child)
    assert pushed.site.accepted(spot) is None
    pushed.people.take_back(annotation)
    assert pushed.site.pull() == Pulled(withdrawn=1)
    assert (pushed.site.accepted(child), pushed.site.accepted(spot)) == (None, before)
    assert pushed.site.pull() == NOTHING_NEW


@pytest.mark.slow
def test_of_two_annotations_by_one_person_the_newest_counts(pushed: LiveSite) -> None:
    doubtful = undecided(pushed, "doubtful")
    task = pushed.tasks()[doubtful]
    first = pushed.people.annotate(task, "accept")
    second = pushed.people.annotate(task, "reject", reasons="other")
    assert pushed.site.pull() == Pulled(reviews=2, accepted=1, rejected=1)
    assert [row["annotation_id"] for row in reviews_of(pushed, doubtful)] == [first, second]
    assert decision_of(pushed, doubtful) == "reject"
    assert pushed.site.value("select speakers from decisions where subject = ?", doubtful) == 1, (
        "one person is one voice"
    )
    pushed.people.take_back(second)
    assert pushed.site.pull() == Pulled(withdrawn=1)
    assert decision_of(pushed, doubtful) == "accept"
    assert pushed.site.accepted(doubtful)
    pushed.validate_all_is_there_once()


@pytest.mark.slow
def test_a_task_deleted_before_anybody_decided_is_asked_anew(pushed: LiveSite) -> None:
    doubtful = undecided(pushed, "doubtful")
    gone = pushed.tasks()[doubtful]
    pushed.people.delete(gone)
    assert pushed.site.pull() == Pulled(deleted=1)
    assert pushed.site.pull() == NOTHING_NEW
    assert pushed.site.push() == (1, 0)
    made = pushed.tasks()[doubtful]
    assert made != gone
    pushed.people.annotate(made, "accept")
    assert pushed.site.pull() == Pulled(reviews=1, accepted=1)
    pushed.validate_all_is_there_once()


@pytest.mark.slow
def test_a_task_deleted_with_a_word_that_nobody_pulled_is_asked_anew(pushed: LiveSite) -> None:
    doubtful = undecided(pushed, "doubtful")
    task = pushed.tasks()[doubtful]
    pushed.people.annotate(task, "accept")
    pushed.people.delete(task)
    assert pushed.site.pull() == Pulled(deleted=1)
    assert pushed.site.push() == (1, 0)
    pushed.validate_all_is_there_once()


@pytest.mark.slow
def test_a_third_person_is_asked_though_the_task_is_gone(pushed: LiveSite) -> None:
    """Two disagree, and the task was deleted before a third was asked: nothing stops the loop."""
    doubtful = undecided(pushed, "doubtful")
    pushed.site.warehouse.execute(
        "update review_requests set reviewers = 2, overlap = 2 where subject = ?", [doubtful]
    )
    second = pushed.people.second_person()
    task = pushed.tasks()[doubtful]
    pushed.people.annotate(task, "accept")
    pushed.people.annotate(task, "reject", by=second, reasons="other")
    pushed.proxy.expect(
        r"^PATCH /api/tasks",
        Fault(delivered=False, status=500),
        *[Fault(delivered=False, status=500)] * 4,
    )
    with pytest.raises(Exception, match="500"):
        pushed.site.pull()
    pushed.people.delete(task)
    pushed.proxy.heal()
    pushed.site.push()
    pulled = pushed.site.pull()
    assert pulled.deleted == 1
    pushed.site.push()
    assert pushed.people.task_of(doubtful).overlap == 3
    pushed.validate_all_is_there_once()


@pytest.mark.slow
def test_a_task_deleted_after_the_decision_takes_nothing_away(pushed: LiveSite) -> None:
    doubtful = undecided(pushed, "doubtful")
    pushed.people.annotate(pushed.tasks()[doubtful], "accept")
    pushed.site.pull()
    pushed.people.delete(pushed.tasks()[doubtful])
    assert pushed.site.pull() == Pulled(deleted=1)
    assert decision_of(pushed, doubtful) == "accept"
    assert pushed.site.accepted(doubtful)
    assert pushed.site.push() == (0, 0), "nobody is asked twice"
    assert pushed.site.pull() == NOTHING_NEW


@pytest.mark.slow
def test_a_deleted_task_is_noticed_though_others_have_tasks_in_the_same_project(
    pushed: LiveSite,
) -> None:
    doubtful = undecided(pushed, "doubtful")
    task = pushed.people.task_of(doubtful)
    foreign = [
        {"data": {name: value for name, value in task.data.items() if name != "callwright_key"}}
    ] * 3
    pushed.people.client.projects.import_tasks(task.project, request=foreign)
    pushed.people.delete(task.id)
    assert pushed.site.pull()._replace(elsewhere=0) == Pulled(deleted=1)
    assert pushed.site.push() == (1, 0)
