"""template/v1 chooses among options by what each of them leaves unexplained of a conversation."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from callwright.llm.template.choosing_options import choose_options
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Tool
from tests.support.llm.template.fixtures import TOOLS, text, tool

BOOK, CANCEL, SEND = "Dining.Tables.bookTable", "Dining.Tables.cancelTable", "Money.Transfers.sendMoney"
SENTENCE = (
    "user: Book a table at a restaurant for 4 guests on 3 May 2027. The restaurant is Blue Door and the time of arrival"
    " is 19:30."
)
GOLD = {"restaurant": "Blue Door", "date": "2027-05-03", "time": "19:30", "guests": 4}


def option(letter: str, *calls: tuple[str, dict[str, Any]], act: str = "call") -> dict[str, Any]:
    made = [{"tool": tool, "arguments": arguments} for tool, arguments in calls]
    return {"option": letter, "calls": made, "act": act}


def asked(talk: str, *options: dict[str, Any], tools: Sequence[Tool] = TOOLS) -> Any:
    tagged = {"tools": json.dumps([one.signature for one in tools]), "options": json.dumps(options), "language": "en"}
    return choose_options(Sections(tagged, talk))["asked"]


@pytest.mark.parametrize(
    "wrong",
    [
        {**GOLD, "guests": 5},
        {**GOLD, "date": "2027-05-04"},
        {**GOLD, "restaurant": "Corner Kitchen"},
        {**GOLD, "seating": "terrace"},
        {name: value for name, value in GOLD.items() if name != "guests"},
    ],
)
def test_values_that_nobody_said_and_words_that_no_argument_takes_speak_against_an_option(
    wrong: dict[str, Any],
) -> None:
    assert asked(SENTENCE, option("A", (BOOK, wrong)), option("B", (BOOK, GOLD))) == ["B"]
    assert asked(SENTENCE, option("A", (BOOK, wrong)), option("B", act="none")) == []


@pytest.mark.parametrize("thanks", ["Great, thank you!", "Thanks, that's all.", "¡Genial, gracias!"])
def test_who_thanks_in_the_end_asks_for_the_same(thanks: str) -> None:
    options = option("A", (BOOK, {**GOLD, "guests": 5})), option("B", (BOOK, GOLD))
    assert asked(f"{SENTENCE} {thanks}", *options) == ["B"]


def test_a_value_belongs_to_the_parameter_that_the_words_beside_it_call() -> None:
    talk = "user: Send money to another person. The note is Rent for March and the name of the recipient is Ida Berg. Amount: 40."
    right = {"recipient": "Ida Berg", "amount": 40, "note": "Rent for March"}
    exchanged = {**right, "recipient": "Rent for March", "note": "Ida Berg"}
    assert asked(talk, option("A", (SEND, exchanged)), option("B", (SEND, right))) == ["B"]


def test_a_value_behind_what_a_tool_does_belongs_to_any_parameter_though_a_word_of_it_calls_one() -> None:
    rebook = tool(
        "Trains.Tickets.rebookTicket", "Exchange a ticket for another train.", "en", ["ticket_id", "new_train", "new_date"],
        ticket_id={"type": "string", "pattern": r"^TK\d{6}$", "description": "ticket number"},
        new_train=text("new train", "G1180", "D3052"),
        new_date={"type": "string", "format": "date", "description": "new travel date"},
    )  # fmt: skip
    said = "user: Switch my train ticket to 30 November 2027. The ticket number: TK104472. The new train is G1180."
    gold = {"ticket_id": "TK104472", "new_train": "G1180", "new_date": "2027-11-30"}
    wrong = {**gold, "new_train": "D3052"}
    assert asked(said, option("A", (rebook.name, wrong)), option("B", (rebook.name, gold)), tools=[rebook]) == ["B"]


def test_a_later_turn_replaces_a_value() -> None:
    talk = (
        "user: Cancel a table that was booked. The booking number is TB-11111.\nassistant: What is the reason?\n"
        "user: Wait, I got the booking number wrong, it is TB-22222.\nassistant: What is the reason?\nuser: Feeling ill."
    )
    old, new = ({"booking_id": number, "reason": "Feeling ill"} for number in ("TB-11111", "TB-22222"))
    both = option("C", (CANCEL, new), (CANCEL, old))
    assert asked(talk, option("A", (CANCEL, old)), option("B", (CANCEL, new)), both) == ["B"]


def test_no_tool_is_chosen_where_the_user_asks_for_what_none_of_them_does() -> None:
    talk = "user: Please water my plants on 3 May 2027."
    assert asked(talk, option("A", (BOOK, {"date": "2027-05-03"})), option("B", act="none")) == ["B"]


def test_options_that_explain_the_same_words_are_all_named() -> None:
    assert asked(SENTENCE, option("A", (BOOK, GOLD)), option("B", (BOOK, dict(reversed(GOLD.items()))))) == ["A", "B"]


def test_a_prompt_without_a_list_of_options_is_refused() -> None:
    with pytest.raises(ReplyError, match="JSON list in the section <options>"):
        choose_options(Sections({"tools": "[]", "options": '"none"', "language": "en"}, SENTENCE))
