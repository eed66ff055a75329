"""The review loop: what is asked, what people decide, and what comes of it, on a drawer that stands in for Label Studio."""

import json

from annotation.edits import edited_sample
from flows.review.pulling import Pulled
from flows.review.pushing import waiting_reviews
from flows.review.status import review_status
from flows.stages import STAGES
from tests.support.flows.offices import (
    NOTHING_NEW,
    OFF_TOPIC,
    Office,
    edit,
    erring_recipe,
    gold_of,
    open_office,
    spot_check_with_a_call,
)
from tests.support.flows.paper_studio import START, PaperStudio
from tests.support.flows.small_builds import build
from warehouse.outcomes import outcome_row
from warehouse.records import Outcome, Verdict


def test_all_that_failed_a_check_and_some_of_the_others_are_asked_about(office: Office) -> None:
    doubtful = {row["subject"] for row in office.rows("select subject from outcomes where outcome = 'waiting'")}
    assert len(doubtful) >= 5
    assert set(office.asked("doubtful")) == doubtful
    assert len(office.asked("spot check")) == 5
    assert all(office.accepted(key) for key in office.asked("spot check"))
    assert {task["subject"] for task in office.studio.tasks.values()} == doubtful | set(office.asked("spot check"))
    assert all(task["why"] for task in office.studio.tasks.values())
    office.balance()


def test_what_was_pushed_is_not_pushed_again(office: Office) -> None:
    assert waiting_reviews(office.settings) == 0
    assert office.push() == (0, 0)


def test_a_label_studio_that_lost_its_data_is_filled_again(office: Office) -> None:
    tasks = len(office.studio.tasks)
    office.studio.tasks.clear()
    assert office.push() == (0, 0)
    assert office.push(again=True) == (tasks, 0)
    assert office.push(again=True) == (0, tasks)


def test_another_label_studio_gets_what_nobody_has_decided(office: Office) -> None:
    first = office.asked("doubtful")[0]
    office.studio.annotate(first, "accept")
    office.pull()
    moved = open_office(office.settings.home, PaperStudio("elsewhere"))
    assert moved.push() == (len(office.studio.tasks) - 1, 0)
    assert first not in {task["subject"] for task in moved.studio.tasks.values()}


def test_an_accepted_sample_lands_under_the_name_of_who_vouched(office: Office) -> None:
    waiting = {
        row["stage"]: row["subject"]
        for row in office.rows("select stage, subject from outcomes where outcome = 'waiting' order by subject")
    }
    assert len(waiting) > 1, "samples wait where a check contradicted them, and at review"
    for key in waiting.values():
        office.studio.annotate(key, "accept", comment="Fine.")
    assert office.pull() == Pulled(reviews=len(waiting), accepted=len(waiting))
    for key in waiting.values():
        assert office.accepted(key) == {"proved": False, "vouched": True, "accepted_by": "ann"}
        assert office.standing(key) == ("land", "passed")
    assert office.rows("select distinct reviewer, decision, comment, seconds from reviews") == [
        {"reviewer": "ann", "decision": "accept", "comment": "Fine.", "seconds": 9.5}
    ]


def test_a_pull_changes_nothing_the_second_time(office: Office) -> None:
    first, second, third, *_ = office.asked("doubtful")
    spot, spoiled, *_ = office.asked("spot check")
    office.studio.annotate(first, "accept")
    office.studio.annotate(second, "reject", reasons=["wrong_value", "other"])
    office.studio.annotate(third, "edit", edited_calls="[{")
    office.studio.annotate(spot, "reject", reasons="unnatural")
    edit(office, spoiled, office.polite(spoiled))
    assert office.pull() == Pulled(reviews=4, accepted=1, edited=1, rejected=2, returned=1)
    before = office.everything()
    assert office.pull() == NOTHING_NEW
    assert office.everything() == before
    build(erring_recipe(), office.settings)
    office.balance()
    assert office.push() == (0, 0)


def test_a_rejected_sample_stays_out_with_the_reasons(office: Office) -> None:
    key = office.asked("doubtful")[0]
    office.studio.annotate(key, "reject", reasons=["wrong_value", "invented"])
    assert office.pull().rejected == 1
    assert office.accepted(key) is None
    [outcome] = office.rows("select reason from outcomes where subject = ? and outcome = 'rejected'", key)
    assert outcome["reason"] == "Rejected by ann: wrong_value, invented."


def test_a_rejected_spot_check_is_taken_back(office: Office) -> None:
    key, other = office.asked("spot check")[:2]
    assert office.accepted(key) == {"proved": True, "vouched": False, "accepted_by": "machine"}
    office.studio.annotate(key, "reject", reasons="unnatural")
    office.studio.annotate(other, "accept")
    office.pull()
    assert office.accepted(key) is None
    assert office.standing(key) == ("land", "rejected")
    assert office.accepted(other) == {"proved": True, "vouched": False, "accepted_by": "ann"}
    build(erring_recipe(), office.settings)
    assert len(office.asked("spot check")) == 5, "a spot check that was rejected is still one"


def test_an_edited_sample_is_checked_again_and_takes_the_seat(office: Office) -> None:
    key = office.asked("spot check")[0]
    edit(office, key, office.polite(key))
    assert office.pull() == Pulled(reviews=1, edited=1)
    edited = office.value("select result from reviews")
    assert office.sample(edited).request == office.polite(key)
    assert office.rows("select ancestor from lineage where sample = ? and distance = 1", edited) == [{"ancestor": key}]
    checks = {row["check_name"] for row in office.rows("select check_name from verdicts where subject = ?", edited)}
    assert checks >= {"format", "grounding", "consistency"}
    assert office.value("select count(*) from outcomes where subject = ? and stage = 'format'", edited) == 1
    assert office.accepted(edited) == {"proved": True, "vouched": False, "accepted_by": "ann"}
    assert office.accepted(key) is None
    assert office.standing(key) == ("review", "passed")


def test_a_contradicted_edit_goes_back_to_people_and_lands_when_they_insist(office: Office) -> None:
    key = spot_check_with_a_call(office)
    edit(office, key, OFF_TOPIC)
    assert office.pull() == Pulled(reviews=1, edited=1, contradicted=1)
    edited = office.value("select result from reviews")
    assert office.accepted(key) is None
    assert office.standing(key) == ("review", "waiting")
    task = office.studio.newest_task(edited)
    assert task["why"].startswith("As edited by ann: ")
    office.studio.annotate(edited, "accept", by="bob")
    assert office.pull() == Pulled(reviews=1, accepted=1)
    assert office.accepted(edited) == {"proved": False, "vouched": True, "accepted_by": "bob"}
    assert office.standing(key) == ("review", "passed")
    assert office.rows("select * from outcomes where outcome = 'waiting' and subject = ?", edited) == []


def test_a_contradicted_edit_that_people_reject_is_gone(office: Office) -> None:
    key = spot_check_with_a_call(office)
    edit(office, key, OFF_TOPIC)
    office.pull()
    edited = office.value("select result from reviews")
    office.studio.annotate(edited, "reject", by="bob", reasons="wrong_value")
    office.pull()
    assert office.accepted(edited) is None
    assert office.accepted(key) is None
    assert office.standing(key) == ("review", "rejected")


def test_an_edit_back_to_what_it_was_lands(office: Office) -> None:
    key = spot_check_with_a_call(office)
    edit(office, key, OFF_TOPIC)
    office.pull()
    edited = office.value("select result from reviews")
    edit(office, edited, office.sample(key).request, by="bob")
    office.pull()
    [row] = office.rows("select request, gold from accepted_samples where accepted_by = 'bob'")
    assert (row["request"], json.loads(row["gold"])) == (office.sample(key).request, json.loads(gold_of(office, key)))


def test_an_edit_that_changes_nothing_is_an_acceptance(office: Office) -> None:
    key = office.asked("doubtful")[0]
    edit(office, key, office.sample(key).request)
    assert office.pull() == Pulled(reviews=1, accepted=1)
    assert office.accepted(key)


def test_an_edit_into_a_sample_that_is_there_already_gives_up_its_seat(office: Office) -> None:
    key = spot_check_with_a_call(office)
    sample = office.sample(key)
    twin = edited_sample(sample, "Hello.", sample.gold).with_changes(origin=None)
    landed = {
        "build": office.value("select key from builds"), "recipe": "small", "subject": twin.key, "proved": True,
        "accepted_by": "machine", "vouched": False, "accepted_at": START, "withdrawn_at": None,
    }  # fmt: skip
    outcomes = [
        outcome_row(Outcome(build=landed["build"], stage=stage.name, subject=twin.key, outcome="passed"), START)
        for stage in STAGES
        if stage.group in {"single_turn", "consistency", "landing"}
    ]  # fmt: skip
    office.warehouse.put([twin, Verdict(subject=twin.key, check="format", decision="proved")])
    office.warehouse.put_rows({"acceptances": [landed], "outcomes": outcomes})
    office.balance()
    edit(office, key, "Hello.")
    office.pull()
    assert office.standing(key) == ("review", "rejected")
    assert office.accepted(key) is None
    assert office.accepted(twin.key)


def test_an_unusable_edit_comes_back_with_what_was_typed(office: Office) -> None:
    key = office.asked("doubtful")[0]
    office.studio.annotate(key, "edit", edited_request="In other words.", edited_calls="[{")
    office.studio.annotate(key, "edit", by="bob", edited_request="In my words.", edited_calls="[[")
    assert office.pull() == Pulled(returned=2)
    versions = {task["version"]: task for task in office.studio.tasks.values() if task["subject"] == key}
    assert (versions[2]["request"], versions[2]["calls"]) == ("In other words.", "[{")
    assert (versions[3]["request"], versions[3]["calls"]) == ("In my words.", "[[")
    assert "not JSON" in versions[2]["why"]
    assert office.pull() == NOTHING_NEW
    office.studio.annotate(key, "edit", change=1, edited_request="Once more.", edited_calls="[{")
    assert office.pull() == Pulled(returned=1)
    assert office.studio.newest_task(key)["request"] == "Once more."
    assert [row["tasks"] for row in review_status(office.settings)["samples"] if row["cause"] == "returned edit"] == [3]


def test_a_skipped_task_decides_nothing(office: Office) -> None:
    office.studio.annotate(office.asked("doubtful")[0], skipped=True)
    before = office.everything()
    assert office.pull() == NOTHING_NEW
    after = office.everything()
    assert {table for table in after if after[table] != before[table]} == {"review_cursors", "task_states"}
    assert office.value("select sum(skipped) from task_states") == 1


def test_people_may_change_their_minds(office: Office) -> None:
    for key in (office.asked("doubtful")[0], office.asked("spot check")[0]):
        number = office.studio.annotate(key, "accept")
        office.pull()
        assert office.accepted(key)["accepted_by"] == "ann"
        office.studio.annotate(key, "reject", change=number, reasons="other")
        assert office.pull().rejected == 1
        assert office.accepted(key) is None
        edit(office, key, office.polite(key), change=number)
        office.pull()
        assert office.accepted(key) is None
        office.studio.annotate(key, "reject", change=number, reasons="other")
        office.pull()
        family = "select count(*) from accepted_samples where key = ? or key in (select result from reviews where subject = ?)"
        assert office.value(family, key, key) == 0
        office.studio.annotate(key, "accept", change=number)
        office.pull()
        assert office.accepted(key)
        assert office.value(family, key, key) == 1
        assert office.value("select count(*) from reviews where subject = ?", key) == 5


def test_the_first_of_two_people_decides_and_both_are_kept(office: Office) -> None:
    key = office.asked("doubtful")[0]
    first = office.studio.annotate(key, "accept", by="ann")
    office.studio.annotate(key, "reject", by="bob", reasons="other")
    office.pull()
    assert office.accepted(key)["accepted_by"] == "ann"
    assert office.value("select count(*) from reviews where subject = ?", key) == 2
    office.studio.annotate(key, "reject", by="ann", change=first, reasons="wrong_tool")
    office.pull()
    assert office.accepted(key) is None
    assert office.value("select reviewer from decisions where subject = ?", key) == "ann"


def test_who_answers_an_edit_that_came_back_decides(office: Office) -> None:
    key = office.asked("doubtful")[0]
    number = office.studio.annotate(key, "accept", by="ann")
    office.pull()
    office.studio.annotate(key, "edit", by="ann", change=number, edited_calls="[{")
    office.pull()
    assert office.accepted(key), "what was decided stands until somebody decides otherwise"
    office.studio.annotate(key, "reject", by="bob", reasons="other")
    office.pull()
    assert office.accepted(key) is None
