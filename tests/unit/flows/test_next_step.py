"""What `callwright` alone proposes in a work folder."""

from pathlib import Path
from typing import Any

import pytest

from callwright.flows.next_step import next_step, step_for
from callwright.warehouse.releases import create_release
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe, warehouse_of

PLAIN = {
    "landed": 0, "waiting": 0, "unpushed": 0, "releases": 0, "newest": None, "is_newer": None, "evaluated": 0, "unfinished": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("there", "command"),
    [
        ({}, "callwright build recipe.yaml"),
        ({"unfinished": "mine", "landed": 3}, "callwright build recipe.yaml"),
        ({"landed": 3, "waiting": 2, "unpushed": 2}, "callwright review serve"),
        ({"landed": 3}, "callwright release create NAME"),
        ({"landed": 3, "releases": 1, "newest": "v1", "is_newer": True}, "callwright release create NAME"),
        ({"landed": 3, "releases": 1, "newest": "v1", "is_newer": False}, "callwright evaluate v1 --model NAME"),
        ({"landed": 3, "waiting": 1, "releases": 1, "newest": "v1", "evaluated": 9}, "callwright review pull"),
        ({"landed": 3, "releases": 1, "newest": "v1", "evaluated": 9}, "callwright view"),
    ],
)
def test_the_next_step_follows_from_what_there_is(there: dict[str, Any], command: str) -> None:
    assert step_for(PLAIN | there, "recipe.yaml").command == command


def test_a_folder_goes_from_nothing_over_a_recipe_to_a_build(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / ".callwright")
    assert next_step(tmp_path, settings).command == "callwright demo"
    (tmp_path / "recipe.yaml").touch()
    assert next_step(tmp_path, settings).command == "callwright build recipe.yaml --preview 5"
    build(unmeasured_recipe(samples={"perfect": 2}, review={"spot_checks": 0}), settings)
    assert next_step(tmp_path, settings).command == "callwright release create NAME"
    create_release(warehouse_of(settings), "v1")
    assert next_step(tmp_path, settings).command == "callwright evaluate v1 --model NAME"
