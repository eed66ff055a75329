import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.warehouse.errors import ConfigurationError
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


def test_the_oddities_of_the_published_catalog_are_reported_one_by_one(published: Catalog) -> None:
    catalog = published
    kinds = Counter(problem.kind for problem in catalog.problems)
    assert kinds == {
        "untyped_return": 305,
        "untyped_parameter": 98,
        "assumed_type": 12,
        "duplicate_name": 12,
        "assumed_required": 10,
        "unknown_type": 2,
    }
    untyped = {
        problem.where.split("#")[0]
        for problem in catalog.problems
        if problem.kind == "untyped_parameter"
    }
    assert {Path(where).name for where in untyped} == {"telecommunications.json"}


def test_the_schema_folder_beside_the_catalog_is_not_taken_for_it(shared: Path) -> None:
    with pytest.raises(ConfigurationError, match="api_ports"):
        read_catalog("callnavi", shared / "data" / "callnavi" / "APISchema")


def test_a_single_domain_can_be_read_from_its_file(shared: Path) -> None:
    catalog = read_catalog("callnavi", shared / "data" / "callnavi" / "APIs" / "hospital.json")
    assert {tool.category for tool in catalog.tools} == {"hospital"}
    assert catalog.entries == 21


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


def test_a_list_of_names_leaves_the_types_open_and_says_so(tmp_path: Path) -> None:
    catalog = read(tmp_path, port(["bed", "seed"]))
    assert only(catalog).properties == {"bed": {}, "seed": {}}
    assert messages(catalog, "untyped_parameter") == [
        "No type is given for 'bed', 'seed'; any value is taken."
    ]


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


def test_results_are_named_and_their_missing_types_reported(tmp_path: Path) -> None:
    typed = only(read(tmp_path, port({}, {"plantId": "string"})))
    assert typed.returns == {"type": "object", "properties": {"plantId": {"type": "string"}}}
    catalog = read(tmp_path, port({}, ["Done", "plantId"]))
    assert only(catalog).returns == {"type": "object", "properties": {"Done": {}, "plantId": {}}}
    assert len(messages(catalog, "untyped_return")) == 1


def test_a_name_that_two_domains_share_stays_a_tool_of_each(tmp_path: Path) -> None:
    (tmp_path / "APIs").mkdir()
    (tmp_path / "APIs" / "field.json").write_text(
        json.dumps({"api_ports": [port({"acre": "string"})]})
    )
    catalog = read(tmp_path, port({"bed": "string"}))
    assert (catalog.entries, len(catalog.tools), catalog.distinct) == (2, 2, 1)
    assert len(messages(catalog, "duplicate_name")) == 1


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


def test_one_broken_file_does_not_spoil_the_folder(tmp_path: Path) -> None:
    (tmp_path / "APIs").mkdir()
    (tmp_path / "APIs" / "broken.json").write_text("{")
    (tmp_path / "APIs" / "list.json").write_text("[]")
    catalog = read(tmp_path, port({}))
    assert catalog.entries == 1
    assert {problem.kind for problem in catalog.problems} >= {"bad_json", "other_format"}
