"""The tools of whole documents beside what a reader of its own, written for this test, makes of
the same schemas.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.openapi import MOST_RETURNED

ADDRESS: dict[str, Any] = {
    "type": "object",
    "required": ["street"],
    "properties": {
        "street": {"type": "string", "minLength": 1, "maxLength": 60},
        "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
        "country": {"$ref": "#/{home}/Country"},
    },
}
SHARED: dict[str, Any] = {
    "Country": {"type": "string", "enum": ["DE", "CN", "US"], "default": "DE"},
    "Address": ADDRESS,
    "Named": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    "Person": {
        "allOf": [
            {"$ref": "#/{home}/Named"},
            {
                "type": "object",
                "required": ["age"],
                "properties": {
                    "age": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 150},
                    "born": {"type": "string", "format": "date"},
                    "home": {"$ref": "#/{home}/Address"},
                    "others": {
                        "type": "array",
                        "maxItems": 3,
                        "items": {"$ref": "#/{home}/Address"},
                    },
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            },
        ]
    },
}
NULLABLE = {
    "2.0": {"type": "string", "format": "date-time", "x-nullable": True},
    "3.0.3": {"type": "string", "format": "date-time", "nullable": True},
    "3.1.0": {"type": ["string", "null"], "format": "date-time"},
}
STRICT = {
    "2.0": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
    "3.0.3": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
    "3.1.0": {"type": "number", "exclusiveMinimum": 0},
}
CHOICE = {"type": "string", "enum": ["low", "high"]}
HOMES = {"2.0": "definitions", "3.0.3": "components/schemas", "3.1.0": "components/schemas"}


def at_home(value: Any, home: str) -> Any:
    """The value with its references pointing where this version has its schemas."""
    if isinstance(value, dict):
        return {key: at_home(part, home) for key, part in value.items()}
    if isinstance(value, list):
        return [at_home(part, home) for part in value]
    return value.replace("{home}", home) if isinstance(value, str) else value


def schemas_of(version: str) -> dict[str, Any]:
    extra = {"seen": NULLABLE[version], "weight": STRICT[version]}
    person = {"type": "object", "properties": extra}
    shared = {**SHARED, "Person": {"allOf": [*SHARED["Person"]["allOf"], person]}}
    return dict(at_home(shared, HOMES[version]))


def document(version: str) -> dict[str, Any]:
    """One document of this version: a body by reference, a query with a choice, and a result
    that is a list.
    """
    person = {"$ref": f"#/{HOMES[version]}/Person"}
    listed = {"type": "array", "items": person}
    stated: dict[str, Any] = {"info": {"title": "People", "version": "1"}}
    operation: dict[str, Any] = {
        "operationId": "addPerson",
        "summary": "Adds a person to the list of guests.",
    }
    place = {"name": "level", "in": "query", "required": True}
    if version == "2.0":
        operation["parameters"] = [
            {**place, **CHOICE},
            {"name": "it", "in": "body", "required": True, "schema": person},
        ]
        operation["responses"] = {"200": {"description": "All.", "schema": listed}}
        stated |= {"swagger": version, "definitions": schemas_of(version)}
    else:
        operation["parameters"] = [{**place, "schema": CHOICE}]
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": person}},
        }
        operation["responses"] = {
            "200": {"description": "All.", "content": {"application/json": {"schema": listed}}}
        }
        stated |= {"openapi": version, "components": {"schemas": schemas_of(version)}}
    return {**stated, "paths": {"/people": {"post": operation}}}


def expected(schema: Any, schemas: dict[str, Any]) -> Any:
    """A schema with its references written out and OpenAPI's own words put into JSON Schema's,
    the plain way.
    """
    if isinstance(schema, list):
        return [expected(part, schemas) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return expected(schemas[schema["$ref"].rsplit("/", 1)[1]], schemas)
    plain = {key: expected(part, schemas) for key, part in schema.items()}
    if plain.pop("nullable", False) or plain.pop("x-nullable", False):
        plain["type"] = [plain["type"], "null"]
    if plain.get("exclusiveMinimum") is True:
        plain["exclusiveMinimum"] = plain.pop("minimum")
    if "allOf" in plain:
        parts = plain.pop("allOf")
        plain |= {"type": "object", "properties": {}, "required": []}
        for part in parts:
            plain["properties"] |= part.get("properties", {})
            plain["required"] += part.get("required", [])
    return plain


@pytest.mark.parametrize("version", list(HOMES))
def test_a_document_of_each_version_gives_the_schemas_that_it_states(
    version: str, tmp_path: Path
) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(yaml.safe_dump(document(version)), encoding="utf-8")
    catalog = read_catalog("openapi", path)
    (tool,) = catalog.tools
    person = expected({"$ref": "#/Person"}, schemas_of(version))
    assert tool.properties == {"level": CHOICE, **person["properties"]}
    assert sorted(tool.required) == sorted(["level", *person["required"]])
    assert tool.returns == {"type": "array", "items": person}
    assert not catalog.problems
    Draft202012Validator.check_schema(tool.parameters)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for part in schema.get("properties", {}).values():
            yield from nodes(part)


def wide(levels: int) -> dict[str, Any]:
    """Eleven members on each level, as deep as asked for."""
    inside = {
        f"p{number}": wide(levels - 1) if levels else {"type": "string"} for number in range(11)
    }
    return {"type": "object", "description": f"Level {levels}.", "properties": inside}


def test_a_result_of_very_many_parts_keeps_its_upper_levels_and_says_so(tmp_path: Path) -> None:
    content = {"application/json": {"schema": wide(2)}}
    operation = {
        "operationId": "get",
        "summary": "Gets it.",
        "responses": {"200": {"content": content}},
    }
    path = tmp_path / "wide.yaml"
    path.write_text(
        yaml.safe_dump({"openapi": "3.0.0", "info": {}, "paths": {"/a": {"get": operation}}})
    )
    catalog = read_catalog("openapi", path)
    (tool,) = catalog.tools
    assert tool.returns is not None
    assert tool.returns["properties"]["p3"]["properties"]["p4"] == {
        "type": "object",
        "description": "Level 0.",
    }
    assert sum(1 for _ in nodes(tool.returns)) == 1 + 11 + 11 * 11 <= MOST_RETURNED
    (problem,) = [one for one in catalog.problems if one.kind == "shortened_return"]
    assert problem.message == "The result's schema has over 1000 parts; it is kept down to level 2."


def test_what_tools_share_in_their_document_is_held_once(tmp_path: Path) -> None:
    stated = document("3.0.3")
    again = {**stated["paths"]["/people"]["post"], "operationId": "changePerson"}
    stated["paths"]["/people"]["put"] = again
    path = tmp_path / "people.yaml"
    path.write_text(yaml.safe_dump(stated), encoding="utf-8")
    first, second = read_catalog("openapi", path).tools
    assert first.properties["home"] is second.properties["home"]
