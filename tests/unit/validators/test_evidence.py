"""Evidence is found: where a value is said, what it is derived from, and when words speak
against it.
"""

import re
from datetime import UTC, date, datetime
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from callwright.language.readers.duckling_reader import is_available
from callwright.language.values import write_value
from callwright.validators.evidence import Scene, ValueFound, find_in_calls, weakest_standings
from callwright.warehouse.records import (
    Arguments,
    Evidence,
    GoldCall,
    JsonSchema,
    ResultTurn,
    Tool,
    Turn,
    UserTurn,
)

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)  # a Monday
TEXT: JsonSchema = {"type": "string"}
DAY: JsonSchema = {"type": "string", "format": "date"}
CLOCK: JsonSchema = {"type": "string", "description": "HH:MM"}
NUMBER: JsonSchema = {"type": "number"}
needs_duckling = pytest.mark.skipif(
    not is_available(), reason="Duckling has no wheel for this machine."
)


def found(
    properties: dict[str, JsonSchema],
    arguments: Arguments,
    *turns: Turn | str,
    language: str = "en",
    system: str = "",
    evidence: tuple[Evidence, ...] = (),
    calls: int = 1,
    now: datetime | None = NOW,
) -> list[ValueFound]:
    tool = Tool(
        name="act",
        description="",
        parameters={"type": "object", "properties": properties},
        category="",
    )
    call = GoldCall(tool="act", arguments=arguments, evidence=evidence)
    said = tuple(UserTurn(text=one) if isinstance(one, str) else one for one in turns)
    return [*find_in_calls(Scene(said, (call,) * calls, {"act": tool}, language, system, now))]


def stands(
    schema: JsonSchema,
    value: object,
    text: str,
    language: str = "en",
    name: str = "it",
    **more: object,
) -> str:
    [one] = weakest_standings(
        found({name: schema}, {name: value}, text, language=language, **more)
    ).values()  # type: ignore[arg-type]
    return one


@pytest.mark.parametrize(
    ("language", "value", "text", "quote"),
    [
        ("en", "Blue Hotel", "A room at the Blue Hotel, please", "Blue Hotel"),
        ("en", "cafe_luna", "Ein Tisch im Café Luna", "Café Luna"),
        ("en", "RX-88213", "put rx 88213 on hold", "rx 88213"),
        ("en", "4155550107", "call 415-555-0107", "415-555-0107"),
        ("en", "Crash on start", "on start it does crash", "start it does crash"),
        ("zh", "清蒸鲈鱼", "虹桥店清蒸鲈鱼卖光了", "清蒸鲈鱼"),
        ("ja", "東京", "東京の天気", "東京"),
        ("ko", "서울", "서울에서 만나요", "서울"),
        ("ru", "Москва", "погода: москва", "москва"),
        ("de", "premium_economy", "bitte Premium Economy", "Premium Economy"),
    ],
)
def test_a_text_is_found_however_it_is_spelled(
    language: str, value: str, text: str, quote: str
) -> None:
    [one] = found({"it": TEXT}, {"it": value}, text, language=language)
    assert one.standing == "said"
    assert one.evidence
    assert one.evidence.quote.startswith(quote)
    assert text[one.evidence.start : one.evidence.end] == one.evidence.quote


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("4471", "the card ending 44712"),
        ("Ann", "Anna comes"),
        ("12", "1 2"),
        ("RX-882", "RX-8821"),
        ("Rome", "Go on."),
    ],
)
def test_a_part_of_another_word_or_code_says_nothing(value: str, text: str) -> None:
    assert stands(TEXT, value, text) == "not_said"


@needs_duckling
@pytest.mark.parametrize(
    ("language", "schema", "value", "text"),
    [
        ("en", DAY, "2027-03-05", "on March 5"),
        ("en", DAY, "2026-11-26", "this Thursday"),
        ("de", DAY, "2026-11-24", "morgen"),
        ("fr", DAY, "2027-03-05", "le 5 mars 2027"),
        ("en", DAY, "2026-06-05", "on 05/06/2026"),
        ("en", TEXT, "03/05/2027", "on March 5, 2027"),
        ("en", CLOCK, "19:30", "at half past seven"),
        ("es", TEXT, "2026-11-26T16:45:00", "el jueves a las cinco menos cuarto de la tarde"),
        ("ko", CLOCK, "15:00", "오후 3시에"),
        ("en", {"type": "integer", "description": "in minutes"}, 120, "for two hours"),
        ("zh", {"type": "integer", "description": "时长，单位：分钟"}, 120, "两小时"),
        ("en", {"type": "integer", "description": "Amount in cents"}, 4200, "pay $42"),
        ("en", {"type": "number", "description": "in Celsius"}, 35, "hotter than 95 Fahrenheit"),
        ("en", NUMBER, 25, "twenty-five people"),
        ("en", NUMBER, 0.05, "a discount of 5 %"),
        ("en", {"type": "array", "items": TEXT}, ["tea", "milk"], "buy milk and tea"),
        ("en", {"type": "string", "enum": ["1", "2"]}, "2", "two rooms"),
        ("en", TEXT, "$42", "forty-two dollars"),
        ("en", TEXT, "a/b,c/d", "compare a/b and c/d"),
    ],
)
def test_a_value_is_found_by_a_named_normalisation(
    language: str, schema: JsonSchema, value: object, text: str
) -> None:
    [one] = found({"it": schema}, {"it": value}, text, language=language)  # type: ignore[dict-item]
    assert one.standing == "said"
    assert one.evidence
    assert one.evidence.kind == "normalised"
    assert one.evidence.rule


@needs_duckling
@pytest.mark.parametrize(
    ("schema", "value", "text", "sort", "words", "expected"),
    [
        (DAY, "2026-03-06", "On March 5, 2026.", "day", "On March 5, 2026", "2026-03-05"),
        (CLOCK, "08:30", "at 7:30 pm", "time", "at 7:30 pm", "19:30"),
        ({"type": "integer", "description": "in cents"}, 42, "pay $42", "unit", "$42", 4200),
        (
            {"type": "integer", "description": "in minutes"},
            5,
            "for 2 hours",
            "amount",
            "2 hours",
            120,
        ),
    ],
)
def test_a_contradiction_says_its_sort_its_words_and_the_right_value(
    schema: JsonSchema, value: object, text: str, sort: str, words: str, expected: object
) -> None:
    [one] = found({"it": schema}, {"it": value}, text)  # type: ignore[dict-item]
    assert one.against == (sort, words, expected)


@needs_duckling
def test_the_system_message_says_which_day_it_is() -> None:
    system = "Today is April 4th, 2023."
    [one] = found({"on": DAY}, {"on": "2023-04-05"}, "Tomorrow", system=system, now=None)
    assert one.standing == "said"


@needs_duckling
@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (DAY, "2026-03-06", "On March 5, 2026."),
        (DAY, "2026-11-27", "this Thursday"),
        (CLOCK, "08:30", "at 7:30 pm"),
        (CLOCK, "07:30", "at 7:30 pm"),
        ({"type": "integer", "description": "How long, in minutes"}, 2, "for two hours"),
        ({"type": "integer", "description": "Amount in the smallest unit (cents)"}, 42, "pay $42"),
        ({"type": "number", "description": "Radius in metres"}, 3, "within 3 kilometres"),
        ({"type": "number", "description": "in Celsius"}, 95, "hotter than 95 Fahrenheit"),
        ({"type": "integer", "description": "How long, in minutes"}, 5, "A timer of 20 minutes."),
    ],
)
def test_the_only_day_time_or_amount_contradicts_another(
    schema: JsonSchema, value: object, text: str
) -> None:
    [one] = found({"it": schema}, {"it": value}, text)  # type: ignore[dict-item]
    assert one.standing == "contradicted"
    assert repr(value) in one.reason


@needs_duckling
def test_the_day_that_the_system_message_says_it_is_is_today() -> None:
    system = "Please act like the current date is 2027/02/19."
    [one] = found({"it": DAY}, {"it": "2027-02-20"}, "Book it for tomorrow.", system=system)
    assert one.standing == "said"


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (DAY, "2026-11-30", "Today is November 23, 2026: book it"),
        (DAY, "2026-11-30", "assuming it is 2026-11-23, book it"),
        (DAY, "2026-11-30", "As of Nov 23 2026, what is due?"),
        (DAY, "2026-11-30", "from 5 to 9 March"),
        (DAY, "2026-11-30", "on March 5 or March 6"),
        (DAY, "2026-03-08", "three nights from March 5, 2026"),
        (DAY, "2026-03-08", "three days after March 5, 2026"),
        (DAY, "2026-11-30", "some time this month"),
        (CLOCK, "09:15", "in the morning"),
        (CLOCK, "15:00", "at 3"),
        (CLOCK, "12:00", "between 9 and 11"),
        (TEXT, "2026-11-23T20:00:00Z", "today at 3 pm EST"),
        (DAY, "2023-10-17", "on Tuesday next week. Today is tuesday 2023.10.10"),
        (DAY, "2023-03-10", "on Wednesday next week. Today is 2023.3.1 monday"),
        (DAY, "2023-04-10", "The upcoming Monday, assuming today is April 4th, 2023"),
        ({"type": "integer", "description": "distance (in miles)"}, 10, "within 10 miles"),
        ({"type": "integer", "description": "distance in meters"}, 3, "at a point 3 meters away"),
        ({"type": "integer", "description": "in meters"}, 450, "450 meters in 20 seconds"),
        ({"type": "integer", "description": "weight in kilograms"}, 70, "with weight 70 kg."),
        ({"type": "integer", "description": "in minutes"}, 5, "20 minutes, no, 30 minutes"),
        (
            {"type": "integer", "description": "in minutes"},
            5,
            "10 to 20 minutes, and remind me 5 before",
        ),
        ({"type": "number", "description": "speed in m/s"}, 5, "20 metres of road"),
        (NUMBER, 5, "a table for 4"),
        (TEXT, "Oslo", "fly to Bergen"),
        ({"type": "boolean"}, False, "with breakfast"),
    ],
)
def test_what_may_mean_something_else_contradicts_nothing(
    schema: JsonSchema, value: object, text: str
) -> None:
    assert stands(schema, value, text) != "contradicted"


def test_another_text_another_call_or_another_parameter_of_its_kind_may_have_the_value() -> None:
    assert (
        weakest_standings(
            found({"on": DAY}, {"on": "2026-03-06"}, "On March 5, 2026.", "And then?")
        )["on"]
        == "not_said"
    )
    assert stands(DAY, "2026-03-06", "On March 5, 2026.", calls=2) == "not_said"
    both = found(
        {"on": DAY, "to": DAY}, {"on": "2026-03-05", "to": "2026-03-08"}, "On March 5, 2026."
    )
    assert "contradicted" not in {one.standing for one in both}


@needs_duckling
def test_the_day_that_it_is_said_to_be_counts() -> None:
    assert stands(DAY, "2024-05-02", "Today is May 1st, 2024. Book it for tomorrow.") == "said"
    assert stands(DAY, "2026-11-23", "book it") == "derived"


def test_the_generators_place_is_preferred_and_believed_only_where_it_says_the_value() -> None:
    text = "Rome or Rome"
    hint = Evidence(argument="it", kind="span", turn=0, start=8, end=12, quote="Rome")
    [one] = found({"it": TEXT}, {"it": "Rome"}, text, evidence=(hint,))
    assert one.evidence
    assert one.evidence.start == 8
    lie = Evidence(argument="it", kind="span", turn=0, start=0, end=3, quote="Two")
    assert stands(NUMBER, 3, "Two.", evidence=(lie,)) == "not_said"


def test_a_default_a_result_and_the_system_message_are_what_a_value_is_derived_from() -> None:
    assert stands({"type": "string", "default": "metric"}, "metric", "The weather?") == "derived"
    assert stands({"default": 1}, True, "Go.") == "not_said"
    result = ResultTurn(results=({"hotels": [{"id": "h1"}, {"id": "h2"}]},))
    [one] = found({"it": TEXT}, {"it": "h2"}, "The second, please.", result)
    assert (one.standing, one.evidence and one.evidence.path) == (
        "derived",
        "turns[1].results[0].hotels[1].id",
    )
    [told] = found({"it": TEXT}, {"it": "C-77"}, "Pay.", system="The user's card is C-77.")
    assert (told.standing, told.evidence and (told.evidence.kind, told.evidence.turn)) == (
        "derived",
        ("context", None),
    )


def test_each_member_that_is_not_said_is_named() -> None:
    schema: JsonSchema = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": TEXT, "count": NUMBER}},
    }
    lines = found(
        {"items": schema},
        {"items": [{"name": "ribeye", "count": 2}, {"name": "soup", "count": 7}]},
        "two ribeye and soup",
    )
    assert [(one.claim.name, one.standing) for one in lines if one.standing != "said"] == [
        ("items[1].count", "not_said")
    ]


def test_an_undeclared_argument_contradicts() -> None:
    [one] = found({}, {"city": "Rome"}, "Rome")
    assert (one.standing, one.is_undeclared) == ("contradicted", True)


_WORDS = st.text(st.characters(categories=["L"], max_codepoint=0x17F), min_size=3, max_size=8)


@given(
    _WORDS,
    _WORDS,
    st.sampled_from(["{0} {1}", "the {0}, {1}!", "«{0}»-{1}", "{0}\n{1}"]),
    st.booleans(),
)
def test_a_text_that_stands_in_the_words_is_found(
    before: str, value: str, shape: str, loud: bool
) -> None:
    assume(
        not re.search(
            r"[^\W_]",
            value.swapcase().casefold().translate({ord(one): "" for one in value.casefold()}),
        )
    )
    text = shape.format(
        before, value.upper() if loud and value.upper().casefold() == value.casefold() else value
    )
    assert stands(TEXT, value, text) == "said"


@needs_duckling
@given(
    st.dates(date(2024, 1, 1), date(2030, 12, 31)),
    st.sampled_from(["en", "es", "zh"]),
    st.randoms(use_true_random=False),
)
def test_a_day_is_found_in_the_many_ways_to_write_it(day: date, language: str, rng: Random) -> None:
    text = write_value(str(day), DAY, language, rng)
    assert stands(DAY, str(day), text, language) == "said"


@given(
    st.sampled_from(["2026-03-05", "07:30", "2026-03-05 07:30", "42", "5 March"]),
    st.sampled_from(
        [
            "{0}",
            "not {0} but at noon",
            "from {0} to 9 May",
            "{0}, or March 9, 2027 at 6 pm",
            "as of 1 May 2026, {0}",
        ]
    ),
    st.sampled_from(["en", "zh", "de", "xx"]),
)
def test_a_value_that_is_literally_there_is_never_contradicted(
    value: str, shape: str, language: str
) -> None:
    assert stands(TEXT, value, shape.format(value), language) == "said"


@given(st.text(max_size=40), st.text(max_size=20), st.sampled_from(["en", "zh", "de", "ja", "xx"]))
def test_any_text_and_value_can_be_looked_at(text: str, value: str, language: str) -> None:
    [one] = found({"it": TEXT}, {"it": value}, text, language=language)
    if one.evidence and one.evidence.kind in ("span", "normalised"):
        assert text[one.evidence.start : one.evidence.end] == one.evidence.quote


COUNTED = (
    ("My flight lands on 4 December. Book a table two days later.", "2026-12-06"),
    ("I arrive on Friday 4 December. Book for the day after that.", "2026-12-05"),
    ("We check in on 10 December and stay three nights; a table for the last.", "2026-12-12"),
    ("The hotel is from 10 December, three nights. A taxi for when we leave.", "2026-12-13"),
    ("The concert is on 12 December, so book it for the evening before.", "2026-12-11"),
    ("The wedding is on 5 June 2027. Remind me a month before.", "2027-05-05"),
    ("Ankunft am 4. Dezember, Abreise am Tag danach.", "2026-12-05"),
    ("Nous arrivons le 4 décembre pour trois nuits.", "2026-12-07"),
    ("La boda es el 12 de diciembre; reserva para la víspera.", "2026-12-11"),
)


@needs_duckling
@pytest.mark.parametrize(("text", "day"), COUNTED)
def test_a_day_that_is_counted_from_a_stated_one_is_said(text: str, day: str) -> None:
    language = {"An": "de", "No": "fr", "La": "es"}.get(text[:2], "en")
    system = "You book tables. Today is Monday, 30 November 2026."
    [one] = found({"it": DAY}, {"it": day}, text, language=language, system=system, now=None)
    assert (one.standing, one.evidence and one.evidence.rule) == ("said", "counted from a day")


@needs_duckling
def test_a_day_may_be_counted_from_one_that_an_earlier_turn_names() -> None:
    turns = ("We arrive on 4 December.", "And a table for the day after.")
    assert stands(DAY, "2026-12-05", turns[1], name="it") == "not_said"
    [one] = found({"it": DAY}, {"it": "2026-12-05"}, *turns)
    assert one.standing == "said"


@needs_duckling
@pytest.mark.parametrize("day", ["2026-12-09", "2026-02-31", "9999-12-31", "0001-01-01"])
def test_a_day_that_no_count_leads_to_is_not_said(day: str) -> None:
    text = "My flight lands on 4 December. Book a table two days later."
    assert stands(DAY, day, text) in ("not_said", "contradicted")


@needs_duckling
@pytest.mark.parametrize(
    "system",
    [
        "Date: Mon, 30 Nov 2026. You can book.",
        "Current time: 2026-11-30 09:15 UTC",
        "You are kind. Today is November 30th, 2026.",
        "Сегодня 30 ноября 2026 года.",
        "今天是2026年11月30日，星期一。",
    ],
)
def test_the_day_of_the_system_message_is_the_day(system: str) -> None:
    language = {"С": "ru", "今": "zh"}.get(system[0], "en")
    text = {"ru": "Столик на завтра.", "zh": "订明天的位子。"}.get(language, "A table, tomorrow.")
    assert stands(DAY, "2026-12-01", text, language=language, system=system, now=None) == "said"


@pytest.mark.parametrize(
    ("system", "language", "day"),
    [
        ("It is currently Wednesday 16 September 2026.", "en", "2026-09-16"),
        ("Réservations. Date du jour : 2026-08-21 (vendredi).", "fr", "2026-08-21"),
        ("Heute ist der 02.07.2026.", "de", "2026-07-02"),
        ("Orders that reach us before Wednesday 16 September 2026 ship at once.", "en", None),
        ("It is Wednesday 16 September 2026. The fair starts on 1 October 2026.", "en", None),
    ],
)
def test_a_short_clause_of_the_system_message_says_which_day_it_is(
    system: str, language: str, day: str | None
) -> None:
    scene = Scene((UserTurn(text="Hello."),), (), {}, language, system).with_reference_day()
    assert (scene.now.date().isoformat() if scene.now else None) == day


@pytest.mark.parametrize(
    ("value", "text", "is_said"),
    [
        ("+447700900482", "Ring 07700 900482.", True),
        ("+966548210937", "أرسل على ٠٥٤ ٨٢١ ٠٩٣٧", True),
        ("+79120483671", "по номеру 8 (912) 048-36-71", True),
        ("+447700900428", "Ring 07700 900482.", False),
        ("482719365504", "伝票番号は4827-1936-5504です。", True),
    ],
)
def test_a_number_is_said_with_a_countrys_code_or_without(
    value: str, text: str, is_said: bool
) -> None:
    tool = Tool(
        name="call",
        description="",
        category="",
        parameters={"type": "object", "properties": {"to": {}}},
    )
    call = GoldCall(tool="call", arguments={"to": value})
    scene = Scene((UserTurn(text=text),), (call,), {"call": tool}, "en")
    assert [one.evidence is not None for one in find_in_calls(scene)] == [is_said]
