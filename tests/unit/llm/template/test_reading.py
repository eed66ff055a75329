"""The plain baseline that answers as a candidate: the tool by its words, values where they are
called or alone of their type.
"""

from typing import Any

import pytest

from callwright.language.calls.tools import ToolView, view_of
from callwright.llm.template.reading import choose_tool, read_due, read_values
from callwright.llm.template.sections import Turn
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: view_of(tool.signature) for tool in TOOLS}
TABLE, SEND, TRAINS = (
    "Dining.Tables.bookTable",
    "Money.Transfers.sendMoney",
    "Travel.Trains.findTrains",
)


@pytest.mark.parametrize(
    ("tool", "text", "read"),
    [
        (
            TABLE,
            'Book a table for 4 guests. The restaurant is "Blue Door".',
            {"restaurant": "Blue Door", "guests": 4},
        ),
        (
            TABLE,
            "Book a table on 3 May 2027. Seating area: quiet corner.",
            {"date": "2027-05-03", "seating": "quiet_corner"},
        ),
        (
            SEND,
            "Send money. Ida Berg for the recipient. The amount is 40.",
            {"recipient": "Ida Berg", "amount": 40},
        ),
        (
            TRAINS,
            "查询列车车次，出发城市是成都，到达城市是昆明。",
            {"origin": "成都", "destination": "昆明"},
        ),
    ],
)
def test_values_stand_beside_what_they_are_called_or_are_alone_of_their_type(
    tool: str, text: str, read: dict[str, Any]
) -> None:
    assert read_values(VIEWS[tool], [Turn("user", text)]) == read


def test_an_object_is_stated_by_its_members() -> None:
    order = view_of(
        {
            "name": "Shop.orderItem",
            "description": "Order an item.",
            "parameters": {
                "properties": {
                    "item": {"type": "string", "description": "item"},
                    "receiver": {
                        "type": "object",
                        "description": "receiver",
                        "required": ["name", "phone"],
                        "properties": {
                            "name": {"type": "string", "description": "receiver's name"},
                            "phone": {"type": "string", "description": "receiver's phone number"},
                        },
                    },
                },
                "required": ["item"],
            },
        }
    )
    text = (
        'Order an item. The item is "black toaster". Receiver: receiver\'s name "Ida Berg",'
        ' receiver\'s phone number "555-0164".'
    )
    assert read_values(order, [Turn("user", text)]) == {
        "item": "black toaster",
        "receiver": {"name": "Ida Berg", "phone": "555-0164"},
    }


def test_what_is_asked_is_answered_and_what_is_said_last_holds() -> None:
    turns = [
        Turn("user", "Book a table. The number of guests is 4."),
        Turn("assistant", "Which restaurant would you like?"),
        Turn("user", "Blue Door"),
        Turn("user", "The number of guests is 6."),
    ]
    assert read_values(VIEWS[TABLE], turns) == {"restaurant": "Blue Door", "guests": 6}


def test_the_tool_is_that_of_the_latest_turn_that_names_one() -> None:
    book, cancel = (
        Turn("user", "Please book a table."),
        Turn("user", "Cancel a table that was booked, please."),
    )
    assert choose_tool([*VIEWS.values()], [cancel, book]) is VIEWS[TABLE]
    assert choose_tool([*VIEWS.values()], [book, cancel]) is VIEWS["Dining.Tables.cancelTable"]
    assert choose_tool([*VIEWS.values()], [Turn("user", "Sing me a lullaby.")]) is None


def test_a_plain_request_asks_for_no_tool_that_does_something_else_with_the_same_details() -> None:
    def view(name: str, does: str) -> ToolView:
        page = {"type": "string", "description": "The identifier of a page."}
        schema = {"properties": {"page_id": page}, "required": ["page_id"]}
        return view_of({"name": name, "description": does, "parameters": schema})

    read = view("retrieve-a-page", "Retrieve a page.")
    move = view("move-page", "Move a page to another parent.")
    said = "Could you list the comments of a page? Page ID: PAG-7450."
    assert choose_tool([read, move], [Turn("user", said)]) is None
    assert read_due([read, move], [Turn("user", said)]) == []
    assert choose_tool([read, move], [Turn("user", "Retrieve a page. Page ID: PAG-7.")]) == read
