"""Requests in steps for tools that the language has no phrases for: what a step takes from the response before it."""

from callwright.llm.template.steps_phrases import noun_for
from callwright.llm.template.steps_reading import read_request
from callwright.llm.template.steps_sources import FromEntry, KnownValue, read_toolbox

ID = {"type": "string", "description": "The shelf's id (`id` in the response of find_shelf)"}
TOOLS = read_toolbox([
    {
        "name": "find_shelf",
        "description": "Find a shelf.",
        "parameters": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
    },
    {
        "name": "count_books",
        "description": "Count books.",
        "parameters": {"type": "object", "properties": {"id": ID}, "required": ["id"]},
    },
])  # fmt: skip


def test_a_step_without_a_word_on_which_thing_takes_it_from_the_newest_response() -> None:
    nodes = read_request("Please find a shelf with room attic, and count books.", TOOLS)
    assert [node.tool for node in nodes] == ["find_shelf", "count_books"]
    assert nodes[0].sources == {"room": KnownValue("attic")}
    assert nodes[1].sources == {"id": FromEntry(0, "", "id", ())}


def test_a_step_that_no_response_before_it_serves_is_not_read() -> None:
    assert [node.tool for node in read_request("Please count books.", TOOLS)] == []


def test_what_a_tool_returns_is_called_by_its_noun_also_where_the_verb_of_its_name_comes_last() -> None:
    assert noun_for("", "ContainerInspect") == "container"
    assert noun_for("", "get_saved_track") == "track"
    assert noun_for("", "find_book") == "book"
