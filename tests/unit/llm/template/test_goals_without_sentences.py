"""Requests in steps for tools that have no sentences of their own: what a step takes from the
response before it.
"""

from callwright.llm.template.goal_reading import read_goal
from callwright.llm.template.goal_sources import FromEntry, KnownValue
from callwright.llm.template.goal_tools import read_toolbox

ID = {"type": "string", "description": "The shelf's id (`id` in the response of find_shelf)"}
TOOLS = read_toolbox(
    [
        {
            "name": "find_shelf",
            "description": "Find a shelf.",
            "parameters": {
                "type": "object",
                "properties": {"room": {"type": "string"}},
                "required": ["room"],
            },
        },
        {
            "name": "count_books",
            "description": "Count books.",
            "parameters": {"type": "object", "properties": {"id": ID}, "required": ["id"]},
        },
    ]
)


def test_a_step_without_a_word_on_which_thing_takes_it_from_the_newest_response() -> None:
    nodes = read_goal("Please find a shelf, room attic, and count books.", TOOLS).nodes
    assert [node.tool for node in nodes] == ["find_shelf", "count_books"]
    assert nodes[0].sources == {"room": KnownValue("attic")}
    assert nodes[1].sources == {"id": FromEntry(nodes[0], "", "id", ())}


def test_a_step_that_no_response_before_it_serves_is_not_read() -> None:
    assert [node.tool for node in read_goal("Please count books.", TOOLS).nodes] == []
