"""The next calls of a task in steps: what the request needs, less what was answered already; and the same with a defect."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ToolView
from callwright.language.names import plural, split_name
from callwright.language.packs import language_of, of
from callwright.language.schemas import scalars
from callwright.language.text import fold
from callwright.llm.template.baseline import read_values
from callwright.llm.template.defects import (
    HALLUCINATED_VALUE,
    NEEDLESS_CALL,
    OMITTED_CALL,
    WRONG_ORDER,
    WRONG_TYPE,
    Proposal,
    spoil_call,
)
from callwright.llm.template.sections import Sections, Turn
from callwright.llm.template.stating import dialogues_in
from callwright.llm.template.steps_phrases import has_phrases, noun_for, read_asked
from callwright.llm.template.steps_reading import read_request, read_strictly
from callwright.llm.template.steps_sources import (
    ShownTools,
    called_entries,
    due_calls,
    made_name,
    read_toolbox,
)
from callwright.warehouse.records import DEFAULT_LANGUAGE

DONE = "Here is everything you asked for."
NOTHING = "I'm afraid I can't find what you asked for."


class NextStep(NamedTuple):
    """The calls to make at once, (name, arguments); without any, the answer."""

    calls: tuple[tuple[str, dict[str, JsonValue]], ...]
    answer: str

    def reply(self) -> JsonValue:
        """The step as a reply."""
        calls: list[JsonValue] = [{"name": name, "arguments": arguments} for name, arguments in self.calls]
        return {"calls": calls, "answer": self.answer}


def next_step(sections: Sections) -> NextStep:
    """What to do next, from <request>, <tools> and <history>; ReplyError where the prompt lacks one of them."""
    request, history = sections.text("request"), sections.listed("history")
    request, question = _filled(request, history, sections.views())
    if question:
        return NextStep((), question)
    nodes = read_request(request, read_toolbox(sections.json("tools")))
    answered = _answered(history)
    made = {made_name(str(call.get("name")), call.get("arguments")): response for call, response in answered}
    due = due_calls(nodes, made)
    return NextStep(tuple(due), "" if due else (" ".join([DONE, *_told(request, history)]) if nodes else NOTHING))


def _held_in(request: str) -> list[re.Match[str]]:
    """The places at which a simulated user holds something back."""
    shape = str(of(language_of(request)).data["user"]["held"])
    return [*re.finditer(re.escape(shape).replace(re.escape("{c}"), "(.+?)"), request)]


def _filled(request: str, history: Sequence[JsonValue], views: Sequence[ToolView]) -> tuple[str, str]:
    """The request with what the user has told since in the place of what it held back, and the question for what is lacking."""
    for match in _held_in(request):
        question = dialogues_in(language_of(request)).last_question.replace("{c}", match[1])
        told = next(
            (str(one["user"]) for one in history if isinstance(one, dict) and one.get("assistant") == question), None
        )
        if told is None:
            return request, question
        turns = [Turn("assistant", question), Turn("user", told)]
        said = next((value for view in views for value in read_values(view, turns).values()), told)
        request = request.replace(match[0], str(said), 1)
    return request, ""


def _told(request: str, history: Sequence[JsonValue]) -> list[str]:
    """A sentence for each result that the request asks for fields of, as far as these are plain values."""
    asked, told = read_asked(request), []
    for call, response in _answered(history):
        noun = noun_for("", str(call.get("name")))
        one, many = asked.get(noun, ()), asked.get(plural(noun), ())
        wanted = (many or one) if _holds_list(response) else (one or many)
        facts = [f"{name} {value}" for name, value in _fields(response) if name in wanted]
        told += [f"{noun}: {', '.join(dict.fromkeys(facts))}."] if facts else []
    return told


def _holds_list(value: JsonValue) -> bool:
    members = value.values() if isinstance(value, dict) else ()
    return isinstance(value, list) or any(isinstance(one, list) for one in members)


def _fields(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """The plain values inside a value, each under the words of its name."""
    for member in value if isinstance(value, list) else ():
        yield from _fields(member)
    for name, member in value.items() if isinstance(value, dict) else ():
        if isinstance(member, dict | list):
            yield from _fields(member)
        elif member is not None:
            yield " ".join(split_name(name)), member


def _answered(history: Sequence[JsonValue]) -> Iterator[tuple[dict[str, JsonValue], JsonValue]]:
    """Every call that was made, with what it returned."""
    for exchange in history:
        if isinstance(exchange, dict):
            calls, responses = exchange.get("calls"), exchange.get("responses")
            if isinstance(calls, list) and isinstance(responses, list):
                yield from ((call, one) for call, one in zip(calls, responses, strict=False) if isinstance(call, dict))


StepCall = tuple[str, dict[str, JsonValue]]
_UNASKED = "Springfield"
_SHORTEST_CODE = 4


def next_calls(sections: Sections, defect: str, rng: Random) -> tuple[JsonValue, str]:
    """The reply for the next step, with the defect that is in it, "" where none is."""
    step = next_step(sections)
    toolbox = read_toolbox(sections.json("tools"))
    spoilt = spoil_step(defect, step, toolbox, sections.views(), rng) if defect else None
    return (spoilt or step).reply(), defect if spoilt else ""


def spoil_step(
    defect: str, step: NextStep, toolbox: ShownTools, views: Sequence[ToolView], rng: Random
) -> NextStep | None:
    """The step with this defect in it, None where it can't be made of this step."""
    calls = step.calls
    if not calls:
        return None
    if defect == OMITTED_CALL:  # what is left to do is not done: the answer comes too early
        return NextStep((), DONE)
    if defect == NEEDLESS_CALL:
        made = {name for name, _ in calls}
        lookups = [name for name in toolbox.tools if toolbox.is_lookup(name) and name not in made]
        if not lookups:
            return None
        name = rng.choice(lookups)
        query: dict[str, JsonValue] = {toolbox.tools[name].query: _UNASKED}
        return step._replace(calls=(*calls, (name, query)))
    if defect == WRONG_ORDER:  # one of several calls has to wait for the next step
        late = rng.randrange(len(calls)) if len(calls) > 1 else -1
        return step._replace(calls=(*calls[:late], *calls[late + 1 :])) if late >= 0 else None
    if defect in {WRONG_TYPE, HALLUCINATED_VALUE}:
        return _with_wrong_value(step, toolbox, rng, is_type=defect == WRONG_TYPE)
    at = rng.randrange(len(calls))
    name, arguments = calls[at]
    spoilt = spoil_call(defect, Proposal(name, dict(arguments)), views, DEFAULT_LANGUAGE, rng)
    if spoilt is None or spoilt.tool is None or (spoilt.tool, spoilt.arguments) == calls[at]:
        return None
    return _with(step, at, (spoilt.tool, dict(spoilt.arguments)))


def _with_wrong_value(step: NextStep, toolbox: ShownTools, rng: Random, *, is_type: bool) -> NextStep | None:
    """A value of another type; else one made up, of the looks of the right one: an identifier that no response gave first."""
    values = [(at, name, value) for at, (_, given) in enumerate(step.calls) for name, value in given.items()]
    if is_type:
        places = [
            (at, name) for at, name, one in values if isinstance(one, str | int | float) and not isinstance(one, bool)
        ]
    else:
        places = [(at, name) for at, name, one in values if isinstance(one, str) and len(one) >= _SHORTEST_CODE]
        places = [(at, name) for at, name in places if toolbox.origins(step.calls[at][0], name)] or places
    if not places:
        return None
    at, name = rng.choice(places)
    tool, arguments = step.calls[at]
    value = arguments[name]
    if is_type:
        wrong: JsonValue = [value] if isinstance(value, str) else str(value)
    else:
        letters = list(str(value))
        rng.shuffle(letters)
        wrong = "".join(letters)
    return None if wrong == value else _with(step, at, (tool, {**arguments, name: wrong}))


def _with(step: NextStep, at: int, call: StepCall) -> NextStep:
    return step._replace(calls=(*step.calls[:at], call, *step.calls[at + 1 :]))


def due_steps(sections: Sections) -> list[Proposal] | None:
    """The calls of the next step of a request in steps, none where nothing is left; None where the request is no such one."""
    turns, tools = sections.turns(), sections.json("tools")
    spoken = [turn.text for turn in turns if turn.speaker == "user"]
    is_live = bool(spoken) and bool(_held_in(spoken[0]))
    if not (is_live or len(spoken) == 1) or not isinstance(tools, list):
        return None
    box = read_toolbox(tools)
    if not any(box.origins(name, one) for name, tool in box.tools.items() for one in tool.properties):
        return None
    request = spoken[0]
    if is_live:
        answers: list[JsonValue] = [
            {"assistant": asked.text, "user": told.text}
            for asked, told in pairwise(turns)
            if (asked.speaker, told.speaker) == ("assistant", "user")
        ]
        request, question = _filled(request, answers, sections.views())
        if question:
            return []
    nodes = read_request(request, box)
    # as far as the language has phrases for the tools, no word may be left over
    if not nodes or (has_phrases(box) and read_strictly(request, box).unread):
        return None
    # calls stand in rows, their results in rows behind them
    calls, results = ([turn.json() for turn in turns if turn.speaker == speaker] for speaker in ("call", "result"))
    made = {made_name(call["tool"], call["arguments"]): result for call, result in zip(calls, results, strict=False)}
    due = due_calls(nodes, made)
    held = {fold(str(one)) for result in made.values() for one in scalars(result)}
    # nothing is due once all entries are known that the words call by a name, and no result has one of them
    if len(made) + len(due) >= len(nodes) and any(fold(name) not in held for name in called_entries(nodes)):
        return []
    return [Proposal(name, given) for name, given in due]
