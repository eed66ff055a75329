import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.generators.catalogs.openapi import ParameterPlace, read_operations
from callwright.language.calls.sampling import make_value
from callwright.warehouse.errors import ConfigurationError

YAML = """
openapi: 3.0.3
info: {title: Library, version: 2024-01-01}
paths:
  /books/{bookId}:
    parameters:
      - {name: bookId, in: path, required: true, schema: {type: string}, description: Which book.}
      - {name: verbose, in: query, schema: {type: boolean}}
    get:
      operationId: getBook
      summary: Shows a book.
      tags: [books]
      parameters:
        - {name: verbose, in: query, description: How much to say., schema: {type: string, enum: [on, off]}}
        - {name: Authorization, in: header, schema: {type: string}}
      responses:
        200:
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Book'}
    patch:
      description: Changes a book.
      requestBody: {$ref: '#/components/requestBodies/Change'}
components:
  requestBodies:
    Change:
      required: true
      content:
        application/json:
          schema:
            allOf:
              - {$ref: '#/components/schemas/Book'}
              - {type: object, properties: {bookId: {type: integer}}, required: [bookId]}
  schemas:
    Book:
      type: object
      required: [title]
      properties:
        id: {type: string, readOnly: true}
        title: {type: string, example: Faust, maxLength: 80}
        price: {type: number, nullable: true, minimum: 0, exclusiveMinimum: true, x-unit: euro}
"""


def read(tmp_path: Path, text: str, name: str = "api.yaml") -> Catalog:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_catalog("openapi", path)


def document(operation: Any, **more: Any) -> str:
    return json.dumps({"openapi": "3.1.0", "paths": {"/things/parts": {"post": operation}}, **more})


def kinds(catalog: Catalog) -> list[str]:
    return [problem.kind for problem in catalog.problems]


def test_operations_become_tools_with_path_query_and_body_side_by_side(tmp_path: Path) -> None:
    catalog = read(tmp_path, YAML)
    get, patch = catalog.tools
    assert (get.name, get.description, get.category) == ("getBook", "Shows a book.", "books")
    assert get.properties == {
        "bookId": {"type": "string", "description": "Which book."},
        "verbose": {"type": "string", "enum": ["on", "off"], "description": "How much to say."},
    }
    assert get.required == ("bookId",)
    assert (patch.name, patch.category) == ("patch_books_bookId", "books")
    assert patch.properties == {
        "bookId": {"type": "string", "description": "Which book."},
        "verbose": {"type": "boolean"},
        "title": {"type": "string", "maxLength": 80, "examples": ["Faust"]},
        "price": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "body_bookId": {"type": "integer"},
    }
    assert patch.required == ("bookId", "title", "body_bookId")
    assert sorted(kinds(catalog)) == ["generated_name", "name_collision"]


def test_the_places_of_the_parameters_are_kept_beside_the_tool(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(YAML)
    patch = read_operations(path)[1]
    assert (patch.method, patch.path) == ("patch", "/books/{bookId}")
    assert patch.places == (
        ParameterPlace("bookId", "path", "bookId"),
        ParameterPlace("verbose", "query", "verbose"),
        ParameterPlace("title", "body", "title"),
        ParameterPlace("price", "body", "price"),
        ParameterPlace("body_bookId", "body", "bookId"),
    )


@pytest.mark.parametrize(
    ("method", "summary", "required", "fewest"),
    [
        ("post", "Update the properties of a list", ["listId"], 2),
        ("patch", "List", ["listId"], 2),
        ("post", "Export a list", ["listId"], 1),
        ("put", "Update the items of a list", None, 2),
        ("post", "Update a list", ["listId", "title"], 2),
    ],
)
def test_an_update_changes_something(
    tmp_path: Path, method: str, summary: str, required: list[str] | None, fewest: int
) -> None:
    text = {"type": "string"}
    members = {"listId": text, "title": text, "note": text}
    schema = {"type": "object", "properties": members, "required": required}
    whole = {"type": "array", "items": text}  # a body that is one parameter
    content = {"application/json": {"schema": schema if required else whole}}
    body = {"content": content, "required": bool(required)}
    place = "/lists" if required else "/lists/{listId}"
    paths = {place: {method: {"operationId": "x", "summary": summary, "requestBody": body}}}
    path = tmp_path / "api.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "paths": paths}), encoding="utf-8")
    (tool,) = read_catalog("openapi", path).tools
    assert tool.fewest == fewest


def test_a_part_of_the_path_that_nothing_declares_is_a_required_text(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    paths = {"/things/{id}": {"post": {"operationId": "add", "summary": "Adds a part."}}}
    path.write_text(json.dumps({"openapi": "3.1.0", "paths": paths}), encoding="utf-8")
    catalog = read_catalog("openapi", path)
    (tool,) = catalog.tools
    assert tool.required == ("id",)
    assert tool.properties["id"]["type"] == "string"
    assert "undeclared_required" in kinds(catalog)
    (operation,) = read_operations(path)
    assert operation.places == (ParameterPlace("id", "path", "id"),)


def test_a_body_without_json_is_dropped_and_reported(tmp_path: Path) -> None:
    body = {"content": {"application/octet-stream": {}}}
    catalog = read(
        tmp_path, document({"operationId": "add", "description": "Adds.", "requestBody": body})
    )
    assert catalog.tools[0].properties == {}
    assert kinds(catalog) == ["unsupported"]


@pytest.mark.parametrize(
    "operation",
    [
        {"requestBody": {"$ref": "other.yaml#/Body"}},
        {
            "requestBody": {
                "content": {"application/json": {"schema": {"$ref": "http://127.0.0.1:9/x.json"}}}
            }
        },
        {"parameters": [{"$ref": "#/components/parameters/None"}]},
        {
            "parameters": [
                {"name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/None"}}
            ]
        },
    ],
)
def test_a_reference_that_leads_outside_leaves_the_operation_out(
    operation: Any, tmp_path: Path
) -> None:
    catalog = read(tmp_path, document({"operationId": "add", "description": "Adds.", **operation}))
    assert (catalog.entries, catalog.tools) == (1, ())
    assert "unresolvable_reference" in kinds(catalog)


def test_a_path_whose_reference_leads_nowhere_is_reported(tmp_path: Path) -> None:
    operation = {"operationId": "add", "description": "Adds."}
    paths = {"/a~b/{id}": {"$ref": "#/components/pathItems/None"}, "/b": {"post": operation}}
    catalog = read(tmp_path, json.dumps({"openapi": "3.1.0", "paths": paths}))
    (problem,) = [one for one in catalog.problems if one.kind == "unresolvable_reference"]
    assert [tool.name for tool in catalog.tools] == ["add"]
    assert problem.where.endswith("api.yaml#/paths/~1a~0b~1{id}")
    assert (
        "'/a~b/{id}' is at '#/components/pathItems/None', which is nothing in this file"
        in problem.message
    )


def test_a_dead_reference_in_a_response_costs_only_the_result(tmp_path: Path) -> None:
    response = {
        "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/None"}}}}
    }
    catalog = read(
        tmp_path, document({"operationId": "add", "description": "Adds.", "responses": response})
    )
    assert catalog.tools[0].returns is None
    assert kinds(catalog) == ["untyped_return"]


def test_a_schema_that_holds_itself_is_cut(tmp_path: Path) -> None:
    part = {
        "type": "object",
        "properties": {"of": {"$ref": "#/components/schemas/Part"}, "name": {"type": "string"}},
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Part"}}}}
    text = document(
        {"operationId": "add", "description": "Adds.", "requestBody": body},
        components={"schemas": {"Part": part}},
    )
    catalog = read(tmp_path, text)
    assert catalog.tools[0].properties == {"of": {"type": "object"}, "name": {"type": "string"}}
    assert kinds(catalog) == ["circular_reference"]


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\nb: *a",
        "a: &a [1,1,1,1,1,1,1,1]\n"
        + "".join(
            f"{x}: &{x} [{','.join(f'*{y}' for _ in range(9))}]\n"
            for y, x in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "x: !!python/object/apply:os.getcwd []",
        "openapi: 3.0.0\npaths: {? [a] : b}",
        "openapi: .nan\nx: 1e999",
        "openapi: 3.0.0\nx: !!binary aGk=",
        "openapi: [unclosed",
        "\t- a",
        "openapi: 3.0.0\nx: !!timestamp 2024-01-01",
    ],
    ids=["loop", "bomb", "python", "key", "nan", "binary", "unclosed", "tab", "date"],
)
def test_hostile_yaml_is_explained(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"api\.yaml"):
        read(tmp_path, text)


def test_headers_that_a_client_sets_are_no_parameters(tmp_path: Path) -> None:
    stated = [
        {"name": "x-api-version", "in": "header", "schema": {"type": "string"}},
        {"name": "x-tenant", "in": "header", "required": True, "schema": {"type": "string"}},
    ]
    catalog = read(
        tmp_path, document({"summary": "Adds a part.", "parameters": stated}), "api.json"
    )
    assert "x-api-version" not in catalog.tools[0].properties
    assert "x-tenant" in catalog.tools[0].properties
    assert any(
        "'x-api-version' is set by a client" in problem.message for problem in catalog.problems
    )


def test_a_name_that_reads_as_a_path_is_a_plain_one_and_is_sent_as_it_was(tmp_path: Path) -> None:
    names = ("include[]", "filter[status]", "user.fields", "$top", "filter_status", "状态")
    stated = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names]
    text = document({"operationId": "find", "description": "Finds.", "parameters": stated})
    catalog = read(tmp_path, text)
    plain = ["include", "filter_status", "user_fields", "top", "query_filter_status", "状态"]
    assert [*catalog.tools[0].properties] == plain
    assert kinds(catalog) == [*["generated_name"] * 4, "name_collision"]
    (operation,) = read_operations(tmp_path / "api.yaml")
    assert [(at.parameter, at.name) for at in operation.places] == [*zip(plain, names, strict=True)]


def test_a_member_that_refers_to_nothing_costs_itself_where_nobody_must_give_it(
    tmp_path: Path,
) -> None:
    dead = {"$ref": "#/components/schemas/None"}
    signer = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "offline": {"type": "array", "items": dead}},
    }
    needed = {"type": "object", "properties": {"id": dead}, "required": ["id"]}
    envelope = {
        "type": "object",
        "properties": {
            "subject": {"type": "string"},
            "signers": {"type": "array", "items": signer},
            "extra": needed,
        },
        "required": ["subject"],
    }
    body = {"required": True, "content": {"application/json": {"schema": envelope}}}
    response = {"200": {"content": {"application/json": {"schema": signer}}}}
    operation = {
        "operationId": "send",
        "description": "Sends.",
        "requestBody": body,
        "responses": response,
    }
    catalog = read(tmp_path, document(operation))
    (tool,) = catalog.tools
    assert [*tool.properties] == ["subject", "signers"]
    assert tool.properties["signers"]["items"]["properties"] == {"name": {"type": "string"}}
    assert tool.returns is not None
    assert [*tool.returns["properties"]] == ["name"]
    assert kinds(catalog) == ["unsupported", "unsupported"]
    assert "'offline' refers to what is nothing in this file" in catalog.problems[0].message
    needed_there = {**envelope, "required": ["extra"]}
    body["content"] = {"application/json": {"schema": needed_there}}
    assert read(tmp_path, document(operation)).tools == ()


def test_files_of_an_imported_folder_may_refer_to_each_other(tmp_path: Path) -> None:
    zone = {"$ref": "../common/types.json#/definitions/Zone"}
    operation = {
        "operationId": "makeZone",
        "description": "Makes a zone.",
        "parameters": [{"name": "zone", "in": "body", "required": True, "schema": zone}],
    }
    types = {
        "Zone": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    }
    for place, stated in (
        ("dns/api.json", {"paths": {"/zones": {"post": operation}}}),
        ("common/types.json", {"paths": {}, "definitions": types}),
    ):
        file = tmp_path / place
        file.parent.mkdir()
        file.write_text(json.dumps({"swagger": "2.0", "info": {}, **stated}))
    alone = read_catalog("openapi", tmp_path / "dns" / "api.json")
    assert (alone.tools, "import a folder that holds both files" in alone.problems[0].message) == (
        (),
        True,
    )
    whole = read_catalog("openapi", tmp_path)
    assert [(tool.name, [*tool.properties]) for tool in whole.tools] == [("makeZone", ["name"])]
    assert whole.problems == ()


def test_an_id_looks_like_the_ones_that_the_document_shows_elsewhere(tmp_path: Path) -> None:
    text, uuid = {"type": "string"}, {"type": "string", "format": "uuid"}
    order = {**text, "example": "ord_9912x"}

    def operation(name: str, returns: dict[str, Any]) -> dict[str, Any]:
        content = {"application/json": {"schema": {"type": "object", "properties": returns}}}
        parameter = {"in": "path", "name": name, "required": True, "schema": text}
        responses = {"200": {"description": "Done.", "content": content}}
        return {"description": "Does.", "parameters": [parameter], "responses": responses}

    paths = {
        "/runs/{run_id}": {"get": operation("run_id", {"name": text})},
        "/jobs/{id}": {"get": operation("id", {"id": uuid, "run_id": uuid}), "delete": {}},
        "/orders/{order_id}": {"get": operation("order_id", {"order_id": order})},
        "/cities/{name}": {"get": operation("name", {"name": {**text, "example": "Oslo"}})},
    }
    paths["/jobs/{id}"]["delete"] = operation("id", {})
    tools = read(tmp_path, json.dumps({"openapi": "3.0.3", "paths": paths}), "api.json").tools
    shown = [next(iter(tool.properties.values())).get("examples", [""])[0] for tool in tools]
    assert [len(one) for one in shown[:3]] == [36, 36, 36]
    assert shown[3:] == ["ord_9912x", ""]


def test_the_default_of_an_id_shows_what_such_ids_look_like(tmp_path: Path) -> None:
    parameter = {"in": "path", "name": "team_id", "required": True}
    given = parameter | {"schema": {"type": "string", "default": "tim_123"}}
    operation = {"description": "Reads a team.", "parameters": [given]}
    paths = {"/teams/{team_id}": {"get": operation}}
    (tool,) = read(tmp_path, json.dumps({"openapi": "3.0.3", "paths": paths}), "api.json").tools
    made = {
        make_value("team_id", tool.properties["team_id"], "en", Random(one)) for one in range(9)
    }
    assert len(made) > 1
    assert all(re.fullmatch(r"tim_\w{3}", str(one)) for one in made), made


def test_ids_of_unknown_form_look_like_those_in_examples_of_whole_bodies(tmp_path: Path) -> None:
    text, whole = {"type": "string"}, {"type": "integer"}
    example = {
        "incident": {"id": "PT4KHLK", "priority": {"id": "P53ZZH5"}, "number": 12},
        "log_entries": [{"id": "Q02JTSNZWHSEKV"}, {"id": "R7I4M9UVYOQ2AS"}],
        "services": [{"id": "PIJ90N7"}, {"id": "string"}],
        "account_id": 9041177,
    }

    def operation(*takes: dict[str, Any]) -> dict[str, Any]:
        content = {"application/json": {"schema": {"type": "object"}, "example": example}}
        responses = {"200": {"description": "Done.", "content": content}}
        return {"description": "Does.", "parameters": [*takes], "responses": responses}

    def taken(name: str, schema: dict[str, Any], part: str = "path") -> dict[str, Any]:
        return {"in": part, "name": name, "required": True, "schema": schema}

    body = {
        "type": "object",
        "properties": {"service": {"type": "object", "properties": {"id": text}}, "name": text},
        "required": ["service"],
    }
    making = operation()
    making["requestBody"] = {"content": {"application/json": {"schema": body}}, "required": True}
    paths = {
        "/log_entries/{id}": {"get": operation(taken("id", text))},
        "/incidents/{id}": {"get": operation(taken("id", text))},
        "/rules/{rule_id}": {"get": operation(taken("rule_id", text))},
        "/accounts/{account_id}": {"get": operation(taken("account_id", whole))},
        "/links": {"post": {**making, "operationId": "link"}},
    }
    tools = read(tmp_path, json.dumps({"openapi": "3.0.3", "paths": paths}), "api.json").tools
    shown = [next(iter(tool.properties.values())).get("examples", [""])[0] for tool in tools[:4]]
    assert shown == ["Q02JTSNZWHSEKV", "PT4KHLK", "PT4KHLK", 9041177]
    service = tools[4].properties["service"]["properties"]
    assert service["id"]["examples"] == ["PIJ90N7"]


def test_ids_of_other_things_get_prefixes_of_their_own(tmp_path: Path) -> None:
    shown = {"customer_id": "cus_4Rw8sQ", "card_id": "crd_77kdPz", "plan_id": "pln_0aVx3T"}
    members = {name: {"type": "string", "example": one} for name, one in shown.items()}
    content = {"application/json": {"schema": {"type": "object", "properties": members}}}
    parameter = {"in": "path", "name": "invoice_id", "required": True, "schema": {"type": "string"}}
    responses = {"200": {"description": "Done.", "content": content}}
    operation = {"description": "Does.", "parameters": [parameter], "responses": responses}
    paths = {"/invoices/{invoice_id}": {"get": operation}}
    (tool,) = read(tmp_path, json.dumps({"openapi": "3.0.3", "paths": paths}), "api.json").tools
    assert tool.properties["invoice_id"]["examples"] == ["inv_77kdPz"]


def test_an_id_that_its_description_calls_a_guid_is_shown_as_one(tmp_path: Path) -> None:
    told = "(Required) The globally unique identifier (GUID) for the account."
    parameter = {"in": "path", "name": "accountId", "required": True, "description": told}
    operation = {
        "description": "Does.",
        "parameters": [{**parameter, "schema": {"type": "string"}}],
    }
    paths = {"/accounts/{accountId}": {"get": {**operation, "responses": {}}}}
    (tool,) = read(tmp_path, json.dumps({"openapi": "3.0.3", "paths": paths}), "api.json").tools
    assert [len(one) for one in tool.properties["accountId"]["examples"]] == [36]


def test_an_id_looks_like_those_of_the_thing_that_its_description_names(tmp_path: Path) -> None:
    def described(told: str, **more: str) -> dict[str, Any]:
        return {"type": "string", "description": told, **more}

    def operation(parameter: dict[str, Any] | None, body: dict[str, Any]) -> dict[str, Any]:
        content = {"application/json": {"schema": {"type": "object", "properties": body}}}
        given = {"in": "path", "name": "id", "required": True, "schema": parameter}
        body_part = {"requestBody": {"content": content}} if body else {}
        parameters = [given] if parameter else []
        return {"description": "Does.", "parameters": parameters, **body_part, "responses": {}}

    shown = described("Its ID.", example="corner-shops")
    uuids = {"key_id": described("", format="uuid"), "pin_id": described("", format="uuid")}
    data = {"id": described("The identifier of the category."), "at": described("When.")}
    label = {"id": described("The label of the tag, which is its identifier."), **uuids}
    paths = {
        "/categories/{id}": {"get": operation(shown, {})},
        "/pins": {"post": operation(None, {"data": {"type": "object", "properties": data}})},
        "/tags": {"post": operation(None, label)},
    }
    _, pin, tag = read(tmp_path, json.dumps({"openapi": "3.0.3", "paths": paths}), "a.json").tools
    assert pin.properties["id"]["examples"] == ["corner-shops"]
    assert "examples" not in tag.properties["id"]
