"""Second looks: accepted samples drawn at random, asked about again, and the share of them that is usable."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from flows.importing import import_release
from flows.review.asking_again import Draw, recheck
from flows.review.questions import DRAWN
from flows.review.status import agreement_report
from tests.support.flows.offices import NOTHING_NEW, Office, edit
from tests.support.flows.paper_studio import START
from tests.support.flows.small_builds import run
from tests.unit.generators.test_callnavi_samples import NESTED, write
from warehouse.errors import ConfigurationError
from warehouse.releases import create_release


def looked_at(office: Office) -> list[str]:
    rows = office.rows("select subject from review_queue where cause = 'second look' order by requested_at, subject")
    return [row["subject"] for row in rows]


def people_come(office: Office) -> None:
    """From here on annotations are written by the clock by which questions are asked."""
    office.studio.clock = datetime.now(UTC)


def share(office: Office, cause: str, scope: str = "recipe") -> dict[str, Any]:
    [row] = office.rows("from usable_share where cause = ? and scope = ?", cause, scope)
    return row


def test_a_draw_asks_people_who_are_not_told_that_it_is_a_second_look(office: Office) -> None:
    accepted = office.value("select count(*) from accepted_samples")
    spot = office.asked("spot check")
    drawn = recheck(office.settings, "small", draw=6, seed=1)
    assert drawn == Draw("recipe", "small", accepted, 6, 6)
    keys = looked_at(office)
    assert len(keys) == 6
    assert not set(keys) & set(spot), "what somebody has still to look at is not asked twice"
    assert all(office.accepted(key) for key in keys)
    assert office.push() == (6, 0)
    assert {office.studio.newest_task(key)["why"] for key in keys} == {DRAWN}
    assert office.pull() == NOTHING_NEW


def test_the_same_draw_asks_nobody_twice_and_another_seed_draws_others(office: Office) -> None:
    recheck(office.settings, draw=6, seed=1)
    first = looked_at(office)
    assert recheck(office.settings, draw=6, seed=1).asked == 0
    more = recheck(office.settings, draw=6, seed=2)
    assert 0 < more.asked < 7
    assert set(first) < set(looked_at(office))
    assert len(looked_at(office)) == 6 + more.asked


def test_what_was_looked_at_before_is_asked_again_as_a_further_version(office: Office) -> None:
    for key in office.asked("spot check"):
        office.studio.annotate(key, "accept")
    office.pull()
    office.warehouse.execute("update review_requests set requested_at = ?", [START])
    everything = office.value("select count(*) from accepted_samples")
    assert recheck(office.settings, "small", draw=500) == Draw("recipe", "small", everything, everything, everything)
    assert office.push() == (everything, 0)
    key = office.asked("spot check")[0]
    task = office.studio.newest_task(key)
    assert (task["version"], task["why"]) == (2, DRAWN)
    people_come(office)
    office.studio.annotate(key, "reject", by="bob", reasons="other")
    office.pull()
    assert office.accepted(key) is None
    assert office.standing(key) == ("land", "rejected")
    assert recheck(office.settings, "small", draw=500).asked == 0, "what was taken back is not drawn a second time"
    assert office.rows("select asked, answered, usable from usable_share where scope = 'recipe' order by cause") == [
        {"asked": everything, "answered": 1, "usable": 0},
        {"asked": 5, "answered": 5, "usable": 5},
    ]


def test_the_share_that_is_usable_has_an_interval(office: Office) -> None:
    recheck(office.settings, "small", draw=8)
    office.push()
    assert share(office, "second look") == {
        "scope": "recipe", "name": "small", "cause": "second look", "asked": 8, "answered": 0, "usable": 0, "share": None,
        "low": None, "high": None,
    }  # fmt: skip
    good, bad, better, open_, *rest = looked_at(office)
    for key in (good, *rest):
        office.studio.annotate(key, "accept")
    office.studio.annotate(bad, "reject", reasons="other")
    edit(office, better, office.polite(better))
    office.pull()
    found = share(office, "second look")
    low, high = proportion_confint(5, 7, method="wilson")
    assert (found["asked"], found["answered"], found["usable"]) == (8, 7, 5)
    assert (found["share"], found["low"], found["high"]) == (
        pytest.approx(5 / 7),
        pytest.approx(low),
        pytest.approx(high),
    )
    assert office.value("select is_answered from review_queue where subject = ?", open_) is False
    assert agreement_report(office.settings)["usable"][0]["share"] == found["share"]


def test_an_edit_that_came_back_is_answered_by_what_is_said_then(office: Office) -> None:
    key = office.asked("spot check")[0]
    office.studio.annotate(key, "edit", edited_calls="[{")
    office.pull()
    assert share(office, "spot check")["answered"] == 0
    office.studio.annotate(key, "accept")
    office.pull()
    assert (share(office, "spot check")["answered"], share(office, "spot check")["usable"]) == (1, 1)


def test_a_release_is_judged_by_what_was_said_after_it_was_frozen(office: Office) -> None:
    early, late = office.asked("spot check")[:2]
    office.studio.annotate(early, "accept")
    office.pull()
    create_release(office.warehouse, "v1")
    drawn = recheck(office.settings, "v1", draw=4)
    assert (drawn.scope, drawn.drawn) == ("release", 4)
    office.push()
    people_come(office)
    looked = looked_at(office)  # what is asked about already is not asked a second time meanwhile
    for key in {late, *looked}:
        office.studio.annotate(key, "reject", reasons="other")
    office.pull()
    assert (share(office, "spot check", "release")["asked"], share(office, "spot check", "release")["usable"]) == (4, 0)
    assert share(office, "spot check")["usable"] == 1
    assert share(office, "second look", "release")["answered"] == len(looked) >= 3


def test_gold_items_are_mixed_among_second_looks_as_well(trust_office: Office) -> None:
    before = len(trust_office.rows("from gold_items"))
    drawn = recheck(trust_office.settings, draw=5)
    assert drawn.asked == 5
    questions = "select count(*) from review_requests where kind = 'sample_review' and cause <> 'gold item'"
    assert len(trust_office.rows("from gold_items")) == round(0.4 * trust_office.value(questions)) > before
    assert not {row["made_of"] for row in trust_office.rows("from gold_items")} & set(looked_at(trust_office))
    keys = {row["subject"] for row in trust_office.rows("from gold_items")}
    assert not keys & set(looked_at(trust_office))


def test_an_unknown_name_is_answered_with_the_known_ones(office: Office) -> None:
    create_release(office.warehouse, "v1")
    with pytest.raises(ConfigurationError, match=r"no release and no recipe 'nothing'.*v1.*small"):
        recheck(office.settings, "nothing")


def test_the_command_line_draws_and_tells(trust_office: Office) -> None:
    home = trust_office.settings.home
    done = run("review", "recheck", "small", "--draw", "3", "--seed", "5", home=home)
    assert done.returncode == 0, done.stderr
    assert "3 of " in done.stdout
    assert "3 questions about them are new" in done.stdout
    assert json.loads(run("review", "recheck", "--draw", "3", "--seed", "5", "--json", home=home).stdout)["asked"] == 0
    assert run("review", "recheck", "nothing", home=home).returncode == 2
    for person in ("ann", "bob"):
        trust_office.studio.annotate(trust_office.asked("doubtful")[0], "accept", by=person)
        trust_office.studio.annotate(trust_office.asked("gold item")[0], "accept", by=person)
    trust_office.pull()
    shown = run("review", "agreement", home=home)
    assert shown.returncode == 0, shown.stderr
    assert all(word in shown.stdout for word in ("agreement", "ann / bob", "gold items", "usable", "second look"))
    told = json.loads(run("review", "agreement", "--json", home=home).stdout)
    assert set(told) == {"agreement", "gold_items", "usable"}
    assert "nan" not in shown.stdout.lower()


def test_a_release_of_published_data_can_be_looked_at_and_edited(office: Office, tmp_path: Path) -> None:
    """It has no build whose checks an edit could go through; what was said is kept."""
    folder = tmp_path / "published"
    folder.mkdir()
    import_release(office.warehouse, "published", "callnavi", write(folder, NESTED))
    assert recheck(office.settings, "published") == Draw("release", "published", 1, 1, 1)
    [key] = looked_at(office)
    assert office.push() == (1, 0)
    people_come(office)
    edit(office, key, "In other words.")
    assert office.pull().edited == 1
    assert office.pull() == NOTHING_NEW
    assert share(office, "second look", "release")["answered"] == 1
    assert office.rows("from usable_share where scope = 'recipe' and cause = 'second look'") == []
