"""A sample as a test: a function for pytest that needs nothing but what is written in it."""

from collections.abc import Mapping, Sequence

from callwright.flows.pages.look import render
from callwright.warehouse.exports.examples import openai_messages
from callwright.warehouse.exports.writing import plain_names, tool_document
from callwright.warehouse.records import CallTurn, Sample, Tool


def test_of(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """The last calls that are due in a sample as a test of whoever is to make them, "" where none are asked for."""
    places = [place for place, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)]
    if not places:
        return ""
    names = plain_names(tools.values())
    shown = [tools[key] for key in sample.candidates if key in tools]
    return render(
        "sample_test.py.j2",
        key=sample.key,
        messages=_lines(list(openai_messages(sample.briefing, sample.turns[: places[-1]], names))),
        tools=_lines([{"type": "function", "function": tool_document(tool, names[tool.name])} for tool in shown]),
        due=_lines([{"name": names.get(one.tool, one.tool), "arguments": dict(one.arguments)} for one in sample.gold]),
    )


def _lines(values: Sequence[object]) -> str:
    """A list as Python writes it, a value a line."""
    return "[\n" + "".join(f"        {value!r},\n" for value in values) + "    ]" if values else "[]"
