"""Judging whether two calls do the same for the user, and whether the conversation bears them out."""

from collections.abc import Sequence

from pydantic import JsonValue

from llm.language.folding import fold
from llm.language.locating import locate
from llm.language.reading import read_value
from llm.template.sections import Sections, Turn
from llm.template.understanding import read_conversation
from llm.template.views import ToolView
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema


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


def is_equivalent(one: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    """Whether two values mean the same: spelling, case and notation apart."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other or fold(str(one)) == fold(str(other))
    if one == other or fold(str(one)) == fold(str(other)):
        return True
    if isinstance(one, list) and isinstance(other, list):
        return _are_equivalent(one, other, schema.get("items") or {})
    if isinstance(one, dict) and isinstance(other, dict):
        members = schema.get("properties") or {}
        return one.keys() == other.keys() and all(
            is_equivalent(one[key], other[key], members.get(key) or {}) for key in one
        )
    if isinstance(one, list | dict) or isinstance(other, list | dict):
        return False
    read = read_value(str(one), schema), read_value(str(other), schema)
    if read[0] is not None and read[0] == read[1]:
        return True
    return locate(one, schema, str(other)) is not None and locate(other, schema, str(one)) is not None


def _are_equivalent(one: list[JsonValue], other: list[JsonValue], items: JsonSchema) -> bool:
    """Whether two lists hold the same, in any order."""
    rest = list(other)
    for value in one:
        match = next((candidate for candidate in rest if is_equivalent(value, candidate, items)), None)
        if match is None:
            return False
        rest.remove(match)
    return not rest


def is_stated(value: JsonValue, schema: JsonSchema, turns: Sequence[Turn]) -> bool:
    """Whether the user, or a message the user leans on, says the value."""
    return any(
        locate(value, schema, turn.text) is not None for turn in turns if turn.speaker in ("user", "message", "result")
    )
