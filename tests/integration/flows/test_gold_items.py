"""Gold items: questions whose answer is known, mixed among the others and seen by nobody as what
they are.
"""

from math import ceil
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from callwright.flows.cli.reviewing import training_lines
from callwright.flows.progress import SilentProgress
from callwright.flows.review.pushing import push_training, training_answers
from callwright.warehouse.releases import create_release
from tests.support.flows.review_sites import ReviewSite


def gold(site: ReviewSite, expected: str = "") -> list[dict[str, Any]]:
    return site.rows(
        "from gold_items where ? = '' or expected = ? order by subject", expected, expected
    )


def calls(site: ReviewSite, key: str) -> list[dict[str, Any]]:
    return [{"tool": call.tool, "arguments": call.arguments} for call in site.sample(key).gold]


def accuracy(site: ReviewSite, reviewer: str) -> dict[str, Any]:
    [row] = site.rows("from annotator_accuracy where reviewer = ? and defect = 'all'", reviewer)
    return row


def test_as_many_are_mixed_in_as_the_recipe_says_half_of_them_spoiled(
    trust_site: ReviewSite,
) -> None:
    site = trust_site
    questions = site.value(
        "select count(*) from review_requests where kind = 'sample_review' and cause <> 'gold item'"
    )
    wanted = round(questions * 0.4)
    assert wanted >= 4
    assert (len(gold(site, "accept")), len(gold(site, "reject"))) == (wanted // 2, ceil(wanted / 2))
    assert {row["subject"] for row in gold(site)} == set(site.asked("gold item"))
    assert len({row["made_of"] for row in gold(site)}) == wanted
    grades = site.rows("select distinct grade from accepted_samples")
    assert grades == [{"grade": "judged"}], "gold items are made of what landed by itself"


def test_a_good_one_is_what_it_was_made_of_and_a_spoiled_one_differs_in_its_calls_alone(
    trust_site: ReviewSite,
) -> None:
    for row in gold(trust_site):
        item, original = trust_site.sample(row["subject"]), trust_site.sample(row["made_of"])
        assert item.key != original.key
        assert item.request == original.request
        assert item.candidates == original.candidates
        assert item.origin is not None
        assert item.origin.parents == (original.key,)
        same = calls(trust_site, row["subject"]) == calls(trust_site, row["made_of"])
        assert same == (row["expected"] == "accept") == (row["defect"] == ""), row


def test_a_gold_item_is_no_part_of_any_book_but_its_own(trust_site: ReviewSite) -> None:
    site = trust_site
    for number, row in enumerate(gold(site)):
        verdict = ("accept", "reject")[number % 2]
        site.studio.annotate(
            row["subject"], verdict, **({"reasons": "other"} if verdict == "reject" else {})
        )
    before = site.everything()
    told = {
        view: site.rows(f"from {view} order by all")
        for view in ("funnel", "composition", "check_precision", "decisions")
    }
    assert site.pull().reviews == len(gold(site))
    changed = {table for table, rows in site.everything().items() if rows != before[table]}
    assert changed <= {"reviews", "review_cursors", "task_states"}
    assert told == {view: site.rows(f"from {view} order by all") for view in told}
    keys = {row["subject"] for row in gold(site)}
    assert not keys & {row["subject"] for row in before["outcomes"]} | keys & {
        row["subject"] for row in before["acceptances"]
    }
    assert not keys & {row["subject"] for row in before["verdicts"]}
    create_release(site.warehouse, "v1")
    assert not keys & {row["subject"] for row in site.rows("from release_samples")}
    site.balance()


def test_how_well_a_reviewer_did_is_told_with_an_interval(trust_site: ReviewSite) -> None:
    site = trust_site
    good, spoiled = gold(site, "accept"), gold(site, "reject")
    for row in good:
        site.studio.annotate(row["subject"], "accept", by="ann")
        site.studio.annotate(row["subject"], "reject", by="bob", reasons="other")
    for row in spoiled:
        site.studio.annotate(row["subject"], "reject", by="ann", reasons="other")
        site.studio.annotate(row["subject"], "accept", by="bob")
    site.studio.annotate(spoiled[0]["subject"], "accept", by="ann", change=2 * len(good) + 1)
    site.pull()
    ann, bob = accuracy(site, "ann"), accuracy(site, "bob")
    total = len(good) + len(spoiled)
    assert (ann["n_answered"], ann["n_right"], ann["n_missed"], ann["n_false_alarms"]) == (
        total,
        total - 1,
        1,
        0,
    )
    assert (bob["n_right"], bob["n_missed"], bob["n_false_alarms"]) == (0, len(spoiled), len(good))
    for row in (ann, bob):
        low, high = proportion_confint(row["n_right"], total, method="wilson")
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    by_defect = site.rows("from annotator_accuracy where reviewer = 'ann' and defect <> 'all'")
    assert sum(row["n_answered"] for row in by_defect) == total
    assert {row["defect"] for row in by_defect} == {row["defect"] or "none" for row in gold(site)}


def test_whoever_learns_is_told_what_was_right_and_counts_in_no_figure(
    trust_site: ReviewSite,
) -> None:
    site = trust_site
    pushed = push_training(site.settings, site.studio, SilentProgress(), 4)  # type: ignore[arg-type]
    assert (pushed.created, pushed.already_there) == (4, 0)
    assert push_training(site.settings, site.studio, SilentProgress(), 4)[:2] == (0, 4)  # type: ignore[arg-type]
    items = site.rows("from gold_items where kind = 'training' order by subject")
    assert sorted(row["expected"] for row in items) == ["accept", "accept", "reject", "reject"]
    for row in items:
        site.studio.annotate(row["subject"], "accept", by="new")
    assert site.pull().reviews == 4
    told = {one.subject: one for one in training_answers(site.warehouse, "new")}
    for row in items:
        assert told[row["subject"]].is_right == (row["expected"] == "accept")
        assert told[row["subject"]].defect == row["defect"]
        assert all(
            call["tool"] in told[row["subject"]].right for call in calls(site, row["made_of"])
        )
    lines = list(training_lines(list(told.values())))
    assert lines[0] == "new: 2 of 4 right."
    assert sum(line.startswith("  WRONG") for line in lines) == 2
    assert training_answers(site.warehouse, "ann") == []
    for view in (
        "reviewer_figures",
        "annotator_accuracy",
        "review_pace",
        "fast_answers",
        "decisions",
        "reviewer_agreement",
    ):
        assert site.rows(f"from {view}") == [], view
