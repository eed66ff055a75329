"""Swagger 2.0 descriptions, and bodies that are no plain objects."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.warehouse.errors import CallwrightError

SWAGGER = """
swagger: "2.0"
info: {title: Store, version: "1"}
consumes: [application/json]
parameters:
  Store: {name: store, in: path, type: string, required: true, description: Which *store*.}
definitions:
  Pet:
    type: object
    required: [name]
    properties:
      name: {type: string, x-nullable: true}
      parent: {$ref: '#/definitions/Pet'}
responses:
  Found: {description: The pet., schema: {$ref: '#/definitions/Pet'}}
paths:
  /stores/{store}/pets:
    parameters:
      - {$ref: '#/parameters/Store'}
      - {name: verbose, in: query, type: boolean}
    post:
      operationId: addPet
      summary: Add a pet.
      tags: [pets, stores]
      parameters:
        - {name: pet, in: body, schema: {$ref: '#/definitions/Pet'}}
        - {name: verbose, in: query, type: integer, format: int64, maximum: 18446744073709551616000, collectionFormat: csv}
      responses:
        "200": {$ref: '#/responses/Found'}
    put:
      operationId: upload
      summary: Upload a picture.
      parameters:
        - {name: file, in: formData, type: file, required: true, description: The picture.}
        - {name: sizes, in: formData, type: array, items: {type: integer}}
      responses:
        "200": {description: A file., schema: {type: file}}
"""


def read(folder: Path, value: Any) -> Catalog:
    path = folder / "api.yaml"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return read_catalog("openapi", path)


def test_operations_of_swagger_2_become_tools(tmp_path: Path) -> None:
    catalog = read(tmp_path, SWAGGER)
    put, post = catalog.tools
    assert post.properties == {
        "store": {"type": "string", "description": "Which store."},
        "verbose": {"type": "integer", "format": "int64"},
        "name": {"type": ["string", "null"]},
        "parent": {"type": "object"},
    }
    assert post.required == ("store", "name")
    assert list((post.returns or {})["properties"]) == ["name", "parent"]
    assert put.properties == {
        "store": {"type": "string", "description": "Which store."},
        "verbose": {"type": "boolean"},
        "file": {"type": "string", "format": "binary", "description": "The picture."},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    }
    assert (put.required, put.returns) == (("store", "file"), None)
    assert {problem.kind for problem in catalog.problems} == {
        "circular_reference",
        "assumed_required",
        "invalid_keyword",
    }
    assert [(origin.method, origin.path, origin.tags) for origin in catalog.origins] == [
        ("put", "/stores/{store}/pets", ()),
        ("post", "/stores/{store}/pets", ("pets", "stores")),
    ]


NAMES = """
    get post parameters name in body formData query type file schema $ref required responses 200 consumes produces tags
"""
KEYS = st.sampled_from(NAMES.split())
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | KEYS
    | st.just("#/paths")
    | st.just("#/definitions/A")
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(operation=JSON, shared=JSON, definition=JSON, consumes=JSON)
def test_any_swagger_is_read_or_explained(
    tmp_path: Path, operation: Any, shared: Any, definition: Any, consumes: Any
) -> None:
    item = {"post": operation, "parameters": shared}
    document = {
        "swagger": "2.0",
        "consumes": consumes,
        "paths": {"/x": item},
        "definitions": {"A": definition},
    }
    try:
        catalog = read(tmp_path, document)
    except CallwrightError:
        return
    assert all(set(tool.required) <= set(tool.properties) for tool in catalog.tools)


A = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "c": {"type": "string"}},
    "required": ["a", "c"],
}


@pytest.mark.parametrize(
    ("summary", "language"),
    [
        ("Gibt eine Liste aller Baustellen der genannten Autobahn zurück", "de"),
        ("Lists all the users of an account that were active in the last month", "en"),
        ("Obtiene la lista de usuarios registrados en el sistema durante el mes", "es"),
        ("获取用户列表，支持分页和搜索，返回用户的详细信息和角色权限", "zh"),
        ("List pods", "en"),
    ],
)
def test_the_language_of_a_document_is_found(summary: str, language: str, tmp_path: Path) -> None:
    stated = {
        "get": {"operationId": "list", "summary": summary},
        "put": {"operationId": "x", "description": summary},
    }
    catalog = read(tmp_path, {"openapi": "3.0.0", "paths": {"/x": stated}})
    assert {tool.language for tool in catalog.tools} == {language}
