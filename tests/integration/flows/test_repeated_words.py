"""Requests that are alike beyond what the recipe allows: told after the build, and, where the
recipe wants it, shown to people.
"""

from pathlib import Path
from typing import Any

import pytest

from callwright.flows.pages.report import write_report
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings, open_warehouse
from callwright.language.packs import of
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe

ALLOWED = 0.02  # one request of fifty to ninety-nine


def built(
    home: Path, *, repeated: bool, spare: float = 0.0, words: str = "tell", **checks: Any
) -> tuple[Settings, BuildReport]:
    settings = settings_of(home)
    recipe = unmeasured_recipe(
        tools=[{"seed": ["Weather"]}],
        languages=["en"],
        samples={"perfect": 60},
        shard_size=60,
        spare=spare,
        checks={"largest_opening": ALLOWED, "repeated": words, **checks},
        review={"spot_checks": 0, "repeated": repeated},
    )
    return settings, build(recipe, settings)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, BuildReport]:
    return built(tmp_path_factory.mktemp("told"), repeated=False)


def test_a_build_tells_which_words_its_requests_repeat(
    told: tuple[Settings, BuildReport], tmp_path: Path
) -> None:
    settings, report = told
    assert report.repeated
    for found in report.repeated:
        assert found.share == found.requests / found.of_requests > ALLOWED
        assert found.sentence.startswith(
            f"{found.share:.1%} of the requests in {of('en').name} ({found.requests} of"
            f" {found.of_requests}) "
        )
    page = write_report(open_warehouse(settings), tmp_path / "report.html").read_text(
        encoding="utf-8"
    )
    assert "repeated more often than the recipe allows" in page


def test_what_is_beyond_the_share_waits_for_people_where_the_recipe_wants_it(
    told: tuple[Settings, BuildReport], tmp_path: Path
) -> None:
    settings, report = built(tmp_path, repeated=True)
    assert report.build == told[1].build, "what it makes is the same"
    assert not report.repeated
    asked = open_warehouse(settings).rows(
        "select subject, reason from review_requests order by subject"
    )
    waiting = [row["subject"] for row in asked if "more than 2.0 % of all do" in row["reason"]]
    assert len(waiting) >= told[1].landed - report.landed > 0
    assert told[1].landed - report.landed <= sum(
        one.requests - 1 for one in told[1].repeated
    )  # some are in two groups


def test_what_is_beyond_the_share_is_rejected_and_replaced_where_the_recipe_bounds_it(
    told: tuple[Settings, BuildReport], tmp_path: Path
) -> None:
    allowed = 0.05
    settings, report = built(
        tmp_path, repeated=False, spare=1.0, largest_opening=allowed, words="reject"
    )
    assert report.build != told[1].build, "what it makes is another thing"
    assert not report.repeated
    warehouse = open_warehouse(settings)
    [row] = warehouse.rows(
        "select max(words_share) as most, sum(n_requests) as requests from repeated_words where"
        " what = 'opening'"
    )
    assert row["most"] <= allowed
    rejected = warehouse.rows(
        "select reason from outcomes where stage = 'duplicates' and reason_code = 'duplicate'"
    )
    assert sum("begins with" in one["reason"] for one in rejected) > 0
    assert row["requests"] + len(rejected) > 60, "others were planned in their place"
