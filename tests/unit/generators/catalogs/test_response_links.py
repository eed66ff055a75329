"""Links that a document states: read from its responses, kept with its tools, and followed
between tools.
"""

from pathlib import Path

import pytest
import yaml

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.generators.environments.endpoints import read_endpoints
from callwright.generators.environments.linking import find_links
from callwright.warehouse.records import Link

TEXT = {"type": "string"}
SHELVES = {
    "type": "object",
    "properties": {
        "found": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"mark": TEXT, "warden": {"properties": {"badge": TEXT}}},
            },
        }
    },
}


def operation(name: str, schema: object, links: object = None, *parameters: str) -> object:
    """An operation whose parameters stand in the path."""
    answer = {
        "description": "",
        "content": {"application/json": {"schema": schema}},
        "links": links or {},
    }
    stated = [{"name": one, "in": "path", "required": True, "schema": TEXT} for one in parameters]
    return {
        "operationId": name,
        "summary": name,
        "parameters": stated,
        "responses": {"200": answer},
    }


LINKS = {
    "content": {
        "operationId": "look_into",
        "parameters": {"shelf": "$response.body#/found/0/mark"},
    },
    "keeper": {
        "operationRef": "#/paths/~1people~1{person}/get",
        "parameters": {"path.person": "$response.body#/found/*/warden/badge"},
    },
    "again": {"$ref": "#/components/links/Again"},
    "nowhere": {
        "operationId": "burn_down",
        "parameters": {"shelf": "$response.body#/found/0/mark"},
    },
    "misnamed": {
        "operationId": "look_into",
        "parameters": {"board": "$response.body#/found/0/mark"},
    },
    "unreturned": {
        "operationId": "look_into",
        "parameters": {"shelf": "$response.body#/lost/0/mark"},
    },
}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Shelves", "version": "1"},
    "paths": {
        "/found": {"get": operation("look_around", SHELVES, LINKS)},
        "/shelves/{shelf}": {
            "get": operation(
                "look_into", {"type": "object", "properties": {"title": TEXT}}, None, "shelf"
            )
        },
        "/people/{person}": {
            "get": operation(
                "look_up", {"type": "object", "properties": {"title": TEXT}}, None, "person"
            )
        },
    },
    "components": {
        "links": {
            "Again": {"operationId": "look_into", "parameters": {"shelf": "$request.query.shelf"}}
        }
    },
}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A document whose names say nothing of what leads where."""
    path = tmp_path / "shelves.yaml"
    path.write_text(yaml.safe_dump(DOCUMENT, sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture
def catalog(document: Path) -> Catalog:
    """What is read of it."""
    return read_catalog("openapi", document)


def test_what_leads_nowhere_is_said(catalog: Catalog) -> None:
    messages = [
        one.message
        for one in catalog.problems
        if one.tool == "look_around" and "link" in one.message
    ]
    assert messages == [
        "The link 'nowhere' leads to 'burn_down', which is no operation; left out.",
        "The link 'misnamed' names 'board', no parameter of it; left out.",
        (
            "The link 'unreturned' takes '$response.body#/lost/0/mark', which the response is not"
            " said to have; left out."
        ),
    ]


def test_stated_links_are_links_between_tools(document: Path) -> None:
    assert find_links(read_endpoints(document)) == (
        Link(
            tool="look_into", parameter="shelf", source="look_around", entries="found", field="mark"
        ),
        Link(
            tool="look_up",
            parameter="person",
            source="look_around",
            entries="found",
            field="warden.badge",
        ),
    )
