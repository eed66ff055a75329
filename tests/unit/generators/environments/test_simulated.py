"""Tools without an implementation, answered by simulation."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.conversations.moves import facts_of
from callwright.generators.environments.simulated import links_between, simulated_result
from callwright.generators.tools import value_validator
from callwright.warehouse.records import Arguments, JsonSchema, Tool

TOOLS = {tool.name: tool for tool in seed_tools(["en"])}
FIND, BOOK = TOOLS["Restaurants.Search.findRestaurants"], TOOLS["Restaurants.Booking.bookTable"]
ASKED: Arguments = {"city": "Boston", "cuisine": "Indian"}
SILENT = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


def test_the_same_call_is_answered_alike_and_as_the_schema_says() -> None:
    result = simulated_result(FIND, ASKED, 1)
    assert result == simulated_result(FIND, ASKED, 1)
    assert result != simulated_result(FIND, ASKED, 2)
    assert list(value_validator(FIND.returns or {}).iter_errors(result)) == []


@pytest.mark.parametrize("name", sorted(TOOLS))
async def test_every_tool_of_the_catalog_can_be_simulated(name: str) -> None:
    tool = TOOLS[name]
    assert (
        list(value_validator(tool.returns or {}).iter_errors(simulated_result(tool, {}, 1))) == []
    )


@pytest.mark.parametrize(
    ("name", "returned"), [("Shop.findShoes", "results"), ("Shop.orderShoes", "reference")]
)
@pytest.mark.parametrize("returns", [None, {"type": "object"}])
def test_a_tool_that_does_not_say_what_it_returns_is_answered_by_what_it_does(
    name: str, returned: str, returns: JsonSchema | None
) -> None:
    tool = Tool(
        name=name, description="Shoes.", parameters=SILENT, returns=returns, category="Shop"
    )
    result = simulated_result(tool, {"query": "red shoes"}, 1)
    assert isinstance(result, dict)
    assert returned in result


def test_lists_are_as_long_as_asked_for_and_hold_each_thing_once() -> None:
    result = simulated_result(FIND, ASKED, 1, entries=1)
    assert isinstance(result, dict)
    assert len(result["restaurants"]) == 1  # type: ignore[arg-type]


def test_a_limit_of_the_call_only_narrows_what_the_schema_allows() -> None:
    flights = TOOLS["Flights.Search.findFlights"]
    given: Arguments = {
        "origin": "Oslo",
        "destination": "Riga",
        "date": "2026-12-01",
        "max_price": 4999,
    }
    for seed in range(20):
        result = simulated_result(flights, given, seed)
        assert isinstance(result, dict)
        assert all(40 <= entry["price"] <= 900 for entry in result["flights"])  # type: ignore[union-attr,index,call-overload,operator]


TEXT: JsonSchema = {"type": "string"}
NUMBER: JsonSchema = {"type": "string", "pattern": r"^\d+$"}
UUID: JsonSchema = {"type": "string", "examples": ["78261eea-8f8b-4381-83c6-79fa7120f1cf"]}


def the_object(**members: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": members}


def a_list(**members: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": the_object(**members)}


def answer(
    name: str, parameters: dict[str, JsonSchema], arguments: Arguments, returns: JsonSchema
) -> dict[str, Any]:
    tool = Tool(
        name=name,
        description="A tool.",
        parameters={**the_object(**parameters), "required": [*parameters]},
        returns=returns,
        category="Shop",
    )
    result = simulated_result(tool, arguments, 1)
    assert isinstance(result, dict)
    assert list(value_validator(returns).iter_errors(result)) == []
    return result


@given(
    st.sampled_from(("adAccountId", "ad_account_id", "AdAccountID", "ad-account-id")),
    st.sampled_from(("adAccountId", "ad_account_id")),
    st.from_regex(r"[0-9]{4,9}", fullmatch=True),
)
def test_a_member_named_like_an_argument_has_its_value(asked: str, member: str, value: str) -> None:
    described: JsonSchema = {**NUMBER, "description": "Advertiser ID."}
    returns = the_object(state=TEXT, **{member: described}, data=the_object(**{member: NUMBER}))
    result = answer("leads/get", {asked: NUMBER}, {asked: value}, returns)
    assert result[member] == result["data"][member] == value


def test_names_in_other_letters_are_told_apart() -> None:
    result = answer("查询", {"城市": TEXT}, {"城市": "上海"}, the_object(城市=TEXT, 天气=TEXT))
    assert result["城市"] == "上海"
    assert result["天气"] != "上海"


def test_a_list_of_things_that_the_document_does_not_describe_is_empty() -> None:
    unknown = {"type": "array", "items": {"type": "object"}}
    returns = the_object(title=TEXT, legs=unknown, trip=the_object(parts=unknown))
    result = answer("orders/get", {"id": TEXT}, {"id": "8f14"}, returns)
    assert (result["legs"], result["trip"]) == ([], {"parts": []})


def test_a_member_of_another_type_is_made() -> None:
    returns = the_object(owner={"type": "integer"})
    assert isinstance(answer("leads/get", {"owner": TEXT}, {"owner": "Ada"}, returns)["owner"], int)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("segments/get", "id"),
        ("segments/remove", "segment_id"),
        ("getSegment", "segmentId"),
        ("ad_segments/get_by_id", "segment_id"),
        ("oauth/revoke-segment", "oauth_segment_id"),
        ("segments/update", "identifier"),
        ("getBookSegment", "segment_id"),
        ("book.segment/get", "segment_id"),
    ],
)
@pytest.mark.parametrize("wrapper", ["", "data", "item", "segment"])
@pytest.mark.parametrize("own", ["id", "segmentId"])
def test_a_single_thing_has_the_id_that_it_was_asked_by(
    name: str, asked: str, wrapper: str, own: str
) -> None:
    thing = the_object(**{own: UUID, "other_id": UUID})
    result = answer(
        name,
        {asked: TEXT},
        {asked: "REF959184"},
        the_object(**{wrapper: thing}) if wrapper else thing,
    )
    thing_returned = result[wrapper] if wrapper else result
    assert thing_returned[own] == "REF959184"
    assert thing_returned["other_id"] != "REF959184"


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("segments/create", "audience_id"),
        ("createSegment", "id"),
        ("segments_create", "segment_identifier"),
        ("segments/duplicate", "segment_id"),
        ("audiences/get", "business_id"),
    ],
)
def test_a_thing_that_is_new_or_of_another_kind_has_its_own_id(name: str, asked: str) -> None:
    result = answer(name, {asked: TEXT}, {asked: "REF959184"}, the_object(id=UUID))
    assert result["id"] != "REF959184"


def test_a_new_thing_has_the_id_that_was_chosen_for_it() -> None:
    result = answer("createUser", {"userId": TEXT}, {"userId": "ada"}, the_object(user_id=TEXT))
    assert result["user_id"] == "ada"


def test_entries_have_what_they_were_filtered_by_and_ids_of_their_own() -> None:
    entry = {"id": NUMBER, "order_id": NUMBER, "shopId": NUMBER, "count": {"type": "integer"}}
    result = answer(
        "orders/list",
        {"shop_id": NUMBER, "id": NUMBER, "order_id": NUMBER, "count": {"type": "integer"}},
        {"shop_id": "5512", "id": "77001122", "order_id": "77001123", "count": 2},
        the_object(orders=a_list(**entry)),
    )
    assert {one["shopId"] for one in result["orders"]} == {"5512"}
    assert "77001122" not in {one["id"] for one in result["orders"]}
    assert "77001123" not in {one["order_id"] for one in result["orders"]}


def test_entries_that_share_what_was_asked_differ_in_the_rest() -> None:
    parameters, returns = {"shop": TEXT}, the_object(orders=a_list(shop=TEXT, number=NUMBER))
    tool = Tool(
        name="orders/list",
        description="Orders.",
        parameters=the_object(**parameters),
        returns=returns,
        category="Shop",
    )
    result = simulated_result(tool, {"shop": "Corner"}, 1, entries=3)
    assert isinstance(result, dict)
    assert len({one["number"] for one in result["orders"]}) == 3  # type: ignore[union-attr,index,call-overload]


@pytest.mark.parametrize("name", ["bookmark", "cursor", "nextPageToken", "next_token", "next"])
def test_the_next_page_is_named_by_a_code(name: str) -> None:
    pins = {"allOf": [{"type": "array", "items": {"type": "object"}}, a_list(title=TEXT)]}
    paged = the_object(**{name: {"type": ["string", "null"]}}, items=pins)
    for returns in (paged, {"allOf": [paged, the_object(total={"type": "integer"})]}):
        result = answer("pins/list", {"term": TEXT}, {"term": "red"}, returns)
        tool = Tool(name="a", description="A.", parameters={}, returns=returns, category="Shop")
        assert re.fullmatch(r"[0-9a-f]{24}", result[name])
        assert result[name] not in {fact.value for fact in facts_of(result, tool)}


def test_entries_of_a_list_in_parts_hold_what_was_asked() -> None:
    parts = {"allOf": [{"type": "array", "items": {"type": "object"}}, a_list(shop=TEXT)]}
    result = answer("pins/list", {"shop": TEXT}, {"shop": "Corner"}, the_object(items=parts))
    assert {one["shop"] for one in result["items"]} == {"Corner"}


def test_what_is_converted_comes_out_as_something_else() -> None:
    convert = TOOLS["Clock.WorldClock.convertTime"]
    given: Arguments = {"time": "07:15", "from_city": "Oslo", "to_city": "Tokyo"}
    results = [simulated_result(convert, given, seed) for seed in range(5)]
    assert any(isinstance(one, dict) and one["time"] != "07:15" for one in results)


def test_a_bookmark_that_stands_by_itself_is_said() -> None:
    returns = the_object(bookmark=TEXT)
    asked = {"bookmark": "Recipes for winter"}
    assert answer("bookmarks/get", {"bookmark": TEXT}, asked, returns) == asked


@pytest.mark.parametrize(
    ("asked", "given", "returned", "told"),
    [("integer", 677, "string", "677"), ("string", "53106", "integer", 53106)],
)
def test_the_id_of_a_thing_is_repeated_as_the_result_writes_it(
    asked: str, given: int | str, returned: str, told: int | str
) -> None:
    returns = the_object(id={"type": returned}, title=TEXT)
    assert answer("getArticle", {"id": {"type": asked}}, {"id": given}, returns)["id"] == told


def test_an_id_links_only_tools_about_the_same_thing() -> None:
    def tool(name: str, returns: JsonSchema) -> Tool:
        taken = {**the_object(id=TEXT), "required": ["id"]} if name.startswith("get") else {}
        return Tool(name=name, description="A.", parameters=taken, returns=returns, category="Shop")

    users = tool("list_users", the_object(users=a_list(id=TEXT, name=TEXT)))
    orders = tool("list_orders", the_object(data=a_list(id=TEXT, name=TEXT)))
    order = tool("get_order", the_object(id=TEXT))
    assert links_between(users, order) == []
    assert [link.source for link in links_between(orders, order)] == ["list_orders"]


def test_a_reply_does_not_tell_where_in_a_longer_list_its_result_stands() -> None:
    number = {"type": "integer"}
    after = the_object(per_page=number, starting_after=TEXT)
    returns = the_object(
        type=TEXT,
        pages=the_object(page=number, next=after),
        links=the_object(next=TEXT, self=TEXT),
        limit=number,
        first={**TEXT, "description": "Cursor to identify the first article"},
        articles=a_list(type=TEXT, id=TEXT, title=TEXT),
    )
    tool = Tool(
        name="list_articles", description="A.", parameters={}, returns=returns, category="Shop"
    )
    entry = {"type": "article", "id": "A-17", "title": "Moving in"}
    result = {
        "type": "list",
        "pages": {"page": 1, "next": {"per_page": 5, "starting_after": "WzE2"}},
        "links": {"next": "https://redwood.example/next", "self": "https://redwood.example/self"},
        "limit": 5,
        "first": "WzE3",
        "articles": [entry],
    }
    told = [(fact.label, fact.value) for fact in facts_of(result, tool)]
    assert told[:2] == [("article id", "A-17"), ("title", "Moving in")]
    assert [value for _, value in told[2:]] == ["list", "article"]


def test_what_was_done_is_answered_with_yes() -> None:
    tool = Tool(
        name="delete_series",
        description="Deletes a series.",
        parameters=SILENT,
        returns={"type": "boolean"},
        category="Shop",
    )
    assert all(simulated_result(tool, {"query": "x"}, seed) is True for seed in range(10))
    looked = tool.with_changes(name="get_opds_enabled", description="Whether OPDS is on.")
    assert {simulated_result(looked, {"query": "x"}, seed) for seed in range(20)} == {True, False}


def test_a_result_that_is_one_value_is_a_fact() -> None:
    tool = Tool(
        name="get_invite_url",
        description="Gets the URL.",
        parameters=SILENT,
        returns={"type": "string"},
        category="Shop",
    )
    assert [fact.value for fact in facts_of("https://a.example", tool)] == ["https://a.example"]


def returning(name: str, **members: JsonSchema) -> Tool:
    returns = {"type": "object", "properties": {"id": {"type": "integer"}, **members}}
    return Tool(
        name=name, description="Kites.", parameters=SILENT, returns=returns, category="Shop"
    )


def test_what_was_just_made_is_neither_off_nor_gone() -> None:
    flag: JsonSchema = {"type": "boolean"}
    ends: JsonSchema = {"type": "string", "format": "date-time"}
    made = simulated_result(
        returning("create_kite", ready=flag, is_disabled=flag, deleted_at=ends, created_at=ends),
        {"query": "x"},
        1,
    )
    assert isinstance(made, dict)
    assert (made["ready"], made["is_disabled"]) == (True, False)
    assert made.keys() == {"id", "ready", "is_disabled", "created_at"}
    disabled = simulated_result(returning("disable_kite", is_disabled=flag), {"query": "x"}, 1)
    assert isinstance(disabled, dict)
    assert disabled["is_disabled"] is True


def test_the_text_of_a_status_says_what_its_number_does() -> None:
    words = ["success", "pending", "fail"]
    tool = returning(
        "get_kite",
        status={"type": "integer", "enum": [0, 1, 2]},
        statusText={"type": "string", "enum": words},
    )
    results: list[Any] = [simulated_result(tool, {"query": "x"}, seed) for seed in range(20)]
    assert {one["statusText"] for one in results} == {*words}
    assert all(one["statusText"] == words[one["status"]] for one in results)


def test_limits_are_in_order_whatever_else_their_names_say() -> None:
    hours: JsonSchema = {"type": "integer", "format": "int32"}
    tool = returning("get_kite", minHoursToRead=hours, maxHoursToRead=hours)
    results: list[Any] = [simulated_result(tool, {"query": "x"}, seed) for seed in range(20)]
    assert all(one["minHoursToRead"] <= one["maxHoursToRead"] for one in results)
