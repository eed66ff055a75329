"""The status of reviews: who did what how fast, what is left in hours and money, and what the
terminal shows of it.
"""

import json
from datetime import timedelta
from typing import Any

import pytest

from callwright.annotation.reviews import TaskQueue
from callwright.annotation.screens import REVIEW_KINDS
from callwright.flows.review.status import review_status
from tests.support.flows.paper_studio import START
from tests.support.flows.review_sites import ReviewSite
from tests.support.flows.small_builds import run_here
from tests.support.sampling import slow

EARLIER_KEYS = {
    "samples",
    "reviewers",
    "tools",
    "tool_reviewers",
    "corrections",
    "correction_reviewers",
    "disambiguations",
    "disambiguation_reviewers",
}


def queue_of(status: dict[str, list[dict[str, Any]]], cause: str) -> dict[str, Any]:
    [row] = [row for row in status["queue"] if row["cause"] == cause]
    return row


def people_of(status: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return {row["reviewer"]: row for row in status["people"]}


def test_answers_that_differ_are_told_where_one_reviewer_is_asked_too(site: ReviewSite) -> None:
    first, second, *_ = site.asked("doubtful")
    for key in (first, second):
        site.studio.annotate(key, "accept", by="ann")
    site.studio.annotate(first, "reject", by="bob", reasons="other")
    site.studio.annotate(second, "accept", by="bob")
    site.pull()
    assert review_status(site.settings)["differing"] == [
        {
            "kind": "sample_review",
            "subject": first,
            "said": "ann: accept, bob: reject",
            "counts": "accept",
            "shared": 2,
        }
    ]
    shown = run_here("review", "status", home=site.settings.home).stdout
    assert "Of 2 questions that several people answered, 1 have answers that differ." in shown
    assert "ann: accept, bob: reject" in shown


def test_each_kind_and_cause_says_what_waits_and_what_was_answered(site: ReviewSite) -> None:
    first, second, third, *others = site.asked("doubtful")
    site.studio.annotate(first, "accept")
    site.studio.annotate(second, skipped=True)
    site.pull()
    site.warehouse.execute("update task_states set drafts = 1 where subject = ?", [third])
    status = review_status(site.settings)
    assert status.keys() >= EARLIER_KEYS
    assert queue_of(status, "doubtful") == {
        "kind": "sample_review",
        "cause": "doubtful",
        "tasks": len(others) + 3,
        "to_push": 0,
        "with_people": len(others) + 2,
        "reviewed": 1,
        "outdated": 0,
        "skipped": 1,
        "drafts": 1,
    }


def test_pace_counts_the_time_between_reviews_and_no_pauses(site: ReviewSite) -> None:
    keys = site.asked("doubtful")[:5]
    for key in keys[:3]:
        site.studio.annotate(key, "accept")  # one a minute
    site.studio.clock += timedelta(hours=3)
    for key in keys[3:]:
        site.studio.annotate(key, "reject", reasons="other")
    site.pull()
    [row] = review_status(site.settings)["people"]
    worked = (
        9.5 + 60 + 60 + 9.5 + 60
    )  # seconds; of the first one and of the one after the pause what Label Studio measured
    assert row["active_hours"] == round(worked / 3600, 3)
    assert row["reviews_per_hour"] == round(5 / worked * 3600, 1)
    assert (row["n_reviews"], row["n_accepted"], row["n_rejected"], row["median_seconds"]) == (
        5,
        3,
        2,
        9.5,
    )
    assert row["last_at"] == START + timedelta(hours=3, minutes=5)
    [day] = site.rows("from review_pace")
    assert (str(day["day"]), day["n_reviews"]) == ("2026-11-21", 5)


def test_the_share_right_on_gold_items_stands_beside_each_reviewer(site: ReviewSite) -> None:
    good, bad = site.asked("spot check")[:2]
    expected = {good: "accept", bad: "reject"}
    gold = [
        {
            "subject": key,
            "kind": "sample_review",
            "expected": right,
            "defect": "" if right == "accept" else "wrong_value",
            "made_of": "",
            "made_at": START,
        }
        for key, right in expected.items()
    ]
    site.warehouse.put_rows({"gold_items": gold})
    for key in expected:
        site.studio.annotate(key, "accept", by="ann")
    site.studio.annotate(site.asked("doubtful")[0], "accept", by="bob")
    site.pull()
    people = people_of(review_status(site.settings))
    assert (people["ann"]["n_gold_items"], people["ann"]["gold_share"]) == (2, 0.5)
    assert (people["bob"]["n_gold_items"], people["bob"]["gold_share"]) == (0, None)


@pytest.mark.parametrize("hourly", [slow(""), "24"])
def test_the_terminal_shows_it_in_few_lines_of_eighty_columns_with_its_cost_or_without(
    site: ReviewSite, hourly: str
) -> None:
    first, second = site.asked("doubtful")[:2]
    site.warehouse.execute("update review_requests set reviewers = 2 where subject = ?", [first])
    site.studio.annotate(first, "accept", by="ann@example.org")
    site.studio.annotate(first, "reject", by="bob@example.org", reasons="other")
    site.studio.annotate(second, "accept", by="ann@example.org")
    site.pull()
    shown = run_here(
        "review", "status", home=site.settings.home, CALLWRIGHT_REVIEW_HOURLY_COST=hourly
    )
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 25
    assert lines[0].split() == ["questions", "to", "push", "with", "people", "reviewed"]
    for said in (
        "sample review",
        "  doubtful",
        "ann@example.org",
        "Still to do: ",
        "So far: 2 minutes",
        first,
        "accept or reject",
    ):
        assert said in shown.stdout, said
    assert ("US dollars" in shown.stdout) == bool(hourly)


def test_nobody_asked_is_one_sentence_and_json_has_every_table(
    tmp_path: Any, site: ReviewSite
) -> None:
    empty = run_here("review", "status", home=tmp_path / "nothing")
    assert (empty.returncode, empty.stdout) == (0, "There are no review questions yet.\n")
    found = json.loads(run_here("review", "status", "--json", home=site.settings.home).stdout)
    assert found.keys() == EARLIER_KEYS | {
        "queue",
        "people",
        "work_left",
        "differing",
        "unsettled",
        "next",
        "whole",
    }
    assert {row["kind"] for row in found["queue"]} <= set(REVIEW_KINDS)


def test_a_team_has_tables_by_language_and_person_and_is_told_who_kept_to_it(
    site: ReviewSite,
) -> None:
    team = site.settings.home / "team.yaml"
    team.write_text(
        "ann: {languages: [en]}\nbob: {languages: [zh], questions: [tool_review]}\n",
        encoding="utf-8",
    )
    site.warehouse.execute("update review_requests set pushed_at = null")
    site.push()
    tables = {queue.title: queue for queue in site.studio.queues["sample_review"]}
    assert tables == {
        "English": TaskQueue("English", ("en",)),
        "Chinese": TaskQueue("Chinese", ("zh",)),
        "ann": TaskQueue("ann", ("en",), (), "ann"),
    }
    for task in site.studio.tasks.values():
        sample = site.sample(task["subject"])
        assert (task["language"], task["sample_kind"]) == (sample.language, sample.kind)
        site.studio.annotate(task["subject"], "accept", by="ann")
    site.pull()
    others = site.value(
        "select count(*) from reviews r join samples s on s.key = r.subject where s.language = 'zh'"
    )
    assert others > 0
    assert people_of(review_status(site.settings))["ann"]["outside"] == others
