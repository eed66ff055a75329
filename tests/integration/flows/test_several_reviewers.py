"""Several people about one thing: whose word counts, who is asked when they differ, and how far
they agree.
"""

from typing import Any

import pytest

from callwright.flows.recipe import ReviewRules
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.status import review_status
from tests.support.flows.review_sites import NOTHING_NEW, ReviewSite, doubtful, edit
from tests.support.sampling import slow


def asked_of(site: ReviewSite, key: str) -> dict[str, Any]:
    [row] = site.rows("select reviewers, overlap from review_requests where subject = ?", key)
    return row


def overlap(site: ReviewSite, key: str) -> int:
    """Of how many people Label Studio wants an answer."""
    task = site.studio.newest_task(key)["callwright_key"]
    return site.studio.overlaps[site.studio.numbers[task]]


def say(site: ReviewSite, key: str, *verdicts: str) -> None:
    """Let ann, bob, cem and dee speak, one after another."""
    for person, verdict in zip(("ann", "bob", "cem", "dee"), verdicts, strict=False):
        reasons = {"reasons": "other"} if verdict == "reject" else {}
        if verdict == "edit":
            edit(site, key, f"{site.polite(key)} {person}", by=person)
        elif verdict:
            site.studio.annotate(key, verdict, by=person, **reasons)


def test_each_cause_is_asked_of_as_many_as_the_recipe_says(trust_site: ReviewSite) -> None:
    rows = trust_site.rows(
        "select cause, any_value(reviewers) as of, count(distinct reviewers) as kinds from"
        " review_requests group by 1"
    )
    assert {row["cause"]: (row["of"], row["kinds"]) for row in rows} == {
        "doubtful": (2, 1),
        "spot check": (1, 1),
        "gold item": (1, 1),
    }
    assert overlap(trust_site, doubtful(trust_site)) == 2
    assert overlap(trust_site, trust_site.asked("spot check")[0]) == 1
    assert overlap(trust_site, trust_site.asked("gold item")[0]) == 1
    assert ReviewRules(reviewers=3).reviewers_of("second look") == 3


def test_what_one_of_two_said_decides_nothing_yet(trust_site: ReviewSite) -> None:
    key = doubtful(trust_site)
    say(trust_site, key, "accept")
    assert trust_site.pull() == Pulled(reviews=1, accepted=1)
    assert trust_site.standing(key) == ("review", "waiting")
    assert trust_site.value("select is_answered from review_queue where subject = ?", key) is False
    say(trust_site, key, "", "accept")
    trust_site.pull()
    assert trust_site.accepted(key) == {"proved": False, "vouched": True, "accepted_by": "ann"}
    assert trust_site.rows("select n_voices, n_speakers from decisions where subject = ?", key) == [
        {"n_voices": 2, "n_speakers": 2}
    ]
    assert trust_site.value("select is_answered from review_queue where subject = ?", key) is True
    assert asked_of(trust_site, key) == {"reviewers": 2, "overlap": 2}


@pytest.mark.parametrize(("third", "outcome"), [slow("accept", "passed"), ("reject", "rejected")])
def test_a_third_person_settles_what_two_do_not_agree_on(
    trust_site: ReviewSite, third: str, outcome: str
) -> None:
    key = doubtful(trust_site)
    say(trust_site, key, "accept", "reject")
    assert trust_site.pull() == Pulled(reviews=2, accepted=1, rejected=1)
    assert trust_site.standing(key) == ("review", "waiting")
    assert asked_of(trust_site, key) == {"reviewers": 3, "overlap": 3}
    assert overlap(trust_site, key) == 3
    assert trust_site.pull() == NOTHING_NEW
    assert asked_of(trust_site, key) == {"reviewers": 3, "overlap": 3}
    say(trust_site, key, "", "", third)
    trust_site.pull()
    assert trust_site.standing(key)[1] == outcome
    assert trust_site.value("select n_voices from decisions where subject = ?", key) == 2
    assert asked_of(trust_site, key)["reviewers"] == 3


def test_the_same_edit_of_two_people_lands_and_two_edits_that_differ_do_not(
    trust_site: ReviewSite,
) -> None:
    key, other = [
        row["subject"]
        for row in trust_site.rows(
            "select subject from outcomes where outcome = 'waiting' and stage = 'review' order by 1"
            " limit 2"
        )
    ]
    for person in ("ann", "bob"):
        edit(trust_site, key, trust_site.polite(key), by=person)
        edit(trust_site, other, f"{trust_site.polite(other)} {person}", by=person)
    assert trust_site.pull().edited == 4
    [decided] = trust_site.rows("select subject, decision, n_voices from decisions")
    assert decided == {"subject": key, "decision": "edit", "n_voices": 2}
    edited = trust_site.value("select result from decisions")
    assert trust_site.value("select count(*) from verdicts where subject = ?", edited) > 0
    assert trust_site.standing(other) == ("review", "waiting")
    assert overlap(trust_site, other) == 3
    unseen = (
        "select count(*) from verdicts where subject in (select result from reviews where subject"
        " = ?)"
    )
    assert trust_site.value(unseen, other) == 0, "what nobody else said is not checked"


def test_the_pull_that_brings_words_says_how_far_they_agree(trust_site: ReviewSite) -> None:
    keys = [
        row["subject"]
        for row in trust_site.rows(
            "select subject from review_requests where cause = 'doubtful' order by 1"
        )
    ]
    for key, words in zip(
        keys, ("accept accept", "reject reject", "accept reject", "accept accept"), strict=False
    ):
        say(trust_site, key, *words.split())
    trust_site.pull()
    rows = trust_site.rows(
        "select measure, slice_by, slice_value, value, items, reviewers from agreement where kind ="
        " 'sample_review'"
    )
    found = {(row.pop("measure"), row.pop("slice_by"), row.pop("slice_value")): row for row in rows}
    assert found["observed", "all", ""] == {"value": 0.75, "items": 4, "reviewers": 2}
    # ann says yes to 3 of 4, bob to 2: by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2 would agree
    assert found["cohen_kappa", "pair", "ann / bob"]["value"] == pytest.approx((0.75 - 0.5) / 0.5)
    assert found["observed", "reviewer", "ann"] == {"value": 0.75, "items": 4, "reviewers": 2}
    # 5 yes and 3 no: Fleiss (3/4 - 34/64) / (30/64), alpha 1 - 2 / (2 * 5 * 3 / 7)
    assert found["fleiss_kappa", "all", ""]["value"] == pytest.approx((48 - 34) / 30)
    assert found["krippendorff_alpha", "all", ""]["value"] == pytest.approx(1 - 14 / 30)
    assert found["krippendorff_alpha", "reason", "other"]["items"] == 2
    before = trust_site.rows("from agreement order by all")
    say(trust_site, keys[2], "", "", "reject")
    trust_site.pull()
    after = trust_site.rows("from agreement order by all")
    drop = ("computed_at",)
    assert [{k: v for k, v in row.items() if k not in drop} for row in after] == [
        {k: v for k, v in row.items() if k not in drop} for row in before
    ], "who came only to settle it says nothing of how far people agree"
    assert after[0]["computed_at"] > before[0]["computed_at"]


def test_answers_faster_than_reading_are_listed_and_told(trust_site: ReviewSite) -> None:
    key, other = [
        row["subject"]
        for row in trust_site.rows("select subject from review_requests order by 1 limit 2")
    ]
    trust_site.studio.annotate(key, "accept", by="ann", seconds=0.3)
    trust_site.studio.annotate(other, "accept", by="ann", seconds=30)
    trust_site.pull()
    [fast] = trust_site.rows("from fast_answers")
    assert (fast["reviewer"], fast["subject"], fast["seconds"]) == ("ann", key, 0.3)
    text = trust_site.sample(key).request
    assert fast["reading_seconds"] >= len(text) / 50
    [ann] = review_status(trust_site.settings)["people"]
    assert (ann["n_reviews"], ann["n_fast_answers"]) == (2, 1)
