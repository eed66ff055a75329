"""Documents whose operations share deep schemas: read fast, and as each operation would be read
by itself.
"""

import json
import time
from pathlib import Path
from typing import Any

from callwright.generators.catalogs.openapi import read_openapi

LEVELS = 5


def document(paths: int) -> dict[str, Any]:
    schemas: dict[str, Any] = {
        "Level0": {"type": "string", "pattern": "[", "description": "The innermost."}
    }
    for level in range(1, LEVELS + 1):
        inner = {
            f"field{number}": {"$ref": f"#/components/schemas/Level{level - 1}"}
            for number in range(4)
        }
        schemas[f"Level{level}"] = {
            "type": "object",
            "description": f"Of level {level}.",
            "properties": inner,
        }
    schemas["Tree"] = {
        "type": "object",
        "properties": {"next": {"$ref": "#/components/schemas/Tree"}},
    }
    reference = {"$ref": f"#/components/schemas/Level{LEVELS}"}
    body = {"content": {"application/json": {"schema": reference}}, "required": True}
    answer = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/components/schemas/Tree"}, "whole": reference},
    }
    responses = {"200": {"content": {"application/json": {"schema": answer}}}}
    items = {
        f"/things{number}": {
            "post": {
                "operationId": f"make{number}",
                "description": "Make.",
                "requestBody": body,
                "responses": responses,
            }
        }
        for number in range(paths)
    }
    return {"openapi": "3.0.0", "info": {}, "paths": items, "components": {"schemas": schemas}}


def written(folder: Path, content: dict[str, Any]) -> Path:
    folder.mkdir()
    path = folder / "api.json"
    path.write_text(json.dumps(content))
    return path


def test_operations_that_share_schemas_are_read_as_each_by_itself(tmp_path: Path):
    whole = document(3)
    read = read_openapi(written(tmp_path / "whole", whole))
    for number, (path, item) in enumerate(whole["paths"].items()):
        alone = read_openapi(written(tmp_path / f"alone{number}", {**whole, "paths": {path: item}}))
        assert alone.tools == (read.tools[number],)
        assert [(one.kind, one.message) for one in alone.problems] == [
            (one.kind, one.message) for one in read.problems if one.tool == f"make{number}"
        ]
    assert {problem.kind for problem in read.problems} == {
        "shortened_parameters",
        "shortened_return",
    }


def test_a_document_of_many_operations_with_deep_schemas_is_read_in_seconds(tmp_path: Path):
    started = time.process_time()
    assert len(read_openapi(written(tmp_path / "many", document(40))).tools) == 40
    assert (
        time.process_time() - started < 10
    )  # each node of each operation checked by itself takes minutes


def test_the_required_members_of_a_body_that_says_nothing_of_itself_stay_required_and_it_is_reported(
    tmp_path: Path,
):
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "note": {"type": "string"}},
        "required": ["to"],
    }
    stated = {"content": {"application/json": {"schema": schema}}}
    bodies = {
        "unsaid": stated,
        "optional": {**stated, "required": False},
        "needed": {**stated, "required": True},
    }
    paths = {
        f"/{name}": {"post": {"operationId": name, "description": "Send.", "requestBody": body}}
        for name, body in bodies.items()
    }
    read = read_openapi(
        written(tmp_path / "calls", {"openapi": "3.0.0", "info": {}, "paths": paths})
    )
    assert {tool.name: tool.required for tool in read.tools} == {
        "unsaid": ("to",),
        "optional": (),
        "needed": ("to",),
    }
    assert [(problem.tool, problem.kind) for problem in read.problems] == [
        ("unsaid", "assumed_required")
    ]


def test_an_error_is_never_taken_for_the_result(tmp_path: Path) -> None:
    """Beside a declared success `default` is a failure; a body's content may be a reference."""
    failure = {
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"error": {"type": "string"}}}
            }
        }
    }
    pet = {"application/json": {"schema": {"properties": {"name": {"type": "string"}}}}}
    document = {
        "openapi": "3.0.0",
        "info": {"title": "Pets"},
        "paths": {
            "/pets/{id}": {
                "get": {
                    "operationId": "getPet",
                    "responses": {
                        "200": {"content": {"$ref": "#/components/mediaTypes/pet"}},
                        "default": failure,
                    },
                },
                "delete": {
                    "operationId": "deletePet",
                    "responses": {"204": {"description": "Gone."}, "default": failure},
                },
                "put": {"operationId": "putPet", "responses": {"default": failure}},
            }
        },
        "components": {"mediaTypes": {"pet": pet}},
    }
    tools = read_openapi(written(tmp_path / "pets", document)).tools
    returned = {tool.name: [*(tool.returns or {}).get("properties", ())] for tool in tools}
    assert returned == {"getPet": ["name"], "deletePet": [], "putPet": ["error"]}
