"""Schemas and values that somebody wrote to hold a build up: each is refused, or read, in
moments.
"""

import time
from random import Random

import pytest

from callwright.language.schemas import UnsupportedPatternError, fits, matching_text
from callwright.language.wording import find_wording

SLOW = r"^(a|a)*$"
MANY = "a" * 40 + "!"
QUICK = 5.0  # seconds, on a machine that does much else


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": SLOW},
        {"type": "string", "maxLength": 80, "pattern": SLOW},
        {"type": "string", "pattern": r"^([a-zA-Z0-9_.+-]+)+@example\.com$"},
    ],
)
def test_a_pattern_without_end_is_given_up(schema: dict[str, object]) -> None:
    began = time.process_time()
    assert not fits(MANY, schema)
    assert time.process_time() - began < QUICK


def test_names_of_members_are_matched_in_time_too() -> None:
    schema = {
        "type": "object",
        "patternProperties": {SLOW: {"type": "integer"}},
        "additionalProperties": False,
    }
    began = time.process_time()
    assert not fits({MANY: 1}, schema)
    assert time.process_time() - began < QUICK
    assert fits({"aaa": 1}, schema)


@pytest.mark.parametrize("pattern", ["((((x{64}){64}){64}){64})", "(" * 5000 + "a" + ")" * 5000])
def test_a_pattern_that_asks_for_far_too_much_is_not_written(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        matching_text(pattern, Random(1))


def test_a_value_of_many_words_is_looked_for_in_moments() -> None:
    random = Random(7)
    words = [
        "report",
        "garden",
        "invoice",
        "harbour",
        "budget",
        "library",
        "dog",
        "station",
        "river",
        "letter",
    ]
    value, text = (" ".join(random.choices(words, k=4000)) for _ in range(2))
    began = time.process_time()
    find_wording(value, text)
    assert time.process_time() - began < QUICK


@pytest.mark.parametrize(
    "reference", ["#", "#/nowhere", "http://127.0.0.1:9/schema.json", "file:///etc/passwd"]
)
def test_a_reference_in_circles_or_elsewhere_fits_nothing_and_asks_nobody(
    reference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *given, **_: asked.append(given))
    assert not fits("Paris", {"$ref": reference})
    assert not asked
