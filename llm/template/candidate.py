"""Replies of a candidate in free text: the call that is due, all the calls of a plan, or a piece of one, in JSON or YAML."""

import re
from collections.abc import Sequence
from random import Random

import orjson
from pydantic import JsonValue

from language.calls.defects import MALFORMED_JSON, REFUSAL, Proposal, apology, break_json, spoil_call, text_language
from language.calls.tools import ToolView
from llm.chat import ChatMessage
from llm.template.planning import Toolbox, plan_calls, read_toolbox, speech
from llm.template.sections import Sections
from llm.template.tasks import proposed_call
from warehouse.errors import ReplyError

NO_TOOL = "Sorry, none of my tools can do this."
_FENCED_SHARE = 0.5
_YAML_TOOLS = re.compile(r"^<tools>\n(.*?)\n</tools>[ \t]*$", re.MULTILINE | re.DOTALL)


def candidate_reply(
    messages: Sequence[ChatMessage], sections: Sections, chances: tuple[Random, Random], defect: str
) -> tuple[str, str]:
    """The reply and the defect in it, "" where none is; `chances` are those of the answer and of its flaws."""
    rng, flaws = chances
    wanted = sections.word("wanted", "")
    if not wanted:
        return _as_one_call(sections, rng, flaws, defect)
    box = _toolbox(messages, sections)
    if defect == REFUSAL:
        return apology(flaws), REFUSAL
    plan = plan_calls(sections, box)
    plan, planted = _spoilt(plan, list(box.views), sections, flaws, defect)
    notation = sections.word("format", "json")
    text = _worded(wanted, plan, sections, notation) or _written(speech(sections, box), notation)
    if defect == MALFORMED_JSON and plan:
        return break_json(_written(_listed(plan), "json"), flaws), MALFORMED_JSON
    return text, planted


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


def _toolbox(messages: Sequence[ChatMessage], sections: Sections) -> Toolbox:
    """The tools of the prompt, which stand there in JSON on one line, or in YAML on many."""
    if "tools" in sections.tagged:
        listed = sections.json("tools")
    else:
        import yaml

        found = next((match for message in messages if (match := _YAML_TOOLS.search(message.content))), None)
        if found is None:
            raise ReplyError("template/v1 answers in free text only as a candidate: the prompt must show <tools>.")
        listed = yaml.load(found[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader either way
    if not isinstance(listed, list):
        raise ReplyError("template/v1 expects a list of tools in the section <tools>.")
    return read_toolbox(listed)


def _spoilt(
    plan: list[Proposal], views: list[ToolView], sections: Sections, flaws: Random, defect: str
) -> tuple[list[Proposal], str]:
    if not defect or not plan:
        return plan, ""
    at = flaws.randrange(len(plan))
    spoilt = spoil_call(defect, plan[at], views, text_language(sections.conversation or ""), flaws)
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
        return _dumped(value)
    import yaml

    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False)).rstrip()


def _dumped(value: JsonValue) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise ReplyError(f"template/v1 read a value that JSON can't hold: {error}.") from error
