"""Brief commands: what they ask for, and which tool does something else."""

import pytest

from callwright.language.calls.choosing import choose_tool, command_in, is_another
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.calls.turns import Turn


def view(name: str, description: str) -> ToolView:
    return view_of({"name": name, "description": description, "parameters": {"type": "object", "properties": {}}})


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("I'd like you to cancel a booking. The ID is 7.", "cancel a booking"),
        ("I'd like some help to retrieve details of a SIM card.", "retrieve details of a SIM card"),
        ("Hi, could you pull up the VoLTE status?", "pull up the VoLTE status"),
        ("Book a table at Lindenhof in Berlin.", "Book a table"),
        ("Find Anna.", ""),
    ],
)
def test_the_command_is_what_the_request_opens_with(text: str, command: str) -> None:
    assert command_in(text) == command


def test_a_tool_for_another_thing_is_another() -> None:
    house = view("renewHousePolicy", "Renew a house insurance policy.")
    assert is_another(house, "renew a pet insurance policy")
    assert not is_another(house, "renew a house insurance policy")
    assert not is_another(house, "renew an insurance policy")


def test_no_tool_is_chosen_where_only_another_thing_is_offered() -> None:
    offered = [view("renewHousePolicy", "Renew a house insurance policy."), view("getWeather", "Tell the weather.")]
    assert choose_tool(offered, [Turn("user", "Please renew a pet insurance policy.")]) is None
    chosen = choose_tool(offered, [Turn("user", "Please renew a house insurance policy.")])
    assert chosen is not None
    assert chosen.name == "renewHousePolicy"
