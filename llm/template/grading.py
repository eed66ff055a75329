"""Grading plans and parameters by what is written: a stand-in for a judge that understands meaning.

A plan is as good as the share of its calls that equal the due ones in their places; a parameter holds where its value can be
found in the conversation.
"""

from collections.abc import Sequence

from pydantic import JsonValue

from language.calls.parsing import read_conversation
from language.calls.tools import ToolView
from language.calls.turns import Turn, is_equivalent
from language.values import locate
from llm.template.sections import Sections
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema

_OPEN = "$$$"  # a value that only an earlier call's result tells


def grade_plan(sections: Sections) -> dict[str, JsonValue]:
    """The share of calls that are as they should be, out of those due or those given, whichever are more."""
    expected, given = sections.json("expected"), sections.json("given")
    if not isinstance(expected, list):
        raise ReplyError("template/v1 expects a list of calls in the section <expected>.")
    if not isinstance(given, list):
        return {"score": 0.0, "reason": "The answer is no list of calls."}
    most = max(len(expected), len(given))
    same = sum(_is_same(due, made) for due, made in zip(expected, given, strict=False))
    return {"score": round(same / most, 3) if most else 1.0, "reason": f"{same} of {most} calls are the same."}


def _is_same(due: JsonValue, made: JsonValue) -> bool:
    if not isinstance(due, dict) or not isinstance(made, dict) or due.get("tool") != made.get("tool"):
        return False
    wanted, told = due.get("arguments"), made.get("arguments")
    if not isinstance(wanted, dict) or not isinstance(told, dict) or wanted.keys() != told.keys():
        return False
    return all(value == _OPEN or is_equivalent(value, told[name], {}) for name, value in wanted.items())


def name_made_up(sections: Sections, views: Sequence[ToolView]) -> dict[str, JsonValue]:
    """The parameters of a call whose values nobody said and no result holds."""
    call = sections.json("call")
    arguments = call.get("arguments") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(arguments, dict):
        raise ReplyError("template/v1 expects a call with arguments in the section <call>.")
    view = next((one for one in views if one.name == call.get("tool")), None)
    schemas, turns = (view.properties if view else {}), sections.turns()
    heard = read_conversation(view, turns) if view else {}
    made_up: list[JsonValue] = [
        name
        for name, value in arguments.items()
        # a plain "breakfast: yes" is understood with its cue, and located nowhere
        if (name not in heard or heard[name] != value) and not _is_told(value, schemas.get(name, {}), turns)
    ]
    return {
        "parameters": made_up,
        "reason": "Their values are not in the conversation." if made_up else "All are stated.",
    }


def _is_told(value: JsonValue, schema: JsonSchema, turns: Sequence[Turn]) -> bool:
    """Whether anybody says the value, or a result holds it; all the values in it, where it is compound."""
    if isinstance(value, list):
        return all(_is_told(one, schema.get("items") or {}, turns) for one in value)
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        return all(_is_told(one, members.get(name) or {}, turns) for name, one in value.items())
    return any(locate(value, schema, turn.text) is not None for turn in turns if turn.speaker != "call")
