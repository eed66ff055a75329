"""What rules prove of a call's values, and what they leave to who reads the words."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from callwright.validators.values.said import hear
from callwright.validators.values.standing import CallReading, read_call
from callwright.warehouse.records import Arguments, JsonSchema, Tool

CASES = [orjson.loads(line) for line in Path(__file__).with_name("value_cases.jsonl").read_bytes().splitlines()]
WORDINGS = [orjson.loads(line) for line in Path(__file__).with_name("value_wordings.jsonl").read_bytes().splitlines()]
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


DAY: JsonSchema = {"type": "string", "format": "date"}


def test_an_end_is_proved_by_the_start_and_the_length_that_are_said() -> None:
    stay = {"check_in": DAY, "check_out": DAY}
    said = "Three nights from 4 December"
    right = reading(stay, {"check_in": "2026-12-04", "check_out": "2026-12-07"}, said).arguments
    wrong = reading(stay, {"check_in": "2026-12-04", "check_out": "2026-12-08"}, said).arguments
    assert {one.standing for one in right.values()} == {"proved"}
    assert wrong["check_out"].standing != "proved"


def test_members_of_a_list_are_no_ends_of_a_range() -> None:
    numbers: dict[str, JsonSchema] = {"numbers": {"type": "array", "items": {"type": "number"}}}
    read = reading(numbers, {"numbers": [7, 4, 40]}, "The mean of 7, 4 and 40").arguments
    assert read["numbers"].standing == "proved"


def test_a_radius_is_proved_by_a_bound_and_a_count_is_not() -> None:
    metres: JsonSchema = {"type": "integer", "description": "In metres"}
    assert (
        reading({"radius": metres}, {"radius": 300}, "Cafes at most 300 metres away").arguments["radius"].standing
        == "proved"
    )
    length = reading({"length": metres}, {"length": 300}, "A path of at most 300 metres").arguments
    assert length["length"].standing == "stated"


def test_over_is_a_bound_only_right_before_a_number() -> None:
    days: dict[str, JsonSchema] = {"days": {"type": "integer", "description": "Days of the stay"}}
    assert reading(days, {"days": 20}, "I go over there and stay 20 days").arguments["days"].standing == "proved"
    assert reading(days, {"days": 20}, "I stay over 20 days").arguments["days"].standing == "stated"


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ("Call Ida on loudspeaker", "proved"),
        ("The loudspeaker is broken, call Ida", "stated"),
        ("Call Ida if she is on loudspeaker", "stated"),
    ],
)
def test_a_flag_is_proved_by_what_ends_a_clause(said: str, standing: str) -> None:
    flag: dict[str, JsonSchema] = {"speaker": {"type": "boolean", "description": "Loudspeaker on"}}
    assert reading(flag, {"speaker": True}, said).arguments["speaker"].standing == standing


def test_a_choice_may_be_an_amount_with_its_bound() -> None:
    price: dict[str, JsonSchema] = {"price": {"type": "string", "enum": ["under 50", "over 50"]}}
    assert reading(price, {"price": "over 50"}, "Rooms for more than 50 euros").arguments["price"].standing == "proved"
    assert reading(price, {"price": "under 50"}, "Rooms for more than 50 euros").arguments["price"].standing != "proved"


def test_a_word_between_two_names_tells_of_neither() -> None:
    debt: dict[str, JsonSchema] = {
        "debtor": {"type": "string", "description": "Person who owes"},
        "creditor": {"type": "string", "description": "Person to be paid"},
    }
    read = reading(debt, {"debtor": "Ines", "creditor": "Tom"}, "Note that Ines is one whom Tom owes 20").arguments
    assert read["debtor"].standing == "stated"


def test_the_stop_of_an_abbreviation_ends_its_sentence() -> None:
    start: dict[str, JsonSchema] = {"start": {"type": "string", "pattern": r"^\d{2}:\d{2}$"}}
    read = reading(start, {"start": "06:00"}, "The first one at 6 a.m. Don't let me forget.").arguments
    assert read["start"].standing == "proved"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The code is 618304, or rather 104839."),
        ("en", "The code is 618304, no, 104839."),
        ("en", "Any code, anything but 618304."),
        ("en", "The code is 618304, perhaps."),
        ("zh", "编号是618304，应该是104839。"),
        ("zh", "编号是618304以外的任何一个。"),
        ("zh", "编号是618304，也可能不是。"),
        ("es", "El código es 618304, no, 104839."),
        ("es", "Cualquiera menos 618304."),
    ],
)
def test_a_code_that_is_corrected_or_excepted_is_only_stated(language: str, said: str) -> None:
    assert reading({"code": TEXT}, {"code": "618304"}, said, language=language).arguments["code"].standing == "stated"


def test_a_name_that_is_corrected_is_only_stated_though_a_day_follows() -> None:
    place = {"place": TEXT}
    read = reading(place, {"place": "Ulm"}, "A room in Ulm, sorry, I mean Bonn from 4 December.").arguments
    assert read["place"].standing == "stated"
    about_time = reading(place, {"place": "Ulm"}, "A room in Ulm on 3 December, sorry, 4 December.").arguments
    assert about_time["place"].standing == "proved"


CODES = st.from_regex(r"[A-Z]{1,3}-?[0-9]{2,5}", fullmatch=True)


@example(("AA00", "AA-00"))
@given(st.tuples(CODES, CODES).filter(lambda pair: not any(one in other for one, other in [pair, pair[::-1]])))
def test_of_two_ids_the_words_before_them_tell_which_is_which(pair: tuple[str, str]) -> None:
    accounts = {"from_account": TEXT, "to_account": TEXT}
    for said in ("Pay the rent from {} to {}", "Pay the rent to {1} from {0}", "From account {} to account {}, please"):
        right = reading(accounts, {"from_account": pair[0], "to_account": pair[1]}, said.format(*pair)).arguments
        wrong = reading(accounts, {"from_account": pair[1], "to_account": pair[0]}, said.format(*pair)).arguments
        assert {one.standing for one in right.values()} == {"proved"}
        assert {one.standing for one in wrong.values()} == {"stated"}


@given(st.lists(st.integers(2, 9), min_size=2, max_size=4, unique=True))
def test_of_numbers_that_are_corrected_the_last_one_is_wanted(numbers: list[int]) -> None:
    said = "A table for " + ", no, ".join(map(str, numbers))
    standings = [reading({"seats": {"type": "integer"}}, {"seats": one}, said).arguments["seats"] for one in numbers]
    assert [one.standing for one in standings] == ["stated"] * (len(numbers) - 1) + ["proved"]


def test_what_comes_instead_of_a_value_is_the_one_that_is_not_wanted() -> None:
    amount: dict[str, JsonSchema] = {"amount": {"type": "number"}}
    said = "Pay Ruth 30 instead of the 50 I promised"
    assert reading(amount, {"amount": 50}, said).arguments["amount"].standing == "stated"


def test_parameters_that_differ_in_their_number_take_values_in_their_order_unless_words_tell_them_apart() -> None:
    cities = {"city_1": TEXT, "city_2": TEXT}
    said = "Which is sunnier, Porto or Faro?"
    assert {
        one.standing for one in reading(cities, {"city_1": "Porto", "city_2": "Faro"}, said).arguments.values()
    } == {"proved"}
    turned = reading(cities, {"city_1": "Faro", "city_2": "Porto"}, said).arguments
    assert {one.standing for one in turned.values()} == {"stated"}
    sides: dict[str, JsonSchema] = {
        "player1": {"type": "string", "description": "Plays white"},
        "player2": {"type": "string", "description": "Plays black"},
    }
    read = reading(sides, {"player1": "Mira", "player2": "Otto"}, "Mira as black and Otto as white").arguments
    assert {one.standing for one in read.values()} == {"stated"}


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        ("Read the file notes please.", "proved"),
        ("Read the file notes.", "proved"),
        ("Read the file notes.txt please.", "stated"),
        ("Read the file /srv/notes please.", "stated"),
        ("Read the file ~/texts/notes please.", "stated"),
        ("Read the file notes@example.org please.", "stated"),
    ],
)
def test_a_part_of_a_longer_name_is_only_stated(said: str, standing: str) -> None:
    path: dict[str, JsonSchema] = {"path": {"type": "string", "description": "Path of the file"}}
    assert reading(path, {"path": "notes"}, said).arguments["path"].standing == standing


PLAIN = dict.fromkeys(("song", "owner"), TEXT) | {
    "owner": {"type": "string", "description": "姓名"}, "count": {"type": "integer"},
    "rooms": {"type": "array", "items": TEXT}, "price": {"type": "number", "description": "价格(元)"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said", "standing"),
    [
        ({"count": 100}, "喂了一百来毫升", "stated"),
        ({"count": 3}, "一人五块，捎三个人", "proved"),
        ({"price": 200, "count": 20}, "发两百，分二十份", "proved"),
        ({"price": 20, "count": 200}, "发两百，分二十份", "stated"),
        ({"rooms": ["客厅", "书房"]}, "把客厅和书房扫一下", "proved"),
        ({"rooms": ["客厅", "书房"]}, "把客厅扫一下，书房有人", "stated"),
        ({"rooms": ["客厅", "书房"]}, "把客厅和书房扫一下，再加上厨房", "stated"),
        ({"song": "木屋", "owner": "欧小北"}, "放欧小北唱的木屋", "proved"),
        ({"song": "欧小北", "owner": "木屋"}, "放欧小北唱的木屋", "stated"),
        ({"owner": "马晓楠"}, "把司马晓楠的分数记上", "stated"),
        ({"owner": "晓楠"}, "把许晓楠的分数记上", "stated"),
    ],
)
def test_chinese_words_beside_a_value_tell_what_it_is(arguments: Arguments, said: str, standing: str) -> None:
    properties = {name: PLAIN[name] for name in arguments}
    found = {one.standing for one in reading(properties, arguments, said, language="zh").arguments.values()}
    assert found == {standing}


DAYS: JsonSchema = {"type": "array", "items": {"enum": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}}
PER_KG: JsonSchema = {"type": "number", "description": "每公斤价格，单位元"}
ON: JsonSchema = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("schema", "value", "said", "standing"),
    [
        (DAYS, ["mon", "wed", "fri"], "每周一三五早上六点叫我", "proved"),
        (DAYS, ["sat", "sun"], "周末早上八点叫我", "proved"),
        (DAYS, ["tue"], "周二周四下午五点叫我", "stated"),
        (PER_KG, 3.2, "一公斤三块二", "proved"),
        (PER_KG, 3.2, "一斤三块二", "stated"),
        (ON, "2026-11-25", "后天下午来拿", "proved"),
        (ON, "2026-11-28", "这个月28号来拿", "proved"),
    ],
)
def test_chinese_days_and_rates_are_read_as_they_are_said(
    schema: JsonSchema, value: Any, said: str, standing: str
) -> None:
    assert reading({"on": schema}, {"on": value}, said, language="zh").arguments["on"].standing == standing


def test_the_week_after_next_is_counted_by_the_word_said_twice() -> None:
    week: dict[str, JsonSchema] = {"week_start": {"type": "string", "format": "date"}}
    said = "下下周的班"
    assert reading(week, {"week_start": "2026-12-07"}, said, language="zh").arguments["week_start"].standing == "proved"
    assert reading(week, {"week_start": "2026-11-30"}, said, language="zh").arguments["week_start"].standing != "proved"


def _standings(wording: JsonSchema, arguments: Arguments) -> dict[str, str]:
    now = datetime.fromisoformat(wording["now"]).replace(tzinfo=UTC)
    stated = Tool(category="", **wording["tool"])
    read = read_call(stated, arguments, [hear(wording["request"], wording["language"], now)])
    return {name: one.standing for name, one in read.arguments.items()}


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda one: f"{one['language']}: {one['request']}"[:60])
def test_no_wrong_value_of_a_free_wording_is_proved(wording: JsonSchema) -> None:
    for wrong in wording["wrong"]:
        standings = _standings(wording, {**wording["right"], **wrong})
        assert not [name for name in wrong if standings[name] == "proved"]


@pytest.mark.parametrize(("language", "least"), [("en", 0.6), ("zh", 0.65), ("es", 0.6)])
def test_most_right_values_of_free_wordings_are_proved(language: str, least: float) -> None:
    found = [
        standing
        for wording in WORDINGS
        if wording["language"] == language
        for standing in _standings(wording, wording["right"]).values()
    ]
    assert found.count("proved") / len(found) >= least
    assert "contradicted" not in found


SIZE: JsonSchema = {"type": "number", "description": "Size"}
EUROS: JsonSchema = {"type": "number", "description": "Amount in euros"}
CLOCK: JsonSchema = {"type": "string", "pattern": r"^\d{2}:\d{2}$"}
COIN: JsonSchema = {"type": "string", "enum": ["EUR", "USD", "CHF"]}
PARTS: JsonSchema = {"type": "array", "items": {"type": "string", "enum": ["mot", "tyres", "brakes"]}}


@pytest.mark.parametrize(
    ("language", "said", "schema", "value"),
    [
        ("en", "My brother needs size 44 but I take a 41.", SIZE, 44),
        ("en", "The airline only allows me 23 kilos.", {"type": "number", "description": "Weight in kg"}, 23),
        ("en", "I have 300 euros left, send Tom 45 euros.", EUROS, 300),
        ("en", "We went to bed at 21:00, show me from 01:50 to 02:30.", CLOCK, "21:00"),
        ("en", "Claim 210 francs. Everybody else paid in euros.", COIN, "EUR"),
        ("en", "The old password was Falcon12, change it to Heron77.", {"description": "Password", **TEXT}, "Falcon12"),
        ("en", "Check the MOT please. You did the tyres in November.", PARTS, ["mot", "tyres"]),
        ("en", "problem: the lift smells and the light in it is off", {"description": "Problem", **TEXT}, "the lift smells"),
        ("es", "Mándale treinta euros... bueno, treinta y cinco.", EUROS, 30),
        ("es", "Tengo 300 euros, manda 45 euros a Tomás.", EUROS, 300),
        ("es", "Los demás pagan en dólares, lo mío son 30 euros.", COIN, "USD"),
    ],
)  # fmt: skip
def test_what_somebody_else_has_or_what_was_before_is_no_proved_value(
    language: str, said: str, schema: JsonSchema, value: Any
) -> None:
    read = reading({"it": schema}, {"it": value}, said, language=language).arguments["it"]
    assert read.standing != "proved"


@pytest.mark.parametrize(
    ("said", "description", "value"),
    [
        ("Spin up a Dustbowl server, invites only", "Map", "invites"),
        ("Carry on with clip_07.mp4, no subtitles", "Video", "subtitles"),
        ("Photos with 'invoice' in the name, newest first", "Keyword", "newest"),
        ("30451187 is due today and I'd like to hang on to it", "Barcode number", "hang"),
        ("Ship it from 60 Baker Street", "Address", "60 Baker"),
        ("Twenty euros for Ida, thanks", "Concept", "euros"),
    ],
)
def test_a_word_of_the_text_is_no_name_where_another_name_is_said_or_a_code_is_looked_for(
    said: str, description: str, value: str
) -> None:
    read = reading({"it": {"type": "string", "description": description}}, {"it": value}, said).arguments["it"]
    assert read.standing != "proved"


@pytest.mark.parametrize(
    ("language", "said", "properties", "arguments"),
    [
        (
            "en",
            "Spin these at four thousand for ten mins at four degrees",
            {"rpm": {"type": "integer"}, "temperature": {"type": "number", "description": "Celsius"}},
            {"rpm": 4000, "temperature": 4},
        ),
        (
            "en",
            "Three seats going, ten euros each",
            {"seats": {"type": "integer"}, "price_per_seat": {"type": "number"}},
            {"seats": 3, "price_per_seat": 10},
        ),
        (
            "en",
            "The kitchen and the hall",
            {"rooms": {"type": "array", "items": {"type": "string", "enum": ["kitchen", "hall", "study"]}}},
            {"rooms": ["kitchen", "hall"]},
        ),
        ("en", "The number of nights is 3", {"nights": {"type": "integer"}}, {"nights": 3}),
        ("en", "Ready by quarter past seven in the morning", {"ready_by": CLOCK}, {"ready_by": "07:15"}),
        ("en", "Log two and three quarter hours", {"minutes": {"type": "integer"}}, {"minutes": 165}),
        ("en", "He's no longer on 020 7946 0011, it's 020 7946 0858 now", {"phone": TEXT}, {"phone": "02079460858"}),
        ("en", "Not the 12th but the 21st of December", {"day": DAY}, {"day": "2026-12-21"}),
        ("en", "It is down for the 1st of December, shift it to the 8th", {"new_day": DAY}, {"new_day": "2026-12-08"}),
        (
            "es",
            "De 16:00 a 18:00 el martes de la semana que viene",
            {"start": CLOCK, "end": CLOCK, "day": DAY},
            {"start": "16:00", "end": "18:00", "day": "2026-12-01"},
        ),
        ("es", "Tres horas y cuarto", {"minutos": {"type": "integer", "description": "Minutos"}}, {"minutos": 195}),
        (
            "es",
            "Un paquete de 2 kilos 300",
            {"peso": {"type": "number", "description": "Peso en kilos"}},
            {"peso": 2.3},
        ),
        ("es", "Bizum de 40, no, perdona, 45, que faltaba el taxi", {"importe": EUROS}, {"importe": 45}),
    ],
)
def test_a_value_that_only_one_parameter_can_take_is_proved_whatever_is_said_beside_it(
    language: str, said: str, properties: dict[str, JsonSchema], arguments: Arguments
) -> None:
    read = reading(properties, arguments, said, language=language).arguments
    assert {one.standing for one in read.values()} == {"proved"}


@pytest.mark.parametrize(
    ("language", "said", "schema", "value"),
    [
        ("en", "Twelve rounds of 400 metres", {"type": "number", "description": "Distance in metres"}, 4800),
        ("zh", "跑了十二圈，一圈四百米", {"type": "number", "description": "Distance in kilometres"}, 4.8),
        ("zh", "充到八成五停", {"type": "integer", "description": "Stop at this level in percent"}, 85),
        ("zh", "下午三点打到四点半", CLOCK, "15:00"),
    ],
)
def test_a_value_is_contradicted_by_no_text_that_has_a_figure_more(
    language: str, said: str, schema: JsonSchema, value: Any
) -> None:
    read = reading({"it": schema}, {"it": value}, said, language=language).arguments["it"]
    assert read.standing != "contradicted"


def test_a_value_is_contradicted_by_the_only_figure_of_a_text() -> None:
    read = reading(
        {"it": {"type": "number", "description": "Distance in metres"}}, {"it": 4800}, "Rounds of 400 metres"
    )
    assert read.arguments["it"].standing == "contradicted"


def test_the_fourth_of_several_is_a_place_and_no_count() -> None:
    counted: JsonSchema = {"type": "integer", "description": "Number of sets"}
    floor: JsonSchema = {"type": "integer", "description": "Number of the floor"}
    sets = reading({"sets": counted}, {"sets": 4}, "Log my 4th set of squats").arguments["sets"]
    assert sets.standing == "stated"
    for said in ("Send the lift to the 4th floor", "the fourth floor please"):
        assert reading({"floor": floor}, {"floor": 4}, said).arguments["floor"].standing == "proved"


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "shopping list: tape, boxes; oh, and a marker"), ("es", "lista: cinta, cajas; ah, y un rotulador")],
)
def test_a_list_that_somebody_adds_to_is_not_proved_without_that(language: str, said: str) -> None:
    items = said.split(": ")[1].split("; ", maxsplit=1)[0].split(", ")
    listed = {"type": "array", "items": TEXT}
    assert reading({"items": listed}, {"items": items}, said, language=language).arguments["items"].standing == "stated"
