"""Links of OpenAPI tools: inferred from names and types, told in descriptions, borne out by
responses.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.generators.environments.endpoints import Endpoint, endpoints_of, read_endpoints
from callwright.generators.environments.exploring import Example, is_borne_out
from callwright.generators.environments.linking import (
    MOST_HINTS,
    find_links,
    likeliest_links,
    with_hints,
)
from callwright.generators.environments.picking import argument_with, values_of_parameter
from callwright.warehouse.records import Call, JsonSchema, Link, Tool
from callwright.warehouse.tool_notes import notes_in

NONE: JsonSchema = {"type": "object", "properties": {}}


@pytest.fixture
def endpoints(shop: Path) -> tuple[Endpoint, ...]:
    return read_endpoints(shop, allow=["POST */filter"])


def sources(links: tuple[Link, ...], tool: str, parameter: str) -> list[tuple[str, str, str]]:
    return [
        (one.source, one.entries, one.field)
        for one in links
        if (one.tool, one.parameter) == (tool, parameter)
    ]


def test_the_id_in_a_path_comes_from_every_response_that_names_the_thing(
    endpoints: tuple[Endpoint, ...],
) -> None:
    links = find_links(endpoints)
    assert sources(links, "read_customer", "id") == [
        ("list_customers", "data", "id"),
        ("find_customer", "", "id"),
        ("read_order", "", "customer_id"),
        ("filter_orders", "", "customer_id"),
    ]
    assert sources(links, "read_order", "id") == [
        ("list_orders", "", "id"),
        ("filter_orders", "", "id"),
        ("list_customers", "data", "order_id"),
        ("read_customer", "", "order_id"),
        ("find_customer", "", "order_id"),
    ]


def test_an_id_of_another_type_or_of_the_same_tool_is_no_link(
    endpoints: tuple[Endpoint, ...],
) -> None:
    links = find_links(endpoints)
    assert all(link.source != link.tool for link in links)
    assert not [one for one in sources(links, "read_order", "id") if one[2] == "customer_id"]


def test_a_name_that_people_say_is_no_link_but_a_reference_by_name_is(
    endpoints: tuple[Endpoint, ...],
) -> None:
    assert sources(find_links(endpoints), "find_customer", "name") == []
    assert ("list_customers", "data", "name") in sources(
        find_links(endpoints, spoken=True), "find_customer", "name"
    )
    assert ("read_customer", "", "shop_name") in sources(find_links(endpoints), "read_shop", "name")


def test_a_link_holds_where_a_value_of_the_source_brought_something() -> None:
    link = Link(tool="read", parameter="id", source="list", entries="data", field="id")
    listed = Example(Call(tool="list"), {"data": [{"id": 3}, {"id": None}, {"name": "x"}]})

    def read(value: JsonValue, response: JsonValue) -> bool:
        examples = {
            "list": (listed,),
            "read": (Example(Call(tool="read", arguments={"id": value}), response),),
        }
        return is_borne_out(link, examples)

    assert read(3, {"name": "y"})
    assert not read(3, [])
    assert not read("3", {"name": "y"})
    assert not read(4, {"name": "y"})
    assert not is_borne_out(link, {"list": (Example(Call(tool="list"), "nothing like it"),)})


NAMES = st.from_regex(r"[a-z_]{1,5}(\[\])?", fullmatch=True)


@given(st.lists(NAMES, min_size=1, max_size=4), st.integers() | st.text())
def test_a_value_put_at_a_parameters_place_is_found_there(
    pieces: list[str], value: JsonValue
) -> None:
    parameter = ".".join(pieces)
    assert list(values_of_parameter(argument_with(parameter, value), parameter)) == [value]


def test_a_name_of_what_is_made_itself_comes_from_no_response() -> None:
    text = {"type": "string"}
    field = {"type": "object", "properties": {"id": text, "display_name": text, "owner_name": text}}
    taken = {
        "type": "object",
        "properties": {"display_name": text, "field_name": text, "owner_name": text},
    }
    listed: JsonSchema = {"type": "array", "items": field}
    tools = [
        Tool(
            name="list_fields",
            description="List.",
            category="Fields",
            parameters=NONE,
            returns=listed,
        ),
        Tool(
            name="list_owners",
            description="List.",
            category="Fields",
            parameters=NONE,
            returns=listed,
        ),
        Tool(
            name="create_field",
            description="Create.",
            category="Fields",
            parameters=taken,
            returns=field,
        ),
    ]
    links = find_links(
        endpoints_of(tools, [("get", "/fields"), ("get", "/owners"), ("post", "/fields")])
    )
    assert {one.parameter for one in links} == {"owner_name"}


@pytest.mark.parametrize("method", ["post", "patch"])
def test_a_thing_has_a_number_of_its_own_though_a_list_of_its_like_has_some(method: str) -> None:
    text = {"type": "string"}
    bank: JsonSchema = {"type": "object", "properties": {"id": text, "bank_number": text}}
    taken: JsonSchema = {"type": "object", "properties": {"bank_id": text, "bank_number": text}}
    listed: JsonSchema = {"type": "array", "items": bank}

    def tool(name: str, parameters: JsonSchema, returns: JsonSchema) -> Tool:
        return Tool(
            name=name, description=name, category="Banks", parameters=parameters, returns=returns
        )

    tools = [
        tool("list_banks", NONE, listed),
        tool("put_bank", taken, bank),
        tool("pay", taken, bank),
    ]
    path = "/banks/{bank_id}" if method == "patch" else "/banks"
    links = find_links(endpoints_of(tools, [("get", "/banks"), (method, path), ("post", "/pay")]))
    assert sources(links, "put_bank", "bank_number") == []
    assert sources(links, "put_bank", "bank_id") == [("list_banks", "", "id")]
    assert sources(links, "pay", "bank_number")[0] == ("list_banks", "", "bank_number")


def test_what_a_thing_holds_does_not_give_the_things_id_once_more() -> None:
    text = {"type": "string"}
    service: JsonSchema = {"type": "object", "properties": {"carrier_id": text, "name": text}}
    carrier: JsonSchema = {
        "type": "object",
        "properties": {"carrier_id": text, "services": {"type": "array", "items": service}},
    }
    listed: JsonSchema = {
        "type": "object",
        "properties": {"carriers": {"type": "array", "items": carrier}},
    }
    taken: JsonSchema = {"type": "object", "properties": {"carrier_id": text}}
    tools = [
        Tool(name="list_carriers", description="", category="", parameters=NONE, returns=listed),
        Tool(name="get_carrier", description="", category="", parameters=taken, returns=carrier),
    ]
    paths = [("get", "/carriers"), ("get", "/carriers/{carrier_id}")]
    links = find_links(endpoints_of(tools, paths))
    assert sources(links, "get_carrier", "carrier_id") == [
        ("list_carriers", "carriers", "carrier_id")
    ]


def test_an_id_below_a_resource_comes_from_the_resources_list() -> None:
    """A shortened name is spelled out; entries of several kinds are those of the first."""
    text = {"type": "string"}
    home = {"type": "object", "title": "US", "properties": {"id": text, "zip": text}}
    abroad = {"type": "object", "title": "Abroad", "properties": {"id": text, "country": text}}
    groups: JsonSchema = {"type": "array", "items": {"properties": {"id": text, "name": text}}}
    listed: JsonSchema = {
        "type": "object",
        "properties": {"data": {"type": "array", "items": {"oneOf": [home, abroad]}}},
    }

    def tool(name: str, returns: JsonSchema | None, *parameters: str) -> Tool:
        schema: JsonSchema = {"type": "object", "properties": dict.fromkeys(parameters, text)}
        return Tool(
            name=name, description=name, category="Mail", parameters=schema, returns=returns
        )

    tools = [
        tool("list_addresses", listed),
        tool("read_address", home, "adr_id"),
        tool("list_groups", groups),
        tool("read_group", None, "bg_id"),
    ]
    paths = ["/addresses", "/addresses/{adr_id}", "/billing_groups", "/billing_groups/{bg_id}"]
    links = find_links(endpoints_of(tools, [("GET", path) for path in paths]))
    assert sources(links, "read_address", "adr_id") == [("list_addresses", "data", "id")]
    assert sources(links, "read_group", "bg_id") == [("list_groups", "", "id")]


def test_a_description_names_every_source_that_goals_are_planned_by_its_own_domains_first() -> None:
    text = {"type": "string"}
    album = {"type": "object", "properties": {"album_id": text}}

    def tool(name: str, category: str, returns: JsonSchema | None, *takes: str) -> Tool:
        schema: JsonSchema = {"type": "object", "properties": dict.fromkeys(takes, text)}
        return Tool(
            name=name, description=name, category=category, parameters=schema, returns=returns
        )

    listed: JsonSchema = {"type": "array", "items": album}
    elsewhere = [tool(f"list_{number}", "Artists", listed) for number in range(MOST_HINTS)]
    tools = [
        tool("read_album", "Albums", None, "album_id"),
        *elsewhere,
        tool("make_album", "Albums", album),
        tool("list_saved_albums", "Albums", listed),
    ]
    found = find_links(endpoints_of(tools, [("GET", f"/{one.name}") for one in tools]))
    links = likeliest_links(tools, found)
    (hinted, *_) = with_hints(tools, links)
    named = [one.source for one in notes_in(hinted.properties["album_id"]["description"])]
    assert named == [link.source for link in links if link.parameter == "album_id"]
    assert named == ["list_saved_albums", "make_album", "list_0", "list_1"]
