"""Corrected paths and competing entries before people: asked about, decided, and what comes of
it for the samples.
"""

import asyncio
import copy
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from callwright.annotation.multi_step_review import offered_strikes
from callwright.flows.progress import SilentProgress
from callwright.flows.review.pulling import Pulled, pull_reviews
from callwright.flows.review.pushing import waiting_reviews
from callwright.flows.review.questions import DOUBTFUL, ReviewQuestion, request_row, with_kinds
from callwright.warehouse.records import CallTurn, Sample
from tests.support.flows.competing import can_have_a_twin, doubt_the_path, let_wait, with_twins
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import NOTHING_NEW, ReviewSite, open_site
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe

ERRORS = {"omitted_call": 0.3, "wrong_type": 0.2, "wrong_argument": 0.2}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> ReviewSite:
    """A work folder with four templates of two samples each, and a model that erred on the way."""
    home = tmp_path_factory.mktemp("paths")
    models = {"generator": {"name": "template/v1", "error_rate": ERRORS}}
    recipe = unmeasured_recipe(
        tools=[{"environment": "travel"}],
        samples={"multi_step": 8},
        languages=["en"],
        variants=2,
        models=models,
        shard_size=50,
    )
    build(recipe, settings_of(home))
    return open_site(home, PaperStudio())


@pytest.fixture
def site(built: ReviewSite, tmp_path: Path) -> ReviewSite:
    """A copy of it, the test's own."""
    shutil.copytree(built.settings.home, tmp_path / "home")
    return open_site(tmp_path / "home", copy.deepcopy(built.studio))


def _pull(site: ReviewSite) -> Pulled:
    """Pull; the books do not balance row by row where one goal makes several samples."""
    return asyncio.run(pull_reviews(site.settings, site.studio, SilentProgress()))  # type: ignore[arg-type]


def _asked(site: ReviewSite, kind: str) -> list[str]:
    rows = site.rows("select subject from review_requests where kind = ? order by subject", kind)
    return [row["subject"] for row in rows]


def _template(sample: Sample) -> str:
    return sample.facts.template


def _samples(site: ReviewSite) -> dict[str, Sample]:
    return {
        row["key"]: site.sample(row["key"])
        for row in site.rows("select key from samples order by key")
    }


def _made_after(site: ReviewSite, path: str) -> list[str]:
    samples = _samples(site)
    templates = {
        _template(one) for one in samples.values() if one.origin and path in one.origin.parents
    }
    return [key for key, one in samples.items() if _template(one) in templates]


def _waiting(site: ReviewSite, key: str) -> None:
    """Let a landed sample wait for people instead."""
    site.warehouse.execute("delete from outcomes where stage = 'land' and subject = ?", [key])
    site.warehouse.execute("delete from acceptances where subject = ?", [key])
    site.warehouse.execute(
        "update outcomes set outcome = 'waiting', reason = 'path: a doubt' where stage = 'review'"
        " and subject = ?",
        [key],
    )


def test_a_few_corrections_are_asked_about_and_pushed_once(site: ReviewSite) -> None:
    asked = _asked(site, "correction")
    corrected = site.rows(
        "select 1 from drafts where stage = 'corrections' and json_array_length(body ->"
        " 'corrections') > 0"
    )
    assert 0 < len(asked) <= min(5, len(corrected))
    site.push()
    tasks = [
        task
        for task in site.studio.tasks.values()
        if task["callwright_key"].startswith("correction:")
    ]
    assert sorted(task["subject"] for task in tasks) == asked
    assert all(task["corrections"] and task["before"] and task["after"] for task in tasks)
    assert site.push() == (0, 0)
    assert waiting_reviews(site.settings) == 0


def test_a_rejected_correction_rejects_every_sample_of_its_template(site: ReviewSite) -> None:
    site.push()
    path = _asked(site, "correction")[0]
    family = _made_after(site, path)
    assert len(family) == 2
    site.studio.annotate(path, "reject", reasons=["incomplete"])
    assert _pull(site).rejected == 1
    assert [site.accepted(key) for key in family] == [None] * len(family)
    assert all(site.standing(key)[1] == "rejected" for key in family)
    assert len(site.rows("select 1 from accepted_samples")) == len(_samples(site)) - len(family)
    assert _pull(site) == NOTHING_NEW


def test_a_word_about_a_correction_that_is_deleted_counts_for_no_sample_any_more(
    site: ReviewSite,
) -> None:
    site.push()
    path = _asked(site, "correction")[0]
    family = _made_after(site, path)
    doubtful = family[0]
    doubt_the_path(site, doubtful)
    _waiting(site, doubtful)
    site.warehouse.execute("delete from review_requests where subject = ?", [doubtful])
    request = request_row(
        ReviewQuestion(
            doubtful, DOUBTFUL, "path: a doubt", site.value("select any_value(key) from builds")
        )
    )
    site.warehouse.put_rows({"review_requests": [request]})
    books = (
        "select subject, build, stage, outcome, reason from outcomes where"
        " list_contains(?::varchar[], subject) order by all"
    )
    before = site.rows(books, family), [site.accepted(key) for key in family]
    for decision in ("reject", "accept"):
        number = site.studio.annotate(
            path, decision, **({"reasons": ["incomplete"]} if decision == "reject" else {})
        )
        _pull(site)
        assert (site.rows(books, family), [site.accepted(key) for key in family]) != before
        site.studio.delete(number)
        assert _pull(site).withdrawn == 1
        assert (site.rows(books, family), [site.accepted(key) for key in family]) == before
        assert _pull(site) == NOTHING_NEW


@pytest.fixture
def competing(site: ReviewSite) -> tuple[ReviewSite, str]:
    """A sample of which an entry competes, asked about."""
    like = next(key for key, one in _samples(site).items() if can_have_a_twin(one))
    sample = with_twins(site.sample(like))
    let_wait(site, sample, like)
    doubt_the_path(site, sample.key)
    site.warehouse.put_rows({"review_requests": _requests(site, [sample.key])})
    site.push()
    return site, sample.key


def _requests(site: ReviewSite, keys: Sequence[str]) -> list[dict[str, Any]]:
    build_key = site.value("select any_value(key) from builds")
    asked = [request_row(ReviewQuestion(key, DOUBTFUL, "-", build_key)) for key in keys]
    return with_kinds(site.warehouse, asked)


def test_what_is_ticked_is_struck_and_the_new_version_is_checked_and_lands(
    competing: tuple[ReviewSite, str],
) -> None:
    site, key = competing
    boxes = [box["alias"] for box in site.studio.newest_task(key)["strikes"]]
    site.studio.annotate(key, "edit", strikes=boxes)
    assert _pull(site)[:3] == (1, 0, 1)
    edited = site.value("select result from reviews")
    assert site.accepted(key) is None
    assert site.accepted(edited) == {"proved": False, "vouched": True, "accepted_by": "ann"}
    assert not offered_strikes(site.sample(edited))
    assert site.value("select parents from samples where key = ?", edited) == [key]
    calls = [turn.calls for turn in site.sample(key).turns if isinstance(turn, CallTurn)]
    now = [turn.calls for turn in site.sample(edited).turns if isinstance(turn, CallTurn)]
    assert [[call.arguments for call in one] for one in now] == [
        [call.arguments for call in one] for one in calls
    ]
