"""Requests say what is wanted: tools that nobody could tell apart are told apart, or left out."""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import Catalog, read_catalog
from callwright.generators.telling_apart import unclear_tools
from callwright.language.calls.tools import tool_title
from callwright.warehouse.records import Tool

ANSWER = {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}}


def catalog_of(tmp_path: Path, *operations: tuple[str, str, str, str, dict[str, Any]]) -> Catalog:
    paths: dict[str, Any] = {}
    for method, path, name, summary, more in operations:
        marks = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        taken = [{"name": one, "in": "path", "schema": {"type": "string"}} for one in marks]
        taken += more.pop("parameters", [])
        stated = {"operationId": name, "summary": summary, "responses": ANSWER, **more}
        paths.setdefault(path, {})[method] = {**stated, "parameters": taken}
    document = {"openapi": "3.0.0", "info": {"title": "A", "version": "1"}, "paths": paths}
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return read_catalog("openapi", file)


def titles_of(catalog: Catalog) -> dict[str, str]:
    return {tool.name: tool_title(tool.name, tool.description) for tool in catalog.tools}


def left_out(catalog: Catalog) -> dict[str, str]:
    told = {one.tool: one.message for one in catalog.problems if one.kind == "unclear_tool"}
    unclear = unclear_tools(catalog.tools)
    assert {tool.name for tool in catalog.tools if tool.key in unclear} == told.keys()
    return told


def test_operations_that_only_name_a_thing_say_what_they_do_to_it(tmp_path: Path) -> None:
    catalog = catalog_of(
        tmp_path,
        ("get", "/accounts/{id}/details", "account_details", "Account details", {}),
        ("delete", "/webhooks/{id}", "webhook", "Webhook", {}),
        ("get", "/files.list", "files_list", "", {}),
        ("post", "/agents/{id}/pull_request", "agentPullRequest", "Agent pull request", {}),
        ("get", "/agents/{id}", "getAgent", "Get an agent", {}),
    )
    assert titles_of(catalog) == {
        "account_details": "get account details",
        "webhook": "delete webhook",
        "files_list": "list files",
        "agentPullRequest": "agent pull request",
        "getAgent": "get an agent",
    }
    assert "do not say what it does" in left_out(catalog)["agentPullRequest"]


def test_operations_of_one_summary_are_told_apart_by_what_their_paths_lead_through(
    tmp_path: Path,
) -> None:
    catalog = catalog_of(
        tmp_path,
        ("delete", "/plans/{id}/metadata/{key}", "deleteA", "Delete a metadata key", {}),
        ("delete", "/credit_notes/{id}/metadata/{key}", "deleteB", "Delete a metadata key", {}),
        ("delete", "/wallets/{id}/metadata/{key}", "deleteC", "Delete a metadata key", {}),
        (
            "delete",
            "/customers/{id}/wallets/{code}/metadata/{key}",
            "deleteD",
            "Delete a metadata key",
            {},
        ),
    )
    assert titles_of(catalog) == {
        "deleteA": "delete a metadata key for a plan",
        "deleteB": "delete a metadata key for a credit note",
        "deleteC": "delete a metadata key for a wallet",
        "deleteD": "delete a metadata key for a customer",
    }
    assert left_out(catalog) == {}


def test_what_nothing_tells_apart_is_left_out_and_what_is_required_tells(tmp_path: Path) -> None:
    name = {"name": "name", "in": "query", "required": True, "schema": {"type": "string"}}
    catalog = catalog_of(
        tmp_path,
        ("get", "/schedules", "listSchedules", "List schedules", {}),
        ("get", "/v3/schedules", "listSchedulesV3", "List schedules", {}),
        ("get", "/genres/movie", "moviesGenres", "Get genres", {}),
        ("get", "/genres/tv", "tvGenres", "Get genres", {"parameters": [name]}),
    )
    assert left_out(catalog).keys() == {"listSchedules", "listSchedulesV3"}


def test_a_deprecated_operation_gives_way_to_the_one_that_does_the_same(tmp_path: Path) -> None:
    catalog = catalog_of(
        tmp_path,
        ("post", "/payments", "createPayment", "Create a payment", {"deprecated": True}),
        ("post", "/v2/payments", "createPaymentV2", "Create a payment", {}),
        ("post", "/refunds", "createRefund", "Create a refund", {"deprecated": True}),
    )
    assert left_out(catalog).keys() == {"createPayment"}
    assert "'createPaymentV2' does the same" in left_out(catalog)["createPayment"]


def test_deprecated_parameters_are_chosen_only_where_they_are_required(tmp_path: Path) -> None:
    text = {"schema": {"type": "string"}, "in": "query", "deprecated": True}
    described = {"name": "c", "in": "query", "description": "Deprecated. Use d instead."}
    parameters = [
        {**text, "name": "a", "required": True},
        {**text, "name": "b"},
        {**described, "schema": {"type": "string"}},
        {"name": "d", "in": "query", "schema": {"type": "string"}},
    ]
    made = ("get", "/things", "listThings", "List things", {"parameters": parameters})
    [tool] = catalog_of(tmp_path, made).tools
    assert [*tool.choosable] == ["a", "d"]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("orderSupplies", "Order the supplies for a depot"),
        ("reportDamage", "Report damage to a street tree"),
        ("archiveContact", "Archive a contact"),
    ],
)
def test_a_verb_that_is_a_noun_elsewhere_still_says_what_a_tool_does(
    name: str, description: str
) -> None:
    others = [
        Tool(name=f"list{one}s", description=f"List the {one}s", parameters={}, category="x")
        for one in ("order", "report", "archive")
    ]
    tool = Tool(name=name, description=description, parameters={}, category="x")
    assert unclear_tools([tool, *others]) == {}


def test_names_that_end_in_methods_are_no_reason_to_leave_tools_out() -> None:
    tools = [
        Tool(name="apiAppGet", description="Get an app", parameters={}, category="x"),
        Tool(name="apiAppDelete", description="Delete an app", parameters={}, category="x"),
    ]
    assert unclear_tools(tools) == {}


def test_a_path_read_aloud_is_no_request(tmp_path: Path) -> None:
    catalog = catalog_of(
        tmp_path,
        ("get", "/api/Opds/{apiKey}/libraries/{libraryId}", "", "", {}),
        ("post", "/api/Users/update-preferences", "", "", {}),
        ("get", "/api/Book/{chapterId}/book-page", "", "This returns a single page.", {}),
        ("get", "/api/v1/health/ping", "", "", {}),
        ("get", "/api/v1/health", "v1.health.get", "Health", {}),
        (
            "post",
            "/api/Upload/chapter",
            "",
            "Replaces chapter cover image and locks it for now.",
            {},
        ),
        ("post", "/api/Server/backup-db-now", "", "", {}),
    )
    assert titles_of(catalog) == {
        "get_api_Opds_apiKey_libraries_libraryId": "get opds library",
        "post_api_Users_update_preferences": "update user preferences",
        "get_api_Book_chapterId_book_page": "return a single page",
        "get_api_v1_health_ping": "get health ping",
        "v1.health.get": "get health",
        "post_api_Upload_chapter": "replace chapter cover image and locks it for now",
        "post_api_Server_backup_db_now": "post API server backup db now",
    }
    assert [*left_out(catalog)] == ["post_api_Server_backup_db_now"]
