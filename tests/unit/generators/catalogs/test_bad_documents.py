"""Documents that go in circles, lie about their types or are very large: read as far as they go,
in seconds.
"""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.warehouse.errors import ConfigurationError

TEXT = {"type": "string"}
BODY = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}


def read(folder: Path, operation: Any = None, **components: Any) -> Catalog:
    stated = {"operationId": "make", "description": "Makes.", "requestBody": BODY} | (
        operation or {}
    )
    paths = {
        "/a": {"post": stated},
        "/b": {"get": {"operationId": "fine", "description": "Is fine."}},
    }
    path = folder / "api.json"
    path.write_text(json.dumps({"openapi": "3.0.3", "paths": paths, "components": components}))
    return read_catalog("openapi", path)


def ref(place: str) -> dict[str, str]:
    return {"$ref": place}


A, B = ref("#/components/schemas/A"), ref("#/components/schemas/B")
OBJECT = {"type": "object", "properties": {"name": TEXT}}


@pytest.mark.parametrize(
    ("schemas", "names"),
    [
        ({"A": A}, ["body"]),
        ({"A": B, "B": A}, ["body"]),
        ({"A": {"type": "object", "properties": {"name": TEXT, "next": A}}}, ["name", "next"]),
        ({"A": {"allOf": [A, OBJECT]}}, ["name"]),
        ({"A": {"oneOf": [A, OBJECT], "discriminator": {"propertyName": "name"}}}, ["name"]),
        ({"A": {"type": "object", "properties": {"x": TEXT, "all": ref("#")}}}, ["x", "all"]),
        (
            {
                "A": (
                    OBJECT
                    | {"$defs": {"X": ref("#/$defs/X")}, "properties": {"x": ref("#/$defs/X")}}
                )
            },
            ["x"],
        ),
    ],
)
def test_a_circle_is_cut_and_the_tool_is_kept(
    schemas: Any, names: list[str], tmp_path: Path
) -> None:
    make, fine = read(tmp_path, schemas=schemas).tools
    assert (list(make.properties), fine.name) == (names, "fine")


@pytest.mark.parametrize(
    "lie",
    [
        {"parameters": {"a": 1}},
        {"parameters": ["x", {"name": 3, "in": "query"}, {"in": "query"}]},
        {
            "parameters": [
                {"name": "q", "in": "query", "required": "yes", "schema": {"enum": {}, "items": []}}
            ]
        },
        {"requestBody": [1]},
        {"requestBody": {"required": "true", "content": {"application/json": "x"}}},
        {"responses": "none"},
        {"responses": {"200": "x", "default": {"content": []}}},
        {"tags": "t", "summary": 3},
    ],
)
def test_an_operation_that_lies_about_its_types_is_read_as_far_as_it_goes(
    lie: Any, tmp_path: Path
) -> None:
    assert [tool.name for tool in read(tmp_path, lie, schemas={"A": OBJECT}).tools] == [
        "make",
        "fine",
    ]


def test_aliases_of_yaml_that_hold_themselves_are_refused_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text("openapi: 3.0.3\npaths: &p\n  /a: *p\n")
    with pytest.raises(ConfigurationError, match=r"api\.yaml.*within what it names"):
        read_catalog("openapi", path)


def test_schemas_without_end_are_written_out_once_for_all_operations(tmp_path: Path) -> None:
    kinds = {
        f"K{one}": {
            "type": "object",
            "properties": {f"of{two}": ref(f"#/components/schemas/K{two}") for two in range(9)},
        }
        for one in range(9)
    }
    body = {"content": {"application/json": {"schema": ref("#/components/schemas/K0")}}}
    operations = {
        f"/{number}": {
            "post": {"operationId": f"make{number}", "description": "Makes.", "requestBody": body}
        }
        for number in range(300)
    }
    path = tmp_path / "api.json"
    path.write_text(
        json.dumps({"openapi": "3.0.3", "paths": operations, "components": {"schemas": kinds}})
    )
    started = time.process_time()
    assert len(read_catalog("openapi", path).tools) == 300
    assert time.process_time() - started < 10  # each for itself takes half a minute
