"""Values that make sense with what a tool does, as outside readers of samples asked for."""

from random import Random

import pytest

from callwright.generators.own_values import NO_VALUES
from callwright.language.calls.parameters import tells_values, with_told_example
from tests.support.warehouse.fixtures import make_tool

DAY = {"type": "string", "format": "date"}
FLAG = {"type": "boolean"}


def drawn(tool, names, seed):
    return NO_VALUES.fill(tool, names, "en", Random(seed))


@pytest.mark.parametrize(
    ("tool", "flag"), [("removeComment", "removed"), ("block_community", "block"), ("ban", "ban")]
)
def test_a_flag_that_is_what_the_tool_does_is_set(tool: str, flag: str) -> None:
    made = make_tool(tool, **{flag: FLAG})
    assert all(drawn(made, [flag], seed)[flag] for seed in range(40))
    other = make_tool(tool, is_pinned=FLAG)
    assert not all(drawn(other, ["is_pinned"], seed)["is_pinned"] for seed in range(40))


def test_periods_named_by_comparisons_are_in_order() -> None:
    names = ["created_gt", "created_lt"]
    made = make_tool("list_runs", created_gt=DAY, created_lt=DAY)
    for seed in range(40):
        values = drawn(made, names, seed)
        assert values["created_gt"] < values["created_lt"]


@pytest.mark.parametrize(
    "example",
    ["224%20Rue%20de%20Rivoli", "name:'My store'|type:'click'", "POLYGON ((1 2, 3 4))", "a|b"],
)
def test_what_programs_write_is_nothing_that_people_give(example: str) -> None:
    assert not tells_values("query", {"type": "string", "examples": [example]})
    assert tells_values("query", {"type": "string", "examples": ["London"]})


@pytest.mark.parametrize(
    ("described", "code"),
    [
        ("Number of the ticket, such as T-1042", "T-1042"),
        ("The order, e.g. ord_9912x.", "ord_9912x"),
        ("Número del pedido, por ejemplo PED-5512", "PED-5512"),
        ("订单编号，例如 DD20331", "DD20331"),
        ("Name, such as London", None),
    ],
)
def test_a_code_that_a_description_shows_is_an_example(described: str, code: str | None) -> None:
    schema = with_told_example({"type": "string", "description": described})
    assert schema.get("examples") == ([code] if code else None)


def test_a_report_has_a_reason_to_report() -> None:
    reason = {"type": "string", "description": "The reason."}
    made = make_tool("report_post", reason=reason)
    said = {drawn(made, ["reason"], seed)["reason"] for seed in range(30)}
    assert "it is spam" in said
    assert not any("appointment" in one or "wedding" in one for one in said)
