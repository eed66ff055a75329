"""A model words a request around slots; code checks them and puts the values in."""

from random import Random
from typing import Any

import pytest
from pydantic import JsonValue

from callwright.generators.slots import Slot, about, fill, slots_of, wording_problem
from callwright.language.saying import Manner
from callwright.language.values import locate, read_value
from callwright.warehouse.records import Tool
from tests.support.warehouse.fixtures import make_tool

DAY = {"type": "string", "format": "date", "description": "The new day, e.g. 2027-01-01"}
PROPERTIES: dict[str, Any] = {
    "bookingCode": {"type": "string", "description": "The code of the booking"},
    "new_date": DAY,
    "time": {"type": "string", "pattern": "^([01]\\d|2[0-3]):[0-5]\\d$"},
    "guests": {"type": "integer"},
    "breakfast": {"type": "boolean", "description": "Whether breakfast is included"},
    "seat": {"type": "string", "enum": ["window", "aisle"], "description": "Where to sit"},
    "城市": {"type": "string", "description": "城市"},
    "$filter": {"type": "string"},
    "note": {"type": "string", "description": "A message for the host"},
    "dishes": {"type": "array", "items": {"type": "string"}},
}
TOOL = Tool(
    name="change_booking",
    description="Change a booking.",
    category="Travel",
    parameters={"type": "object", "properties": PROPERTIES},
)


def slots(
    arguments: dict[str, JsonValue], language: str = "en", manner: Manner = "written"
) -> tuple[Slot, ...]:
    return slots_of([(TOOL, arguments)], language, manner, Random(5))


def test_slots_are_listed_with_what_they_are_about_and_without_examples() -> None:
    lines = [one.line for one in slots({"bookingCode": "QX417", "new_date": "2027-05-03"})]
    assert lines == ["[booking_code]: The code of the booking", "[new_date]: The new day"]


def test_what_a_slot_is_about_has_no_notation() -> None:
    assert about("arrival", {"description": "The day of check-in as YYYY-MM-DD."}) == (
        "The day of check-in"
    )


def test_what_the_sentence_bends_to_is_listed_with_its_words() -> None:
    lines = [one.line for one in slots({"guests": 1, "breakfast": False, "seat": "window"})]
    assert lines == [
        "[guests: 1]: guests",
        "[breakfast: without breakfast]: Whether breakfast is included",
        "[seat: window]: Where to sit",
    ]


def test_names_of_any_script_and_sign_make_slots_that_differ() -> None:
    named = {"城市": "Oslo", "$filter": "open"}
    both = slots_of([(TOOL, named), (TOOL, named)], "en", "bare", Random(5))
    assert [one.name for one in both] == ["城市", "filter", "城市_2", "filter_2"]
    shared = slots_of([(TOOL, named), (TOOL, named)], "en", "bare", Random(5), is_shared=True)
    assert [one.spots for one in shared] == [
        ((0, "城市"), (1, "城市")),
        ((0, "$filter"), (1, "$filter")),
    ]


def test_a_filled_request_knows_where_it_says_each_value() -> None:
    given = slots({"bookingCode": "QX417", "new_date": "2027-05-03"})
    text = "Could you change the date of booking [booking_code] to [new_date]?"
    assert not wording_problem(text, given, "en")
    filled = fill(text, given)
    assert filled.text.startswith("Could you change the date of booking QX417 to ")
    code, day = filled.evidence(given)
    assert (code.argument, code.quote, code.kind) == ("bookingCode", "QX417", "span")
    assert (day.argument, day.kind, day.turn) == ("new_date", "normalised", 0)
    assert filled.text[day.start : day.end] == day.quote
    assert read_value(day.quote, DAY) == "2027-05-03"


def test_a_value_of_two_calls_is_evidence_of_both() -> None:
    both = slots_of([(TOOL, {"城市": "Oslo"})] * 2, "en", "bare", Random(5), is_shared=True)
    filled = fill("Everything about [城市], please.", both)
    assert [filled.evidence(both, call)[0].quote for call in (0, 1)] == ["Oslo", "Oslo"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Change [booking_code].", "Missing: [new_date]."),
        ("Change [booking_code] to [new_date], yes, [new_date].", "More than once: [new_date]."),
        ("[name] here: change [booking_code] to [new_date].", "Not in the list: [name]."),
        ("Change [booking_code]7 to [new_date].", "has to stand apart"),
        ("Change [booking_code] to [new_date] for 2 people.", "'2'"),
        ("Change [booking_code] to [new_date], [booking.", "belongs to no placeholder"),
        ("", "0 characters"),
        ("请把[booking_code]改到[new_date]。", "Write it in English"),
    ],
)
def test_a_wording_that_can_not_be_filled_says_what_was_wanted_and_what_came(
    text: str, reason: str
) -> None:
    given = slots({"bookingCode": "QX417", "new_date": "2027-05-03"})
    problem = wording_problem(text, given, "en")
    assert reason in problem
    assert "QX417" not in problem


def test_the_reason_names_all_that_was_wanted_and_found() -> None:
    given = slots({"bookingCode": "QX417", "new_date": "2027-05-03"})
    assert wording_problem("Change [booking_code] for [person].", given, "en") == (
        "Wanted: [booking_code], [new_date], each once. Found: [booking_code], [person]."
        " Missing: [new_date]. Not in the list: [person]."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Change [bookingCode] to {new_date}.",
        "Change [Booking Code] to [[new date]].",
        "Change 【booking_code】 to ［new_date］.",
        "Change booking_code to [new_date].",
        "Change [booking_code] to [date].",
    ],
)
def test_other_spellings_of_slots_are_read(text: str) -> None:
    given = slots({"bookingCode": "QX417", "new_date": "2027-05-03"}, manner="bare")
    assert not wording_problem(text, given, "en")
    assert fill(text, given).text == "Change QX417 to 2027-05-03."


def test_what_may_be_left_out_is_not_missed() -> None:
    given = slots({"bookingCode": "QX417", "new_date": "2027-05-03"})
    assert not wording_problem("Change [booking_code].", given, "en", may_lack={"new_date"})
    assert fill("Change [booking_code].", given).places.keys() == {(0, "bookingCode")}


def test_digits_that_the_prompt_tells_are_no_invented_value() -> None:
    [code] = slots({"bookingCode": "QX417"})
    text = "Put [booking_code] on the 3 day plan."
    assert wording_problem(text, [code], "en")
    assert not wording_problem(text, [code], "en", known="Change to the 3 day plan.")


def test_a_slot_may_bring_its_own_words_for_a_choice_and_those_of_another_are_put_right() -> None:
    given = slots({"seat": "window", "breakfast": False})
    text = "Put me [seat: by the window], [breakfast: no breakfast]."
    assert not wording_problem(text, given, "en")
    filled = fill(text, given)
    assert filled.text == "Put me by the window, no breakfast."
    assert [one.quote for one in filled.evidence(given)] == ["window", "no breakfast"]
    wrong = "Put me [seat: on the aisle], [breakfast: with breakfast]."
    assert fill(wrong, given).text == "Put me window, without breakfast."


def test_quotation_marks_are_not_doubled_and_a_sentence_begins_with_a_capital() -> None:
    given = slots({"note": "We arrive late, sorry."})
    assert fill("Tell him [note]", given).text == 'Tell him "We arrive late, sorry."'
    assert fill('Tell him "[note]"', given).text == 'Tell him "We arrive late, sorry."'
    day = slots({"time": "12:00"}, manner="spoken")
    assert fill("[time] is fine.", day).text[0].isupper()


@pytest.mark.parametrize(
    ("name", "value"),
    [("new_date", "2027-05-03"), ("time", "19:30"), ("guests", 1500), ("guests", 12)],
)
@pytest.mark.parametrize("language", ["en", "es", "zh"])
@pytest.mark.parametrize("manner", ["bare", "written", "spoken"])
def test_values_can_be_read_back_in_every_manner(
    name: str, value: JsonValue, language: str, manner: Manner
) -> None:
    for seed in range(5):
        [slot] = slots_of([(TOOL, {name: value})], language, manner, Random(seed))
        assert read_value(slot.words, slot.schema) == value, slot.words


@pytest.mark.parametrize("language", ["en", "es", "zh"])
@pytest.mark.parametrize("manner", ["bare", "written", "spoken"])
def test_a_moment_in_utc_is_said_as_people_write_it(manner: Manner, language: str) -> None:
    value, schema = "2027-06-12T08:30:00Z", {"type": "string", "format": "date-time"}
    tool = make_tool("get_report", since=schema)
    for seed in range(9):
        [slot] = slots_of([(tool, {"since": value})], language, manner, Random(seed))
        assert "08:30 UTC" in slot.shown
        assert "T08" not in slot.shown
        found = locate(value, schema, f"… {slot.shown}.")
        assert found is not None
        assert found.value == value
    assert locate(value, schema, "12 June 2027 at 8:30 am") is None
    assert locate(value, schema, "12 June 2027 at 9:30 UTC") is None


def test_addresses_stand_without_quotation_marks() -> None:
    for value in ("ada.berg@example.org", "https://mill.example/a/b", "cedar.lamp.moss"):
        [slot] = slots_of([(TOOL, {"note": value})], "en", "written", Random(1))
        assert slot.shown == value
    [slot] = slots_of([(TOOL, {"note": "Come at once, please."})], "en", "written", Random(1))
    assert slot.shown == '"Come at once, please."'


def test_the_manner_decides_between_figures_and_words() -> None:
    for seed in range(9):
        said = {
            manner: slots_of([(TOOL, {"time": "19:30"})], "en", manner, Random(seed))[0].words
            for manner in ("bare", "written", "spoken")
        }
        assert said["bare"] == "19:30"
        assert any(map(str.isdecimal, said["written"]))
        assert not any(map(str.isdecimal, said["spoken"]))


def test_lists_and_values_in_chinese_stand_in_the_sentence() -> None:
    given = slots({"dishes": ["soup", "rice"], "城市": "杭州"}, "zh")
    text = "帮我在[城市]订[dishes]。"
    assert not wording_problem(text, given, "zh")
    filled = fill(text, given)
    assert filled.text.startswith("帮我在杭州订soup")
    assert {one.argument for one in filled.evidence(given)} == {"dishes", "城市"}
