"""The plain baseline that answers as a candidate: the tool by its words, values where they are
called or alone of their type.
"""

from typing import Any

import pytest

from callwright.language.calls.tools import view_of
from callwright.llm.template.reading import choose_tool, read_plan, read_values
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


def test_a_parameter_that_is_named_in_what_the_tool_does_takes_no_words_of_it_for_its_value() -> (
    None
):
    sea = view_of(
        {
            "name": "Sea.getConditions",
            "description": "查询海滩的浪高和水温。",
            "parameters": {
                "properties": {"beach": {"type": "string", "description": "海滩"}},
                "required": ["beach"],
            },
        }
    )
    assert read_values(sea, [Turn("user", "查询海滩的浪高和水温。")]) == {}
    assert read_values(sea, [Turn("user", "查询海滩的浪高和水温。海滩是银滩。")]) == {
        "beach": "银滩"
    }


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


def test_what_corrects_a_value_is_no_answer_to_the_question_before_it() -> None:
    turns = [
        Turn("user", "Book a table. The number of guests is 4."),
        Turn("assistant", "Which restaurant would you like?"),
        Turn("user", "Sorry, I meant six before."),
    ]
    assert read_values(VIEWS[TABLE], turns) == {"guests": 6}


def test_a_value_may_stand_behind_a_name_of_several_words() -> None:
    said = "Send money. The amount is 40. Hold on, make the new ticket holder Mr Novak instead."
    paid = view_of(
        {
            "name": "Money.send",
            "description": "Send money.",
            "parameters": {
                "properties": {
                    "amount": {"type": "number", "description": "amount"},
                    "recipient": {"type": "string", "description": "new ticket holder"},
                }
            },
        }
    )
    assert read_values(paid, [Turn("user", said)]) == {"amount": 40, "recipient": "Mr Novak"}


def test_a_lead_within_a_sentence_begins_no_other_request() -> None:
    tools = [tool.signature for tool in TOOLS]
    said = (
        'Send money to another person. Recipient: "Also, Ida"; amount: 40. '
        "Also, cancel a table that was booked. Booking number: TB-12345."
    )
    assert [call.tool for call in read_plan(tools, [Turn("user", said)])] == [
        SEND,
        "Dining.Tables.cancelTable",
    ]


def test_the_tool_is_that_of_the_latest_turn_that_names_one() -> None:
    book, cancel = (
        Turn("user", "Please book a table."),
        Turn("user", "Cancel a table that was booked, please."),
    )
    assert choose_tool([*VIEWS.values()], [cancel, book]) is VIEWS[TABLE]
    assert choose_tool([*VIEWS.values()], [book, cancel]) is VIEWS["Dining.Tables.cancelTable"]
    assert choose_tool([*VIEWS.values()], [Turn("user", "Sing me a lullaby.")]) is None


def test_a_tool_is_not_named_by_what_it_is_about_alone() -> None:
    notes = [
        view_of({"name": name, "parameters": {}})
        for name in ("Notes.createNote", "Notes.findNotes", "Notes.get")
    ]
    assert (
        choose_tool(notes, [Turn("user", "Delete a note, if you can. The note number is NT5637.")])
        is None
    )
    assert choose_tool(notes, [Turn("user", "Search my notes for the recipe.")]) is notes[1]
    assert choose_tool(notes, [Turn("user", "Please create a new note.")]) is notes[0]


def test_a_tool_is_named_by_the_words_of_its_name() -> None:
    number = {"type": "string", "description": "booking number"}
    book = view_of(
        {"name": "Tables.bookTable", "parameters": {"properties": {"booking_id": number}}}
    )
    assert (
        choose_tool([book], [Turn("user", "Book me a table. The booking number is BK10294.")])
        is book
    )


def test_a_number_in_an_answer_is_no_new_value_for_what_was_said_before() -> None:
    prints = view_of(
        {
            "name": "Photos.print",
            "parameters": {
                "properties": {
                    "copies": {"type": "integer"},
                    "address": {"type": "string"},
                    "photo": {"type": "string"},
                }
            },
        }
    )
    turns = [
        Turn("user", "Print photos. The copies are 7."),
        Turn("assistant", "What is the address?"),
        Turn("user", "18 Maple Street. The photo is PH22."),
    ]
    assert read_values(prints, turns) == {
        "copies": 7,
        "address": "18 Maple Street",
        "photo": "PH22",
    }


RIDE = view_of(
    {
        "name": "Rides.cancelRide",
        "description": "Cancel a ride.",
        "parameters": {
            "properties": {
                "ride_id": {
                    "type": "string",
                    "description": "ride number",
                    "pattern": "^RD\\d{5}$",
                },
                "reason": {"type": "string", "description": "reason for canceling"},
                "driver": {"type": "string", "description": "driver to tell"},
            }
        },
    }
)


@pytest.mark.parametrize(
    ("question", "answer", "read"),
    [
        ("Can you give me the ride number?", "That's RD67710.", {"ride_id": "RD67710"}),
        ("Can you give me the ride number?", "Here it is: RD67710.", {"ride_id": "RD67710"}),
        ("What is the reason?", "Long waits, thanks.", {"reason": "Long waits"}),
        ("What is the reason?", "The reason for canceling should be rain.", {"reason": "rain"}),
        ("Who is it for?", "Driver to tell: Mr Novak.", {"driver": "Mr Novak"}),
        (
            "Can you give me the ride number?",
            "RD67710. The reason is rain.",
            {"ride_id": "RD67710", "reason": "rain"},
        ),
        (
            "What is the ride number?",
            "Sure, it's RD67710. Late train for the reason, please.",
            {"ride_id": "RD67710", "reason": "Late train"},
        ),
    ],
)
def test_an_answer_says_its_value_between_the_words_that_answers_have(
    question: str, answer: str, read: dict[str, Any]
) -> None:
    turns = [Turn("user", "Cancel a ride."), Turn("assistant", question), Turn("user", answer)]
    assert read_values(RIDE, turns) == read


@pytest.mark.parametrize(
    ("question", "answer", "read"),
    [
        (
            "出发城市是哪里？ 到达城市是哪里？",
            "成都。 昆明。",
            {"origin": "成都", "destination": "昆明"},
        )
    ],
)
def test_an_answer_is_read_in_the_shapes_of_its_language(
    question: str, answer: str, read: dict[str, Any]
) -> None:
    turns = [Turn("user", "查询列车车次。"), Turn("assistant", question), Turn("user", answer)]
    assert read_values(VIEWS[TRAINS], turns) == read
