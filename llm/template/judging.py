"""The model as judge: it judges only what code can know.

That is whether calls are equal by their schemas, and which values nobody stated.
"""

import re
from collections.abc import Sequence

from pydantic import JsonValue

from callwright.language.calls.tools import ToolView
from callwright.language.names import humanise
from callwright.language.packs import signs
from callwright.language.pages import shapes_in
from callwright.language.schemas import leaves, scalars
from callwright.language.values import locate
from callwright.llm.template.defects import UNKNOWN, Proposal
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.reading import choose_tool, members
from callwright.llm.template.sections import Sections, Turn, is_equivalent
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema


def name_relevant(sections: Sections) -> dict[str, JsonValue]:
    """Return the tool that can do what is asked, or null if none can, with the reason."""
    view = choose_tool(sections.views(), resolve_pointers(sections.turns()))
    if view is None:
        return {"tool": None, "reason": "None of the tools does what the user asks for."}
    return {
        "tool": view.name,
        "reason": f"The user asks to {view.title}, and that is what this tool does.",
    }


def judge(sections: Sections) -> dict[str, JsonValue]:
    """Return whether the expected and the given call agree, with the reason in one sentence."""
    expected, given = (_calls(sections.json(tag)) for tag in ("expected", "given"))
    unsaid = [name for call in expected for name in _unsaid(call, sections)]
    if not _are_equal(expected, given, sections.views()):
        return {
            "agree": False,
            "reason": "The calls differ in their tool, their arguments or a value.",
        }
    if unsaid:
        return {"agree": False, "reason": f"Nobody said a value for {unsaid[0]!r}."}
    return {
        "agree": True,
        "reason": "Both calls give the same tool the same values, and all were said.",
    }


def settle(sections: Sections) -> dict[str, JsonValue]:
    """Return which of two ways is right: the one whose values were all said.

    If both are, it is the one that leaves out nothing that was said.
    """
    shown = [sections.json(tag) for tag in ("first", "second")]
    # the other way is to speak
    ways = [_calls(one) if isinstance(one, list) else [] for one in shown]
    unsaid = [sum(len(_unsaid(call, sections)) for call in way) for way in ways]
    first, second = (
        {(call.tool, name, repr(one)) for call in way for name, one in call.arguments.items()}
        for way in ways
    )
    tools = [[call.tool for call in way] for way in ways]
    if all(ways) and bool(unsaid[0]) != bool(unsaid[1]):
        return {
            "reason": "The other has a value that nobody said.",
            "right": "second" if unsaid[0] else "first",
        }
    if (
        not any(unsaid)
        and tools[0] == tools[1]
        and first != second
        and (first <= second or second <= first)
    ):
        return {
            "reason": "It says all that the other says, and more.",
            "right": "first" if first > second else "second",
        }
    return {"reason": "Code finds no value that tells them apart.", "right": "neither"}


def grade_plan(sections: Sections) -> dict[str, JsonValue]:
    """Return the share of calls that are right, of those due or those given, whichever are more."""
    expected, given_calls = sections.listed("expected"), sections.json("given")
    if not isinstance(given_calls, list):
        return {"score": 0.0, "reason": "The answer is no list of calls."}
    most = max(len(expected), len(given_calls))
    pairs = zip(_calls(expected), _calls(given_calls), strict=False)
    same = sum(_are_equal([due], [made], ()) for due, made in pairs)
    return {
        "score": round(same / most, 3) if most else 1.0,
        "reason": f"{same} of {most} calls are the same.",
    }


def name_made_up(sections: Sections) -> dict[str, JsonValue]:
    """Return the parameters of a call whose values nobody stated and no result contains."""
    made_up: list[JsonValue] = [*_unsaid(_calls(sections.object("call"))[0], sections)]
    return {"parameters": made_up, "reason": f"{len(made_up)} values are not in the conversation."}


def _calls(value: JsonValue) -> list[Proposal]:
    """Return the calls in a section, one or a list, without tool if an element is no call."""
    calls: list[Proposal] = []
    for one in value if isinstance(value, list) else [] if value is None else [value]:
        shown = one if isinstance(one, dict) else {}
        name, arguments = shown.get("tool", shown.get("name")), shown.get("arguments")
        tool = name if isinstance(name, str) else None
        entry = Proposal(tool, arguments if isinstance(arguments, dict) else {})
        calls.append(entry)
    return calls


def _are_equal(
    calls: Sequence[Proposal], others: Sequence[Proposal], views: Sequence[ToolView]
) -> bool:
    """Whether calls have the same tools and values by schema; an unknown value equals any."""
    schemas = {view.name: view.properties for view in views}
    return len(calls) == len(others) and all(
        one.tool == other.tool
        and one.arguments.keys() == other.arguments.keys()
        and all(
            value == UNKNOWN
            or is_equivalent(
                value, other.arguments[name], schemas.get(str(one.tool), {}).get(name, {})
            )
            for name, value in one.arguments.items()
        )
        for one, other in zip(calls, others, strict=True)
    )


def _unsaid(call: Proposal, sections: Sections) -> list[str]:
    """Return the arguments whose value appears nowhere in the conversation.

    A yes or no counts as said if its parameter is named. A choice that appears only in a result
    counts as unsaid.
    """
    view = next((one for one in sections.views() if one.name == call.tool), None)
    turns = [turn for turn in sections.turns() if turn.speaker != "call"]

    def is_said(name: str, value: JsonValue, schema: JsonSchema) -> bool:
        if view and name in view.properties and isinstance(value, bool):
            titles = view.parameter(name).titles
        else:
            titles = ()
        return value == UNKNOWN or any(
            locate(value, schema, text) is not None
            or any(title.lower() in text.lower() for title in titles)
            for text in (
                turn.text for turn in turns if turn.speaker != "result" or not schema.get("enum")
            )
        )

    schemas = view.properties if view else {}
    return [
        name
        for name, value in call.arguments.items()
        if not all(
            is_said(name, one, schema) for _, one, schema in leaves(value, schemas.get(name, {}))
        )
    ]


_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")


def score_answer(sections: Sections) -> dict[str, JsonValue]:
    """Return how many of an answer's figures are in the responses: 2 for all, 1 for some, 0.

    If the prompt shows no responses, all count as found.
    """
    figures = set(_FIGURE.findall(sections.text("answer")))
    strange = figures - set(_FIGURE.findall(sections.tagged.get("history", " ".join(figures))))
    return {
        "score": 0 if strange == figures else 1 if strange else 2,
        "reason": f"{len(figures - strange)} of {len(figures)} figures are in the responses.",
    }


_MARKS = signs(" \n.,;:!?")
# the lines of conversations that state a result
_TELLING = ("done", "rendered", "errors", "others")
_TRUE, _LACKING, _UNKNOWN, _FALSE = 5, 3, 2, 1


def score_reply(sections: Sections) -> dict[str, JsonValue]:
    """Return how true a reply is to the results since the user's last turn.

    It must state errors as errors, and have no word that nothing accounts for.
    """
    reply, results = str(sections.json("reply")), _returned(sections.turns())
    errors = [
        one["error"]
        for one in results
        if isinstance(one, dict) and isinstance(one.get("error"), dict)
    ]
    if any(
        str(one.get("message", "")).lower() not in reply.lower()
        for one in errors
        if isinstance(one, dict) and one
    ):
        return {"reason": "It does not state the error that a call returned.", "score": _FALSE}
    result_texts = [
        str(value) for one in results for value in scalars(one) if not isinstance(value, bool)
    ]
    names = [humanise(name) for name, _ in members(results)]
    language = sections.word("language", DEFAULT_LANGUAGE)
    told = [
        shape for name in ("yes", "no") for shape in shapes_in(language, f"conversations.{name}")
    ]
    some = sorted({*result_texts, *names, *told} - {""}, key=len, reverse=True)
    known = rf"(?<!\w)(?:{'|'.join(map(re.escape, some)) or '(?!)'})(?!\w)"
    shapes = [shape for name in _TELLING for shape in shapes_in(language, f"conversations.{name}")]
    lines = (re.sub(r"\\\{\w+\\\}", lambda _: known, re.escape(one)) for one in shapes)
    if unknown := re.sub("|".join((*lines, known)), " ", reply, flags=re.IGNORECASE).strip(_MARKS):
        return {"reason": f"No result has {unknown!r}.", "score": _UNKNOWN}
    if result_texts and not any(value.lower() in reply.lower() for value in result_texts):
        return {"reason": "It states nothing that was returned.", "score": _LACKING}
    return {"reason": "All that it states was returned.", "score": _TRUE}


def _returned(turns: Sequence[Turn]) -> list[JsonValue]:
    """Return what calls returned since the user last spoke."""
    last = max((at for at, turn in enumerate(turns) if turn.speaker == "user"), default=-1)
    return [turn.json() for turn in turns[last + 1 :] if turn.speaker == "result"]
