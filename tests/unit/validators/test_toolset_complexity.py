"""Tools too complex to be asked for, and resources that can't be managed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.catalog import MOST_PARAMETERS
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.testing import make_tool
from callwright.validators.toolset.complexity import (
    MANY_PARAMETERS,
    check_complexity,
    find_gaps,
    gap_facts,
)
from callwright.warehouse.records import Tool

TEXT: dict[str, str] = {}


def _numbered(count: int, *, required: int = 0) -> Tool:
    names = [f"word{number}" for number in range(count)]
    return make_tool(
        "findThings", "Find things.", required=names[:required], **dict.fromkeys(names, TEXT)
    )


@given(st.integers(0, 20), st.integers(0, 20))
def test_a_tool_is_the_more_doubtful_the_more_has_to_be_said(count: int, required: int) -> None:
    [verdict] = check_complexity([_numbered(count, required=min(count, required))])
    if count > MOST_PARAMETERS:
        assert verdict.decision == "contradicted"
    else:
        assert verdict.decision == (
            "unproved" if count > MANY_PARAMETERS or min(count, required) > 4 else "proved"
        )
    assert bool(verdict.reason) == (verdict.decision != "proved")


@pytest.mark.parametrize(
    ("doubtful", "word"),
    [
        (make_tool("getProfile", "Show the profile.", user_id=TEXT), "only one"),
        (make_tool("createNote", "Create a note.", note_id=TEXT), "about to make"),
        (make_tool("cancelOrder", "Cancel an order.", order_id=TEXT), "No tool of the category"),
        (make_tool("getBalance", "Show the balance.", access_token=TEXT), "signs the user in"),
        (make_tool("getBalance", "Show the balance.", api_key=TEXT), "signs the user in"),
        (
            make_tool(
                "sendParcel", "Send.", recipient={"type": "object", "properties": {"name": {}}}
            ),
            "Objects",
        ),
        (make_tool("getBalance", "", account=TEXT), "no description"),
        (make_tool("getBalance", "Show.", account={"description": " "}), "No description says"),
    ],
)
def test_what_makes_a_tool_hard_to_ask_for_is_said(doubtful: Tool, word: str) -> None:
    [verdict] = check_complexity([doubtful])
    assert verdict.decision == "unproved"
    assert word in verdict.reason


def test_the_seed_catalog_is_simple() -> None:
    verdicts = check_complexity(seed_tools())
    assert sum(verdict.decision != "proved" for verdict in verdicts) <= 0.02 * len(verdicts)


def _names(*names: str) -> list[Tool]:
    return [make_tool(name, name, title=TEXT) for name in names]


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (("createNote", "listNotes", "updateNote"), "(note) can't be deleted by"),
        (("addContact", "deleteContact"), "(contact) can't be shown or changed by"),
        (("bookRoom", "searchRooms", "cancelBooking"), "(booking) can't be shown or changed by"),
        (("setAlarm", "deleteAlarm", "listAlarms"), "(alarm) can't be changed by"),
        (("orderFood",), "(order) can't be shown or changed or deleted by"),
        (("saveArticleForLater", "listArticles"), "(article) can't be changed or deleted by"),
    ],
)
def test_what_can_be_created_but_not_managed_is_a_finding_about_the_category(
    names: tuple[str, ...], missing: str
) -> None:
    [problem] = find_gaps(_names(*names))
    assert (problem.where, problem.tool, problem.kind) == ("Any", names[0], "crud_gap")
    assert missing in problem.message
    [fact] = gap_facts(_names(*names))
    assert fact.other == [one for one in ("show", "change", "delete") if one in missing]


@pytest.mark.parametrize(
    "names",
    [("setVolume",), ("addSongToPlaylist",), ("sendMessage",), ("searchFlights", "getFlight")],
)
def test_what_is_not_kept_has_no_gap(names: tuple[str, ...]) -> None:
    assert find_gaps(_names(*names)) == []


def test_real_tools_are_mostly_simple(shared: Path) -> None:
    tools = read_catalog("hammerbench", shared / "data/hammerbench/sample100").tools
    verdicts = check_complexity(tools)
    assert sum(verdict.decision == "proved" for verdict in verdicts) >= 0.9 * len(tools)
    assert not any(verdict.decision == "contradicted" for verdict in verdicts)
