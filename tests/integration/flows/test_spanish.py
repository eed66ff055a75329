"""Spanish is there by its folder alone: turns, dialogues, shifts, messages and parallel calls
build in it and are proved.
"""

from pathlib import Path
from typing import Any

import pytest

from callwright.flows.api.releases import assistant_words
from callwright.flows.recipe import parse_recipe, read_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.releases import freeze, stream_release
from tests.support.flows.small_builds import TOP, build, settings_of, warehouse_of

KINDS = {
    "perfect": 5,
    "imperfect": 5,
    "irrelevant": 2,
    "sQsA": 4,
    "mQmA": 2,
    "mQsA": 2,
    "sQmA": 2,
    "IS": 2,
    "SO_case1": 2,
    "SO_case2": 2,
    "mSv": 2,
    "parallel": 2,
    "external": 3,
    "sQsA_external": 2,
}
RECIPE: dict[str, Any] = {
    "name": "spanish",
    "seed": 11,
    "tools": [{"seed": "all"}],
    "languages": ["es"],
    "samples": KINDS,
    "spare": 0.5,
}
MOST_WAITING = 0.15


class SpanishBuild:
    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.report: BuildReport = build(parse_recipe(RECIPE, Path(), "spanish"), self.settings)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return warehouse_of(self.settings).rows(sql)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> SpanishBuild:
    return SpanishBuild(tmp_path_factory.mktemp("spanish"))


def test_nearly_all_of_every_kind_lands_and_a_few_at_most_wait(built: SpanishBuild) -> None:
    landed = {
        row["kind"]: row["samples"]
        for row in built.rows("select kind, count(*) as samples from accepted_samples group by 1")
    }
    assert set(landed) == set(KINDS)
    assert all(landed[kind] >= asked - 1 for kind, asked in KINDS.items()), landed
    waiting = built.rows("select subject from review_queue where cause = 'doubtful'")
    assert len(waiting) <= MOST_WAITING * sum(KINDS.values()), waiting


def test_what_landed_is_judged_where_words_were_read(built: SpanishBuild) -> None:
    sql = """
        select distinct grade from accepted_samples where kind not in ('irrelevant', 'IS')
    """
    rows = built.rows(sql)
    assert {row["grade"] for row in rows} == {"judged"}


def test_requests_are_spanish_with_both_marks_of_a_question(built: SpanishBuild) -> None:
    for row in built.rows("select language, request from accepted_samples"):
        assert row["language"] == "es"
        assert row["request"].count("¿") == row["request"].count("?"), row["request"]
        assert row["request"].count("¡") == row["request"].count("!"), row["request"]


def test_a_release_goes_to_every_format_that_takes_its_kinds(
    built: SpanishBuild, tmp_path: Path
) -> None:
    warehouse = warehouse_of(built.settings)
    freeze(
        warehouse,
        "spanish",
        sorted(row["key"] for row in built.rows("select key from accepted_samples")),
    )
    for name in ("openai", "hammerbench"):
        export_release(
            stream_release(warehouse, "spanish", words=assistant_words(system_messages=False)),
            name,
            tmp_path / name,
        )
        assert list((tmp_path / name).iterdir())


def test_the_shipped_recipe_asks_for_these_kinds() -> None:
    recipe = read_recipe(TOP / "recipes/spanish.yaml")
    assert recipe.languages == ("es",)
    assert set(recipe.samples) == set(KINDS)
