"""The calls of the next step of a request in steps, read only where each of its words is accounted for."""

from collections.abc import Iterator, Mapping, Sequence

import orjson
from pydantic import JsonValue

from callwright.language.text import fold
from callwright.llm.template.defects import Proposal
from callwright.llm.template.grammar.steps.due import due_calls, made_name
from callwright.llm.template.grammar.steps.phrases import has_phrases
from callwright.llm.template.grammar.steps.reading import read_request, read_strictly
from callwright.llm.template.grammar.steps.sources import Node, called_entries
from callwright.llm.template.grammar.steps.sources import read_toolbox as read_step_tools
from callwright.llm.template.grammar.turns import Turn
from callwright.llm.template.sections import Sections


def due_steps(sections: Sections) -> list[Proposal] | None:
    """The calls of the next step of a request in steps, none where nothing is left; None where the request is no such one."""
    turns, tools = sections.turns(), sections.json("tools")
    spoken = [turn for turn in turns if turn.speaker == "user"]
    if len(spoken) != 1 or not isinstance(tools, list):
        return None
    box = read_step_tools(tools)
    if not any(box.origins(name, one) for name, tool in box.tools.items() for one in tool.properties):
        return None
    nodes = _steps_of(spoken[0].text, tools)
    return _next_step(nodes, _made(turns)) if nodes else None


def _next_step(nodes: Sequence[Node], made: Mapping[bytes, JsonValue]) -> list[Proposal]:
    """The calls that are due; none once all entries are known that the words call by a name, and no result has one of them."""
    due = due_calls(nodes, made)
    held = {fold(text) for result in made.values() for text in _texts(result)}
    is_last = len(made) + len(due) >= len(nodes)
    if is_last and any(fold(name) not in held for name in called_entries(nodes)):
        return []
    return [Proposal(name, given) for name, given in due]


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member)


def _steps_of(request: str, tools: list[JsonValue]) -> list[Node]:
    """The steps that a request needs; none where words are left over, as far as the language has phrases for the tools."""
    toolbox = read_step_tools(tools)
    nodes = read_request(request, toolbox)
    if not has_phrases(toolbox):
        return nodes
    return [] if read_strictly(request, toolbox).unread else nodes


def _made(turns: Sequence[Turn]) -> dict[bytes, JsonValue]:
    """The calls made so far, each with what it returned: calls stand in rows, their results in rows behind them."""
    calls = [orjson.loads(turn.text) for turn in turns if turn.speaker == "call"]
    results = [orjson.loads(turn.text) for turn in turns if turn.speaker == "result"]
    return {made_name(call["tool"], call["arguments"]): result for call, result in zip(calls, results, strict=False)}
