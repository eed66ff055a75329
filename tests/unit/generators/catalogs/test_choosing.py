"""Choosing of a catalog: patterns, names, categories, constants."""

from typing import Any

import pytest

from callwright.generators.catalogs.choosing import (
    ListedTool,
    ToolChoice,
    adapt,
    choose,
    read_constants,
    read_pairs,
    read_pattern,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool

LISTED = [
    ListedTool("1", "getUser", "users", "get", "/v1/users/{id}", ("users", "read")),
    ListedTool("2", "dropUser", "users", "delete", "/v1/users/{id}", ("users",)),
    ListedTool("3", "listCalls", "calls", "get", "/v1/calls", ()),
]


def tool(name: str, **parameters: Any) -> Tool:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return Tool(name=name, description="Does it.", parameters=schema, category="calls")


TOOLS = [
    tool("makeCall", AccountSid={"type": "string", "pattern": "^AC"}, To={"type": "string"}),
    tool("listCalls", AccountSid={"type": "string", "pattern": "^AC"}),
    tool("ping", Times={"type": "integer"}),
]


@pytest.mark.parametrize(
    ("include", "exclude", "names"),
    [
        ([], [], ["getUser", "dropUser", "listCalls"]),
        (["get*"], [], ["getUser"]),
        ([{"tag": "users"}], [{"method": "DELETE"}], ["getUser"]),
        ([{"path": "/v1/calls*"}, {"name": "drop*"}], [], ["dropUser", "listCalls"]),
        ([], [{"tag": "users", "method": "get"}], ["dropUser", "listCalls"]),
        ([{"category": "calls"}], [], ["listCalls"]),
    ],
)
def test_tools_are_chosen_by_name_tag_path_method_and_category(
    include: Any, exclude: Any, names: list[str]
) -> None:
    choice = ToolChoice(include=include, exclude=exclude)
    assert [one.name for one in choose(LISTED, choice)] == names


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            {"include": ["lost*"]},
            r"No tool of the catalog fits name=lost\*; it has dropUser, getUser, listCalls",
        ),
        ({"exclude": [{"tag": "gone"}]}, r"fits tag=gone"),
        ({"include": ["get*"], "exclude": ["get*"]}, r"none is left"),
    ],
)
def test_a_pattern_that_fits_nothing_is_an_error(choice: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        choose(LISTED, ToolChoice(**choice))


def test_required_plumbing_with_a_default_is_fixed_unless_the_recipe_says_otherwise() -> None:
    method = {"type": "string", "default": "GET"}
    offers = tool(
        "getOffers", **{"X-HTTP-Method-Override": method}, city={"type": "string", "default": "Ulm"}
    )
    marked = offers.with_changes(plumbing=("X-HTTP-Method-Override",))

    (fixed,) = adapt([marked], ToolChoice())
    assert (list(fixed.properties), fixed.required) == (["city"], ("city",))
    assert (fixed.constants, fixed.plumbing) == ({"X-HTTP-Method-Override": "GET"}, ())
    (stated,) = adapt([marked], ToolChoice(constants={"X-HTTP-Method-Override": "POST"}))
    assert stated.constants == {"X-HTTP-Method-Override": "POST"}
    (open_one,) = adapt([marked], ToolChoice(plumbing={"X-HTTP-Method-Override": False}))
    assert "X-HTTP-Method-Override" in open_one.required


def test_a_constant_is_hidden_and_carried() -> None:
    constants = {"AccountSid": "AC1", "list*.AccountSid": "AC2"}
    choice = ToolChoice(constants=constants, rename={"ping": "knock"}, categories={"ping": "Doors"})
    make, listing, ping = adapt(TOOLS, choice)
    assert (list(make.properties), make.required, make.constants) == (
        ["To"],
        ("To",),
        {"AccountSid": "AC1"},
    )
    assert "AccountSid" not in str(make.signature)
    assert (listing.constants, listing.required) == ({"AccountSid": "AC2"}, ())
    assert (ping.name, ping.category, ping.constants) == ("knock", "Doors", {})


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"constants": {"AccountSid": "XX"}}, r"'makeCall' can't have 'XX' for 'AccountSid'"),
        (
            {"constants": {"Account": "AC1"}},
            r"No tool has the parameter 'Account' to be fixed; there are AccountSid, Times, To",
        ),
        ({"constants": {"lost.To": "AC1"}}, r"No tool fits 'lost'"),
        (
            {"rename": {"lost": "x"}},
            r"There is no tool 'lost' to be renamed; there are listCalls, makeCall, ping",
        ),
        ({"rename": {"makeCall": "ping"}}, r"Two tools would be called 'ping'"),
        ({"categories": {"lost*": "x"}}, r"No tool fits 'lost\*'"),
    ],
)
def test_a_choice_that_does_not_fit_is_explained(choice: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        adapt(TOOLS, ToolChoice(**choice))


def test_options_of_the_command_line_are_read() -> None:
    assert read_pattern("get*").name == "get*"
    assert read_pattern("tag=a, method=get").model_dump(exclude_defaults=True) == {
        "tag": "a",
        "method": "get",
    }
    assert read_pairs("--rename", ["a=b"]) == {"a": "b"}
    assert read_constants(["a=1", "b=AC=1", 'c="1"', "d=[1]"]) == {
        "a": 1,
        "b": "AC=1",
        "c": "1",
        "d": [1],
    }
    for wrong in ("", "colour=red", "tag="):
        with pytest.raises(ConfigurationError, match="is no pattern"):
            read_pattern(wrong)
    with pytest.raises(ConfigurationError, match="--rename 'a' is no pair"):
        read_pairs("--rename", ["a"])
