"""What could not be planned of what a recipe asks for is told, kept and counted, and the rest of the build lands."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from callwright.flows.pages.builds import build_page
from callwright.flows.pages.look import Look
from callwright.flows.planning.estimating import estimate_build
from callwright.flows.planning.possible import survey_recipe
from callwright.flows.recipe import parse_recipe
from tests.support.flows.small_builds import build, settings_of, warehouse_of
from tests.support.generators.environments.music import MUSIC

LONELY = ("library", "gallery", "history", "diary")
NOW = datetime(2026, 11, 20, tzinfo=UTC)
RECIPE = {
    "name": "left", "seed": 3, "tools": [{"seed": ["Weather"]}], "languages": ["en"], "readers": {"planted": 0},
    "samples": {"perfect": 3, "routing_hard": 4, "multi_step": 2},
}  # fmt: skip


def test_an_impossible_kind_is_counted_in_what_was_asked_for(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    report = build(parse_recipe(RECIPE, Path(), "left"), settings)
    assert (report.asked, report.planned) == (9, 3)
    assert report.sentence.startswith(f"{report.landed} of 9 samples asked for of 'left' have landed (3 planned, ")
    told = {(one.kind, one.samples): one.reason for one in report.left_out}
    assert "whole catalog of a domain" in told["routing_hard", 4]
    assert "need an environment" in told["multi_step", 2]
    assert [one for one in report.remarks if one.startswith("routing_hard: 4 can't be planned. ")]
    page = build_page(Look(warehouse_of(settings), NOW, lambda path, _query: path), {}, report.build) or ""
    assert "What could not be planned" in page
    assert "need an environment" in page
    again = build(parse_recipe(RECIPE, Path(), "left"), settings)
    assert again.left_out == report.left_out


async def test_an_estimate_counts_no_kind_that_can_not_be_planned(tmp_path: Path) -> None:
    found = await estimate_build(parse_recipe(RECIPE, Path(), "left"), settings_of(tmp_path))
    assert found.planned == 3
    assert [note for note in found.notes if note.startswith("No sample of the kind routing_hard can be planned. ")]


def test_what_a_category_can_not_give_of_paths_is_planned_of_others(tmp_path: Path) -> None:
    text = {"content": {"application/json": {"schema": {"type": "object", "properties": {"note": {"type": "string"}}}}}}
    lone = {"tags": ["Lone"], "responses": {"200": {"description": "Done.", **text}}}
    paths = {f"/{one}": {"get": {**lone, "operationId": f"get_{one}", "summary": f"Get the {one}."}} for one in LONELY}
    (tmp_path / "music.json").write_text(json.dumps({**MUSIC, "paths": {**paths, **MUSIC["paths"]}}))
    source = {"environment": "simulated", "import": "openapi", "path": "music.json", "constants": {"market": "SE"}}
    stated = {"name": "shared", "seed": 5, "tools": [source], "languages": ["en"], "variants": 1}
    settings, recipe = settings_of(tmp_path), parse_recipe({**stated, "samples": {"multi_step": 4}}, tmp_path, "shared")
    assert not [row for row in asyncio.run(survey_recipe(recipe, settings)).rows() if row.possible < row.asked]
    report = build(recipe, settings)
    assert (report.asked, report.planned, report.left_out) == (4, 4, ())
    rows = warehouse_of(settings).rows("select distinct category from samples")
    assert rows == [{"category": "Music"}]
    assert build(recipe, settings).planned == 4

    lone_tools = [{**source, "include": ["get_*y"], "constants": {}}]
    alone = parse_recipe({**stated, "samples": {"multi_step": 4}, "tools": lone_tools}, tmp_path, "alone")
    assert [(one.kind, one.samples) for one in build(alone, settings).left_out] == [("multi_step", 4)]
