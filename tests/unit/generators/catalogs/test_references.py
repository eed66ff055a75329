"""References to files beside a document: followed inside its folder, reported everywhere else."""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog

ROOT = {
    "openapi": "3.0.0",
    "info": {"title": "Pets"},
    "paths": {"/pets": {"$ref": "paths/pets.yaml"}, "/pets/{id}": {"$ref": "paths/pet.json#/item"}},
    "components": {"schemas": {"Size": {"type": "string", "enum": ["small", "large"]}}},
}
PETS = """
post:
  operationId: addPet
  summary: Add a pet to the store.
  requestBody:
    required: true
    content:
      application/json:
        schema: {$ref: '../schemas/pet one.yaml#/Pet'}
"""
PET = {
    "item": {
        "get": {
            "operationId": "getPet",
            "summary": "Show a pet.",
            "parameters": [{"$ref": "#/id"}],
            "responses": {
                "200": {
                    "content": {
                        "application/json": {"schema": {"$ref": "../schemas/pet%20one.yaml#/Pet"}}
                    }
                }
            },
        }
    },
    "id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
}
SCHEMAS = """
Pet:
  type: object
  required: [name]
  properties:
    name: {type: string}
    size: {$ref: '../api.json#/components/schemas/Size'}
    parent: {$ref: '#/Pet'}
"""


def written(folder: Path, root: dict[str, Any]) -> Path:
    (folder / "paths").mkdir(parents=True)
    (folder / "schemas").mkdir()
    (folder / "paths" / "pets.yaml").write_text(PETS)
    (folder / "paths" / "pet.json").write_text(json.dumps(PET))
    (folder / "schemas" / "pet one.yaml").write_text(SCHEMAS)
    path = folder / "api.json"
    path.write_text(json.dumps(root))
    return path


def read_with(folder: Path, reference: str) -> Catalog:
    stated = {"content": {"application/json": {"schema": {"$ref": reference}}}}
    operation = {"operationId": "add", "summary": "Add a pet.", "requestBody": stated}
    return read_catalog("openapi", written(folder, {**ROOT, "paths": {"/x": {"post": operation}}}))


def test_path_items_and_schemas_of_other_files_are_followed(tmp_path: Path) -> None:
    catalog = read_catalog("openapi", written(tmp_path / "api", ROOT))
    add, get = catalog.tools
    assert add.properties == {
        "name": {"type": "string"},
        "size": {"type": "string", "enum": ["small", "large"]},
        "parent": {"type": "object"},
    }
    assert (get.name, get.properties, list((get.returns or {})["properties"])) == (
        "getPet",
        {"id": {"type": "integer"}},
        ["name", "size", "parent"],
    )
    assert sorted(file.name for file in catalog.files) == [
        "api.json",
        "pet one.yaml",
        "pet.json",
        "pets.yaml",
    ]
    assert {problem.kind for problem in catalog.problems} == {"circular_reference"}


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("../secret.json", "it leads out of the document's folder"),
        ("schemas/../../secret.json#/a", "it leads out of the document's folder"),
        ("%2e%2e/secret.json", "it leads out of the document's folder"),
        ("/etc/passwd", "it leads out of the document's folder"),
        ("link.json", "it leads out of the document's folder"),
        ("linked/secret.json", "it leads out of the document's folder"),
        ("https://example.org/pet.json#/Pet", "nothing is fetched over the network"),
        ("//example.org/pet.json", "nothing is fetched over the network"),
        ("file:///etc/passwd", "nothing is fetched over the network"),
        ("nowhere.json", "there is no such file"),
        ("schemas", "there is no such file"),
        ("broken.json", "is not JSON"),
        ("a" * 5000, "can't be looked at"),
        ("a\x00b", "can't be looked at"),
    ],
)
def test_what_stands_elsewhere_is_reported_and_not_read(
    reference: str, reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "api"
    (tmp_path / "secret.json").write_text(
        json.dumps({"a": {"type": "object", "properties": {"leaked": {}}}})
    )
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "linked").symlink_to(tmp_path)
    (folder / "broken.json").write_text("{")
    catalog = read_with(folder, reference)
    assert catalog.tools == ()
    assert any(reason in problem.message for problem in catalog.problems), catalog.problems
    assert "leaked" not in str(catalog)
