"""Two builds that word the same draft differently: each checks and lands what it made itself."""

import asyncio
from pathlib import Path

from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe
from callwright.flows.run.plan import build_dataset
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import settings_of

RECIPE = {"name": "plain", "tools": [{"seed": ["Weather", "Clock"]}], "samples": {"perfect": 10}}


def test_a_build_checks_only_the_samples_that_it_made(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    careless = {"name": "template/v1", "error_rate": {"extra_argument": 1.0}}
    for changes in ({}, {"name": "careless", "models": {"generator": careless}}):
        asyncio.run(
            build_dataset(
                parse_recipe(RECIPE | changes, Path(), "shared"), settings, SilentProgress()
            )
        )
    rows = Warehouse(settings.warehouse).rows("""
        select recipe, sum(n_passed) filter (stage = 'requests') as made, sum(n_entered) filter (stage = 'format') as checked
        from funnel group by recipe order by recipe
        """)
    assert [row["recipe"] for row in rows] == ["careless", "plain"]
    assert all(row["made"] == row["checked"] for row in rows)
