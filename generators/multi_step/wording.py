"""Write a goal as the request of a person who has it (ComplexFuncBench 2.1.1)."""

import re
from collections.abc import Collection, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.multi_step.answers import field_words
from callwright.generators.multi_step.resolving import leaves_of, resolve, sources_in
from callwright.generators.multi_step.tasks import environment_of
from callwright.generators.slots import (
    Slot,
    about,
    around_slots,
    draw_manner,
    fill,
    slots_of,
    wording_problem,
)
from callwright.generators.stages import ATTEMPTS, Leniency, StageContext, asked_origin, first_fit
from callwright.generators.stated_values import Spot
from callwright.generators.tools import in_a_line
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.records import (
    Arguments,
    Condition,
    Exchange,
    Goal,
    JsonSchema,
    Picked,
    StatedValue,
    Test,
    Tool,
    WordedGoal,
)

PROMPTS = "callwright.generators.multi_step.prompts"
STAGE = "goal_requests"
TEMPLATE = "word_goal"
SUBJECTS = ("myself", "friends", "family", "company")
TONES = (
    "brief and direct",
    "warm and chatty",
    "polite and formal",
    "a little hurried",
    "matter-of-fact",
    "excited",
)
_SHORTEST_SECRET = 4
_WORDY = frozenset({"name", "title", "label"})


class GoalWording(BaseModel):
    """A request in the person's voice, with a slot for each value."""

    request: Paragraph


async def word_goals(goal: Goal, context: StageContext) -> list[WordedGoal]:
    """The goal with a request that says every value and condition of it; asked anew until one does.

    After three wordings one goes on that leaves a part out, to be mended when paths are corrected.
    Raises ReplyError where each of them gives something away, or leaves too much out.
    """
    tools = {tool.name: tool for tool in context.toolset(goal.candidates)}
    environment = environment_of(goal, context)
    path = (await resolve(goal, environment)).path
    asked = [field_words(field) for call in goal.calls for field in call.asked]
    stated = [value for _, _, value in stated_values(goal)]
    rendered = " ".join(map(str, [*stated, *named_values(goal), *asked]))
    # The texts that calls of the goal take out of responses, less those that the user says as well:
    # a field that is asked for may be called like a text, such as the order "distance".
    picked = _picked_texts(goal, path)
    secrets = frozenset(
        text for text in picked if len(text) >= _SHORTEST_SECRET and text not in rendered
    )
    said = SaidInGoal.of(goal, tools)
    tasks = [said.task(index, goal, tools) for index in range(len(goal.calls))]
    shown = [tools[name] for name in dict.fromkeys(call.tool for call in goal.calls)]
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=[tool.sayable for tool in shown],
        calls=[
            {
                "tool": call.tool,
                "wanted": call.wanted,
                "asked": list(dict.fromkeys(filter(None, map(field_words, call.asked)))),
                "arguments": {
                    name: source.model_dump(mode="json") for name, source in call.arguments.items()
                },
            }
            for call in goal.calls
        ],
        slots=[
            {"slot": slot.name, "value": slot.value, "schema": slot.schema} for slot in said.slots
        ],
        tasks=tasks,
        language=goal.language,
        subject=context.rng.choice(SUBJECTS),
        tone=context.rng.choice(TONES),
        seed=goal.seed,
    )

    # a day may be named twice, once as its slot
    numbers = " ".join(run.lstrip("0") for run in re.findall(r"\d+", rendered))
    known = f"{rendered} {numbers} {' '.join(map(str, tasks))}"

    def problem_of(given: GoalWording, may_lack: Collection[str] = ()) -> str:
        return _given_away(around_slots(given.request), tools, secrets) or wording_problem(
            given.request, said.slots, goal.language, known=known, may_lack=may_lack
        )

    def is_mendable(given: GoalWording) -> bool:
        """Whether at most half of the values are missing, which the correction can add."""
        if problem_of(given, may_lack=[slot.name for slot in said.slots]):
            return False
        return 2 * len(fill(given.request, said.slots).places) >= len(said.spots)

    wording = await first_fit(
        context,
        prompt,
        GoalWording,
        problem_of,
        f"The request for a goal of {goal.domain!r} broke its rules in {ATTEMPTS} wordings",
        leniency=Leniency(goes_on=is_mendable),
    )
    origin = asked_origin(STAGE, goal, goal.seed, context, (PROMPTS, TEMPLATE))
    request = fill(wording.request, said.slots).text
    return [WordedGoal(goal=goal, request=request, origin=origin)]


class SaidInGoal(NamedTuple):
    """The slots of a goal: for what the user says, and for names of entries of responses.

    A text that is said for several things has one slot.
    """

    slots: tuple[Slot, ...]

    @classmethod
    def of(cls, goal: Goal, tools: Mapping[str, Tool]) -> "SaidInGoal":
        """Return the slots of a goal's values."""
        calls: list[tuple[Tool, Arguments]] = []
        for index, planned in enumerate(goal.calls):
            said: Arguments = {}
            schemas: JsonSchema = {}
            for leaf in leaves_of(index, planned.arguments):
                if isinstance(leaf.source, StatedValue):
                    said[leaf.argument] = leaf.source.value
                    schemas[leaf.argument] = parameter_schema(tools[planned.tool], leaf.argument)
                elif isinstance(leaf.source, Picked):
                    for one in _named_by(leaf.source):
                        said[one.field] = one.value
                        schemas[one.field] = {"type": "string"}
            shown = {"type": "object", "properties": schemas}
            calls.append((tools[planned.tool].with_changes(parameters=shown), said))
        rng = Random(f"{goal.seed}:said")
        drawn = slots_of(calls, goal.language, draw_manner(rng), rng, is_shared=True)
        kept: dict[object, Slot] = {}
        for slot in drawn:
            # a number may be said for two things, and a name names one
            key = slot.value if isinstance(slot.value, str) else slot.name
            same = kept.get(key)
            kept[key] = same._replace(spots=(*same.spots, *slot.spots)) if same else slot
        return cls(tuple(kept.values()))

    @property
    def spots(self) -> dict[Spot, Slot]:
        """The slot of each value that is said, by its call and argument."""
        return {spot: slot for slot in self.slots for spot in slot.spots}

    def task(self, index: int, goal: Goal, tools: Mapping[str, Tool]) -> dict[str, Any]:
        """Return a call for a prompt: what it does, its details, and what is wanted of it."""
        planned, lines = goal.calls[index], list[str]()
        tool = tools[planned.tool]
        for leaf in leaves_of(index, planned.arguments):
            if isinstance(leaf.source, StatedValue):
                slot = self.spots[index, leaf.argument]
                is_first = slot.spots[0] == (index, leaf.argument)
                what = about(leaf.argument, parameter_schema(tool, leaf.argument))
                lines.append(slot.line if is_first else f"{what}: {slot.mark}, said already")
            elif isinstance(leaf.source, Picked):
                lines.append(self._picked(index, leaf.argument, leaf.source, tool))
        asked = dict.fromkeys(filter(None, map(field_words, planned.asked)))
        if planned.wanted:
            lines.append(f"wanted: {', '.join(asked) or 'what it finds'}")
        return {"task": in_a_line(tool.description), "lines": lines}

    def _picked(self, index: int, argument: str, picked: Picked, tool: Tool) -> str:
        """Return which entry of an earlier response a detail is taken from."""
        which = " and ".join(
            f"{_TESTS[one.test].format(field=field_words(one.field) or 'value')}"
            + (f" {self.spots[index, one.field].mark}" if one in _named_by(picked) else "")
            for one in picked.where
        )
        later = f", {picked.later_by} minutes later" if picked.later_by else ""
        what = about(argument, parameter_schema(tool, argument))
        return f"{what}: found by {picked.call + 1}{f', {which}' if which else ''}{later}"


_TESTS: dict[Test, str] = {
    "equals": "the one whose {field} is",
    "contains": "the one whose {field} has in it",
    "lowest": "the one with the lowest {field}",
    "highest": "the one with the highest {field}",
    "earliest": "the one with the earliest {field}",
    "latest": "the one with the latest {field}",
    "only": "the only one",
}


def _named_by(picked: Picked) -> list[Condition]:
    """Return the conditions of a picked value that name its entry."""
    return [one for one in picked.where if one.test in {"equals", "contains"}]


def _given_away(request: str, tools: dict[str, Tool], secrets: frozenset[str]) -> str:
    given = next((secret for secret in secrets if secret in request), None)
    if given is not None:
        return f"It gives away {given!r}, which only a response may tell. Leave it out."
    named = next((name for name in tools if "_" in name and name in request), None)
    return f"It names the tool {named}. Leave the name out." if named else ""


def stated_values(goal: Goal) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield tool, parameter ("legs[0].date" if nested) and value for all that the user says."""
    for leaf, stated in sources_in(goal, StatedValue):
        yield goal.calls[leaf.call].tool, leaf.argument, stated.value


def named_values(goal: Goal) -> Iterator[JsonValue]:
    """Yield what the user says to identify the entry that is meant."""
    for _, picked in sources_in(goal, Picked):
        yield from (one.value for one in _named_by(picked))


def parameter_schema(tool: Tool, argument: str) -> JsonSchema:
    """Return the schema of an argument; works for "legs[0].date" too."""
    schema: JsonSchema = tool.parameters
    for piece in re.findall(r"[^.\[\]]+", argument):
        if piece.isdecimal():
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(piece, {})
    return schema


def _picked_texts(goal: Goal, path: tuple[Exchange, ...]) -> set[str]:
    names = {
        (goal.calls[leaf.call].tool, leaf.argument.partition("[")[0])
        for leaf, picked in sources_in(goal, Picked)
        if picked.field.rpartition(".")[2] not in _WORDY
    }
    arguments = [
        (call.tool, *one)
        for exchange in path
        for call in exchange.calls
        for one in call.arguments.items()
    ]
    return {
        text
        for tool, name, value in arguments
        if (tool, name) in names
        for text in _leaf_texts(value)
    }


def _leaf_texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _leaf_texts(member)
