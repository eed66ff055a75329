"""What the words ask for, read by choice: the gold calls stand among near misses that code makes of them, in random order.

The reader sees the tools, the conversation and the options, and never which of them is the gold. One that chooses the gold alone
settles what the sample claims; where it wavers or differs a second one is asked, and then people.
"""

from collections.abc import Sequence
from random import Random
from string import ascii_uppercase
from typing import NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, JsonValue

from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.stages import StageContext
from callwright.generators.tools import in_a_line, outlined
from callwright.generators.transcripts import conversation_text, shown_call
from callwright.validators.checks.declaring import ALL, reader
from callwright.validators.checks.verdicts import Answer
from callwright.validators.checks.wording import NaturalReading, answer_by, check_natural, may_tell
from callwright.validators.judges import CHOOSE, ask_opinion
from callwright.validators.matching import READ_OTHERWISE, compare_calls, doubts_of
from callwright.validators.near_misses.due import Due, Option, acting_points
from callwright.validators.near_misses.table import near_misses
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Decision, DoubtedFact, Sample, Verdict

LONGEST_CATALOG = 120_000  # characters of tools that a prompt shows


class Choice(BaseModel):
    """The letters of the options that the words ask for, and why."""

    asked: list[str]
    reason: str = ""


class ToldChoice(Choice):
    """A choice, and then what `natural` asks: what comes last in a reply can't sway what stands before it.

    A reply without it is a choice all the same.
    """

    model_config = ConfigDict(title=Choice.__name__)
    natural: NaturalReading | None = None


class ReadOption(NamedTuple):
    """What a reader chose at a place: only what is said to be due, or other options, and why; how it sounds where it told."""

    decision: Decision
    chosen: tuple[Option, ...]
    reason: str
    natural: NaturalReading | None = None


def has_calls(sample: Sample) -> bool:
    """Whether some call is due in the sample."""
    return bool(sample.all_calls)


_DOUBTS = {
    **READ_OTHERWISE,
    "none_chosen": "Whoever reads the conversation alone finds none of the calls shown{where} to be what is asked for.",
    "both_meant": "The words{where} may also ask for another call of {tool}.",
    "call_missing": "Whoever reads the conversation alone does not make the call of {tool}, or makes it with other values.",
    "call_added": "Whoever reads the conversation alone makes another call of {tool}.",
}


@reader(
    "reading", "2",
    "Which calls do the words ask for: does the checker choose the gold alone among near misses?",
    source="HammerBench 4.2.1",
    role="checker",
    prompts=(CHOOSE,),
    applies=has_calls,
    settles=ALL,
    left_to="readers",
    only_rest=True,
    doubts=_DOUBTS,
)  # fmt: skip
async def check_reading(sample: Sample, context: StageContext) -> Answer:
    """Let the checker choose at each place of the sample what is due there, and say at the last one how it sounds."""
    return await _read(sample, context, "reading")


@reader(
    "second_reading", "1",
    "Where the checker wavers or differs: does the judge choose the gold alone?",
    source="HammerBench 4.2.1, D.4",
    role="judge",
    prompts=(CHOOSE,),
    applies=has_calls,
    settles=ALL,
    only_rest=True,
    doubts=_DOUBTS,
)  # fmt: skip
async def check_second_reading(sample: Sample, context: StageContext) -> Answer:
    """Let the judge choose at each place of the sample what is due there, out of other near misses."""
    return await _read(sample, context, "second_reading")


async def _read(sample: Sample, context: StageContext, check: str) -> Answer:
    told = list[Verdict]()
    points = acting_points(sample, context.toolset(sample.candidates))
    for due in points:
        try:
            found = await choose(due, sample, context, check)
        except ReplyError as error:
            reason = f"Before turn {due.turn} no answer could be read: {str(error).rstrip('.')}."
            doubt = DoubtedFact(kind="unread", turn=due.turn)
            return Answer(decision="unproved", score=0.0, reason=reason, doubts=(doubt,), told=tuple(told))
        if found.natural is not None:
            told.append(check_natural.verdict(sample, answer_by(found.natural)))
        if found.decision != "proved":  # what comes next builds upon it
            doubts = tuple(_doubts(due, found))
            return Answer(decision="unproved", score=0.0, reason=_told(due, found), doubts=doubts, told=tuple(told))
    proof = f"Of the options the gold alone was chosen at {len(points)} place{'s' if len(points) != 1 else ''}."
    return Answer(decision="proved", score=1.0, reason=proof, told=tuple(told))


async def choose(due: Due, sample: Sample, context: StageContext, check: str, *, planted: bool = False) -> ReadOption:
    """What the context's model chooses at a place: `due.option` stands among near misses of it, in random order.

    What is asked is the same where something is `planted`; the order is that of the check, or another one there. Raises ReplyError
    where its answer can't be read.
    """
    rng = Random(f"planted:{check}:{sample.key}" if planted else f"{check}:{sample.key}:{due.turn}")
    hears = check == "reading" and due.is_last and may_tell(sample, context)
    options = [due.option, *(one.option for one in near_misses(due, rng))]
    rng.shuffle(options)
    choice = await ask_opinion(
        context.chat,
        CHOOSE,
        ToldChoice if hears else Choice,
        sample.time_sentence,
        tools=shown_catalog(due, options),
        conversation=conversation_text(due.prefix),
        options=[
            {"option": letter, "calls": [shown_call(call) for call in one.calls]}
            | ({} if one.act == "call" else {"act": one.act})
            for letter, one in zip(ascii_uppercase, options, strict=False)
        ],
        language=sample.language,
        hears=hears,
    )
    chosen = tuple(options[at] for at in _places(choice, len(options)))
    natural = choice.natural if isinstance(choice, ToldChoice) else None
    return ReadOption("proved" if chosen == (due.option,) else "unproved", chosen, choice.reason, natural)


def _places(choice: Choice, shown: int) -> list[int]:
    """Where the options stand that were named. Raises ReplyError for a letter that none has."""
    letters = [one.strip().upper().removeprefix("OPTION").strip(" .:()") for one in choice.asked]
    known = ascii_uppercase[:shown]
    wrong = next((one for one in letters if len(one) != 1 or one not in known), None)
    if wrong is not None:
        raise ReplyError(f"The option {wrong[:40]!r} was named; there are {known[0]} to {known[-1]}.")
    return sorted({known.index(one) for one in letters})


def shown_catalog(due: Due, options: Sequence[Option]) -> list[dict[str, JsonValue]]:
    """The tools as the prompt shows them: those of the options with the parameters that these give.

    All of them are shown where calls build upon each other; else of the others what they do, as far as they fit.
    """
    named = dict[str, set[str]]()
    for call in (call for option in options for call in option.calls):
        named.setdefault(call.tool, set()).update(call.arguments)
    is_plan = any(UNKNOWN in call.arguments.values() for call in due.calls)
    room = LONGEST_CATALOG
    kept: list[dict[str, JsonValue]] = []
    for tool in due.tools.values():
        row: dict[str, JsonValue] = {"name": tool.name, "description": in_a_line(tool.description)}
        if tool.name in named or due.in_steps:
            row = outlined(tool, named.get(tool.name, tool.required))
            row |= {"returns": tool.returns} if is_plan and tool.returns is not None else {}
        room -= 0 if tool.name in named else len(orjson.dumps(row))
        if tool.name in named or room > 0:
            kept.append(row)
    return kept


def _told(due: Due, found: ReadOption) -> str:
    """What was chosen in the stead of the gold, or beside it, as a sentence."""
    reason = f": {found.reason.strip()}" if found.reason.strip() else "."
    if not found.chosen:
        return f"Before turn {due.turn} none of the options was chosen{reason}"
    other = next(one for one in found.chosen if one != due.option)
    acts = {"ask": "asking first", "none": "calling nothing"}
    calls = " and ".join(f"{call.tool} with {call.arguments!r}" for call in other.calls)
    as_well = " as well" if due.option in found.chosen else ""
    return f"Before turn {due.turn} {acts.get(other.act, calls)} was chosen{as_well}{reason}"


def _doubts(due: Due, found: ReadOption) -> list[DoubtedFact]:
    """What differs between the gold and what was chosen, one fact each."""
    others = [one for one in found.chosen if one != due.option]
    if not others:
        return [DoubtedFact(kind="none_chosen", turn=due.turn, quote="")]
    if due.option in found.chosen:
        tool = next((call.tool for call in others[0].calls), "")
        return [DoubtedFact(kind="both_meant", turn=due.turn, tool=tool), *_between(due, others[0])]
    return _between(due, others[0])


def _between(due: Due, other: Option) -> list[DoubtedFact]:
    if len(due.calls) <= 1 and len(other.calls) <= 1:
        gold, read = next(iter(due.calls), None), next(iter(other.calls), None)
        schemas = due.tools[gold.tool].properties if gold and gold.tool in due.tools else {}
        return doubts_of(compare_calls(gold, read, schemas, threshold=1.0), read, due.turn)
    missing = [one for one in due.calls if one not in other.calls]
    added = [one for one in other.calls if one not in due.calls]
    return [
        *(DoubtedFact(kind="call_missing", turn=due.turn, tool=one.tool) for one in missing),
        *(DoubtedFact(kind="call_added", turn=due.turn, tool=one.tool) for one in added),
    ] or [DoubtedFact(kind="order_amiss", turn=due.turn, tool=next((one.tool for one in due.calls), ""))]
