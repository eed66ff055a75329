"""The model as candidate: what it reads, in the form that the prompt asks for."""

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import orjson
from pydantic import JsonValue

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import language_of
from callwright.llm.chat import ChatMessage
from callwright.llm.template.defects import (
    MALFORMED_JSON,
    REFUSAL,
    Proposal,
    apology,
    break_json,
    spoil_calls,
)
from callwright.llm.template.next_steps import next_calls
from callwright.llm.template.reading import choose_tool, read_call, read_plan
from callwright.llm.template.sections import Sections
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.yaml_text import read_yaml

NO_TOOL = "Sorry, none of my tools can do this."
_FENCED_SHARE = 0.5
_YAML_TOOLS = re.compile(r"^<tools>\n(.*?)\n</tools>[ \t]*$", re.MULTILINE | re.DOTALL)


def candidate_reply(
    messages: Sequence[ChatMessage], sections: Sections, chances: tuple[Random, Random], defect: str
) -> tuple[str, str]:
    """Return the reply and its defect ("" if none); `chances` seed the answer and its flaws."""
    rng, flaws = chances
    if "history" in sections.tagged:  # the calls of a run's next step, or its answer
        step, planted = next_calls(sections, defect, flaws)
        return (dumped(step["calls"]) if step["calls"] else str(step["answer"])), planted
    tools = _listed_tools(messages, sections)
    views = [*map(view_of, tools)]
    if defect == REFUSAL:
        return apology(flaws), REFUSAL
    wanted, notation = sections.word("wanted", ""), sections.word("format", "json")
    calls, planted = spoil_calls(
        defect, _due(sections, tools, views), views, language_of(sections.conversation or ""), flaws
    )
    if wanted:
        text = _worded(wanted, calls, sections, notation)
        if not text:
            speech = _speech(sections, views)
            text = speech["say"] if notation == "native" else _written(speech, notation)
    else:
        text = _written(_listed(calls)[0], "json") if calls else NO_TOOL
    if calls and defect == MALFORMED_JSON:
        return break_json(text if not wanted else dumped(_listed(calls)), flaws), MALFORMED_JSON
    return (
        f"```json\n{text}\n```" if calls and not wanted and rng.random() < _FENCED_SHARE else text
    ), planted


def _due(
    sections: Sections, tools: Sequence[JsonValue], views: Sequence[ToolView]
) -> list[Proposal]:
    """Return the due calls: all of a request; in a conversation, the one not made yet."""
    turns, setting = sections.turns(), sections.word("setting", "call")
    if setting == "plan":
        return read_plan(tools, turns)
    call = read_call(views, turns)
    made = [one.json() for one in turns if one.speaker == "call"]
    return [call] if call.tool and call._asdict() not in made else []


def _speech(sections: Sections, views: Sequence[ToolView]) -> dict[str, Any]:
    """Return what the assistant says when it calls nothing, and the dialogue acts of its words."""
    turns = sections.turns()
    if turns and turns[-1].speaker == "result":
        return {"say": "That's done; here is what came of it.", "acts": ["inform"]}
    if choose_tool(views, turns) is None:
        return {"say": "I'm sorry, I can't do that.", "acts": ["reject"]}
    return {"say": "Is there anything else that I can do for you?", "acts": ["other"]}


def with_tools(sections: Sections, tools: Sequence[Tool]) -> Sections:
    """Return the sections of a prompt, with native tools added as if the prompt showed them."""
    if not tools:
        return sections
    shown: list[JsonValue] = []
    for tool in tools:
        signature = tool.signature
        # what a native tool returns stands at the end of its description, for want of another place
        _, _, stated = str(signature["description"]).partition("\nReturns: ")
        shown.append({**signature, "returns": orjson.loads(stated)} if stated else signature)
    return sections._replace(tagged={**sections.tagged, "tools": dumped(shown)})


def as_native_calls(text: str) -> tuple[Call, ...] | None:
    """Return the calls that a reply lists, or None if it is not a list of calls."""
    try:
        listed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(listed, list):
        return None
    return tuple(Call(tool=one["name"], arguments=one["arguments"]) for one in listed) or None


def _listed_tools(messages: Sequence[ChatMessage], sections: Sections) -> list[JsonValue]:
    """Return the tools of the prompt, given as JSON on one line or as YAML on several."""
    if "tools" in sections.tagged:
        return sections.listed("tools")
    matches = (_YAML_TOOLS.search(message.content) for message in messages)
    yaml_match = next(filter(None, matches), None)
    if yaml_match is None:
        raise ReplyError(
            "template/v1 answers in free text only as a candidate: the prompt must show <tools>."
        )
    listed = read_yaml(yaml_match[1])
    if not isinstance(listed, list):
        raise ReplyError("template/v1 expects a list of tools in the section <tools>.")
    return listed


def _worded(wanted: str, plan: Sequence[Proposal], sections: Sections, notation: str) -> str:
    if wanted == "names":
        return _written([call.tool for call in plan], notation)
    if wanted == "before":
        made = sections.listed("calls")
        return _written([call for call in _listed(plan)[:-1] if call not in made], notation)
    due = plan[-1:] if wanted == "last" else plan
    if due:
        return _written(_listed(due), notation)
    return "" if sections.word("setting", "call") == "conversation" else NO_TOOL


def _listed(plan: Sequence[Proposal]) -> list[JsonValue]:
    return [{"name": call.tool, "arguments": call.arguments} for call in plan]


def _written(value: JsonValue, notation: str) -> str:
    if notation != "yaml":
        return dumped(value)
    import yaml

    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False)).rstrip()


def dumped(value: JsonValue) -> str:
    """Return the value as JSON. Raise ReplyError if JSON cannot hold it."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise ReplyError(f"template/v1 read a value that JSON can't hold: {error}.") from error
