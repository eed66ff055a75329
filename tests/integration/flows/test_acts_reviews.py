"""Dialogue acts that people look at: which conversations are drawn, and what comes of what is
said about them.
"""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.annotation.dialogue_acts import write_act_lines
from callwright.annotation.screens import words_in
from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.review.pulling import Pulled
from callwright.generators.conversations import CONVERSATION
from callwright.warehouse.records import ReplyTurn, Sample, Turn, UserTurn
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import NOTHING_NEW, ReviewSite, open_site
from tests.support.flows.small_builds import build, settings_of

DRAWN = 3
RECIPE: dict[str, Any] = {
    "name": "acts",
    "seed": 4,
    "tools": [{"seed": ["Hotels", "Flights", "Restaurants", "Shopping"]}],
    "languages": ["en", "zh"],
    "samples": {CONVERSATION: 6},
    "spare": 2.0,
    "review": {"spot_checks": 0, "dialogue_acts": DRAWN},
}
ACTS = "dialogue_acts"


def _recipe(**changes: Any) -> Recipe:
    return parse_recipe(RECIPE | changes, Path(), "acts")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("acts")
    build(_recipe(), settings_of(home))
    return home


@pytest.fixture(scope="module")
def pushed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    home = shutil.copytree(built, tmp_path_factory.mktemp("pushed") / "home")
    site = open_site(home, PaperStudio())
    site.push()
    return site


@pytest.fixture
def talks(pushed: ReviewSite, tmp_path: Path) -> Iterator[ReviewSite]:
    """A work folder of the test's own, with conversations of which some are asked about."""
    yield from _copied(pushed, tmp_path)


@pytest.fixture(scope="module")
def asked_mislabelled(built: Path, tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    site = open_site(
        shutil.copytree(built, tmp_path_factory.mktemp("mislabelled") / "home"), PaperStudio()
    )
    _mislabel(site)
    site.push()
    return site


@pytest.fixture
def mislabelled(asked_mislabelled: ReviewSite, tmp_path: Path) -> Iterator[ReviewSite]:
    """The same, but the acts of those that are asked about are wrong, as where a check of them
    came later.
    """
    yield from _copied(asked_mislabelled, tmp_path)


def _copied(site: ReviewSite, folder: Path) -> Iterator[ReviewSite]:
    shutil.copytree(site.settings.home, folder / "home")
    copied = open_site(folder / "home", copy.deepcopy(site.studio))
    yield copied
    copied.balance()


def _mislabel(site: ReviewSite) -> None:
    """Let conversations with other acts at the first turn of the assistant stand where those
    stand that are asked about.
    """
    with site.warehouse.together():
        for key in _asked(site):
            sample = site.sample(key)
            changed = sample.with_changes(turns=tuple(_other_acts(sample)))
            site.warehouse.put([changed])
            site.warehouse.execute(
                "update build_samples set sample = ? where sample = ?", [changed.key, key]
            )
            for table in ("outcomes", "verdicts", "acceptances", "review_requests"):
                site.warehouse.execute(
                    f"update {table} set subject = ? where subject = ?", [changed.key, key]
                )


def _other_acts(sample: Sample) -> Iterator[Turn]:
    """The turns with a politer request, so that with the right acts it is another sample."""
    request = sample.request + (" Thank you." if sample.language == "en" else "谢谢。")
    first = next(at for at, turn in enumerate(sample.turns) if isinstance(turn, ReplyTurn))
    for at, turn in enumerate(sample.turns):
        if at == 0 and isinstance(turn, UserTurn):
            yield turn.with_changes(text=request)
        elif at == first and isinstance(turn, ReplyTurn):
            yield turn.with_changes(acts=("seek",) if "inform" in turn.acts else ("inform",))
        else:
            yield turn


def _asked(site: ReviewSite, kind: str = ACTS) -> list[str]:
    sql = "select subject from review_requests where kind = ? order by subject"
    return [row["subject"] for row in site.rows(sql, kind)]


def _acts(sample: Sample) -> list[tuple[str, ...]]:
    return [turn.acts for turn in sample.turns if isinstance(turn, ReplyTurn)]


def _corrected(site: ReviewSite, key: str) -> str:
    """The lines of a conversation, with other acts at the first turn of the assistant."""
    lines = write_act_lines(site.sample(key), words_in("en"))
    start, rest = lines.split("]", 1)
    return f"1 [{'seek' if 'inform' in start else 'inform'}]{rest}"


def _edited(site: ReviewSite, key: str, **options: Any) -> str:
    """The key of what comes of an edit of the acts of a conversation."""
    site.studio.annotate(key, "edit", kind=ACTS, edited_acts=_corrected(site, key), **options)
    assert site.pull().edited == 1
    return str(site.value("select result from reviews where kind = ? and subject = ?", ACTS, key))


def test_as_many_landed_conversations_are_drawn_as_the_recipe_says(talks: ReviewSite) -> None:
    asked = _asked(talks)
    assert len(asked) == DRAWN
    assert {talks.sample(key).kind for key in asked} == {CONVERSATION}
    assert all(talks.accepted(key) for key in asked)
    assert {
        talks.value("select cause from review_requests where subject = ?", key) for key in asked
    } == {"spot check"}
    assert {task["callwright_key"] for task in talks.studio.tasks.values()} >= {
        f"{ACTS}:{key}:1" for key in asked
    }


def test_right_acts_leave_a_conversation_where_it_is(talks: ReviewSite) -> None:
    key = _asked(talks)[0]
    talks.studio.annotate(key, "accept", kind=ACTS)
    assert talks.pull() == Pulled(reviews=1, accepted=1)
    assert talks.accepted(key) == {"proved": False, "vouched": False, "accepted_by": "ann"}
    assert talks.pull() == NOTHING_NEW


def test_corrected_acts_are_checked_again_and_land_in_the_place_of_the_old_ones(
    mislabelled: ReviewSite,
) -> None:
    key = _asked(mislabelled)[0]
    before = mislabelled.sample(key)
    result = _edited(mislabelled, key)
    edited = mislabelled.sample(result)
    assert _acts(edited)[0] != _acts(before)[0]
    assert _acts(edited)[1:] == _acts(before)[1:]
    assert (edited.origin.stage, edited.origin.parents) == ("review", (key,))
    assert edited.with_changes(turns=before.turns, origin=before.origin) == before
    ran = (
        "select distinct check_name from verdicts where subject = ? and check_name <> 'duplicates'"
    )
    assert (
        mislabelled.rows(f"{ran} order by 1", result)
        == mislabelled.rows(f"{ran} order by 1", key)
        != []
    )
    assert mislabelled.accepted(key) is None
    assert mislabelled.accepted(result) == {"proved": False, "vouched": True, "accepted_by": "ann"}
    assert mislabelled.pull() == NOTHING_NEW


def test_acts_that_the_rules_read_otherwise_wait_for_people_with_the_reason(
    talks: ReviewSite,
) -> None:
    result = _edited(talks, _asked(talks)[0])
    assert talks.accepted(result) is None
    assert talks.standing(result) == ("replies", "waiting")
    reason = talks.value("select reason from review_requests where subject = ?", result)
    assert reason.startswith("As edited by ann: The reply at turn ")
    assert "is labelled" in reason


def test_rejected_acts_take_the_conversation_back_until_they_are_not_rejected_any_more(
    talks: ReviewSite,
) -> None:
    key = _asked(talks)[0]
    number = talks.studio.annotate(key, "reject", kind=ACTS, reasons=["unnatural"])
    assert talks.pull().rejected == 1
    assert talks.accepted(key) is None
    assert talks.standing(key) == ("land", "rejected")
    reason = talks.value(
        "select reason from outcomes where subject = ? and outcome = 'rejected'", key
    )
    assert reason == "Rejected by ann: unnatural."
    talks.studio.annotate(key, "accept", kind=ACTS, change=number)
    talks.pull()
    assert talks.accepted(key) is not None
    assert talks.standing(key) == ("land", "passed")


@pytest.fixture(scope="module")
def asked_both(built: Path, tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    """Conversations of which the whole is asked about, and the acts; of any that a check doubts
    not the acts.
    """
    home = shutil.copytree(built, tmp_path_factory.mktemp("both") / "home")
    build(_recipe(review={"spot_checks": 6, "dialogue_acts": 6}), settings_of(home))
    site = open_site(home, PaperStudio())
    _mislabel(site)
    site.push()
    assert set(_asked(site)) <= set(_asked(site, "sample_review"))
    return site


@pytest.fixture
def both(asked_both: ReviewSite, tmp_path: Path) -> Iterator[ReviewSite]:
    """The same, the test's own."""
    yield from _copied(asked_both, tmp_path)
