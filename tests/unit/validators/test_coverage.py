"""Requests in words that nobody here wrote, each with a right or a wrong call: what rules prove, doubt and refuse."""

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.stages import StageContext
from callwright.validators.checks.coverage import RequestReading, applies_to, check_coverage, read_request
from callwright.validators.checks.grounding import ground
from callwright.warehouse.records import CallTurn, GoldCall, Message, ReplyTurn, Sample, Tool, UserTurn, Verdict

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
LEAST_RIGHT, MOST_WRONG = 0.54, 0.03


def tool(name: str, /, **properties: dict[str, object]) -> Tool:
    return Tool(name=name, description="", category="", parameters={"type": "object", "properties": properties})


TIMER = tool("startTimer", minutes={"type": "integer", "description": "How long, in minutes"})
ALARM = tool("addAlarm", clock_time={"type": "string"})
TAXI = tool("bookTaxi", departure={"type": "string"}, destination={"type": "string"}, passengers={"type": "integer"})
SEARCH = tool("searchItems", query={"type": "string"}, max_price={"type": "number"}, min_price={"type": "number"})
MESSAGE = tool("sendMessage", receiver={"type": "string"}, content={"type": "string"})
CAB_FOR_THREE = "Me and two friends need a cab from the Ritz to Kew Gardens"
CANCEL = tool("cancelBooking", bookingID={"type": "string"})


def read(of: Tool, arguments: dict[str, object], request: str, language: str = "en") -> RequestReading:
    return read_request(of, arguments, request, language, NOW)


@pytest.mark.parametrize(
    ("of", "arguments", "request_text"),
    [
        (TIMER, {"minutes": 120}, "Start a timer for two hours."),
        (ALARM, {"clock_time": "19:30"}, "Get me up at half past seven in the evening"),
        (TAXI, {"departure": "the Ritz", "destination": "Kew Gardens", "passengers": 3}, CAB_FOR_THREE),
        (SEARCH, {"query": "blender", "max_price": 200}, "Find a blender under 200 dollars"),
        (MESSAGE, {"receiver": "Dario", "content": "I'm coming on Sunday"}, "Write to Dario: \"I'm coming on Sunday\""),
        (CANCEL, {"bookingID": "HB-771"}, "Please cancel HB 771 for me."),
    ],
)  # fmt: skip
def test_what_the_words_say_is_proved(of: Tool, arguments: dict[str, object], request_text: str) -> None:
    reading = read(of, arguments, request_text)
    assert (reading.decision, reading.reasons) == ("proved", ())


@pytest.mark.parametrize(
    ("of", "arguments", "request_text"),
    [
        (TIMER, {"minutes": 2}, "Start a timer for two hours."),
        (ALARM, {"clock_time": "07:30"}, "Get me up at half past seven in the evening"),
        (TAXI, {"departure": "the Ritz", "destination": "Kew Gardens", "passengers": 2}, CAB_FOR_THREE),
        (TAXI, {"departure": "Kew Gardens", "destination": "the Ritz"}, "A cab from the Ritz to Kew Gardens"),
        (SEARCH, {"query": "blender", "min_price": 200}, "Find a blender under 200 dollars"),
        (SEARCH, {"query": "blender", "max_price": 200}, "Find a blender or a toaster under 200 dollars"),
        (MESSAGE, {"receiver": "Dario", "content": "I'm coming"}, "Write to Dario: \"I'm coming unless it rains\""),
        (CANCEL, {"bookingID": "HB-771"}, "Please don't cancel HB-771."),
        (CANCEL, {"bookingID": "HB-771"}, "Move HB-771 to next week."),
        (CANCEL, {"bookingID": "HB-771"}, "Cancel HB-771 only if it is free of charge."),
        (CANCEL, {"bookingID": "HB-771"}, "Cancel HB-771 and then book me a table."),
        (TIMER, {"minutes": 5}, "A timer for five minutes, no wait, ten minutes."),
        (TIMER, {"minutes": 10}, "A timer for about ten minutes"),
    ],
)  # fmt: skip
def test_what_the_words_do_not_say_is_not_proved(of: Tool, arguments: dict[str, object], request_text: str) -> None:
    reading = read(of, arguments, request_text)
    assert reading.decision != "proved"
    assert reading.reasons


def test_a_value_after_a_correction_holds() -> None:
    assert read(TIMER, {"minutes": 10}, "A timer for five minutes, no wait, ten minutes.").decision == "proved"


def test_a_relative_day_is_not_proved_without_the_day_of_the_request() -> None:
    book = tool("bookTable", date={"type": "string", "format": "date"})
    said = ({"date": "2026-11-28"}, "Book a table for Saturday", "en")
    assert read_request(book, said[0], said[1], said[2], NOW).decision == "proved"
    assert read_request(book, said[0], said[1], said[2], None).decision == "unproved"


def test_a_language_without_cues_proves_nothing() -> None:
    assert read(CANCEL, {"bookingID": "HB-771"}, "Annulez HB-771", language="fr").decision == "unproved"


@given(st.text(max_size=80), st.sampled_from(["en", "zh"]))
def test_any_request_can_be_read(request_text: str, language: str) -> None:
    reading = read_request(TAXI, {"departure": "a", "destination": "b", "passengers": 2}, request_text, language, NOW)
    assert {one.name for one in reading.arguments} == {"departure", "destination", "passengers"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_of_free_wordings_most_right_calls_are_proved_and_hardly_a_wrong_one(shared: Path, language: str) -> None:
    decisions: dict[str, list[str]] = {"right": [], "wrong": []}
    for line in (shared / "cases" / "free_wordings.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["language"] != language:
            continue
        of = Tool(
            name=row["tool"]["name"], description=row["tool"].get("description", ""), category="",
            parameters=row["tool"]["parameters"],
        )  # fmt: skip
        now = datetime.fromisoformat(row["now"]).replace(hour=9, tzinfo=UTC) if "now" in row else None
        decisions[row["label"]].append(read_request(of, row["arguments"], row["request"], language, now).decision)
    share = {label: found.count("proved") / len(found) for label, found in decisions.items()}
    assert share["right"] >= LEAST_RIGHT, share
    assert share["wrong"] <= MOST_WRONG, share


PAIRS = yaml.safe_load((Path(__file__).parent / "request_pairs.yaml").read_text(encoding="utf-8"))


class LabelledWording(NamedTuple):
    kind: str
    of: Tool
    arguments: dict[str, object]
    request: str
    language: str


def wordings(label: str) -> list[LabelledWording]:
    """One side of each pair; of the right ones those that rules are to prove."""
    return [
        LabelledWording(
            pair["kind"], tool(pair["tool"], **PAIRS["tools"][pair["tool"]]), pair.get("call", pair[label]),
            pair.get("request", pair[label]), pair.get("language", "en"),
        )
        for pair in PAIRS["pairs"]
        if label == "wrong" or not pair.get("open")
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", wordings("wrong"), ids=lambda wrong: f"{wrong.language} {wrong.kind}")
def test_no_call_with_a_defect_is_proved(wrong: LabelledWording) -> None:
    reading = read(wrong.of, wrong.arguments, wrong.request, wrong.language)
    assert reading.decision != "proved", wrong.request


@pytest.mark.parametrize("right", wordings("right"), ids=lambda right: f"{right.language} {right.kind}")
def test_the_right_call_beside_it_is_proved(right: LabelledWording) -> None:
    reading = read(right.of, right.arguments, right.request, right.language)
    assert (reading.decision, reading.reasons) == ("proved", ()), right.request


def conversation(*turns: UserTurn | ReplyTurn | CallTurn, of: Tool, kind: str = "sQsA") -> Sample:
    return Sample(kind=kind, language="en", category="x", candidates=(of.key,), turns=turns)


def due(of: Tool, **arguments: object) -> CallTurn:
    return CallTurn(calls=(GoldCall(tool=of.name, arguments=arguments),))


async def checked(sample: Sample, of: Tool) -> Verdict:
    assert applies_to(sample)
    [verdict] = await check_coverage(sample, StageContext(None, Random(0), {of.key: of}))
    return verdict


async def test_a_bare_answer_is_read_by_the_question_before_it() -> None:
    way = tool(
        "convertTime",
        from_city={"type": "string", "description": "City to convert from"},
        to_city={"type": "string", "description": "Target city"},
    )
    turns = (
        UserTurn(text="Convert a time, please."), due(way),
        ReplyTurn(text="What is the city to convert from?"), UserTurn(text="Dublin."), due(way, from_city="Dublin"),
        ReplyTurn(text="Which target city would you like?"), UserTurn(text="Lima."), due(way, from_city="Dublin", to_city="Lima"),
    )  # fmt: skip
    assert (await checked(conversation(*turns, of=way), way)).decision == "proved"
    assert ground(conversation(*turns, of=way), [way]).decision == "proved"
    swapped = (*turns[:-1], due(way, from_city="Lima", to_city="Dublin"))
    assert ground(conversation(*swapped, of=way), [way]).decision != "proved"


async def test_what_a_message_says_is_no_wish_of_the_users() -> None:
    mail = Message(app="Mail", text="If it rains we meet at 7 pm at Kew Gardens, not at the Ritz.")
    turns = (
        UserTurn(text="A taxi to the place that Ann names in her mail.", external=mail),
        due(TAXI, destination="Kew Gardens"),
    )
    assert (await checked(conversation(*turns, of=TAXI, kind="external"), TAXI)).decision == "proved"


async def test_a_parameter_that_the_words_name_and_the_call_lacks_is_a_doubt() -> None:
    lights = tool(
        "dimLights", room={"type": "string", "description": "The room"},
        brightness={"type": "integer", "description": "Brightness in percent"},
    )  # fmt: skip
    words = UserTurn(text="Dim the lights in the kitchen, the brightness in percent is low.")
    assert (
        await checked(conversation(words, due(lights, room="kitchen"), of=lights, kind="perfect"), lights)
    ).decision == "unproved"


TICKETS = tool("transferTickets", ticket_order={"type": "string"}, recipient={"type": "string"})
DELIVERY = tool(
    "cancelOrder",
    order_id={"type": "string"},
    reason={"type": "string", "enum": ["wrong address", "ordered by mistake"]},
)
ITEM = {"type": "object", "properties": {"name": {"type": "string"}, "quantity": {"type": "integer"}}}
BASKET = tool("addItems", items={"type": "array", "items": ITEM})
NOTE = tool("shareNote", note_id={"type": "string"}, email={"type": "string"})


@pytest.mark.parametrize(
    ("of", "arguments", "request_text"),
    [
        (TICKETS, {"ticket_order": "TO39027", "recipient": "Anna Hughes"},
         "Hand my tickets over, ticket order TO39027, recipient Anna Hughes, thanks."),
        (DELIVERY, {"order_id": "FD10836", "reason": "ordered by mistake"},
         "Cancel order FD10836. The reason is wrong address. Sorry, the reason is ordered by mistake."),
        (NOTE, {"note_id": "NT6920", "email": "ann@example.com"},
         "Share note NT6920 with frontdesk@example.com, thanks. Oh no, I meant ann@example.com."),
    ],
)  # fmt: skip
def test_nouns_are_no_deeds_and_the_last_of_two_choices_holds(
    of: Tool, arguments: dict[str, object], request_text: str
) -> None:
    assert read(of, arguments, request_text).reasons == ()


def test_a_choice_that_is_taken_back_is_not_proved() -> None:
    request = "Cancel order FD10836. The reason is wrong address. Sorry, the reason is ordered by mistake."
    assert read(DELIVERY, {"order_id": "FD10836", "reason": "wrong address"}, request).decision != "proved"


@pytest.mark.parametrize(
    ("of", "arguments", "request_text", "language"),
    [
        (TIMER, {"minutes": 5}, "Nobody in our house would ever say this: start a timer for five minutes.", "en"),
        (TIMER, {"minutes": 5}, "El vecino del tercero grita: «Pon un temporizador de cinco minutos ahora mismo».", "es"),
        (CANCEL, {"bookingID": "HB-771"}, "Please plan the booking HB-771.", "en"),
        (CANCEL, {"bookingID": "HB-771"}, "Cancel any booking other than HB-771.", "en"),
        (BASKET, {"items": [{"name": "plum", "quantity": 4}, {"name": "figs", "quantity": 1}]},
         "Add one plum and four figs.", "en"),
    ],
)  # fmt: skip
def test_frames_quotations_and_numbers_of_other_things_are_doubted(
    of: Tool, arguments: dict[str, object], request_text: str, language: str
) -> None:
    assert read(of, arguments, request_text, language).decision != "proved"


def test_each_thing_has_its_own_number() -> None:
    items = [{"name": "plum", "quantity": 1}, {"name": "figs", "quantity": 4}]
    assert read(BASKET, {"items": items}, "Add one plum and four figs.").reasons == ()
