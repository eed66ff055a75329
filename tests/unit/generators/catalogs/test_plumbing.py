"""Plumbing: what of an API's parameters nobody says, known by place and schema, and chosen by no
plan of any kind.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.api_parts import (
    PlacedParameter,
    PlacedParameters,
    find_plumbing,
)
from callwright.generators.catalogs.choosing import ToolChoice, adapt
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
THING = {
    "type": "object",
    "properties": {"id": TEXT, "name": TEXT, "colour": TEXT, "owner": {"type": "object"}},
}
THINGS = {"type": "array", "items": THING}


def listing(
    *parameters: tuple[str, str, Any], returns: Any = THINGS, method: str = "get", **more: Any
) -> Any:
    stated = [
        {"in": part, "name": name, "schema": schema, "required": part in ("path", "header")}
        for part, name, schema in parameters
    ]
    responses = {
        "200": {"description": "Done.", "content": {"application/json": {"schema": returns}}}
    }
    return {
        method: {
            "operationId": "listThings",
            "description": "Lists.",
            "parameters": stated,
            "responses": responses,
            **more,
        }
    }


def tools(folder: Path, paths: Any) -> tuple[Tool, ...]:
    path = folder / "api.json"
    path.write_text(json.dumps({"openapi": "3.0.3", "paths": paths}))
    return read_catalog("openapi", path).tools


def plumbing(folder: Path, *parameters: tuple[str, str, Any], **more: Any) -> tuple[str, ...]:
    return tools(folder, {"/things": listing(*parameters, **more)})[0].plumbing


def masked(*names: str) -> Any:
    return {"type": "array", "items": {"type": "string", "enum": list(names)}}


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ([("header", "tenant-id", TEXT)], ["tenant-id"]),
        ([("header", "X-Token", TEXT), ("query", "x-token", TEXT)], ["X-Token", "x-token"]),
        ([("query", "shown", masked("id", "name", "colour", "owner.name"))], ["shown"]),
        ([("query", "sort", masked("id", "name", "colour", "owner"))], []),
        ([("query", "group_by", masked("id", "name", "colour"))], []),
        ([("query", "kinds", masked("colour", "size", "weight"))], []),
        ([("query", "colours", masked("red", "green"))], []),
        (
            [("query", "fields", TEXT), ("query", "pretty", {"type": "boolean"})],
            ["fields", "pretty"],
        ),
        ([("query", "custom_fields", TEXT)], []),
        ([("query", "format", {"type": "string", "enum": ["JSON", "csv"]})], ["format"]),
        ([("query", "format", {"type": "string", "enum": ["png", "svg"]})], []),
        ([("query", "limit", NUMBER), ("query", "offset", NUMBER)], ["limit", "offset"]),
        ([("query", "pageSize", NUMBER), ("query", "pageToken", TEXT)], ["pageSize", "pageToken"]),
        (
            [("query", "page[limit]", NUMBER), ("query", "page[offset]", NUMBER)],
            ["page_limit", "page_offset"],
        ),
        ([("query", "limit", NUMBER), ("query", "before", TEXT)], ["limit", "before"]),
        ([("query", "limit", NUMBER)], []),
        ([("query", "limit", NUMBER), ("query", "before", TEXT | {"format": "date-time"})], []),
        ([("query", "max", NUMBER), ("query", "name", TEXT)], []),
        ([("query", "token", TEXT), ("query", "count", NUMBER)], []),
        ([("path", "page", NUMBER), ("query", "limit", NUMBER)], []),
        ([("path", "listId", TEXT), ("query", "list_id", TEXT)], ["list_id"]),
        ([("path", "name", TEXT), ("query", "Name", TEXT)], []),
    ],
)
def test_plumbing_is_known_by_its_place_and_its_schema(
    parameters: Any, found: list[str], tmp_path: Path
) -> None:
    assert list(plumbing(tmp_path, *parameters)) == found


@pytest.mark.parametrize(
    ("count", "of", "found"), [(12, 14, True), (11, 11, False), (12, 20, False)]
)
def test_what_nearly_all_operations_take_in_one_place_is_plumbing(
    count: int, of: int, found: bool, tmp_path: Path
) -> None:
    paths = {
        f"/{number}": (
            listing(("query", "dry", TEXT), ("query", f"own{number}", TEXT))
            if number < count
            else listing(("query", f"own{number}", TEXT))
        )
        for number in range(of)
    }
    assert {tool.plumbing for tool in tools(tmp_path, paths)[:count]} == {("dry",) if found else ()}


def paged(**more: Any) -> Tool:
    properties = {
        "id": TEXT,
        "colour": TEXT,
        "limit": NUMBER,
        "offset": NUMBER,
        "tags": {"type": "array"},
    }
    schema = {"type": "object", "properties": properties, "required": ["id"], **more}
    return Tool(
        name="list",
        description="Lists.",
        parameters=schema,
        category="a",
        plumbing=("limit", "offset"),
    )


@pytest.mark.parametrize(
    ("stated", "marked"),
    [
        ({}, ("limit", "offset")),
        ({"limit": False}, ("offset",)),
        ({"colour": True}, ("colour", "limit", "offset")),
        ({"limit": True, "l*.limit": False}, ("offset",)),
        ({"x*.limit": False, "limit": True}, None),
    ],
)
def test_a_recipe_says_what_may_be_chosen(
    stated: dict[str, bool], marked: tuple[str, ...] | None
) -> None:
    if marked is None:
        with pytest.raises(ConfigurationError, match="x\\*"):
            adapt([paged()], ToolChoice(plumbing=stated))
    else:
        assert adapt([paged()], ToolChoice(plumbing=stated))[0].plumbing == marked


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ({"jobs": THINGS, "cursor": TEXT}, ("cursor",)),
        ({"jobs": THINGS, "next_cursor": TEXT}, ("cursor",)),
        ({"jobs": THINGS}, ()),
        ({"name": TEXT, "cursor": TEXT}, ()),
    ],
)
def test_a_place_that_the_response_gives_back_is_one_to_go_on_from(
    returned: Any, found: tuple[str, ...], tmp_path: Path
) -> None:
    returns = {"type": "object", "properties": returned}
    assert plumbing(tmp_path, ("query", "cursor", TEXT), returns=returns) == found


def test_the_only_member_of_a_body_does_not_repeat_the_path() -> None:
    body = {"assetId": {"type": "string", "description": "The new asset."}}
    placed = [
        PlacedParameter("assetId", "path", "assetId", {"type": "string"}),
        PlacedParameter("body_assetId", "body", "assetId", body["assetId"]),
    ]
    assert find_plumbing([PlacedParameters("put", tuple(placed), None)]) == [()]
    more = PlacedParameter("note", "body", "note", {"type": "string"})
    assert find_plumbing([PlacedParameters("put", (*placed, more), None)]) == [("body_assetId",)]
