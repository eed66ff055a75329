"""The review loop: what is asked, what people decide, and what comes of it, on a drawer that
stands in for Label Studio.
"""

import pytest

from callwright.annotation.edits import with_turns
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.status import review_status
from callwright.flows.stages import all_stages
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import Outcome, Verdict
from tests.support.annotation.editing import as_sent, edited, more_of
from tests.support.flows.paper_studio import START
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

ALWAYS_ASKED = {"format", "grounding", "wording"}


def test_all_that_failed_a_check_and_some_of_the_others_are_asked_about(site: ReviewSite) -> None:
    doubtful = {
        row["subject"]
        for row in site.rows("select subject from outcomes where outcome = 'waiting'")
    }
    assert len(doubtful) >= 5
    assert set(site.asked("doubtful")) == doubtful
    assert len(site.asked("spot check")) == 5
    assert all(site.accepted(key) for key in site.asked("spot check"))
    assert {task["subject"] for task in site.studio.tasks.values()} == doubtful | set(
        site.asked("spot check")
    )
    assert all(task["why"] for task in site.studio.tasks.values())
    site.balance()


def test_the_facts_that_checks_state_reach_the_screen_as_sentences(site: ReviewSite) -> None:
    """From the verdict's row to the task: a sentence a fact, and the check's own words stand
    folded away.
    """
    stated = site.rows(
        """select distinct v.subject, v.reason, d.fact ->> 'kind' as kind, d.fact ->> 'argument' as argument
        from verdicts v, unnest(cast(v.doubts as json[])) d(fact) where v.decision <> 'proved'
            and v.subject in (select subject from review_requests) order by all"""
    )
    assert {row["kind"] for row in stated} >= {"neither_fits"}
    tasks = {task["subject"]: task for task in site.studio.tasks.values()}
    for row in stated:
        task = tasks[row["subject"]]
        assert row["argument"] is None or row["argument"] in task["failed"], row
        assert row["reason"] not in task["failed"], row
        assert row["reason"] in task["details"], row


def test_a_label_studio_that_lost_its_data_is_filled_again(site: ReviewSite) -> None:
    tasks = len(site.studio.tasks)
    site.studio.tasks.clear()
    assert site.push() == (0, 0)
    assert site.push(again=True) == (tasks, 0)
    assert site.push(again=True) == (0, tasks)


def test_an_accepted_sample_lands_under_the_name_of_who_vouched(site: ReviewSite) -> None:
    waiting = {
        row["stage"]: row["subject"]
        for row in site.rows(
            "select stage, subject from outcomes where outcome = 'waiting' order by subject"
        )
    }
    assert waiting
    for key in waiting.values():
        site.studio.annotate(key, "accept", comment="Fine.")
    assert site.pull() == Pulled(reviews=len(waiting), accepted=len(waiting))
    for key in waiting.values():
        assert site.accepted(key) == {"proved": False, "vouched": True, "accepted_by": "ann"}
        assert site.standing(key) == ("land", "passed")
    assert site.rows("select distinct reviewer, decision, comment, seconds from reviews") == [
        {"reviewer": "ann", "decision": "accept", "comment": "Fine.", "seconds": 9.5}
    ]


def test_a_rejected_sample_stays_out_with_the_reasons(site: ReviewSite) -> None:
    key = site.asked("doubtful")[0]
    site.studio.annotate(key, "reject", reasons=["wrong_value", "invented"])
    assert site.pull().rejected == 1
    assert site.accepted(key) is None
    [outcome] = site.rows(
        "select reason from outcomes where subject = ? and outcome = 'rejected'", key
    )
    assert outcome["reason"] == "Rejected by ann: wrong_value, invented."


def test_a_rejected_spot_check_is_taken_back(site: ReviewSite) -> None:
    key, other, *_ = (one for one in site.asked("spot check") if site.sample(one).gold)
    assert site.accepted(key) == {"proved": False, "vouched": False, "accepted_by": "machine"}
    site.studio.annotate(key, "reject", reasons="unnatural")
    site.studio.annotate(other, "accept")
    site.pull()
    assert site.accepted(key) is None
    assert site.standing(key) == ("land", "rejected")
    assert site.accepted(other) == {"proved": False, "vouched": False, "accepted_by": "ann"}
    build(erring_recipe(), site.settings)
    assert len(site.asked("spot check")) == 5, "a spot check that was rejected is still one"


def test_an_edited_sample_is_checked_again_and_takes_the_seat(site: ReviewSite) -> None:
    key = spot_check_with_a_call(site)
    edit(site, key, site.polite(key))
    assert site.pull() == Pulled(reviews=1, edited=1)
    edited = site.value("select result from reviews")
    assert site.sample(edited).request == site.polite(key)
    assert site.rows("select ancestor from lineage where sample = ? and distance = 1", edited) == [
        {"ancestor": key}
    ]
    checks = {
        row["check_name"]
        for row in site.rows("select check_name from verdicts where subject = ?", edited)
    }
    assert checks >= {"format", "grounding", "reading"}
    assert (
        site.value("select count(*) from outcomes where subject = ? and stage = 'format'", edited)
        == 1
    )
    assert site.accepted(edited) == {"proved": False, "vouched": True, "accepted_by": "ann"}
    assert site.accepted(key) is None
    assert site.standing(key) == ("review", "passed")


def test_a_contradicted_edit_goes_back_to_people_and_lands_when_they_insist(
    site: ReviewSite,
) -> None:
    key = spot_check_with_a_call(site)
    edit(site, key, OFF_TOPIC)
    assert site.pull() == Pulled(reviews=1, edited=1, contradicted=1)
    edited = site.value("select result from reviews")
    assert site.accepted(key) is None
    assert site.standing(key) == ("review", "waiting")
    task = site.studio.newest_task(edited)
    assert task["why"].startswith("As edited by ann: ")
    checks = {
        row["check_name"]
        for row in site.rows("select check_name from verdicts where subject = ?", edited)
    }
    assert checks >= ALWAYS_ASKED, "also those behind the check that stopped it"
    site.studio.annotate(edited, "accept", by="bob")
    assert site.pull() == Pulled(reviews=1, accepted=1)
    assert site.accepted(edited) == {"proved": False, "vouched": True, "accepted_by": "bob"}
    assert site.standing(key) == ("review", "passed")
    assert (
        site.rows("select * from outcomes where outcome = 'waiting' and subject = ?", edited) == []
    )


def test_an_edit_that_no_check_decides_never_lands_on_one_persons_word(site: ReviewSite) -> None:
    for key in (key for key in site.asked("doubtful") if site.sample(key).gold):
        edit(site, key, site.polite(key))
    site.pull()
    [key, edited] = next(iter(site.rows(_UNDECIDED))).values()
    assert site.accepted(edited) is None
    assert site.standing(key) == ("review", "waiting")
    assert site.studio.newest_task(edited)["why"].startswith("As edited by ann: ")
    site.studio.annotate(edited, "accept", by="ann")
    assert site.pull() == Pulled(reviews=1, accepted=1)
    assert site.accepted(edited) is None, "whoever made it is not the second person"
    unsettled = review_status(site.settings)["unsettled"]
    assert {
        "kind": "sample_review",
        "subject": edited,
        "decisions": ["edit"],
        "said_by": ["ann"],
        "others": [],
    } in unsettled
    site.studio.annotate(edited, "accept", by="bob")
    site.pull()
    assert site.accepted(edited)["vouched"]
    assert site.standing(key) == ("review", "passed")
    assert edited not in {row["subject"] for row in review_status(site.settings)["unsettled"]}


_UNDECIDED = """
    select r.subject, r.result from reviews r join sample_grades g on g.subject = r.result
    where g.grade = 'open' and not exists (
        select 1 from outcomes f where f.subject = r.result and f.outcome <> 'passed'
    ) order by all
"""


def test_an_edit_into_a_sample_that_is_there_already_gives_up_its_seat(site: ReviewSite) -> None:
    key = spot_check_with_a_call(site)
    sample = site.sample(key)
    hello = (sample.turns[0].with_changes(text="Hello."), *sample.turns[1:])
    twin = with_turns(sample, hello).with_changes(origin=None)
    landed = {
        "build": site.value("select key from builds"),
        "recipe": "small",
        "subject": twin.key,
        "grade": "proved",
        "judged_by": [],
        "accepted_by": "machine",
        "accepted_at": START,
        "withdrawn_at": None,
    }
    outcomes = [
        outcome_row(
            Outcome(build=landed["build"], stage=stage.name, subject=twin.key, outcome="passed"),
            START,
        )
        for stage in all_stages()
        if stage.group in {"single_turn", "consistency", "landing"}
    ]
    site.warehouse.put([twin, Verdict(subject=twin.key, check="format", decision="proved")])
    site.warehouse.put_rows({"acceptances": [landed], "outcomes": outcomes})
    site.balance()
    edit(site, key, "Hello.")
    site.pull()
    assert site.standing(key) == ("review", "rejected")
    assert site.accepted(key) is None
    assert site.accepted(twin.key)


def test_an_unusable_edit_comes_back_with_what_was_typed(site: ReviewSite) -> None:
    key = site.asked("doubtful")[0]
    rows = site.studio.newest_task(key)["rows"]
    more = more_of(rows)
    words = next(control for control in as_sent(rows) if control.startswith("words"))
    site.studio.annotate(key, "edit", **edited(rows, "In other words."), **{more: "no line"})
    site.studio.annotate(key, "edit", by="bob", **edited(rows, "In mine."), **{more: "-> fly"})
    assert site.pull() == Pulled(returned=2)
    versions = {
        task["version"]: task for task in site.studio.tasks.values() if task["subject"] == key
    }
    typed = {
        version: (sent[words], sent.get(more))
        for version, task in versions.items()
        if (sent := as_sent(task["rows"]))
    }
    assert typed[2] == ("In other words.", "no line")
    assert typed[3] == ("In mine.", "-> fly")
    assert "`name = value`" in versions[2]["why"]
    assert site.pull() == NOTHING_NEW
    again = edited(rows, "Once more.") | {more: "no line"}
    site.studio.annotate(key, "edit", change=1, **again)
    assert site.pull() == Pulled(returned=1)
    assert as_sent(site.studio.newest_task(key)["rows"])[words] == "Once more."
    assert [
        row["tasks"]
        for row in review_status(site.settings)["samples"]
        if row["cause"] == "returned edit"
    ] == [3]


@pytest.mark.parametrize("cause", ["spot check", slow("doubtful")])
def test_people_may_change_their_minds(site: ReviewSite, cause: str) -> None:
    key = site.asked(cause)[0]
    number = site.studio.annotate(key, "accept")
    site.pull()
    assert site.accepted(key)["accepted_by"] == "ann"
    site.studio.annotate(key, "reject", change=number, reasons="other")
    assert site.pull().rejected == 1
    assert site.accepted(key) is None
    edit(site, key, site.polite(key), change=number)
    site.pull()
    assert site.accepted(key) is None
    site.studio.annotate(key, "reject", change=number, reasons="other")
    site.pull()
    family = (
        "select count(*) from accepted_samples where key = ? or key in (select result from reviews"
        " where subject = ?)"
    )
    assert site.value(family, key, key) == 0
    site.studio.annotate(key, "accept", change=number)
    site.pull()
    assert site.accepted(key)
    assert site.value(family, key, key) == 1
    assert site.value("select count(*) from reviews where subject = ?", key) == 5


def test_an_answer_that_somebody_else_changes_is_their_word_alone(site: ReviewSite) -> None:
    key = site.asked("doubtful")[0]
    answer = site.studio.annotate(key, "accept", by="ann")
    site.pull()
    site.studio.annotate(key, "reject", by="bob", change=answer, reasons="other")
    assert site.pull() == Pulled(reviews=1, rejected=1, withdrawn=1)
    said = site.rows("select reviewer, decision from standing_reviews where subject = ?", key)
    assert said == [{"reviewer": "bob", "decision": "reject"}]
    assert site.standing(key)[1] == "rejected"
    assert review_status(site.settings)["unsettled"] == []
    site.studio.annotate(key, "accept", by="ann", change=answer)
    assert site.pull() == Pulled(reviews=1, accepted=1, withdrawn=1)
    assert site.accepted(key)["accepted_by"] == "ann"
