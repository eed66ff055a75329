"""The next calls of a multi-step task: what the request needs, minus what was answered."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ToolView
from callwright.language.names import split_name
from callwright.language.packs import language_of
from callwright.language.pages import shapes_in
from callwright.language.schemas import scalars
from callwright.language.text import fold
from callwright.llm.template.defects import Proposal, spoil_calls
from callwright.llm.template.goal_reading import read_goal
from callwright.llm.template.goal_sources import due_calls, entries_in, made_name
from callwright.llm.template.goal_tools import noun_for, read_toolbox
from callwright.llm.template.questions import plain_question
from callwright.llm.template.reading import read_values
from callwright.llm.template.sections import Sections, Turn
from callwright.warehouse.records import DEFAULT_LANGUAGE

DONE = "Here is everything you asked for."
NOTHING = "I'm afraid I can't find what you asked for."


class DueStep(NamedTuple):
    """The calls to make now, or the answer if there are none."""

    calls: tuple[Proposal, ...]
    answer: str

    def reply(self) -> dict[str, Any]:
        """Return the step as a reply."""
        return {
            "calls": [{"name": call.tool, "arguments": call.arguments} for call in self.calls],
            "answer": self.answer,
        }


def next_calls(sections: Sections, defect: str, rng: Random) -> tuple[dict[str, Any], str]:
    """Return the reply for the next step, with the defect in it, or "" if there is none."""
    step = next_step(sections)
    calls, planted = spoil_calls(defect, step.calls, sections.views(), DEFAULT_LANGUAGE, rng)
    return DueStep(tuple(calls), step.answer or ("" if calls else DONE)).reply(), planted


def next_step(sections: Sections) -> DueStep:
    """Return what to do next; ReplyError if <request>, <tools> or <history> is missing."""
    request, history = sections.text("request"), sections.listed("history")
    told = {str(one.get("assistant")): str(one.get("user")) for one in history}
    request, question = _filled(request, told, sections.views())
    if question:
        return DueStep((), question)
    nodes, fields_by_tool, _ = read_goal(request, read_toolbox(sections.json("tools")))
    answered = [
        pair
        for one in history
        for pair in zip(one.get("calls") or (), one.get("responses") or (), strict=False)
    ]
    made = {made_name(call["name"], call["arguments"]): response for call, response in answered}
    due = tuple(Proposal(*call) for call in due_calls(nodes, made))
    return DueStep(
        due, "" if due else " ".join([DONE, *_told(fields_by_tool, answered)]) if nodes else NOTHING
    )


def due_steps(sections: Sections) -> list[Proposal] | None:
    """Return the next step's calls, empty if done, None if the request is not one in steps."""
    turns, box = sections.turns(), read_toolbox(sections.listed("tools"))
    spoken = [turn.text for turn in turns if turn.speaker == "user"]
    found = (box.origins(name, one) for name, tool in box.tools.items() for one in tool.properties)
    is_linked = any(found)
    if not is_linked or not spoken or (len(spoken) > 1 and not _held_in(spoken[0])):
        return None
    replies = {
        one.text: other.text
        for one, other in pairwise(turns)
        if (one.speaker, other.speaker) == ("assistant", "user")
    }
    request, question = _filled(spoken[0], replies, sections.views())
    nodes, _, unread = read_goal(request, box)
    if question or not nodes or unread:
        return [] if question else None
    # calls stand in rows, their results in rows behind them
    calls, results = (
        [turn.json() for turn in turns if turn.speaker == speaker] for speaker in ("call", "result")
    )
    result_by_call = {
        made_name(call["tool"], call["arguments"]): result
        for call, result in zip(calls, results, strict=False)
    }
    due = due_calls(nodes, result_by_call)
    result_texts = {fold(str(one)) for result in result_by_call.values() for one in scalars(result)}
    rules = (
        rule
        for node in nodes
        for entry in entries_in(node.sources.values())
        for rule in entry.rules
    )
    # nothing is due once all entries are known that the words call by a name, and no result has one
    # of them
    is_known = len(result_by_call) + len(due) >= len(nodes)
    is_missing = any(
        rule.kind == "called" and fold(rule.text) not in result_texts for rule in rules
    )
    return [] if is_known and is_missing else [Proposal(*call) for call in due]


def _held_in(request: str) -> list[re.Match[str]]:
    """Return the places where a simulated user withholds something."""
    (shape,) = shapes_in(language_of(request), "user.held")
    return [*re.finditer(re.escape(shape).replace(re.escape("{called}"), "(.+?)"), request)]


def _filled(request: str, told: Mapping[str, str], views: Sequence[ToolView]) -> tuple[str, str]:
    """Return the request with held-back values filled in, and the next question or ""."""
    for match in _held_in(request):
        question = plain_question(match[1], language_of(request))
        if question not in told:
            return request, question
        turns = [Turn("assistant", question), Turn("user", told[question])]
        found = (value for view in views for value in read_values(view, turns).values())
        said = next(found, told[question])
        request = request.replace(match[0], str(said), 1)
    return request, ""


def _told(
    asked: Mapping[str, Sequence[str]], answered: Sequence[tuple[Any, JsonValue]]
) -> Iterator[str]:
    """Yield a sentence for each result with the plain values that are asked for, thing by thing."""
    for call, response in answered:
        wanted = asked.get(call["name"], ())
        things = [", ".join(_plain_facts(one, wanted)) for one in _objects(response)]
        if told := "; ".join(filter(None, things)):
            yield f"{noun_for('', call['name'])}: {told}."


def _plain_facts(thing: Mapping[str, JsonValue], wanted: Sequence[str]) -> Iterator[str]:
    for name, value in thing.items():
        words = " ".join(split_name(name))
        if words in wanted and value is not None and not isinstance(value, dict | list):
            yield f"{words} {value}"


def _objects(value: JsonValue) -> Iterator[Mapping[str, JsonValue]]:
    """Yield an object and the objects within it, or those of a list."""
    if isinstance(value, dict):
        yield value
        yield from _objects([*value.values()])
    elif isinstance(value, list):
        for member in value:
            yield from _objects(member)
