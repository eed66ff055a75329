"""What people say of tools that nobody here knows: by closed lists, the rest refused with a reason."""

from random import Random
from typing import Any

import pytest

from callwright.language.calls.meanings import worlds
from callwright.language.calls.tools import view_of
from callwright.language.calls.unknown_tools import Unknown, spoken_values, unknown

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}


def _tool(name: str, description: str, **properties: dict[str, Any]) -> Unknown:
    parameters = {"type": "object", "properties": properties}
    found = unknown(view_of({"name": name, "description": description, "parameters": parameters}))
    assert found is not None
    return found


def test_a_tool_of_the_seed_catalog_or_one_made_here_is_known() -> None:
    shown = {"name": "Clock.Alarms.setAlarm", "description": "Sets an alarm.", "parameters": {}}
    assert unknown(view_of(shown)) is None


def test_a_tool_whose_language_has_no_words_for_such_tools_is_worded_as_before() -> None:
    assert unknown(view_of({"name": "findTrains", "description": "查询列车车次", "parameters": {}})) is None


@pytest.mark.parametrize(
    ("name", "description", "kind", "thing"),
    [
        ("get_weather", "Get the weather forecast", "look", ""),
        ("listOrders", "List all orders", "look", "the orders"),
        ("deletePet", "Deletes a pet", "drop", "the pet"),
        ("createTask", "Create a new task", "make", "a task"),
        ("snow_report", "Get the snow report", "look", "the snow report"),
        ("getPluginStatuses", "Get plugin status", "look", "the plugin status"),
        ("getFamilyPlan", "Get the family plan", "look", "the family plan"),
        ("renewPolicy", "Renew a policy", "renew", "the policy"),
    ],
)
def test_a_verb_and_an_object_on_which_name_and_description_agree_are_asked_for(
    name: str, description: str, kind: str, thing: str
) -> None:
    action = _tool(name, description).action
    if thing:
        assert (action.gap, action.kind, action.thing) == ("", kind, thing)
    else:
        assert "does not have the object" in action.gap


@pytest.mark.parametrize(
    ("name", "description", "reason"),
    [
        ("getOrders", "Delete an order", "do not agree on a verb"),
        ("delete_files_id_trash", "Permanently remove file. Deletes a file that is in the trash.", "'trash'"),
        ("DeleteSamlCertificate", "Delete certificate", "'saml'"),
        ("getStatuses", "Get the status of an object", "'object'"),
        ("userLogout", "Handle user logout", "no verb and object"),
        ("users", "", "no verb and object"),
        ("getTeamsForUser", "Get the teams for the user", "'me'"),
        ("getUsers", "Get the users or guests", "'or'"),
        ("getTime", "Get the time in the valley", "no parameter names the 'valley'"),
    ],
)
def test_what_nobody_asks_for_is_refused_with_a_reason(name: str, description: str, reason: str) -> None:
    assert reason in _tool(name, description).action.gap


@pytest.mark.parametrize(
    ("name", "schema", "is_spoken"),
    [
        ("city", TEXT, True),
        ("departureDate", {**TEXT, "format": "date"}, True),
        ("pet_id", NUMBER, True),
        ("order_id", TEXT, False),
        ("order_gid", {**TEXT, "examples": ["12345"]}, True),
        ("callSid", TEXT, False),
        ("limit", NUMBER, False),
        ("format", {**TEXT, "enum": ["json", "xml"]}, False),
        ("fuel", NUMBER, False),
        ("weight", {**NUMBER, "description": "Weight"}, False),
        ("weight", {**NUMBER, "description": "Weight in kg"}, True),
        ("pretty", {"type": "boolean"}, False),
        ("room_size", {**TEXT, "enum": ["single", "double"]}, True),
        ("radius_size", {**TEXT, "enum": ["x1", "kml"]}, False),
        ("tags", {"type": "array", "items": {"type": "object"}}, False),
    ],
)
def test_parameters_are_said_by_what_they_are_called_and_what_they_take(
    name: str, schema: dict[str, Any], is_spoken: bool
) -> None:
    assert (_tool("getOrder", "Get an order", **{name: schema}).gaps[name] == "") is is_spoken


def test_a_city_comes_with_its_country_and_its_currency() -> None:
    names = ["city", "country", "currency"]
    tool = _tool("getHotels", "Get hotels in a city", **dict.fromkeys(names, TEXT))
    whole = [tuple(world[name] for name in names) for world in worlds()]
    assert all(tuple(spoken_values(tool, names, Random(seed), {}).values()) in whole for seed in range(20))


def test_two_cities_are_not_the_same() -> None:
    names = ["from_city", "to_city"]
    tool = _tool("getFlights", "Get flights", **dict.fromkeys(names, TEXT))
    drawn = [spoken_values(tool, names, Random(seed), {}) for seed in range(20)]
    assert all(values["from_city"] != values["to_city"] for values in drawn)


def test_a_change_without_a_word_on_what_changes_is_refused() -> None:
    tool = _tool("updateTask", "Update a task", task_id=NUMBER, due_date={**TEXT, "format": "date"})
    assert "without a word on how" in tool.gap(["task_id"])
    assert tool.gap(["task_id", "due_date"]) == ""


def test_ones_own_is_not_asked_for_beside_a_name_of_its_owner() -> None:
    tool = _tool("listOrders", "List my orders", email=TEXT)
    assert "one's own" in tool.gap(["email"])


def test_an_id_of_an_example_does_not_begin_with_a_zero() -> None:
    tool = _tool("get_file", "Get a file", file_id={"type": "string", "examples": ["12345"]})
    drawn = [str(spoken_values(tool, ["file_id"], Random(seed), {})["file_id"]) for seed in range(40)]
    assert not [one for one in drawn if one.startswith("0")]
