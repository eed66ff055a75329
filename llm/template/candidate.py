"""The model as candidate: all the calls that a request asks for, in the form that the prompt wants them."""

import re
from collections.abc import Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import LanguagePattern, language_of
from callwright.llm.chat import ChatMessage
from callwright.llm.template.baseline import choose_tool, read_values
from callwright.llm.template.defects import (
    MALFORMED_JSON,
    REFUSAL,
    Proposal,
    apology,
    break_json,
    spoil_call,
)
from callwright.llm.template.judging import proposed_call
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.sections import Sections, Turn
from callwright.llm.template.several_calls import split_requests
from callwright.llm.template.steps_calling import next_calls as next_calls_of_run
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.yaml_text import read_yaml

UNKNOWN = "$$$"
_WISH = LanguagePattern(r"(?<=[.!?;])\s+|(?<=@[{.!?;}])|@{asks_for_then}")


class CandidateTools(NamedTuple):
    """The tools of a prompt, and the names of what each of them returns."""

    views: tuple[ToolView, ...]
    returns: dict[str, frozenset[str]]


def read_toolbox(tools: Sequence[JsonValue]) -> CandidateTools:
    """The tools as a prompt shows them; ReplyError where one has no name."""
    returns: dict[str, frozenset[str]] = {}
    for tool in tools:
        if isinstance(tool, dict):
            schema = tool.get("returns")
            members = schema.get("properties") if isinstance(schema, dict) else None
            returns[str(tool.get("name"))] = frozenset(members if isinstance(members, dict) else ())
    return CandidateTools(tuple(view_of(tool) for tool in tools), returns)


def plan_calls(sections: Sections, box: CandidateTools) -> list[Proposal]:
    """The calls that are due: all that serve a request, in a conversation the one that was not made yet."""
    turns = resolve_pointers(sections.turns())
    spoken = [turn for turn in turns if turn.speaker not in {"call", "result"}]
    if sections.word("setting", "call") == "plan":
        return _whole_plan(spoken, box)
    view = choose_tool(box.views, spoken)
    if view is None:
        return []
    call = Proposal(view.name, read_values(view, spoken))
    made = {turn.text for turn in turns if turn.speaker == "call"}
    return [] if orjson.dumps({"tool": call.tool, "arguments": call.arguments}).decode() in made else [call]


def _whole_plan(spoken: Sequence[Turn], box: CandidateTools) -> list[Proposal]:
    """All the calls that a request needs, in their order; what only an earlier one tells is unknown, and is looked up first."""
    plan: list[Proposal] = []
    for view, wish in _wishes(box.views, spoken):
        stated = read_values(view, [Turn("user", wish), *spoken[1:]])
        for name in (name for name in view.required if name not in stated):
            if not any(name in box.returns.get(str(call.tool), ()) for call in plan):
                # what returns the value, and for what the words of the wish suffice
                lookups = (
                    (one, read_values(one, [Turn("user", wish)])) for one in box.views if name in box.returns[one.name]
                )
                able = ((one, told) for one, told in lookups if told and all(need in told for need in one.required))
                plan += [Proposal(one.name, told) for one, told in islice(able, 1)]
            stated[name] = UNKNOWN
        plan.append(Proposal(view.name, {one.name: stated[one.name] for one in view.parameters if one.name in stated}))
    return plan


def _wishes(views: Sequence[ToolView], spoken: Sequence[Turn]) -> list[tuple[ToolView, str]]:
    """The tools that a request asks for, in order, each with the sentences that are about it.

    Requests behind leads are apart, also where they are for the same tool.
    """
    first = next((turn.text for turn in spoken if turn.speaker == "user"), "")
    wishes: list[tuple[ToolView, str]] = []
    for request in split_requests(first, language_of(first)):
        before = len(wishes)
        for sentence in filter(None, (piece.strip() for piece in _WISH.of(request).split(request) if piece)):
            view = choose_tool(views, [Turn("user", sentence)])
            is_same = len(wishes) > before and view in (None, wishes[-1][0])
            if is_same:
                wishes[-1] = (wishes[-1][0], f"{wishes[-1][1]} {sentence}")
            elif view is not None:
                wishes.append((view, sentence))
    if len(wishes) > 1:
        return wishes
    whole = wishes[0][0] if wishes else choose_tool(views, spoken)  # one wish may be spread over all sentences
    return [(whole, first)] if whole else []


def speech(sections: Sections, box: CandidateTools) -> JsonValue:
    """What the assistant says where it calls nothing, with what its words do."""
    turns = sections.turns()
    if turns and turns[-1].speaker == "result":
        return {"say": "That's done; here is what came of it.", "acts": ["inform"]}
    if choose_tool(box.views, [turn for turn in turns if turn.speaker == "user"]) is None:
        return {"say": "I'm sorry, I can't do that.", "acts": ["reject"]}
    return {"say": "Is there anything else that I can do for you?", "acts": ["other"]}


NO_TOOL = "Sorry, none of my tools can do this."
_FENCED_SHARE = 0.5
_YAML_TOOLS = re.compile(r"^<tools>\n(.*?)\n</tools>[ \t]*$", re.MULTILINE | re.DOTALL)


def candidate_reply(
    messages: Sequence[ChatMessage], sections: Sections, chances: tuple[Random, Random], defect: str
) -> tuple[str, str]:
    """The reply and the defect in it, "" where none is; `chances` are those of the answer and of its flaws."""
    rng, flaws = chances
    if "history" in sections.tagged:  # the calls of a run's next step, or its answer
        step, planted = next_calls_of_run(sections, defect, flaws)
        if not isinstance(step, dict):
            raise ReplyError("template/v1 has no next step for this run.")
        return (dumped(step["calls"]) if step["calls"] else str(step["answer"])), planted
    wanted, notation = sections.word("wanted", ""), sections.word("format", "json")
    if not wanted:
        return _as_one_call(sections, rng, flaws, defect)
    box = _toolbox(messages, sections)
    if defect == REFUSAL:
        return apology(flaws), REFUSAL
    plan, planted = _spoilt(plan_calls(sections, box), [*box.views], sections, flaws, defect)
    text = _worded(wanted, plan, sections, notation) or _written(speech(sections, box), notation)
    if defect == MALFORMED_JSON and plan:
        return break_json(_written(_listed(plan), "json"), flaws), MALFORMED_JSON
    return text, planted


def with_tools(sections: Sections, tools: Sequence[Tool]) -> Sections:
    """The sections of a prompt, with the tools that came beside it as if it showed them."""
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
    """The calls that a reply lists, None where it is no list of calls."""
    try:
        listed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(listed, list):
        return None
    return tuple(Call(tool=one["name"], arguments=one["arguments"]) for one in listed) or None


def _as_one_call(sections: Sections, rng: Random, flaws: Random, defect: str) -> tuple[str, str]:
    """The call as JSON, bare or fenced, or the sentence that refuses."""
    if "tools" not in sections.tagged:
        raise ReplyError("template/v1 answers in free text only as a candidate: the prompt must show <tools>.")
    proposal, planted = proposed_call(sections, flaws, defect)
    if defect == REFUSAL:
        return apology(flaws), REFUSAL
    if proposal.tool is None:
        return NO_TOOL, planted
    call = _written({"name": proposal.tool, "arguments": proposal.arguments}, "json")
    if defect == MALFORMED_JSON:
        call, planted = break_json(call, flaws), MALFORMED_JSON
    return (f"```json\n{call}\n```" if rng.random() < _FENCED_SHARE else call), planted


def _toolbox(messages: Sequence[ChatMessage], sections: Sections) -> CandidateTools:
    """The tools of the prompt, which stand there in JSON on one line, or in YAML on many."""
    if "tools" in sections.tagged:
        listed = sections.json("tools")
    else:
        found = next((match for message in messages if (match := _YAML_TOOLS.search(message.content))), None)
        if found is None:
            raise ReplyError("template/v1 answers in free text only as a candidate: the prompt must show <tools>.")
        listed = read_yaml(found[1])
    if not isinstance(listed, list):
        raise ReplyError("template/v1 expects a list of tools in the section <tools>.")
    return read_toolbox(listed)


def _spoilt(
    plan: list[Proposal], views: list[ToolView], sections: Sections, flaws: Random, defect: str
) -> tuple[list[Proposal], str]:
    if not defect or not plan:
        return plan, ""
    at = flaws.randrange(len(plan))
    spoilt = spoil_call(defect, plan[at], views, language_of(sections.conversation or ""), flaws)
    if spoilt is None or spoilt == plan[at]:
        return plan, ""
    return [*plan[:at], *([spoilt] if spoilt.tool else []), *plan[at + 1 :]], defect


def _worded(wanted: str, plan: Sequence[Proposal], sections: Sections, notation: str) -> str:
    if wanted == "names":
        return _written([call.tool for call in plan], notation)
    if wanted == "before":
        known = sections.json("calls")
        listed = _listed(plan)
        return _written([call for call in listed[:-1] if not isinstance(known, list) or call not in known], notation)
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
    """The value in JSON; ReplyError where it has none."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise ReplyError(f"template/v1 read a value that JSON can't hold: {error}.") from error
