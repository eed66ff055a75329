"""The template's grades: plans by equality, parameters by what stands in the conversation."""

import json

import pytest

from callwright.llm.template.judging import grade_plan, name_made_up
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError

FIND = {"tool": "find_guest", "arguments": {"name": "Ida Berg"}}
BOOK = {"tool": "book_sauna", "arguments": {"guest_id": "$$$", "hour": 9}}
STATED_IN = {"tool": "book_sauna", "arguments": {"guest_id": "from find_guest", "hour": "9"}}
SAUNA = {
    "name": "book_sauna",
    "description": "Book the sauna.",
    "parameters": {
        "type": "object",
        "properties": {
            "guest_id": {"type": "string"},
            "hour": {"type": "integer"},
            "guests": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
        },
    },
}
TALK = (
    'user: The sauna for Ida Berg, at 9.\ncall: {"tool":"x","arguments":{"y":"hot"}}\nresult:'
    ' {"guest_id":"G777"}'
)


def graded(expected: object, given: object) -> float:
    return grade_plan(
        Sections({"expected": json.dumps(expected), "given": json.dumps(given)}, None)
    )["score"]


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ([FIND, BOOK], 1),
        ([FIND, STATED_IN], 1),
        ([FIND], 0.5),
        ([BOOK, FIND], 0),
        ([FIND, BOOK, FIND], 0.667),
        ([], 0),
        ([FIND, {**BOOK, "arguments": {"hour": 9}}], 0.5),
        ([{**FIND, "arguments": {"name": "Ola"}}, BOOK], 0.5),
        ("Sorry.", 0),
        (["find_guest", BOOK], 0.5),
    ],
)
def test_a_plan_is_as_good_as_its_share_of_equal_calls(given: object, score: float) -> None:
    assert graded([FIND, BOOK], given) == score


def test_a_plan_without_calls_is_right_where_none_is_due() -> None:
    assert graded([], []) == 1
    with pytest.raises(ReplyError, match="list in the section <expected>"):
        graded("none", [])


@pytest.mark.parametrize(
    ("arguments", "made_up"),
    [
        ({"guest_id": "G777", "hour": 9}, []),
        ({"guest_id": "G778", "hour": 10}, ["guest_id", "hour"]),
        ({"guest_id": "hot"}, ["guest_id"]),
        ({"guests": [{"name": "Ida Berg"}]}, []),
        ({"guests": [{"name": "Ida Berg"}, {"name": "Ola Lien"}]}, ["guests"]),
    ],
)
def test_a_parameter_is_made_up_where_nobody_says_it(arguments: object, made_up: list[str]) -> None:
    call = json.dumps({"tool": "book_sauna", "arguments": arguments})
    assert (
        name_made_up(Sections({"call": call, "tools": json.dumps([SAUNA])}, TALK))["parameters"]
        == made_up
    )


def test_a_section_without_a_call_is_refused() -> None:
    with pytest.raises(ReplyError, match="section <call>"):
        name_made_up(Sections({"call": "[]"}, TALK))
