"""Second looks: accepted samples drawn at random, asked about again, and the share of them that
is usable.
"""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from callwright.flows.review.asking_again import Draw, recheck
from callwright.flows.review.questions import DRAWN
from callwright.flows.review.status import agreement_report
from callwright.warehouse.releases import create_release
from tests.support.flows.paper_studio import START
from tests.support.flows.review_sites import NOTHING_NEW, ReviewSite, edit
from tests.support.flows.small_builds import run_here


def looked_at(site: ReviewSite) -> list[str]:
    rows = site.rows(
        "select subject from review_queue where cause = 'second look' order by requested_at,"
        " subject"
    )
    return [row["subject"] for row in rows]


def people_come(site: ReviewSite) -> None:
    """From here on annotations are written by the clock by which questions are asked."""
    site.studio.clock = datetime.now(UTC)


def share(site: ReviewSite, cause: str, scope: str = "recipe") -> dict[str, Any]:
    [row] = site.rows("from usable_share where cause = ? and scope = ?", cause, scope)
    return row


def test_a_draw_asks_people_who_are_not_told_that_it_is_a_second_look(site: ReviewSite) -> None:
    accepted = site.value("select count(*) from accepted_samples")
    spot = site.asked("spot check")
    drawn = recheck(site.settings, "small", draw=6, seed=1)
    assert drawn == Draw("recipe", "small", accepted, 6, 6)
    keys = looked_at(site)
    assert len(keys) == 6
    assert not set(keys) & set(spot), "what somebody has still to look at is not asked twice"
    assert all(site.accepted(key) for key in keys)
    assert site.push() == (6, 0)
    assert {site.studio.newest_task(key)["why"] for key in keys} == {DRAWN}
    assert site.pull() == NOTHING_NEW


def test_what_was_looked_at_before_is_asked_again_as_a_further_version(site: ReviewSite) -> None:
    for key in site.asked("spot check"):
        site.studio.annotate(key, "accept")
    site.pull()
    site.warehouse.execute("update review_requests set requested_at = ?", [START])
    everything = site.value("select count(*) from accepted_samples")
    assert recheck(site.settings, "small", draw=500) == Draw(
        "recipe", "small", everything, everything, everything
    )
    assert site.push() == (everything, 0)
    key = site.asked("spot check")[0]
    task = site.studio.newest_task(key)
    assert (task["version"], task["why"]) == (2, DRAWN)
    people_come(site)
    site.studio.annotate(key, "reject", by="bob", reasons="other")
    site.pull()
    assert site.accepted(key) is None
    assert site.standing(key) == ("land", "rejected")
    assert recheck(site.settings, "small", draw=500).asked == 0, (
        "what was taken back is not drawn a second time"
    )
    assert site.rows(
        "select n_asked, n_answered, n_usable from usable_share where scope = 'recipe' order by cause"
    ) == [
        {"n_asked": everything, "n_answered": 1, "n_usable": 0},
        {"n_asked": 5, "n_answered": 5, "n_usable": 5},
    ]


def test_the_share_that_is_usable_has_an_interval(site: ReviewSite) -> None:
    recheck(site.settings, "small", draw=8)
    site.push()
    assert share(site, "second look") == {
        "scope": "recipe",
        "name": "small",
        "cause": "second look",
        "n_asked": 8,
        "n_answered": 0,
        "n_usable": 0,
        "usable_share": None,
        "low": None,
        "high": None,
    }
    good, bad, better, open_, *rest = looked_at(site)
    for key in (good, *rest):
        site.studio.annotate(key, "accept")
    site.studio.annotate(bad, "reject", reasons="other")
    edit(site, better, site.polite(better))
    site.pull()
    found = share(site, "second look")
    low, high = proportion_confint(5, 7, method="wilson")
    assert (found["n_asked"], found["n_answered"], found["n_usable"]) == (8, 7, 5)
    assert (found["usable_share"], found["low"], found["high"]) == (
        pytest.approx(5 / 7),
        pytest.approx(low),
        pytest.approx(high),
    )
    assert site.value("select is_answered from review_queue where subject = ?", open_) is False
    report = agreement_report(site.settings)
    assert report["usable"][0]["usable_share"] == found["usable_share"]
    readers = [row for row in report["readers"] if row["reader"] == "template/v1"]
    assert (
        sum(
            row["n_both_right"] + row["n_missed"] + row["n_doubted"] + row["n_both_doubt"]
            for row in readers
        )
        >= 4
    )


def test_a_release_is_judged_by_what_was_said_after_it_was_frozen(site: ReviewSite) -> None:
    early, late = site.asked("spot check")[:2]
    site.studio.annotate(early, "accept")
    site.pull()
    create_release(site.warehouse, "v1")
    drawn = recheck(site.settings, "v1", draw=4)
    assert (drawn.scope, drawn.drawn) == ("release", 4)
    site.push()
    people_come(site)
    looked = looked_at(site)  # what is asked about already is not asked a second time meanwhile
    for key in {late, *looked}:
        site.studio.annotate(key, "reject", reasons="other")
    site.pull()
    assert (
        share(site, "spot check", "release")["n_asked"],
        share(site, "spot check", "release")["n_usable"],
    ) == (4, 0)
    assert share(site, "spot check")["n_usable"] == 1
    assert share(site, "second look", "release")["n_answered"] == len(looked) >= 3


def test_the_command_line_draws_and_tells(trust_site: ReviewSite) -> None:
    home, [gold_item, *_] = trust_site.settings.home, trust_site.asked("gold item")
    done = run_here("review", "recheck", "small", "--draw", "3", "--seed", "5", home=home)
    assert done.returncode == 0, done.stderr
    assert "3 of " in done.stdout
    assert "3 new questions" in done.stdout
    assert (
        json.loads(
            run_here("review", "recheck", "--draw", "3", "--seed", "5", "--json", home=home).stdout
        )["asked"]
        == 0
    )
    assert run_here("review", "recheck", "nothing", home=home).returncode == 2
    for person in ("ann", "bob"):
        trust_site.studio.annotate(trust_site.asked("doubtful")[0], "accept", by=person)
        trust_site.studio.annotate(gold_item, "accept", by=person)
    trust_site.pull()
    shown = run_here("review", "agreement", home=home)
    assert shown.returncode == 0, shown.stderr
    assert all(
        word in shown.stdout
        for word in ("agreement", "ann / bob", "gold items", "usable", "second look")
    )
    told = json.loads(run_here("review", "agreement", "--json", home=home).stdout)
    assert set(told) == {"agreement", "readers", "gold_items", "usable"}
    assert "nan" not in shown.stdout.lower()
