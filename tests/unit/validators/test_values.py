"""What rules prove of a call's values, and what they leave to who reads the words."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from callwright.validators.values.said import hear
from callwright.validators.values.standing import CallReading, read_call
from callwright.warehouse.records import Arguments, JsonSchema, Tool

CASES = [orjson.loads(line) for line in Path(__file__).with_name("value_cases.jsonl").read_bytes().splitlines()]
NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
TEXT: JsonSchema = {"type": "string"}


def tool(**properties: JsonSchema) -> Tool:
    return Tool(name="act", description="", parameters={"type": "object", "properties": properties}, category="")


def reading(properties: dict[str, JsonSchema], arguments: Arguments, *said: str, language: str = "en") -> CallReading:
    texts = [hear(text, language, NOW, turn=at) for at, text in enumerate(said)]
    return read_call(tool(**properties), arguments, texts)


@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one['language']}: {one['request']}"[:60])
def test_a_value_is_proved_only_where_its_words_can_mean_no_other(case: JsonSchema) -> None:
    now = datetime.fromisoformat(case["now"]).replace(tzinfo=UTC) if "now" in case else None
    stated = Tool(description="", category="", **case["tool"])
    read = read_call(stated, case["arguments"], [hear(case["request"], case["language"], now)]).arguments
    proved = {name for name, one in read.items() if one.standing == "proved"}
    assert proved >= set(case["proved"])
    assert not proved & set(case["open"])


def test_a_default_needs_no_words() -> None:
    read = reading({"limit": {"type": "integer", "default": 10}}, {"limit": 10}, "List the rest.").arguments
    assert (read["limit"].standing, read["limit"].source) == ("proved", "default")


def test_what_is_said_later_may_replace_an_earlier_value() -> None:
    seats: dict[str, JsonSchema] = {"seats": {"type": "integer"}}
    assert reading(seats, {"seats": 4}, "Book 4 seats", "By the window").arguments["seats"].standing == "proved"
    later = reading(seats, {"seats": 4}, "Book 4 seats", "Sorry, make that 5").arguments
    assert later["seats"].standing == "stated"


def test_the_question_names_the_parameter_that_its_answer_is_for() -> None:
    places = {"pickup_address": TEXT, "drop_address": TEXT}
    alone = reading(places, {"drop_address": "Kew"}, "Kew").arguments
    asked = read_call(
        tool(**places), {"drop_address": "Kew"}, [hear("Kew", "en", NOW, question="What is the drop address?")]
    ).arguments
    assert (alone["drop_address"].standing, asked["drop_address"].standing) == ("stated", "proved")


def test_a_message_that_is_handed_over_says_values_too() -> None:
    said = hear("Pay what they ask for there.", "en", NOW, message="Your invoice 4471 is due.")
    read = read_call(tool(invoice=TEXT), {"invoice": "4471"}, [said]).arguments
    assert read["invoice"].standing == "proved"
    assert read["invoice"].spans[0].start > said.own


def test_another_amount_in_its_unit_contradicts_a_value_that_nothing_says() -> None:
    seconds: dict[str, JsonSchema] = {"seconds": {"type": "integer"}}
    assert reading(seconds, {"seconds": 15}, "A timer of 15 minutes").arguments["seconds"].standing == "contradicted"
    turned = reading(seconds, {"seconds": 15}, "A timer, not of 15 minutes").arguments
    assert turned["seconds"].standing == "unproved"


def test_in_a_language_without_marks_a_value_is_only_stated() -> None:
    read = reading({"stad": TEXT}, {"stad": "Utrecht"}, "Een kamer in Utrecht", language="nl").arguments
    assert read["stad"].standing == "stated"


def test_what_rules_cannot_place_is_a_hint_with_its_words() -> None:
    read = reading({"seats": {"type": "integer"}}, {"seats": 4}, "Book 4 seats, but not for 20 euros, if you can.")
    assert {one.kind: one.quote for one in read.hints} == {
        "negation": "not", "condition": "if", "number_left": "20 euros",
    }  # fmt: skip


def test_an_argument_is_as_good_as_its_weakest_part() -> None:
    items: dict[str, JsonSchema] = {"items": {"type": "array", "items": TEXT}}
    read = reading(items, {"items": ["milk", "rice"]}, "Put milk on the list").arguments
    assert read["items"].standing == "unproved"
    assert "items[1]" in read["items"].reason
