"""Write a goal as the request of a person who has it (ComplexFuncBench 2.1.1)."""

import re
from collections.abc import Iterator

from pydantic import BaseModel, JsonValue

from callwright.generators.multi_step.answers import field_words
from callwright.generators.multi_step.resolving import resolve, sources_in
from callwright.generators.multi_step.tasks import environment_of
from callwright.generators.stages import ATTEMPTS, Leniency, StageContext, asked_origin, first_fit
from callwright.generators.stated_values import find_quote, find_value
from callwright.language.packs import writes
from callwright.language.values import locate
from callwright.llm.prompts import render
from callwright.warehouse.records import (
    Exchange,
    Goal,
    JsonSchema,
    Picked,
    StatedValue,
    Tool,
    WordedGoal,
)

PROMPTS = "callwright.generators.multi_step.prompts"
STAGE = "goal_requests"
TEMPLATE = "word_goal"
LONGEST = 4000
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
    """A request in the person's voice."""

    request: str


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
        language=goal.language,
        subject=context.rng.choice(SUBJECTS),
        tone=context.rng.choice(TONES),
        seed=goal.seed,
    )
    wording = await first_fit(
        context,
        prompt,
        GoalWording,
        lambda wording: wording_problem(wording.request.strip(), goal, tools, secrets),
        f"The request for a goal of {goal.domain!r} broke its rules in {ATTEMPTS} wordings",
        leniency=Leniency(
            goes_on=lambda wording: is_mendable(wording.request.strip(), goal, tools, secrets)
        ),
    )
    origin = asked_origin(STAGE, goal, goal.seed, context, (PROMPTS, TEMPLATE))
    return [WordedGoal(goal=goal, request=wording.request.strip(), origin=origin)]


def is_mendable(request: str, goal: Goal, tools: dict[str, Tool], secrets: frozenset[str]) -> bool:
    """Whether at most half of the stated values are missing, which the correction can add.

    The request must also be usable and give nothing away.
    """
    lacking = [
        value
        for tool, parameter, value in stated_values(goal)
        if locate(value, parameter_schema(tools[tool], parameter), request) is None
    ]
    is_usable = not _unusable(request, goal) and not _given_away(request, tools, secrets)
    return is_usable and 2 * len(lacking) <= len(list(stated_values(goal)))


def wording_problem(
    request: str, goal: Goal, tools: dict[str, Tool], secrets: frozenset[str]
) -> str:
    """Return why the request can't stand for the goal, or ""; it must state all and no more."""
    return (
        _unusable(request, goal)
        or _given_away(request, tools, secrets)
        or _left_out(request, goal, tools)
    )


def _unusable(request: str, goal: Goal) -> str:
    if not request or len(request) > LONGEST:
        return f"the request has {len(request)} characters; 1 to {LONGEST} are allowed."
    if not writes(goal.language, request):
        return f"the request is not in the language {goal.language!r}."
    return ""


def _left_out(request: str, goal: Goal, tools: dict[str, Tool]) -> str:
    """Return what every reader misses in the request, or "" if nothing is missing.

    Corrections add it later (ComplexFuncBench 2.1.2).
    """
    for tool, parameter, value in stated_values(goal):
        stated = find_value(
            (parameter, value), parameter_schema(tools[tool], parameter), "", request, goal.language
        )
        if stated.problem:
            return f"it does not say {value!r} for {parameter!r} of {tool}."
    for value in named_values(goal):
        if (
            locate(value, {"type": "string"}, request) is None
            and find_quote(str(value), request) is None
        ):
            return f"it does not say {value!r}, which tells the entry that is meant."
    return ""


def _given_away(request: str, tools: dict[str, Tool], secrets: frozenset[str]) -> str:
    given = next((secret for secret in secrets if secret in request), None)
    if given is not None:
        return f"it gives away {given!r}, which only a response may tell."
    named = next((name for name in tools if "_" in name and name in request), None)
    return f"it names the tool {named}." if named else ""


def stated_values(goal: Goal) -> Iterator[tuple[str, str, JsonValue]]:
    """Yield tool, parameter ("legs[0].date" if nested) and value for all that the user says."""
    for leaf, stated in sources_in(goal, StatedValue):
        yield goal.calls[leaf.call].tool, leaf.argument, stated.value


def named_values(goal: Goal) -> Iterator[JsonValue]:
    """Yield what the user says to identify the entry that is meant."""
    for _, picked in sources_in(goal, Picked):
        yield from (one.value for one in picked.where if one.test in {"equals", "contains"})


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
