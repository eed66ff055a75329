"""Words for calls: one message that asks for a call or several, with evidence of every value.

By default a model words the message with slots, and code puts the values in. `free` wording, for
strong models, says the values itself; readers then find them, or a model quotes them.
"""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from pydantic import BaseModel

from callwright.generators.slots import (
    Slot,
    SlottedRequest,
    about,
    around_slots,
    draw_manner,
    fill,
    slots_of,
    unsaid,
    wording_problem,
)
from callwright.generators.stages import ATTEMPTS, Leniency, StageContext, asked_origin, first_fit
from callwright.generators.stated_values import (
    Expected,
    Spot,
    ask_for_quotes,
    find_values,
    value_evidence,
)
from callwright.generators.tools import in_a_line
from callwright.generators.whole_calls import made_problems
from callwright.language.names import humanise
from callwright.language.packs import writes
from callwright.llm.prompts import render
from callwright.llm.stated_schemas import Paragraph
from callwright.warehouse.records import Arguments, Draft, Evidence, Language, Origin, Tool

PROMPTS = "callwright.generators.single_turn.prompts"
ONE, SEVERAL, FREE = "word_request", "word_requests", "write_request"
PATHS = tuple(f"single_turn/prompts/{name}" for name in (ONE, SEVERAL, FREE))
LONGEST = 2500
_CODE = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]*)+\b|\b\w+_\w+\b")


class FreeRequest(BaseModel):
    """A request that says the values itself."""

    request: Paragraph


class AskedCall(NamedTuple):
    """A call to ask for: the arguments that are said, and by which earlier call others are found.

    The calls of a message are counted from 0.
    """

    tool: Tool
    said: Arguments
    found: Mapping[str, int] = {}

    @property
    def task(self) -> str:
        """What the call is for: the first sentence of the tool's description, or its name."""
        sentence = in_a_line(self.tool.description).partition(". ")[0].strip().rstrip(".")
        return sentence or humanise(self.tool.name)

    def found_lines(self) -> list[str]:
        """Return a line for each argument that an earlier call finds."""
        return [
            f"{about(name, self.tool.properties[name])}: found by {source + 1}"
            for name, source in self.found.items()
        ]


class Speaker(NamedTuple):
    """Who words a message: a language, a seed, and which of the values that share the words."""

    language: Language
    seed: int
    value_set: int = 0


class WordedCalls(NamedTuple):
    """A message, what it says of each call that it asks for, with evidence, and where it is from.

    A wording with slots may leave optional arguments out.
    """

    text: str
    said: tuple[Arguments, ...]
    evidence: tuple[tuple[Evidence, ...], ...]
    origin: Origin


async def word_calls(
    calls: Sequence[AskedCall], speaker: Speaker, draft: Draft, stage: str, context: StageContext
) -> WordedCalls:
    """Word calls as one message that says their arguments and no other values.

    Optional ones that a model leaves out are not said.

    Raises ReplyError if three wordings don't fit, with the reason of the last one.
    """
    way = _word_freely if context.wording == "free" else _word_with_slots
    text, said, evidence, name = await way(calls, speaker, context)
    origin = asked_origin(stage, draft, speaker.seed, context, (PROMPTS, name))
    return WordedCalls(text, said, evidence, origin)


_Said = tuple[str, tuple[Arguments, ...], tuple[tuple[Evidence, ...], ...], str]


async def _word_with_slots(
    calls: Sequence[AskedCall], speaker: Speaker, context: StageContext
) -> _Said:
    language, seed = speaker.language, speaker.seed
    manner = draw_manner(Random(f"{seed}:manner"))
    slots = slots_of(
        [(call.tool, call.said) for call in calls],
        language,
        manner,
        Random(f"{seed}:{speaker.value_set}:said"),
        is_shared=True,
    )
    name = ONE if len(calls) == 1 else SEVERAL
    tasks = [
        {"task": call.task, "lines": [*_lines(slots, number), *call.found_lines()]}
        for number, call in enumerate(calls)
    ]
    marks = [
        {
            "tool": call.tool.sayable,
            "slots": [one.marked for one in slots if _is_of(one, number)],
            "found": [*call.found],
        }
        for number, call in enumerate(calls)
    ]
    prompt = render(PROMPTS, name, tasks=tasks, calls=marks, language=language, seed=seed)
    known = " ".join(str(task) for task in tasks)
    reply = await first_fit(
        context,
        prompt,
        SlottedRequest,
        lambda reply: (
            wording_problem(
                reply.request,
                slots,
                language,
                known=known,
                may_lack=[one.name for one in _left_out(reply.request, slots, calls)],
            )
            or code_name_problem(around_slots(reply.request), [call.tool for call in calls])
        ),
        f"The request for {_named(calls)} has no usable wording in {ATTEMPTS}",
        leniency=Leniency(forgets=True),
    )
    filled = fill(reply.request, slots)
    evidence = tuple(filled.evidence(slots, number) for number in range(len(calls)))
    return filled.text, _without(calls, _left_out(reply.request, slots, calls)), evidence, name


def _left_out(text: str, slots: Sequence[Slot], calls: Sequence[AskedCall]) -> list[Slot]:
    """Return the slots that a wording leaves out, if each call is as whole without them.

    Calls stay different, and something is said.
    """
    missing = unsaid(text, slots, " ".join(call.task for call in calls))
    if not missing or len(missing) == len(slots):
        return []
    before, after = _given(calls), _given(calls, missing)
    if any(one in after[:at] for at, one in enumerate(after)):
        return []
    faults = [[made_problems(*one, partial=False) for one in given] for given in (before, after)]
    is_whole = all({*new} <= {*old} for old, new in zip(*faults, strict=True))
    return missing if is_whole else []


def _given(calls: Sequence[AskedCall], less: Sequence[Slot] = ()) -> list[tuple[Tool, Arguments]]:
    """Return the tools and arguments of calls without these slots; what is found is None."""
    said = _without(calls, less)
    return [
        (call.tool, {**dict.fromkeys(call.found), **arguments})
        for call, arguments in zip(calls, said, strict=True)
    ]


def _without(calls: Sequence[AskedCall], slots: Sequence[Slot]) -> tuple[Arguments, ...]:
    """Return what is said of each call without these slots."""
    spots = {spot for slot in slots for spot in slot.spots}
    return tuple(
        {name: value for name, value in call.said.items() if (number, name) not in spots}
        for number, call in enumerate(calls)
    )


def _is_of(slot: Slot, call: int) -> bool:
    return any(number == call for number, _ in slot.spots)


def _lines(slots: Sequence[Slot], call: int) -> list[str]:
    """Return the lines of a call's slots; those of an earlier call only refer to it."""
    return [
        one.line if one.spots[0][0] == call else f"{one.about}: as in {one.spots[0][0] + 1}"
        for one in slots
        if _is_of(one, call)
    ]


def _named(calls: Sequence[AskedCall]) -> str:
    return ", ".join(repr(name) for name in dict.fromkeys(call.tool.name for call in calls))


async def _word_freely(
    calls: Sequence[AskedCall], speaker: Speaker, context: StageContext
) -> _Said:
    language = speaker.language
    expected: Expected = {
        (number, name): (value, call.tool.properties[name])
        for number, call in enumerate(calls)
        for name, value in call.said.items()
    }
    tasks = [
        {
            "task": call.task,
            "details": [
                {"about": about(name, call.tool.properties[name]), "value": value}
                for name, value in call.said.items()
            ],
            "lines": call.found_lines(),
        }
        for call in calls
    ]
    prompt = render(PROMPTS, FREE, tasks=tasks, language=language, seed=speaker.seed)
    quotes: dict[Spot, str] = {}
    reply = await first_fit(
        context,
        prompt,
        FreeRequest,
        lambda reply: _free_problem(reply.request.strip(), expected, calls, language, quotes),
        f"The request for {_named(calls)} has no usable wording in {ATTEMPTS}",
        leniency=Leniency(
            look_closer=lambda reply: ask_for_quotes(
                context, reply.request.strip(), expected, quotes
            )
        ),
    )
    text = reply.request.strip()
    stated = find_values(expected, quotes, text, language)
    evidence = tuple(
        tuple(
            value_evidence(name, *expected[number, name], place, text)
            for name in call.said
            if (place := stated[number, name].place) is not None
        )
        for number, call in enumerate(calls)
    )
    return text, _without(calls, ()), evidence, FREE


def _free_problem(
    text: str,
    expected: Expected,
    calls: Sequence[AskedCall],
    language: Language,
    quotes: Mapping[Spot, str],
) -> str:
    """Return why a free wording can't stand for the calls, or ""; it must say all values."""
    if not text or len(text) > LONGEST:
        return f"The text has {len(text)} characters; write 1 to {LONGEST}."
    if not writes(language, text):
        return f"It is not in the language {language!r}."
    stated = find_values(expected, quotes, text, language).values()
    return next((one.problem for one in stated if one.problem), "") or code_name_problem(
        text, [call.tool for call in calls]
    )


def code_name_problem(text: str, tools: Sequence[Tool]) -> str:
    """Return which name of a tool or parameter a text says as code has it, or ""."""
    names = {name for tool in tools for name in (*tool.name.split("."), *tool.properties)}
    found = next((name for name in _CODE.findall(text) if name in names), "")  # an iPhone is none
    return f"It says a name as code has it: {found}." if found else ""
