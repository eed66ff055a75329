"""The plain baseline that answers as a candidate: the tool by its words, values where they are called or alone of their type."""

from typing import Any

import pytest

from callwright.language.calls.tools import view_of
from callwright.llm.template.baseline import choose_tool, read_values
from callwright.llm.template.sections import Turn
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: view_of(tool.signature) for tool in TOOLS}
TABLE, SEND, TRAINS = "Dining.Tables.bookTable", "Money.Transfers.sendMoney", "Travel.Trains.findTrains"


@pytest.mark.parametrize(
    ("tool", "text", "read"),
    [
        (TABLE, 'Book a table for 4 guests. The restaurant is "Blue Door".', {"restaurant": "Blue Door", "guests": 4}),
        (TABLE, "Book a table on 3 May 2027. Seating area: quiet corner.", {"date": "2027-05-03", "seating": "quiet_corner"}),
        (SEND, "Send money. Use Ida Berg as the recipient. The amount is 40.", {"recipient": "Ida Berg", "amount": 40}),
        (TRAINS, "查询列车车次，出发城市是成都，到达城市是昆明。", {"origin": "成都", "destination": "昆明"}),
    ],
)  # fmt: skip
def test_values_stand_beside_what_they_are_called_or_are_alone_of_their_type(
    tool: str, text: str, read: dict[str, Any]
) -> None:
    assert read_values(VIEWS[tool], [Turn("user", text)]) == read


def test_a_parameter_that_is_named_in_what_the_tool_does_takes_no_words_of_it_for_its_value() -> None:
    sea = view_of({
        "name": "Sea.getConditions", "description": "查询海滩的浪高和水温。",
        "parameters": {"properties": {"beach": {"type": "string", "description": "海滩"}}, "required": ["beach"]},
    })  # fmt: skip
    assert read_values(sea, [Turn("user", "查询海滩的浪高和水温。")]) == {}
    assert read_values(sea, [Turn("user", "查询海滩的浪高和水温。海滩是银滩。")]) == {"beach": "银滩"}


def test_what_is_asked_is_answered_and_what_is_said_last_holds() -> None:
    turns = [
        Turn("user", "Book a table. The number of guests is 4."),
        Turn("assistant", "Which restaurant would you like?"),
        Turn("user", "Blue Door"),
        Turn("user", "The number of guests is 6."),
    ]
    assert read_values(VIEWS[TABLE], turns) == {"restaurant": "Blue Door", "guests": 6}


def test_the_tool_is_that_of_the_latest_turn_that_names_one() -> None:
    book, cancel = Turn("user", "Please book a table."), Turn("user", "Cancel a table that was booked, please.")
    assert choose_tool([*VIEWS.values()], [cancel, book]) is VIEWS[TABLE]
    assert choose_tool([*VIEWS.values()], [book, cancel]) is VIEWS["Dining.Tables.cancelTable"]
    assert choose_tool([*VIEWS.values()], [Turn("user", "Sing me a lullaby.")]) is None


def test_a_tool_is_not_named_by_what_it_is_about_alone() -> None:
    notes = [view_of({"name": name, "parameters": {}}) for name in ("Notes.createNote", "Notes.findNotes", "Notes.get")]
    assert choose_tool(notes, [Turn("user", "Extend a note, if you can. The note number is NT5637.")]) is None
    assert choose_tool(notes, [Turn("user", "Search my notes for the recipe.")]) is notes[1]
    assert choose_tool(notes, [Turn("user", "Please create a new note.")]) is notes[0]
    checks = view_of({"name": "Flights.checkIn", "parameters": {}})
    assert choose_tool([checks], [Turn("user", "Check what the weather is going to do.")]) is None


def test_a_tool_is_named_by_what_it_is_about_with_two_of_its_values() -> None:
    wish = Turn("user", 'I need a table for 4 guests, the restaurant is "Blue Door".')
    assert choose_tool([VIEWS[TABLE]], [wish]) is VIEWS[TABLE]
    assert choose_tool([VIEWS[TABLE]], [Turn("user", "I need a table for the garden.")]) is None


def test_what_calls_a_parameter_names_no_tool() -> None:
    number = {"type": "string", "description": "booking number"}
    book = view_of({"name": "Tables.bookTable", "parameters": {"properties": {"booking_id": number}}})
    assert choose_tool([book], [Turn("user", "Shift my table. The booking number is BK10294.")]) is None
    assert choose_tool([book], [Turn("user", "Book me a table. The booking number is BK10294.")]) is book


def test_a_number_in_an_answer_is_no_new_value_for_what_was_said_before() -> None:
    prints = view_of({"name": "Photos.print", "parameters": {"properties": {
        "copies": {"type": "integer"}, "address": {"type": "string"}, "photo": {"type": "string"},
    }}})  # fmt: skip
    turns = [
        Turn("user", "Print photos. The copies are 7."),
        Turn("assistant", "What is the address?"),
        Turn("user", "18 Maple Street. The photo is PH22."),
    ]
    assert read_values(prints, turns) == {"copies": 7, "address": "18 Maple Street", "photo": "PH22"}


RIDE = view_of({
    "name": "Rides.cancelRide", "description": "Cancel a ride.",
    "parameters": {"properties": {
        "ride_id": {"type": "string", "description": "ride number", "pattern": "^RD\\d{5}$"},
        "reason": {"type": "string", "description": "reason for canceling"},
        "driver": {"type": "string", "description": "driver to tell"},
    }},
})  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer", "read"),
    [
        ("Can you give me the ride number?", "That's RD67710.", {"ride_id": "RD67710"}),
        ("Can you give me the ride number?", "Here it is: RD67710.", {"ride_id": "RD67710"}),
        ("What is the reason?", "Put down: a flat tyre.", {"reason": "a flat tyre"}),
        ("What is the reason?", "Long waits, thanks.", {"reason": "Long waits"}),
        ("What is the reason?", "The reason for canceling should be rain.", {"reason": "rain"}),
        ("Who is it for?", "Driver to tell: Mr Novak.", {"driver": "Mr Novak"}),
        ("Can you give me the ride number?", "RD67710. The reason is rain.", {"ride_id": "RD67710", "reason": "rain"}),
        ("What is the ride number? What is the reason?", "It's RD67710. Rain.", {"ride_id": "RD67710", "reason": "Rain"}),
        ("What is the ride number?", "Sure, it's RD67710. Please take late train as the reason.",
         {"ride_id": "RD67710", "reason": "late train"}),
        ("What is the reason?", 'It\'s "St. John day". Driver to tell: Mr Novak.',
         {"reason": "St. John day", "driver": "Mr Novak"}),
        ("What is the reason? Who is the driver to tell?", "Rain. It's Mr Novak.", {"reason": "Rain", "driver": "Mr Novak"}),
    ],
)  # fmt: skip
def test_an_answer_says_its_value_between_the_words_that_answers_have(
    question: str, answer: str, read: dict[str, Any]
) -> None:
    turns = [Turn("user", "Cancel a ride."), Turn("assistant", question), Turn("user", answer)]
    assert read_values(RIDE, turns) == read


@pytest.mark.parametrize(
    ("question", "answer", "read"),
    [
        ("出发城市是哪里？", "出发城市选成都。", {"origin": "成都"}),
        ("出发城市是哪里？", "就在成都。", {"origin": "成都"}),
        ("出发城市是哪里？ 到达城市是哪里？", "成都。 昆明。", {"origin": "成都", "destination": "昆明"}),
    ],
)
def test_an_answer_is_read_in_the_shapes_of_its_language(question: str, answer: str, read: dict[str, Any]) -> None:
    turns = [Turn("user", "查询列车车次。"), Turn("assistant", question), Turn("user", answer)]
    assert read_values(VIEWS[TRAINS], turns) == read
