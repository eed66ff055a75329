"""Named catalogs: imported once, chosen from, used by recipes, dropped."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from callwright.flows.catalogs import (
    catalog_named,
    catalogs_in,
    drop_catalog,
    gather_tools,
    import_catalog,
    problems_in,
    tools_in,
)
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe
from callwright.flows.run.plan import build_dataset
from callwright.flows.settings import open_warehouse
from callwright.flows.toolmaking import find_problems
from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.choosing import ToolChoice
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import settings_of


def operation(name: str, summary: str, *parameters: str) -> dict[str, Any]:
    stated = [
        {
            "name": one,
            "in": "query",
            "required": True,
            "description": f"The {one} of it.",
            "schema": {"type": "string"},
        }
        for one in ("account", *parameters)
    ]
    return {"operationId": name, "summary": summary, "tags": ["weather"], "parameters": stated}


PATHS = {
    "/forecast": {"get": operation("getForecast", "Get the weather forecast of a city.", "city")},
    "/alerts": {"get": operation("getAlerts", "Get the weather alerts of a region.", "region")},
    "/stations": {
        "get": operation("findStation", "Find a weather station by its city.", "city"),
        "post": {"$ref": "x.json"},
    },
}
DOCUMENT = {"openapi": "3.0.0", "info": {"title": "Weather"}, "paths": PATHS}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "weather.json"
    path.write_text(json.dumps(DOCUMENT))
    return path


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "w.duckdb")


def test_a_catalog_is_read_once_and_again_when_its_file_changes(
    document: Path, warehouse: Warehouse, monkeypatch: Any
) -> None:
    reads: list[Path] = []
    monkeypatch.setattr(
        "callwright.flows.catalogs.read_catalog",
        lambda form, path: reads.append(path) or read_catalog(form, path),
    )
    first = import_catalog(warehouse, "openapi", document)
    assert import_catalog(warehouse, "openapi", document) == first
    named = import_catalog(
        warehouse, "openapi", document, ToolChoice(include=("get*",)), name="weather"
    )
    assert (len(reads), first.tools, named.tools) == (1, 3, 2)
    document.write_text(json.dumps({**DOCUMENT, "paths": {"/forecast": PATHS["/forecast"]}}))
    assert import_catalog(warehouse, "openapi", document).tools == 1
    assert len(reads) == 2


def test_what_is_kept_is_what_was_read(document: Path, warehouse: Warehouse) -> None:
    read = read_catalog("openapi", document)
    kept = import_catalog(warehouse, "openapi", document)
    assert tools_in(warehouse, kept.key) == list(read.tools)
    assert problems_in(warehouse, kept.key) == list(read.problems)
    assert (kept.entries, kept.distinct) == (read.entries, read.distinct)


def test_catalogs_are_listed_named_again_and_dropped(document: Path, warehouse: Warehouse) -> None:
    import_catalog(warehouse, "openapi", document, name="weather")
    import_catalog(
        warehouse, "openapi", document, ToolChoice(constants={"account": "A1"}), name="weather"
    )
    (kept,) = catalogs_in(warehouse)
    assert (kept.name, kept.tools, kept.selection.constants) == ("weather", 3, {"account": "A1"})
    assert drop_catalog(warehouse, "weather").key == kept.key
    with pytest.raises(
        ConfigurationError, match=r"No catalog is named 'weather'. There are no catalogs yet"
    ):
        catalog_named(warehouse, "weather")


def test_a_recipe_takes_tools_of_a_catalog_by_its_name(
    document: Path, warehouse: Warehouse
) -> None:
    import_catalog(
        warehouse, "openapi", document, ToolChoice(constants={"account": "A1"}), name="weather"
    )
    stated = {
        "name": "few",
        "tools": [{"catalog": "weather", "include": [{"path": "/alerts"}]}],
        "samples": {"perfect": 1},
    }
    (tool,) = gather_tools(parse_recipe(stated, Path(), "few"), warehouse).tools
    assert (tool.name, tool.constants, list(tool.properties)) == (
        "getAlerts",
        {"account": "A1"},
        ["region"],
    )
    lost = {**stated, "tools": [{"catalog": "lost"}]}
    with pytest.raises(
        ConfigurationError, match=r"No catalog is named 'lost'. The catalogs are weather"
    ):
        gather_tools(parse_recipe(lost, Path(), "few"), warehouse)


async def test_gold_calls_carry_constants_that_no_request_says(
    document: Path, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "home")
    warehouse = open_warehouse(settings)
    import_catalog(
        warehouse, "openapi", document, ToolChoice(constants={"account": "A1-77"}), name="weather"
    )
    stated = {
        "name": "few",
        "tools": [{"catalog": "weather"}],
        "samples": {"perfect": 6},
        "review": {"spot_checks": 0},
    }
    report = await build_dataset(parse_recipe(stated, tmp_path, "few"), settings, SilentProgress())
    assert report.landed > 0
    rows = warehouse.rows("select request, gold, body from accepted_samples")
    for row in rows:
        (call,) = orjson.loads(row["gold"])
        assert call["arguments"].pop("account") == "A1-77"
        assert call["arguments"]
        assert "A1-77" not in row["request"]
        (gold,) = orjson.loads(row["body"])["turns"][-1]["calls"]
        assert (gold["constants"], gold["arguments"]) == ({"account": "A1-77"}, call["arguments"])


def test_tools_in_a_language_without_a_folder_are_checked_as_far_as_that_goes() -> None:
    schema = {
        "type": "object",
        "properties": {"ort": {"type": "string", "description": "Wo."}},
        "required": ["ort"],
    }
    tool = Tool(
        name="zeigeWetter",
        description="Zeigt das Wetter.",
        parameters=schema,
        category="Wetter",
        language="de",
    )
    assert [(problem.kind, problem.where) for problem in find_problems([tool])] == [
        ("unsupported", "de")
    ]
