"""Judging whether two calls do the same for the user, and whether the conversation bears them out."""

from collections.abc import Sequence

from pydantic import JsonValue

from language.calls.parsing import read_conversation
from language.calls.tools import ToolView
from language.calls.turns import Turn, is_equivalent, is_stated
from llm.template.sections import Sections
from warehouse.errors import ReplyError


def judge(sections: Sections, views: Sequence[ToolView]) -> dict[str, JsonValue]:
    """Whether the expected and the given call agree, with the reason in one sentence."""
    expected, given = _call(sections, "expected"), _call(sections, "given")
    turns = sections.turns()
    problem = _difference(expected, given, views, turns)
    return {
        "agree": not problem,
        "reason": problem or "Both calls give the same tool the same values, and all were said.",
    }


def _call(sections: Sections, tag: str) -> tuple[str | None, dict[str, JsonValue]]:
    call = sections.json(tag)
    if isinstance(call, list) and len(call) == 1:
        call = call[0]
    if call is None or call == []:
        return None, {}
    if not isinstance(call, dict):
        raise ReplyError(f"template/v1 expects one call in the section <{tag}>, not {str(call)[:80]!r}.")
    name, arguments = call.get("tool", call.get("name")), call.get("arguments") or {}
    return (name if isinstance(name, str) else None), (arguments if isinstance(arguments, dict) else {})


def _difference(
    expected: tuple[str | None, dict[str, JsonValue]],
    given: tuple[str | None, dict[str, JsonValue]],
    views: Sequence[ToolView],
    turns: Sequence[Turn],
) -> str:
    """What differs, or was never said; "" where nothing."""
    (tool, wanted), (other, said) = expected, given
    if tool != other:
        return f"One call is of {tool!r}, the other of {other!r}."
    view = next((one for one in views if one.name == tool), None)
    schemas = view.properties if view else {}
    heard = read_conversation(view, turns) if view else {}
    for name in (*wanted, *said):
        if name not in wanted or name not in said:
            return f"Only one of the calls gives {name!r}."
        if not is_equivalent(wanted[name], said[name], schemas.get(name, {})):
            return f"The values {wanted[name]!r} and {said[name]!r} of {name!r} differ."
        # a plain "breakfast: yes" is understood with its cue, and located nowhere
        if wanted[name] != heard.get(name) and not is_stated(wanted[name], schemas.get(name, {}), turns):
            return f"Nobody said {wanted[name]!r} for {name!r}."
    return ""
