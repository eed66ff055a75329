"""Understanding a request in which the user thinks twice: what is said last holds."""

from typing import Any

import pytest

from callwright.language.calls.parsing import read_conversation, read_request
from callwright.language.calls.tools import ToolView
from callwright.language.calls.turns import Turn
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: ToolView(tool.signature) for tool in TOOLS}


@pytest.mark.parametrize(
    ("tool", "text", "read"),
    [
        (
            "Dining.Tables.bookTable",
            "Book a table. The seating area is window. It's for the seating area terrace, I think.",
            {"seating": "terrace"},
        ),
        ("Dining.Tables.bookTable", "Book a table with 4 as the number of guests, I mean 6.", {"guests": 6}),
        ("Dining.Tables.bookTable", "Book a table. Number of guests: 4. Sorry, make that 6.", {"guests": 6}),
        (
            "Dining.Tables.bookTable",
            'The restaurant is "Blue Door". Oh, and the restaurant: "The Olive Tree".',
            {"restaurant": "The Olive Tree"},
        ),
        (
            "Dining.Tables.cancelTable",
            "Booking number TB-12345. By the way, the booking number TB-54321.",
            {"booking_id": "TB-54321"},
        ),
        ("Travel.Trains.findTrains", "出发城市是成都。哦，出发城市是昆明。", {"origin": "昆明"}),
        ("Travel.Trains.findTrains", "席别填一等座。对了，席别“商务座”。", {"seat": "商务座"}),
        ("Travel.Trains.findTrains", "乘车人数是2，不对，3。", {"passengers": 3}),
        ("Travel.Trains.findTrains", "出发城市是成都。出发城市应该是昆明。", {"origin": "昆明"}),
    ],
)
def test_the_value_that_is_said_last_holds(tool: str, text: str, read: dict[str, Any]) -> None:
    assert read_request(VIEWS[tool], text) == read


@pytest.mark.parametrize(
    ("tool", "text", "read"),
    [
        (
            "Dining.Tables.bookTable",
            "The number of guests is 4. Sorry, come at 7:30 pm.",
            {"guests": 4, "time": "19:30"},
        ),
        (
            "Dining.Tables.cancelTable",
            "Sorry, cancel TB-12345. The reason is illness.",
            {"booking_id": "TB-12345", "reason": "illness"},
        ),
        ("Travel.Trains.findTrains", "出发城市是成都，到达城市是昆明。", {"origin": "成都", "destination": "昆明"}),
    ],
)
def test_what_takes_nothing_back_changes_nothing(tool: str, text: str, read: dict[str, Any]) -> None:
    assert read_request(VIEWS[tool], text) == read


def test_a_later_turn_overrides_an_earlier_one() -> None:
    turns = [
        Turn("user", "出发城市是成都。"),
        Turn("assistant", "哪天出发？"),
        Turn("user", "先前说错了. 出发城市 应该是 昆明"),
    ]
    assert read_conversation(VIEWS["Travel.Trains.findTrains"], turns) == {"origin": "昆明"}
