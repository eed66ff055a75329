"""The model as checker and judge: the call that a conversation asks for, whether two calls agree, grades for plans and answers."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue

from callwright.language.calls.frames import glue_of, left_over
from callwright.language.calls.tools import ToolView
from callwright.language.names import humanise
from callwright.language.packs import language_of
from callwright.language.schemas import scalars
from callwright.language.values import locate
from callwright.llm.template.baseline import choose_tool, read_values
from callwright.llm.template.defects import Proposal, spoil_call
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.sections import Sections, Turn, is_equivalent, is_stated
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema


def proposed_call(sections: Sections, flaws: Random, defect: str) -> tuple[Proposal, str]:
    """The call that is asked for, no tool where none fits, and the defect that was planted in it, "" where none was."""
    views, turns = sections.views(), resolve_pointers(sections.turns())
    view = choose_tool(views, turns)
    proposal = Proposal(None, {}) if view is None else Proposal(view.name, read_values(view, turns))
    language = language_of(sections.conversation or "")
    spoilt = spoil_call(defect, proposal, views, language, flaws) if defect else None
    return (proposal, "") if spoilt is None or spoilt == proposal else (spoilt, defect)


def name_relevant(sections: Sections) -> dict[str, JsonValue]:
    """The tool that can do what is asked, null where none can, with the reason."""
    view = choose_tool(sections.views(), resolve_pointers(sections.turns()))
    if view is None:
        return {"tool": None, "reason": "None of the tools does what the user asks for."}
    return {"tool": view.name, "reason": f"The user asks to {view.actions[0]}, and that is what this tool does."}


def judge(sections: Sections) -> dict[str, JsonValue]:
    """Whether the expected and the given call agree, with the reason in one sentence."""
    expected, given = _call(sections, "expected"), _call(sections, "given")
    problem = _difference(expected, given, sections.views(), sections.turns())
    reason = problem or "Both calls give the same tool the same values, and all were said."
    return {"agree": not problem, "reason": reason}


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
    (tool, wanted), (other, stated) = expected, given
    if tool != other:
        return f"One call is of {tool!r}, the other of {other!r}."
    view = next((one for one in views if one.name == tool), None)
    schemas = view.properties if view else {}
    parsed = read_values(view, turns) if view else {}
    for name in (*wanted, *stated):
        if name not in wanted or name not in stated:
            return f"Only one of the calls gives {name!r}."
        if not is_equivalent(wanted[name], stated[name], schemas.get(name, {})):
            return f"The values {wanted[name]!r} and {stated[name]!r} of {name!r} differ."
        # a plain "breakfast: yes" is understood with its cue, and located nowhere
        if wanted[name] != parsed.get(name) and not is_stated(wanted[name], schemas.get(name, {}), turns):
            return f"Nobody said {wanted[name]!r} for {name!r}."
    return ""


_OPEN = "$$$"  # a value that only an earlier call's result tells


def grade_plan(sections: Sections) -> dict[str, JsonValue]:
    """The share of calls that are as they should be, out of those due or those given, whichever are more."""
    expected, given = sections.listed("expected"), sections.json("given")
    if not isinstance(given, list):
        return {"score": 0.0, "reason": "The answer is no list of calls."}
    most = max(len(expected), len(given))
    same = sum(_is_same(due, made) for due, made in zip(expected, given, strict=False))
    return {"score": round(same / most, 3) if most else 1.0, "reason": f"{same} of {most} calls are the same."}


def _is_same(due: JsonValue, made: JsonValue) -> bool:
    if not isinstance(due, dict) or not isinstance(made, dict) or due.get("tool") != made.get("tool"):
        return False
    wanted, given = due.get("arguments"), made.get("arguments")
    if not isinstance(wanted, dict) or not isinstance(given, dict) or wanted.keys() != given.keys():
        return False
    return all(value == _OPEN or is_equivalent(value, given[name], {}) for name, value in wanted.items())


def name_made_up(sections: Sections) -> dict[str, JsonValue]:
    """The parameters of a call whose values nobody said and no result holds."""
    call = sections.object("call")
    arguments = call.get("arguments") or {}
    view = next((one for one in sections.views() if one.name == call.get("tool")), None)
    schemas, turns = (view.properties if view else {}), sections.turns()
    parsed = read_values(view, turns) if view else {}
    made_up: list[JsonValue] = [
        name
        for name, value in arguments.items()
        # a plain "breakfast: yes" is understood with its cue, and located nowhere
        if (name not in parsed or parsed[name] != value) and not _is_value_stated(value, schemas.get(name, {}), turns)
    ]
    reason = "Their values are not in the conversation." if made_up else "All are stated."
    return {"parameters": made_up, "reason": reason}


def _is_value_stated(value: JsonValue, schema: JsonSchema, turns: Sequence[Turn]) -> bool:
    """Whether anybody says the value, or a result holds it; all the values in it, where it is compound."""
    if isinstance(value, list):
        return all(_is_value_stated(one, schema.get("items") or {}, turns) for one in value)
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        return all(_is_value_stated(one, members.get(name) or {}, turns) for name, one in value.items())
    return any(locate(value, schema, turn.text) is not None for turn in turns if turn.speaker != "call")


_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NOTHING, _PARTLY, _WHOLLY = 0, 1, 2


def score_answer(sections: Sections) -> dict[str, JsonValue]:
    """Whether an answer's figures are in the responses, where the prompt shows any; else whether it states any."""
    figures = set(_FIGURE.findall(sections.text("answer")))
    if not figures:
        return {"score": _NOTHING, "reason": "The answer states no figure."}
    if "history" not in sections.tagged:
        return {"score": _WHOLLY, "reason": "The answer states what was found."}
    known = set(_FIGURE.findall(sections.tagged["history"]))
    strange = sorted(figures - known)
    if not strange:
        return {"score": _WHOLLY, "reason": "Every figure of the answer is in a response."}
    score = _PARTLY if len(strange) < len(figures) else _NOTHING
    return {"score": score, "reason": f"No response has {strange[0]}."}


_TRUE, _LACKING, _UNKNOWN, _FALSE = 5, 3, 2, 1


def score_reply(sections: Sections) -> dict[str, JsonValue]:
    """How true a reply is to the results since the user last spoke: errors stated as such, no word that nothing accounts for."""
    reply, results = str(sections.json("reply")), _returned(sections.turns())
    for one in results:
        error = one.get("error") if isinstance(one, dict) else None
        if isinstance(error, dict) and error and str(error.get("message", "")).lower() not in reply.lower():
            return {"reason": "It does not state the error that a call returned.", "score": _FALSE}
    held = [str(value) for one in results for value in scalars(one) if not isinstance(value, bool)]
    names = [humanise(name) for one in results for name in _names(one)]
    known = [*held, *names, *glue_of(sections.word("language", DEFAULT_LANGUAGE), "conversations")]
    unknown = left_over(reply, known, [])
    if unknown:
        return {"reason": f"No result has {unknown[0]!r}.", "score": _UNKNOWN}
    if held and not any(value.lower() in reply.lower() for value in held):
        return {"reason": "It states nothing that was returned.", "score": _LACKING}
    return {"reason": "All that it states was returned.", "score": _TRUE}


def _returned(turns: Sequence[Turn]) -> list[JsonValue]:
    """What calls returned since the user last spoke."""
    last = max((at for at, turn in enumerate(turns) if turn.speaker == "user"), default=-1)
    return [turn.json() for turn in turns[last + 1 :] if turn.speaker == "result"]


def _names(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _names(member)
