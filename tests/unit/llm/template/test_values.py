import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from callwright.language.calls.sampling import fill_in, make_value
from callwright.language.schemas import UnsupportedPatternError, matching_text
from callwright.language.values import locate, write_value
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language, Tool

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
    "pattern", [r"^(?=a)b$", r"(?i)a", r"[^\s\S]", r"\bword", "(a", "a)", "a{999999}"]
)
def test_a_pattern_that_asks_for_more_is_refused(pattern: str):
    with pytest.raises(UnsupportedPatternError):
        matching_text(pattern, Random(1))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "string", "pattern": "^(?!y)y$"},
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
