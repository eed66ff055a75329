"""Steps: a goal in words, the words understood, and the next calls from what was answered so
far.
"""

from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.calls.entries import FAMILIES, rank_fields, rank_words, read_rank, value_in
from callwright.language.calls.tools import view_of
from callwright.llm.template.defects import STEP_DEFECTS, Proposal, spoil_calls
from callwright.llm.template.goal_tools import Rule, pointers, read_toolbox, rules_of
from callwright.llm.template.goal_wording import leave_open, word_goal
from callwright.llm.template.next_steps import DueStep, due_steps, next_step
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError

ROOM_ID = "(`id` of an entry of `rooms` in the response of Find_Rooms)"
TOOLS: list[dict[str, Any]] = [
    {
        "name": "Find_Rooms",
        "description": "Find free rooms of a house. One night at a time.",
        "parameters": {
            "type": "object",
            "properties": {
                "house": {"type": "string"},
                "night": {"type": "string", "format": "date"},
            },
            "required": ["house", "night"],
        },
    },
    {
        "name": "Show_Room",
        "description": "Show a room.",
        "parameters": {
            "type": "object",
            "properties": {"room_id": {"type": "string", "description": f"The room {ROOM_ID}"}},
            "required": ["room_id"],
        },
    },
]
CALLS: list[dict[str, Any]] = [
    {
        "tool": "Find_Rooms",
        "wanted": False,
        "arguments": {
            "house": {"kind": "said", "value": "Mill House"},
            "night": {"kind": "said", "value": "2027-05-03"},
        },
    },
    {
        "tool": "Show_Room",
        "wanted": True,
        "arguments": {
            "room_id": {
                "kind": "picked",
                "call": 0,
                "entries": "rooms",
                "field": "id",
                "where": [{"test": "lowest", "field": "price"}],
            }
        },
    },
]
ROOMS = {
    "rooms": [{"id": "r1", "name": "Blue", "price": 80}, {"id": "r2", "name": "Red", "price": 60}]
}
FOUND = {"name": "Find_Rooms", "arguments": {"house": "Mill House", "night": "2027-05-03"}}


def sections(**values: Any) -> Sections:
    return Sections({name: orjson.dumps(value).decode() for name, value in values.items()}, None)


def request_of(seed: int = 0) -> str:
    return word_goal(sections(tools=TOOLS, calls=CALLS), Random(seed))


def step_after(
    *exchanges: tuple[dict[str, Any], Any], request: str = "", tools: Any = None
) -> DueStep:
    history = [{"calls": [call], "responses": [response]} for call, response in exchanges]
    return next_step(
        sections(tools=tools or TOOLS, request=request or request_of(), history=history)
    )


@pytest.mark.parametrize("seed", range(12))
def test_what_was_worded_is_understood(seed: int):
    request = request_of(seed)
    assert step_after(request=request).calls == (("Find_Rooms", FOUND["arguments"]),)
    assert step_after((FOUND, ROOMS), request=request).calls == (("Show_Room", {"room_id": "r2"}),)


def test_when_all_is_answered_the_person_is():
    shown = {"name": "Show_Room", "arguments": {"room_id": "r2"}}
    step = step_after((FOUND, ROOMS), (shown, {"beds": 2}))
    assert step.calls == ()
    assert step.answer


@pytest.mark.parametrize(
    "broken",
    [
        {"tools": TOOLS, "request": 3, "history": []},
        {"tools": TOOLS, "request": "a", "history": {}},
        {"tools": {"name": "x"}, "request": "a", "history": []},
        {"request": "a", "history": []},
    ],
)
def test_a_prompt_of_another_form_is_refused(broken: dict[str, Any]):
    with pytest.raises(ReplyError):
        next_step(sections(**broken))


@pytest.mark.parametrize("seed", range(6))
def test_a_request_says_all_values_and_names_no_tool(seed: int) -> None:
    request = request_of(seed)
    assert "Mill House" in request
    assert "2027" in request
    assert not any(
        tool["name"] in request or tool["name"].replace("_", " ") in request for tool in TOOLS
    )


@given(
    family=st.sampled_from(FAMILIES),
    highest=st.booleans(),
    noun=st.sampled_from(["hotel", "time slot", "car"]),
    part=st.sampled_from(["", "Inn", "The Old Mill"]),
)
def test_every_ranking_that_is_said_is_read_back(family, highest: bool, noun: str, part: str):
    path = min(family.words)
    tests = ("earliest", "latest") if family.is_time else ("lowest", "highest")
    where: list[dict[str, Any]] = [{"test": tests[highest], "field": path}]
    if part:
        where.insert(0, {"test": "contains", "field": "name", "value": part})
    words = pointers(noun)
    pointed = words.read(words.write(rules_of(where), {}), lambda *_: False)
    assert pointed is not None
    rules = pointed.rules
    assert rules == rules_of(where)
    assert rules[-1] == Rule("rank", rank_words(tests[highest], path) or "")
    assert (Rule("contains", part) in rules) == bool(part)
    entry = {path: "2027-01-01 10:00" if family.is_time else 3}
    assert read_rank(rules[-1].text, entry) == (tests[highest], path)


def test_only_what_can_be_measured_is_ranked_by():
    entry = {
        "id": 3,
        "price_id": 4,
        "price": "free",
        "rating": 4.5,
        "review_count": 7,
        "departureTime": "10:30",
    }
    assert rank_fields(entry) == {
        "rating": "rating",
        "reviews": "review_count",
        "departure": "departureTime",
    }
    assert value_in({"a": [{"b": 1}]}, "a[0].b") == 1
    assert value_in({"a": []}, "a[0].b") is None


@pytest.mark.parametrize("defect", STEP_DEFECTS)
def test_a_spoilt_step_differs_from_the_right_one(defect: str):
    right = [
        Proposal("Find_Rooms", dict(FOUND["arguments"])),
        Proposal("Show_Room", {"room_id": "r2"}),
    ]
    lookup = {**TOOLS[0], "name": "Find_House"}
    spoilt, planted = spoil_calls(defect, right, [*map(view_of, [*TOOLS, lookup])], "en", Random(1))
    assert planted == defect
    assert spoilt != right


def test_steps_in_another_language_are_refused_rather_than_mixed():
    shown = {
        name: orjson.dumps(value).decode()
        for name, value in {"tools": TOOLS, "calls": CALLS}.items()
    }
    with pytest.raises(ReplyError, match="in English only; use another model for Chinese"):
        word_goal(Sections({**shown, "language": "zh"}, None), Random(0))


PAINT = {
    "name": "update_room",
    "description": "Change a room.",
    "parameters": {
        "type": "object",
        "properties": {
            "room_id": {"type": "string", "description": f"The room {ROOM_ID}"},
            "colour": {"type": "string", "enum": ["red", "blue"]},
        },
        "required": ["room_id"],
    },
}


@pytest.mark.parametrize("seed", range(6))
def test_what_is_held_back_is_not_said_and_is_asked_for(seed: int) -> None:
    said = {"room_id": CALLS[1]["arguments"]["room_id"], "colour": {"kind": "said", "value": "red"}}
    calls = [CALLS[0], {"tool": "update_room", "wanted": True, "arguments": said}]
    tools = [TOOLS[0], PAINT]
    request = word_goal(sections(tools=tools, calls=calls), Random(seed))
    held = [{"tool": "update_room", "parameter": "colour", "value": "red"}]
    opening = leave_open(sections(tools=tools, request=request, held=held), Random(seed))
    assert "red" in request
    assert "red" not in opening
    question = step_after(request=opening, tools=tools)
    assert (question.calls, question.answer) == ((), "Could you tell me the colour?")
    found = {"calls": [FOUND], "responses": [ROOMS]}
    told = {"assistant": question.answer, "user": "It's red."}
    step = next_step(sections(tools=tools, request=opening, history=[told, found]))
    assert step.calls == (("update_room", {"room_id": "r2", "colour": "red"}),)


def test_a_tool_without_sentences_is_asked_for_with_the_thing_in_its_title() -> None:
    tool = read_toolbox([TOOLS[0], PAINT]).tools["update_room"]
    shapes = {shape for one in tool.sentences.requests for shape in one.shapes}
    assert "change {room_id} with the colour {colour}" in shapes
    assert "The colour of {room_id} should be {colour}." in shapes


def test_nobody_is_asked_to_list_what_only_has_to_be_found() -> None:
    of_house = {**TOOLS[0], "name": "list_rooms", "description": "List the rooms of a house."}
    tools = orjson.loads(orjson.dumps([of_house, TOOLS[1]]).replace(b"Find_Rooms", b"list_rooms"))
    calls = orjson.loads(orjson.dumps(CALLS).replace(b"Find_Rooms", b"list_rooms"))
    request = word_goal(sections(tools=tools, calls=calls), Random(1)).lower()
    assert "list" not in request
    assert "cheapest room with the house mill house" in request


def test_where_tools_have_no_notes_ids_come_from_what_their_names_say() -> None:
    def origins(name: str, *taken: str) -> list[str]:
        shown = [
            {
                "name": tool,
                "parameters": {"properties": {key: {"type": "string"} for key in needed}},
            }
            for tool, needed in {
                "list_orders": (),
                "get_order": ("order_id",),
                "create_order": ("city",),
                "list_items": ("order_id",),
                "get_item": ("item_id",),
            }.items()
        ]
        box = read_toolbox(shown)
        return [f"{one.source}.{one.field}" for one in box.origins(name, *taken)]

    assert origins("get_order", "order_id") == [
        "list_orders.id",
        "create_order.id",
        "get_item.order_id",
    ]
    assert origins("get_item", "item_id") == ["list_items.id"]
    assert origins("create_order", "city") == []


def test_a_conversation_is_no_request_in_steps_where_its_value_stands_in_another_sentence() -> None:
    tagged = {"tools": orjson.dumps(TOOLS).decode()}
    assert due_steps(Sections(tagged, 'user: Show a room. Room ID: "r1,r2".')) is None
    assert due_steps(Sections(tagged, "user: Find free rooms of a house.")) == []
