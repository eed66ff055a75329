"""A day or a time is worded by what it is to the call: until it ends, from it on, due by it, moved to it."""

from random import Random

import pytest

from callwright.language.calls.tools import view_of
from callwright.llm.template.wording import role_of, word_call

DAY = {"type": "string", "format": "date"}
SEEDS = range(12)


def worded(language: str, parameter: str, description: str = "Record a greeting.") -> set[str]:
    """What is said for the only day of a tool that sets a greeting, twelve times."""
    schema = {"type": "object", "properties": {parameter: DAY}}
    view = view_of({"name": "set_greeting", "description": description, "parameters": schema})
    return {word_call(view, {parameter: "2027-01-08"}, language, Random(seed)).request for seed in SEEDS}


@pytest.mark.parametrize(
    ("parameter", "lead"),
    [
        ("until", "until "), ("valid_until", "valid until "), ("end_date", "until "), ("due_date", "due by "),
        ("due_before", "due before "), ("start_date", "starting "), ("new_date", "to "), ("date", "on "),
    ],
)  # fmt: skip
def test_the_name_of_a_parameter_decides_what_stands_before_its_day(parameter: str, lead: str) -> None:
    requests = worded("en", parameter)
    assert any(lead in request for request in requests)
    assert lead == "on " or not any(" on January" in request or " on the 8th" in request for request in requests)


@pytest.mark.parametrize(
    ("description", "role"),
    [
        ("The last day of the absence.", "until"),
        ("The day until which calls are forwarded.", "until"),
        ("When the bill is due.", "by"),
        ("转接截止日期", "until"),
        ("fecha de finalización", "until"),
        ("The day of the show.", ""),
    ],
)
def test_where_the_name_does_not_tell_the_description_does(description: str, role: str) -> None:
    assert role_of("day", description) == role


def test_chinese_and_spanish_have_words_of_their_own() -> None:
    assert any("为止" in request for request in worded("zh", "until", description="录一段问候语。"))
    assert any(" hasta " in request for request in worded("es", "until", description="Grabar un saludo."))


def test_what_is_called_by_words_that_stand_before_a_value_is_no_noun() -> None:
    assert not any("the valid until" in request for request in worded("en", "valid_until"))


def test_a_time_before_its_day_is_said_with_at() -> None:
    moment = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"}
    tool = {
        "name": "send_text",
        "description": "Send a text.",
        "parameters": {"type": "object", "properties": {"send_at": moment}},
    }
    requests = [
        word_call(view_of(tool), {"send_at": "2026-12-23 20:15"}, "en", Random(seed)).request for seed in range(40)
    ]
    assert any(" at " in request for request in requests)
    assert not any(
        clock in request for request in requests for clock in ("on 8:15", "on eight", "on quarter", "on 20:15")
    )
