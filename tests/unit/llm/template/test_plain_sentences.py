"""Tools that nobody here knows are asked for in plain sentences, which say each value and are read by wording each call again."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.schemas import fits
from callwright.llm.template.plain_sentences import choose_plain, is_unknown, plain_values, says_plainly, word_plainly
from callwright.warehouse.errors import ReplyError

TEXT: dict[str, Any] = {"type": "string"}
SCHEMAS: tuple[dict[str, Any], ...] = (
    TEXT,
    {"type": "integer", "minimum": 3, "maximum": 40},
    {"type": "number"},
    {"type": "boolean", "description": "Provides pretty output."},
    {"type": "string", "enum": ["OPEN_NOW", "CLOSED"]},
    {"type": "string", "pattern": r"^(0|[1-9][0-9]*)$"},
    {"type": "string", "format": "uuid"},
    {"type": "string", "format": "date"},
    {"type": ["integer", "null"], "maximum": 12},
    {"oneOf": [{"type": "null"}, {"oneOf": [{"const": 0}, {"const": 1}], "type": "integer"}]},
    {"type": "array", "items": {"type": "string", "enum": ["DE", "FR", "PL"]}, "minItems": 2},
    {"type": "object", "properties": {"street": TEXT, "zip": TEXT}, "required": ["zip"]},
)
NAMES = ("team_gid", "client-secret", "status", "limit", "BankAccountID", "opt_pretty", "due_on", "where", "body")


def tool(name: str, description: str, **properties: dict[str, Any]) -> ToolView:
    return view_of(
        {"name": name, "description": description, "parameters": {"type": "object", "properties": properties}}
    )


def worded(view: ToolView, arguments: dict[str, Any], seed: int = 0) -> str:
    return word_plainly(view, arguments, "en", Random(seed)).request


unknown_tools = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(SCHEMAS), max_size=5).map(
    lambda properties: tool("getTeams", "Get the teams of a team", **properties)
)


@given(unknown_tools, st.integers(0, 2**32))
def test_what_is_made_up_fits_and_is_said_and_read_as_nothing_else(view: ToolView, seed: int) -> None:
    values = plain_values(view, [*view.properties], "en", Random(seed), {})
    assert all(fits(value, view.properties[name]) for name, value in values.items())
    request = word_plainly(view, values, "en", Random(seed))
    assert says_plainly(request.request, view, values, "en")
    assert set(request.mentions) == set(values)
    for name in values:
        without = {other: value for other, value in values.items() if other != name}
        assert not says_plainly(request.request, view, without, "en")


def test_a_thing_is_called_by_its_id() -> None:
    view = tool("getTeamMemberships", "Get team memberships from a team", team_gid=TEXT, order=TEXT)
    said = {worded(view, {"team_gid": "889205", "order": "name"}, seed) for seed in range(99)}
    assert 'Get team memberships from team 889205, please. The order is "name".' in said


def test_values_exchanged_are_other_words() -> None:
    view = tool("moveMoney", "Move money", source_id=TEXT, target_id=TEXT)
    request = worded(view, {"source_id": "A1", "target_id": "B2"})
    assert not says_plainly(request, view, {"source_id": "B2", "target_id": "A1"}, "en")


@pytest.mark.parametrize(
    ("name", "description", "act"),
    [
        ("get_active_guild_threads", "", "get active guild threads"),
        ("walletGet", "Fetch an e-wallet", "fetch an e-wallet"),
        ("getUser", "Retrieves a specific user", "retrieve the user"),
        ("get_my_guild", "Get my guild", "get my guild"),
        ("thread_search", "", "use thread search"),
        ("ban_user_from_guild", "", "use ban user from guild"),
    ],
)
def test_a_tool_is_asked_for_by_its_description_else_by_its_name(name: str, description: str, act: str) -> None:
    said = {worded(tool(name, description), {}, seed).lower() for seed in range(60)}
    assert f"{act}, please." in said


def test_a_flag_is_said_by_its_name() -> None:
    view = tool("getTask", "Get a task", opt_pretty={"type": "boolean", "description": "Provides pretty output."})
    assert worded(view, {"opt_pretty": False}).endswith("Opt pretty: no.")


def test_optional_objects_and_lists_are_left_out_where_there_is_something_else() -> None:
    view = tool("getTask", "Get a task", data={"type": "object"}, fields={"type": "array"}, title=TEXT)
    assert choose_plain(["data", "fields", "title"], 2, view, Random(1)) == ["title"]


def test_what_no_value_can_be_made_up_of_is_told_with_its_tool() -> None:
    view = tool("getTask", "Get a task", code={"type": "string", "pattern": "(?=a)b", "maxLength": 0})
    with pytest.raises(ReplyError, match=r"A call of 'getTask' can't be filled in: .*'code'"):
        plain_values(view, ["code"], "en", Random(0), {})


def test_tools_of_the_seed_catalog_and_those_made_here_are_known() -> None:
    assert not is_unknown(tool("Clock.Alarms.setAlarm", "Sets an alarm."))
    assert is_unknown(tool("getTask", "Get a task"))
