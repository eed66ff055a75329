"""The next calls of a multi-step task: what the request needs, minus what was answered."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.entries import noun_for
from callwright.language.names import split_name
from callwright.language.packs import language_of
from callwright.language.schemas import scalars
from callwright.language.text import fold
from callwright.llm.template.defects import Proposal, spoil_calls
from callwright.llm.template.goal_reading import read_goal
from callwright.llm.template.goal_sources import (
    KnownValue,
    Node,
    Unknown,
    due_calls,
    entries_in,
    made_name,
)
from callwright.llm.template.goal_tools import Toolbox, read_toolbox
from callwright.llm.template.questions import plain_question
from callwright.llm.template.reading import read_values
from callwright.llm.template.sections import Sections, Turn
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

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
    told = [(str(one["assistant"]), str(one["user"])) for one in history if "assistant" in one]
    box = read_toolbox(sections.json("tools"))
    reading = read_goal(request, box)
    nodes, question = _completed(reading.nodes, told, box, language_of(request))
    if question:
        return DueStep((), question)
    answered = [
        pair
        for one in history
        for pair in zip(one.get("calls") or (), one.get("responses") or (), strict=False)
    ]
    made = {made_name(call["name"], call["arguments"]): response for call, response in answered}
    due = tuple(Proposal(*call) for call in due_calls(nodes, made))
    return DueStep(
        due, "" if due else " ".join([DONE, *_told(reading.asked, answered)]) if nodes else NOTHING
    )


def due_steps(sections: Sections) -> list[Proposal] | None:
    """Return the next step's calls, empty if done, None if the request is not one in steps."""
    turns, box = sections.turns(), read_toolbox(sections.listed("tools"))
    spoken = [turn.text for turn in turns if turn.speaker == "user"]
    found = (box.origins(name, one) for name, tool in box.tools.items() for one in tool.properties)
    is_linked = any(found)
    if not is_linked or not spoken:
        return None
    reading = read_goal(spoken[0], box)
    # what stands in other sentences may be the value that a call seems to lack
    if reading.unread or not reading.nodes:
        return None
    if len(spoken) > 1 and not any(_open_values(node) for node in reading.nodes):
        return None
    told = [
        (one.text, other.text)
        for one, other in pairwise(turns)
        if (one.speaker, other.speaker) == ("assistant", "user")
    ]
    nodes, question = _completed(reading.nodes, told, box, language_of(spoken[0]))
    if question:
        return []
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


def _open_values(node: Node) -> dict[str, Unknown]:
    """Return what a call lacks that the person has to be asked for."""
    return {name: one for name, one in node.sources.items() if isinstance(one, Unknown)}


def _completed(
    nodes: Sequence[Node], told: Sequence[tuple[str, str]], box: Toolbox, language: Language
) -> tuple[list[Node], str]:
    """Return the calls with what the person has `told` after questions, and the next question.

    What the person does not know is left out.
    """
    completed: list[Node] = []
    for node in nodes:
        tool, sources = box.tools[node.tool], dict(node.sources)
        for name, unknown in _open_values(node).items():
            del sources[name]
            for parameter in unknown.parameters:
                question = plain_question(tool.parameter(parameter).called(language), language)
                answers = [
                    read_values(tool, [Turn("assistant", said), Turn("user", answer)])
                    for said, answer in told
                ]
                found = [one[parameter] for one in answers if parameter in one]
                if not found and question not in dict(told):
                    return [], question
                if found:
                    sources[parameter] = KnownValue(found[-1])
                    break
        ordered = {name: sources[name] for name in tool.properties if name in sources}
        completed.append(Node(node.tool, ordered))
    return completed, ""


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
