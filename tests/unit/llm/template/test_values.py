import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import FIRST_DAY, LAST_DAY, fill_in, make_value
from callwright.language.packs import own_letters
from callwright.language.schemas import UnsupportedPatternError, matching_text
from callwright.language.values import locate, write_value
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language, Tool

CLOCK = r"^([01]\d|2[0-3]):[0-5]\d$"
SEEDS = st.integers(0, 2**32)
LANGUAGES = st.sampled_from(["en", "zh"])


@given(SEEDS)
def test_every_value_satisfies_its_schema_and_can_be_said(tools: tuple[Tool, ...], seed: int):
    rng = Random(seed)
    tool = rng.choice(tools)
    values = fill_in(list(tool.properties), tool.properties, tool.language, rng)
    assert list(values) == list(tool.properties)
    for name, value in values.items():
        schema = tool.properties[name]
        errors = list(
            Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(value)
        )
        assert errors == [], (name, value)
        assert value not in ("", [], {}, None)
        assert isinstance(value, dict) or locate(
            value, schema, write_value(value, schema, tool.language, rng)
        )


@given(SEEDS, LANGUAGES)
def test_a_bare_parameter_gets_what_its_name_tells(seed: int, language: Language):
    rng = Random(seed)

    def made(name: str) -> str:
        return str(make_value(name, {"type": "string"}, language, rng))

    assert FIRST_DAY.isoformat() <= made("startDate") <= LAST_DAY.isoformat()
    assert re.fullmatch(r"[\w.]+@[\w.]+\.\w+", made("email"))
    assert re.fullmatch(r"[A-Z]{3}-?\d{4,6}", made("customerID"))
    assert re.fullmatch(r"[\d\-]{8,12}", made("phoneNumber"))
    assert re.fullmatch(r"[A-Z]{2}\d{3,4}", made("flightNumber"))
    assert re.fullmatch(r"\d\d:\d\d", made("pickupTime"))
    assert re.fullmatch(r"\d{4}-\d\d", made("statementPeriod"))
    assert made("amount").isdecimal()
    for name in (
        "city",
        "cancellationReason",
        "passengerName",
        "issueDescription",
        "itemDescription",
        "address",
    ):
        assert bool(own_letters(made(name))) == (language == "zh"), name


@given(SEEDS, LANGUAGES)
def test_values_of_one_call_make_sense_together(seed: int, language: Language):
    properties = {
        "origin": {"type": "string"},
        "destination": {"type": "string"},
        "checkInDate": {"type": "string", "format": "date"},
        "checkOutDate": {"type": "string", "format": "date"},
        "adults": {"type": "integer", "minimum": 1, "maximum": 6},
        "children": {"type": "integer", "minimum": 1, "maximum": 6},
        "fromAccountID": {"type": "string"},
        "toAccountID": {"type": "string"},
    }
    values = fill_in(list(properties), properties, language, Random(seed))
    assert values["origin"] != values["destination"]
    assert values["adults"] != values["children"]
    assert values["fromAccountID"] != values["toAccountID"]
    assert str(values["checkInDate"]) < str(values["checkOutDate"])


@given(SEEDS)
def test_patterns_are_met(seed: int):
    plain = (
        r"^[A-Z]{2}\d{3}(?:-[a-f]{1,2}|X)?$",
        r"^(?:\d{3}-){2}\d{4}$",
        r"^v\d+\.\d+$",
        r"[abc]{2,4}",
    )
    for pattern in (*plain, r"^[-\w\.]+[^\.]$", r"^[^\sa-z]{3}$"):
        assert re.search(pattern, matching_text(pattern, Random(seed)))


@pytest.mark.parametrize(
    ("description", "is_person"),
    [("name of the DeviceClass", False), ("The name of the customer.", True), ("The name.", False)],
)
def test_the_name_of_a_thing_is_no_person(description: str, is_person: bool):
    given = {name.split()[0] for name in _names("The name of the passenger.", 200)}
    assert {name.split()[0] in given for name in _names(description, 20)} == {is_person}


def _names(description: str, count: int) -> list[str]:
    schema = {"type": "string", "description": description}
    return [str(make_value("name", schema, "en", Random(seed))) for seed in range(count)]


@given(SEEDS)
def test_a_name_that_has_to_be_one_word_is_words_put_together(seed: int):
    schema = {"type": "string", "pattern": "^[-\\w]+[^-]$", "description": "The name of the group."}
    name = make_value("groupName", schema, "en", Random(seed))
    assert isinstance(name, str)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), name


@pytest.mark.parametrize(
    "pattern", [r"^(?=a)b$", r"(?P<x>a)", r"[^\s\S]", r"\bword", "(a", "a)", "a{999999}"]
)
def test_a_pattern_that_asks_for_more_is_refused(pattern: str):
    with pytest.raises(UnsupportedPatternError):
        matching_text(pattern, Random(1))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "string", "pattern": "^(?!x)y$"},
        {"type": "null"},
        {"type": "string", "enum": [""]},
        {"type": "string", "not": {}},
    ],
)
def test_a_schema_that_nothing_satisfies_is_a_reply_error(schema: dict[str, object]):
    with pytest.raises(ReplyError, match="odd"):
        make_value("odd", schema, "en", Random(1))


def test_ten_thousand_values_are_no_few():
    rng = Random(7)
    messages = {str(make_value("message", {"type": "string"}, "en", rng)) for _ in range(1000)}
    titles = {str(make_value("title", {"type": "string"}, "zh", rng)) for _ in range(1000)}
    people = {str(make_value("passengerName", {"type": "string"}, "en", rng)) for _ in range(1000)}
    assert len(messages) > 400
    assert len(titles) > 400
    assert len(people) > 700


@given(SEEDS)
def test_dates_inside_an_object_are_in_order_too(seed: int):
    day = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"startDate": day, "endDate": day},
        "required": ["startDate", "endDate"],
    }
    value = fill_in(["dateRange"], {"dateRange": schema}, "en", Random(seed))["dateRange"]
    assert value["startDate"] < value["endDate"]


@given(SEEDS)
def test_details_are_about_what_the_name_says(seed: int):
    def made(name: str, schema: dict[str, object]) -> object:
        return make_value(name, schema, "en", Random(seed))

    assert made("roomType", {"type": "string"}) in ("single", "double", "twin", "suite", "family")
    assert set(made("billingAddress", {"type": "object"})) == {"street", "city"}
    assert re.fullmatch(r"\d{3}", str(made("cvv", {"type": "string"})))
    assert re.fullmatch(r"[A-Z]{3}/[A-Z]{3}", str(made("currencyPair", {"type": "string"})))
    assert 1 <= int(str(made("interestRate", {"type": "string"}))) <= 9
    assert int(str(made("number_of_tickets", {"type": "integer"}))) <= 100


@pytest.mark.parametrize(
    ("tool", "name", "hours"),
    [
        ("Clock.Bedtime.setSleepSchedule", "bedtime", range(21, 24)),
        ("Clock.Bedtime.setSleepSchedule", "wake_time", range(6, 9)),
        ("Restaurants.Booking.bookTable", "time", range(12, 22)),
        ("Weather.Alerts.addRainAlert", "alert_time", range(8, 21)),
    ],
)
def test_people_do_things_at_their_time_of_day(tool: str, name: str, hours: range):
    properties = in_context({name: {"type": "string", "pattern": CLOCK}}, tool, "")
    values = [str(fill_in([name], properties, "en", Random(seed))[name]) for seed in range(40)]
    assert {int(value[:2]) for value in values} <= set(hours)


def test_large_numbers_are_round_and_small_ones_frequent():
    schema: dict[str, object] = {
        "type": "integer",
        "minimum": 1,
        "maximum": 600,
        "description": "workout minutes",
    }
    values = [make_value("minutes", schema, "en", Random(seed)) for seed in range(200)]
    assert all(isinstance(value, int) and (value <= 30 or value % 5 == 0) for value in values)
    assert sum(isinstance(value, int) and value < 300 for value in values) > 120
