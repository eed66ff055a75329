"""The calls that a conversation or a request asks for, read only where each word is accounted for.

What the grammar can't lay out it leaves unread: it answers with no calls, so that nothing is settled by words that it passed over.
"""

from collections.abc import Iterator, Mapping, Sequence

import orjson
from pydantic import JsonValue

from callwright.language.calls.defects import Proposal
from callwright.language.calls.frames import Stretch, glue_of, left_over
from callwright.language.calls.messages import resolve_pointers
from callwright.language.calls.tools import ToolView
from callwright.language.calls.turns import Turn
from callwright.language.packs import of
from callwright.language.steps.due import due_calls, made_name
from callwright.language.steps.phrases import has_phrases
from callwright.language.steps.reading import read_request, read_strictly
from callwright.language.steps.sources import Node, called_entries
from callwright.language.steps.sources import read_toolbox as read_step_tools
from callwright.language.text import fold
from callwright.language.values import locate
from callwright.llm.template.candidate import CandidateTools, next_calls, read_toolbox, whole_plan
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

_SECTIONS = (
    "requests", "dialogues", "corrections", "external", "routing",
    *(
        f"conversations.{one}"
        for one in (
            "joints", "linked", "again", "hints", "situations", "plights", "facts", "flags", "approvals", "switches",
            "corrections", "retries", "more", "surrenders", "thanks",
        )
    ),
)  # fmt: skip


def read_due(sections: Sections) -> JsonValue:
    """The calls to make next, after those made; of a request in steps by what was returned, else of a conversation."""
    turns, tools = sections.turns(), sections.json("tools")
    if not isinstance(tools, list):
        raise ReplyError("template/v1 expects a JSON list of tools in the section <tools>.")
    spoken = [turn for turn in turns if turn.speaker == "user"]
    if len(spoken) == 1:
        nodes = _steps_of(spoken[0].text, tools)
        if nodes:
            return _listed(_next_step(nodes, _made(turns)))
    box = read_toolbox(tools)
    calls = next_calls(resolve_pointers(turns), box)
    return _listed(calls if _is_laid_out(spoken, calls, box, _language(sections)) else [])


def read_planned(sections: Sections) -> JsonValue:
    """All the calls that a request over a catalog needs, in their order."""
    tools = sections.json("tools")
    if not isinstance(tools, list):
        raise ReplyError("template/v1 expects a JSON list of tools in the section <tools>.")
    box, turns = read_toolbox(tools), resolve_pointers(sections.turns())
    calls = whole_plan(turns, box)
    spoken = [turn for turn in turns if turn.speaker == "user"]
    return _listed(calls if _is_laid_out(spoken, calls, box, _language(sections)) else [])


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


def _is_laid_out(spoken: Sequence[Turn], calls: Sequence[Proposal], box: CandidateTools, language: Language) -> bool:
    """Whether each word of the user's is one of the grammar's, of a tool's, or says a value of the calls."""
    phrases = [
        *glue_of(language, *_SECTIONS),
        of(language).last,
        *(one for view in box.views for one in _words_of(view)),
    ]
    return not any(left_over(turn.text, phrases, [*_stated(turn.text, calls, box)]) for turn in spoken)


def _words_of(view: ToolView) -> Iterator[str]:
    yield from (*view.actions, *view.keys, *view.description.split())
    for parameter in view.parameters:
        yield from (parameter.topic, *parameter.cues.spoken)


def _stated(text: str, calls: Sequence[Proposal], box: CandidateTools) -> Iterator[Stretch]:
    schemas = {view.name: view.properties for view in box.views}
    for call in calls:
        for name, value in call.arguments.items():
            schema = {"title": name, **schemas.get(str(call.tool), {}).get(name, {})}
            found = locate(value, schema, text)
            if found is not None:
                yield Stretch(found.start, found.end)


def _listed(calls: Sequence[Proposal]) -> JsonValue:
    return {"calls": [{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls]}


def _language(sections: Sections) -> Language:
    return sections.word("language", DEFAULT_LANGUAGE)
