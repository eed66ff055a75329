"""What could not be planned of what a recipe asks for is told, kept and counted, and the rest of
the build lands.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

from callwright.flows.pages.look import Look
from callwright.flows.pages.report import build_page
from callwright.flows.recipe import parse_recipe
from tests.support.flows.small_builds import TOP, build, settings_of, warehouse_of

NOW = datetime(2026, 11, 20, tzinfo=UTC)
RECIPE = {
    "name": "left",
    "seed": 3,
    "tools": [{"seed": ["Weather"]}],
    "languages": ["en"],
    "samples": {"perfect": 3, "routing_hard": 4, "multi_step": 2},
}


def test_an_impossible_kind_is_counted_in_what_was_asked_for(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    report = build(parse_recipe(RECIPE, Path(), "left"), settings)
    assert (report.asked, report.planned) == (9, 3)
    assert report.sentence.startswith(f"left: {report.landed} of 9 samples accepted (3 planned, ")
    told = {(one.kind, one.samples): one.reason for one in report.left_out}
    assert "whole catalog of a domain" in told["routing_hard", 4]
    assert "need an environment" in told["multi_step", 2]
    assert [
        one
        for one in report.remarks
        if one.startswith("routing_hard: 4 samples can't be planned. ")
    ]
    page = (
        build_page(Look(warehouse_of(settings), NOW, lambda path, _query: path), {}, report.build)
        or ""
    )
    assert "What could not be planned" in page
    assert "need an environment" in page
    again = build(parse_recipe(RECIPE, Path(), "left"), settings)
    assert again.left_out == report.left_out


def test_what_one_domain_does_not_allow_another_one_is_planned_for(tmp_path: Path) -> None:
    paths = {
        f"/{name}": {
            "get": {
                "operationId": f"read_{name}",
                "summary": f"Read the {name}",
                "tags": ["clocks"],
                "responses": {},
            }
        }
        for name in ("time", "date", "zone", "season")
    }
    document = {"openapi": "3.0.0", "info": {"title": "Clocks", "version": "1"}, "paths": paths}
    (tmp_path / "clocks.json").write_text(json.dumps(document), encoding="utf-8")
    tools = [
        {"environment": "simulated", "name": "clocks", "path": "clocks.json"},
        {
            "environment": "simulated",
            "name": "workshop",
            "path": str(TOP / "recipes" / "documents" / "workshop.yaml"),
        },
    ]
    wanted = {"samples": {"task": 6}, "tools": tools, "variants": 1}
    report = build(
        parse_recipe(RECIPE | wanted, tmp_path, "left"), settings := settings_of(tmp_path / "home")
    )
    (row,) = report.composition
    assert (row.asked, row.made, row.landed) == (6, 6, 6)
    assert [(one.place, one.samples) for one in report.left_out] == [("clocks", 3)]
    again = build(parse_recipe(RECIPE | wanted, tmp_path, "left"), settings)
    assert again.composition == report.composition
