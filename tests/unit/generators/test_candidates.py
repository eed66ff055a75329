"""Which tools stand beside the gold tool."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.tools import ToolPool, pick_distractors
from callwright.warehouse.records import Tool

TOPICS = (
    "lamp",
    "heating",
    "door",
    "window",
    "garden",
    "music",
    "coffee",
    "vacuum",
    "camera",
    "alarm",
)


def tool(name: str, topic: str, category: str = "Home") -> Tool:
    description = f"Control the {topic} in {category} through {topic} number {name}."
    return Tool(
        name=name,
        description=description,
        category=category,
        parameters={"type": "object", "properties": {}},
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from(TOPICS), st.booleans()), max_size=20
    ),
    st.integers(),
)
def test_no_two_candidates_have_one_name(made: list[tuple[str, str, bool]], seed: int) -> None:
    gold = tool("gold", "blinds")
    tools = [gold, *(tool(name, topic, "Home" if near else "Away") for name, topic, near in made)]
    names = [one.name for one in pick_distractors(gold, ToolPool(tools), 4, Random(seed))]
    assert len(names) == len(set(names))
    assert "gold" not in names
    assert len(names) <= 4
