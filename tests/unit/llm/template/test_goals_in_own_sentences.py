"""Requests in steps for a document of one's own, worded and read by the sentences that a recipe
brings for its tools.
"""

import json
from random import Random
from typing import Any

import pytest

from callwright.llm.template.goal_reading import read_goal
from callwright.llm.template.goal_sources import FromEntry, KnownValue
from callwright.llm.template.goal_tools import Rule, read_toolbox
from callwright.llm.template.goal_wording import word_goal
from callwright.llm.template.sections import Sections
from callwright.llm.template.sentences import own_sentences
from callwright.llm.tool_sentences import SentenceFile

FOUND = "The room (`id` of an entry of `rooms` in the response of find_rooms)"
TOOLS: list[dict[str, Any]] = [
    {
        "name": "find_rooms",
        "description": "Find free rooms.",
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
        "name": "get_room",
        "description": "Return a room.",
        "parameters": {
            "type": "object",
            "properties": {
                "room_id": {"type": "string", "description": FOUND},
                "page": {"type": "integer"},
            },
            "required": ["room_id"],
        },
    },
]
CHEAPEST = {
    "kind": "picked",
    "call": 0,
    "entries": "rooms",
    "field": "id",
    "where": [{"test": "lowest", "field": "price"}],
}
MILL, NIGHT = {"kind": "said", "value": "Mill House"}, {"kind": "said", "value": "2027-05-03"}
CALLS: list[dict[str, Any]] = [
    {"tool": "find_rooms", "wanted": False, "arguments": {"house": MILL, "night": NIGHT}},
    {"tool": "get_room", "wanted": True, "asked": ["size"], "arguments": {"room_id": CHEAPEST}},
]
TEXT = """
find_rooms:
  requests: ["see what is free [at {house}] [{night}]", "What rooms are there [at {house}] [{night}]?"]
get_room:
  requests: ["describe [{room_id}] to me"]
"""
FILES = (
    SentenceFile(
        file="inn.en.yaml",
        language="en",
        text=TEXT,
        parameters={"get_room": (("room_id",), ("room_id", "page"))},
    ),
)


def goal(seed: int) -> str:
    shown = {"tools": json.dumps(TOOLS), "calls": json.dumps(CALLS)}
    return word_goal(Sections(shown, None), Random(seed))


@pytest.mark.parametrize("seed", range(8))
def test_a_goal_is_said_in_them_and_read_by_them(seed: int) -> None:
    with own_sentences(FILES):
        request = goal(seed)
        found = read_goal(request, read_toolbox(TOOLS))
    assert "at Mill House" in request
    assert "describe" in request.lower()
    assert "the size" in request
    assert [(node.tool, node.sources) for node in found.nodes] == [
        ("find_rooms", {"house": KnownValue("Mill House"), "night": KnownValue("2027-05-03")}),
        (
            "get_room",
            {"room_id": FromEntry(found.nodes[0], "rooms", "id", (Rule("rank", "cheapest {}"),))},
        ),
    ]


def test_they_are_those_of_whoever_brings_them_alone() -> None:
    with own_sentences(FILES):
        request = goal(0)
    assert read_goal(request, read_toolbox(TOOLS)).nodes == ()
    assert "at Mill House" not in goal(0)
