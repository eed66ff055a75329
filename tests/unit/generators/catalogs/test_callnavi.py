import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.warehouse.records import Tool


@pytest.fixture(scope="module")
def published(shared: Path) -> Catalog:
    return read_catalog("callnavi", shared / "data" / "callnavi")


def read(tmp_path: Path, *ports: Any) -> Catalog:
    (tmp_path / "APIs").mkdir(exist_ok=True)
    (tmp_path / "APIs" / "garden.json").write_text(json.dumps({"api_ports": ports}))
    return read_catalog("callnavi", tmp_path)


def port(parameters: Any, returned: Any = "Done") -> dict[str, Any]:
    return {
        "name": "plant",
        "parameters": parameters,
        "description": "Plants.",
        "returnParameter": returned,
    }


def only(catalog: Catalog) -> Tool:
    (tool,) = catalog.tools
    return tool


def messages(catalog: Catalog, kind: str) -> list[str]:
    return [problem.message for problem in catalog.problems if problem.kind == kind]


def test_the_published_catalog_has_587_entries_and_575_names(published: Catalog) -> None:
    catalog = published
    assert (catalog.entries, catalog.distinct, len(catalog.tools)) == (587, 575, 587)
    assert len({tool.key for tool in catalog.tools}) == 587
    domains = Counter(tool.category for tool in catalog.tools)
    assert (domains["telecommunications"], domains["bank"], domains["hr"], len(domains)) == (
        101,
        96,
        21,
        10,
    )


def test_type_words_become_json_schema_and_everything_is_required(tmp_path: Path) -> None:
    catalog = read(
        tmp_path,
        port({"name": "string", "count": "int", "tags": "list", "where": {"row": "number"}}),
    )
    tool = only(catalog)
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": "integer"},
            "tags": {"type": "array"},
            "where": {
                "type": "object",
                "properties": {"row": {"type": "number"}},
                "required": ["row"],
            },
        },
        "required": ["name", "count", "tags", "where"],
    }
    assert (tool.category, tool.source, tool.language) == ("garden", "callnavi", "en")
    assert len(messages(catalog, "assumed_required")) == 1


def test_choices_and_literals_in_a_type_s_place_are_used_and_stated(tmp_path: Path) -> None:
    declared = {
        "soil": "clay/sand",
        "pet": "cat/dog/...",
        "day": "2024-05-01",
        "depth": 3,
        "who": "$$$",
        "x": None,
    }
    catalog = read(tmp_path, port(declared))
    assert only(catalog).properties == {
        "soil": {"type": "string", "enum": ["clay", "sand"]},
        "pet": {"type": "string", "examples": ["cat", "dog"]},
        "day": {"type": "string", "format": "date", "examples": ["2024-05-01"]},
        "depth": {"type": "number", "examples": [3]},
        "who": {},
        "x": {},
    }
    assert len(messages(catalog, "assumed_type")) == 4
    assert len(messages(catalog, "unknown_type")) == 2


def test_an_item_that_cannot_be_used_is_left_out_and_the_rest_kept(tmp_path: Path) -> None:
    catalog = read(
        tmp_path,
        port({"bed": "string"}),
        port(7),
        "plant",
        {"parameters": {}, "description": "Nameless."},
    )
    assert (catalog.entries, len(catalog.tools)) == (4, 1)
    left_out = [
        problem for problem in catalog.problems if problem.kind in ("not_an_object", "no_name")
    ]
    assert {problem.where.rsplit("/", 1)[1] for problem in left_out} == {"1", "2", "3"}
