"""What words state for a schema."""

from typing import Any

import pytest

from callwright.language.text import fold
from callwright.language.values import read_value

TIME = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
DATE = {"type": "string", "format": "date"}
INSTANT = {"type": "string", "format": "date-time"}
MOMENT = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"}
CLASSES = {"enum": ["economy", "business", "business_plus"]}


@pytest.mark.parametrize(
    ("words", "schema", "value"),
    [
        ("for four people", {"type": "integer"}, 4),
        ("三个半", {"type": "integer"}, 3),
        ("2.5", {"type": "integer"}, None),
        ("three or four", {"type": "integer"}, None),
        ("20%", {"type": "number", "maximum": 1}, 0.2),
        ("20%", {"type": "number"}, 20),
        ("March 5, 2026", DATE, "2026-03-05"),
        ("March 5", DATE, None),
        ("3/5/2026", DATE, None),
        ("half past seven in the evening", TIME, "19:30"),
        ("7:30", TIME, None),
        ("March 5, 2026 at noon", MOMENT, "2026-03-05 12:00"),
        ("Business Plus", CLASSES, "business_plus"),
        ("in economy class", CLASSES, "economy"),
        ("business or economy", CLASSES, None),
        ("first", CLASSES, None),
        ("yes", {"type": "boolean"}, True),
        ("不要", {"type": "boolean"}, False),
        (
            "without breakfast",
            {"type": "boolean", "description": "Whether breakfast is included"},
            False,
        ),
        ("要早餐", {"type": "boolean", "description": "是否包含早餐"}, True),
        ("perhaps", {"type": "boolean"}, None),
        ("two, 3 and 四", {"type": "array", "items": {"type": "integer"}}, [2, 3, 4]),
        ('"a,b" and "c"', {"type": "array", "items": {"type": "string"}}, ["a,b", "c"]),
        ("on 2027-03-02T20:15:00Z", INSTANT, "2027-03-02T20:15:00Z"),
        (" “Blue Hotel” ", {"type": "string"}, "Blue Hotel"),
        ("  ", {"type": "string"}, None),
        ("a thing", {"type": "object"}, None),
        ("six", {"type": ["integer", "null"]}, 6),
    ],
)
def test_words_are_read_as_the_schema_asks(words: str, schema: dict[str, Any], value: Any) -> None:
    assert read_value(words, schema) == value


def test_folding_makes_the_ways_of_writing_one() -> None:
    assert {
        fold(text) for text in ("round_trip", "Round-Trip", "roundTrip", "ｒｏｕｎｄ　ｔｒｉｐ")
    } == {"round trip"}
