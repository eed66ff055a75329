"""What APIs of some size have: schemas without end, bodies in a wrapper, members that a caller
can't give.
"""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.generators.catalogs.openapi import MOST_TAKEN
from callwright.generators.catalogs.rewriting import shortened
from callwright.generators.environments.endpoints import read_endpoints
from callwright.generators.environments.http import HttpRequest, request_of

TEXT = {"type": "string"}


def of(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def written(folder: Path, schema: Any, *, required: bool | None = True, **schemas: Any) -> Path:
    body: dict[str, Any] = {"content": {"application/json": {"schema": schema}}}
    if required is not None:
        body["required"] = required
    operation = {"operationId": "makeTask", "description": "Makes a task.", "requestBody": body}
    path = folder / "api.json"
    stated = {
        "openapi": "3.0.3",
        "paths": {"/tasks": {"post": operation}},
        "components": {"schemas": schemas},
    }
    path.write_text(json.dumps(stated))
    return path


def read(folder: Path, schema: Any, **more: Any) -> Catalog:
    return read_catalog("openapi", written(folder, schema, **more))


def kinds(catalog: Catalog) -> list[str]:
    return [problem.kind for problem in catalog.problems]


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


# Each of these is in each of the others, so that all of it written out has far more than 20,000
# parts.
ENTANGLED = {
    f"Kind{one}": of(name=TEXT, **{f"of{other}": ref(f"Kind{other}") for other in range(8)})
    for one in range(8)
}


def test_parameters_that_are_too_large_are_shortened_where_they_are_deepest(tmp_path: Path) -> None:
    catalog = read(tmp_path, of(title=TEXT, kind=ref("Kind0")), **ENTANGLED)
    (tool,) = catalog.tools
    assert tool.properties["title"] == TEXT
    assert tool.properties["kind"]["properties"]["of1"]["properties"]["name"] == TEXT
    assert shortened(tool.parameters, MOST_TAKEN, {}) == (tool.parameters, 0)
    (told,) = [one for one in catalog.problems if one.kind == "shortened_parameters"]
    assert (told.tool, "'kind'" in told.message, "'title'" in told.message) == (
        "makeTask",
        True,
        False,
    )


@pytest.mark.parametrize(
    ("schema", "wrappers", "properties"),
    [
        (of(data=of(name=TEXT, due=TEXT)), ["data"], ["name", "due"]),
        (of(data=ref("Task")), ["data"], ["name", "due"]),
        (of(payload=of(data=ref("Task"))), ["payload", "data"], ["name", "due"]),
        (of(data=of(name=TEXT), other=TEXT), [], ["data", "other"]),
        (of(data={"type": "array", "items": of(name=TEXT)}), [], ["data"]),
        (of(data={"type": "object", "additionalProperties": True}), [], ["data"]),
    ],
)
def test_a_body_in_one_member_is_unwrapped_and_sent_wrapped(
    schema: Any, wrappers: list[str], properties: list[str], tmp_path: Path
) -> None:
    path = written(tmp_path, schema, Task=of(name=TEXT, due=TEXT))
    (endpoint,) = read_endpoints(path, allow=["POST"])
    assert list(endpoint.tool.properties) == properties
    assert ("unwrapped_body" in kinds(read_catalog("openapi", path))) is bool(wrappers)
    request = request_of(endpoint, dict.fromkeys(properties, "x"))
    assert isinstance(request, HttpRequest)
    wanted: Any = dict.fromkeys(properties, "x")
    for name in reversed(wrappers):
        wanted = {name: wanted}
    assert orjson.loads(request.body or b"") == wanted


@pytest.mark.parametrize(
    "hidden",
    [
        TEXT | {"readOnly": True},
        ref("Id"),
        {"allOf": [ref("Task"), {"readOnly": True, "nullable": True}]},
        {"allOf": [ref("Id")]},
    ],
)
def test_members_that_a_caller_cannot_give_are_no_parameters_at_any_depth(
    hidden: Any, tmp_path: Path
) -> None:
    inner = of(name=TEXT, id=hidden) | {"required": ["id", "name"]}
    schemas = {"Id": TEXT | {"readOnly": True}, "Task": of(name=TEXT)}
    (tool,) = read(tmp_path, of(id=hidden, title=TEXT, inner=inner), **schemas).tools
    assert tool.properties == {"title": TEXT, "inner": of(name=TEXT) | {"required": ["name"]}}
