"""What models read where several calls are due: at once in any order, step after step beside results, or as a plan over a catalog.

The model sees what was said and returned, never the gold. Where calls have results it is asked wherever the assistant acts,
also where it only speaks: there no call may be read, but one that is made later, for which it may only have to ask.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.tracing import abridged
from callwright.generators.routing.tool_graph import UNKNOWN, unknown_arguments
from callwright.generators.shifts.turns import was_made_already
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import user_texts
from callwright.validators.blind import one_call
from callwright.validators.checks.declaring import ALL, reader
from callwright.validators.checks.routing import share_asked
from callwright.validators.checks.verdicts import SHOWN, Answer
from callwright.validators.judges import CALLS_DUE, CALLS_PLANNED, EACH_CALL, SAME_MEANING, judge_calls, propose_calls
from callwright.validators.matching.calls import compare_calls
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    DoubtedFact,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
)

EXACT = 1.0  # any other writing of free text goes to the question about meaning
LONGEST_CATALOG = 120_000  # characters of tools that a prompt shows
_UNKNOWN = re.compile(r"\$+")
Reading = Literal["", "set", "steps", "plan"]


class ActingPoint(NamedTuple):
    """A place where the assistant acts: the turns before it, the calls due there, and those that are made later."""

    turn: int
    prefix: tuple[Turn, ...]
    due: tuple[GoldCall, ...]
    later: tuple[GoldCall, ...]


class HeldReading(NamedTuple):
    """A model's calls held against those due, each by its place: pairs that are the same, and what either has alone."""

    same: dict[int, int]
    missing: dict[int, GoldCall]
    extra: dict[int, Call]


def how_read(sample: Sample) -> Reading:
    """How several calls of a sample are read, "" where the checks of one call look at it, or none is due."""
    if one_call.applies_to(sample) or not any(snapshot.calls for snapshot in sample.snapshots()):
        return ""
    if was_made_already(sample):
        return "steps"
    return "set" if traits_of(sample.kind).calls == "set" else "plan"


def reads_a_set(sample: Sample) -> bool:
    """Whether several calls are due at once that do not depend on each other, none of which was made."""
    return how_read(sample) == "set"


def reads_in_order(sample: Sample) -> bool:
    """Whether calls are due step after step, or in an order that counts."""
    return how_read(sample) in ("steps", "plan")


def reads_several(sample: Sample) -> bool:
    """Whether several calls are due, at once or one after the other."""
    return how_read(sample) != ""


@reader(
    "all_calls", "2",
    "Does the checker make all calls that are due at once, and no other, from the conversation alone?",
    source="HammerBench 4.2.1",
    role="checker",
    prompts=(EACH_CALL,),
    applies=reads_a_set,
    settles=ALL,
    doubts={
        "call_missing": "Whoever reads the conversation alone does not make the call of {tool}, or makes it with"
        " other values.",
        "call_added": "Whoever reads the conversation alone makes another call of {tool}.",
    },
)  # fmt: skip
async def check_all_calls(sample: Sample, context: StageContext) -> Answer:
    """Let the checker make all calls of a set from the conversation alone: each gold call is one of them, and no other is."""
    return await _by_checker(sample, context)


@reader(
    "due_calls", "2",
    "Does the checker make the calls that are due, step after step or in their order, from what was said and returned alone?",
    source="HammerBench 4.2.1",
    role="checker",
    prompts=(CALLS_DUE, CALLS_PLANNED),
    applies=reads_in_order,
    settles=ALL,
    only_rest=True,
)  # fmt: skip
async def check_due_calls(sample: Sample, context: StageContext) -> Answer:
    """Let the checker make the calls that are due, step after step or as a plan, from what was said and returned alone."""
    return await _by_checker(sample, context)


async def _by_checker(sample: Sample, context: StageContext) -> Answer:
    problems, doubts, due, right = list[str](), list[DoubtedFact](), 0, 0
    for point in acting_points(sample):
        try:
            held = await _held_at(point, sample, context, context.rouge_l)
        except ReplyError as error:
            problems.append(_unread(point, "checker", error))
            doubts.append(DoubtedFact(kind="unread", turn=point.turn))
            break
        due, right = due + len(point.due), right + len(held.same)
        problems += _problems(held, point, "checker")
        doubts += _doubts(held, point)
        if problems and how_read(sample) == "steps":
            break  # what comes next builds upon it
    return _answer(problems, doubts, right / due if due else 1.0, f"The checker made all {due} calls")


@reader(
    "due_meaning", "2",
    "Where several calls are due: does the judge read the same ones, or such as mean the same?",
    source="HammerBench 4.2.1, D.4",
    role="judge",
    prompts=(EACH_CALL, CALLS_DUE, CALLS_PLANNED, SAME_MEANING),
    applies=reads_several,
    settles=ALL,
    only_rest=True,
)  # fmt: skip
async def check_due_meaning(sample: Sample, context: StageContext) -> Answer:
    """Let the judge make the calls that are due, and say of those written otherwise whether they mean what the gold means."""
    problems, doubts, due, right = list[str](), list[DoubtedFact](), 0, 0
    for point in acting_points(sample):
        try:
            held = await _held_at(point, sample, context, EXACT)
            held = await _with_meanings(held, point, sample, context)
        except ReplyError as error:
            problems.append(_unread(point, "judge", error))
            doubts.append(DoubtedFact(kind="unread", turn=point.turn))
            break
        due, right = due + len(point.due), right + len(held.same)
        problems += _problems(held, point, "judge")
        doubts += _doubts(held, point)
        if problems:
            break
    score = right / due if due else 1.0
    return _answer(problems, doubts, score, f"The judge read all {due} calls the same")


def acting_points(sample: Sample) -> Iterator[ActingPoint]:
    """Where a model is asked: wherever calls are due; where calls have results also wherever the assistant speaks."""
    turns, in_steps = sample.turns, how_read(sample) == "steps"
    for at, turn in enumerate(turns):
        if isinstance(turn, CallTurn) or (in_steps and isinstance(turn, ReplyTurn)):
            later = tuple(call for one in turns[at + 1 :] if isinstance(one, CallTurn) for call in one.calls)
            due = turn.calls if isinstance(turn, CallTurn) else ()
            yield ActingPoint(at, tuple(map(shortened, turns[:at])), due, later)


def shortened(turn: Turn) -> Turn:
    """The turn with results of a length that a prompt can show."""
    if not isinstance(turn, ResultTurn):
        return turn
    return turn.with_changes(results=tuple(map(abridged, turn.results)))


async def _held_at(point: ActingPoint, sample: Sample, context: StageContext, threshold: float) -> HeldReading:
    template = {"set": EACH_CALL, "steps": CALLS_DUE, "plan": CALLS_PLANNED}[how_read(sample)]
    tools = context.toolset(sample.candidates)
    shown = shown_catalog(tools, " ".join(user_texts(point.prefix)), with_returns=template == CALLS_PLANNED)
    read = [_with_unknown(call) for call in await propose_calls(template, sample, point.prefix, shown, context.chat)]
    return hold_against(point, read, _sameness({tool.name: tool for tool in tools}, threshold))


def shown_catalog(tools: Sequence[Tool], text: str, *, with_returns: bool) -> list[dict[str, JsonValue]]:
    """The tools as a prompt shows them; of more than fit those whose words the text has most of, in the catalog's order."""
    returned = [{"returns": tool.returns} if with_returns and tool.returns is not None else {} for tool in tools]
    shown = [tool.signature | more for tool, more in zip(tools, returned, strict=True)]
    sizes = [len(orjson.dumps(one)) for one in shown]
    if sum(sizes) <= LONGEST_CATALOG:
        return shown
    ranked = sorted(range(len(tools)), key=lambda at: (-share_asked(tools[at], text), at))
    taken, size = set[int](), 0
    for at in ranked:
        size += sizes[at]
        if size > LONGEST_CATALOG:
            break
        taken.add(at)
    return [one for at, one in enumerate(shown) if at in taken]


def _with_unknown(call: Call) -> Call:
    """The call with one sign for what only a result tells, however many dollars a model writes."""
    signs = {name for name, value in call.arguments.items() if isinstance(value, str) and _UNKNOWN.fullmatch(value)}
    return call.with_changes(arguments={**call.arguments, **dict.fromkeys(signs, UNKNOWN)}) if signs else call


Sameness = Callable[[GoldCall, Call], bool]


def _sameness(tools: dict[str, Tool], threshold: float) -> Sameness:
    def is_same(due: GoldCall, made: Call) -> bool:
        schemas = tools[due.tool].properties if due.tool in tools else {}
        expected = Call(tool=due.tool, arguments=due.arguments)
        return compare_calls(expected, made, schemas, threshold=threshold).is_same

    return is_same


def hold_against(point: ActingPoint, read: Sequence[Call], is_same: Sameness) -> HeldReading:
    """Hold the calls that a model reads at a point against those due there, each taken once.

    What it reads besides may be made later: with its values known already it is no other call.
    """
    missing, extra, same = dict(enumerate(point.due)), dict(enumerate(read)), dict[int, int]()
    for place, call in enumerate(point.due):
        found = next((at for at, one in extra.items() if is_same(call, one)), None)
        if found is not None:
            same[place] = found
            del missing[place], extra[found]
    extra = {at: one for at, one in extra.items() if not any(is_same(call, one) for call in point.later)}
    return HeldReading(same, missing, extra)


async def _with_meanings(held: HeldReading, point: ActingPoint, sample: Sample, context: StageContext) -> HeldReading:
    """The reading with those calls taken for the same too that the judge finds to mean the same."""
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    same, missing, extra = dict(held.same), dict(held.missing), dict(held.extra)
    for place, due in held.missing.items():
        found = next((at for at, one in extra.items() if one.tool == due.tool and due.tool in tools), None)
        if found is None:
            return held
        pair = (due, extra[found])
        briefing = sample.time_sentence
        judgement = await judge_calls(
            context.chat, SAME_MEANING, [tools[due.tool]], point.prefix, pair, briefing=briefing
        )
        if not judgement.agree:
            return held
        same[place] = found
        del missing[place], extra[found]
    return HeldReading(same, missing, extra)


def _problems(held: HeldReading, point: ActingPoint, reader: str) -> list[str]:
    where = f"before turn {point.turn} the {reader}"
    problems = [
        *(f"{where} does not read the call of {one.tool} with {one.arguments!r}" for one in held.missing.values()),
        *(f"{where} reads a call of {one.tool} with {one.arguments!r} that is not due" for one in held.extra.values()),
    ]
    return problems or [f"{where} makes {one} after {other}, which needs it" for one, other in _turned(held, point)]


def _doubts(held: HeldReading, point: ActingPoint) -> list[DoubtedFact]:
    """As `_problems`, one fact each."""
    missing = [DoubtedFact(kind="call_missing", turn=point.turn, tool=one.tool) for one in held.missing.values()]
    added = [DoubtedFact(kind="call_added", turn=point.turn, tool=one.tool) for one in held.extra.values()]
    turned = [DoubtedFact(kind="order_amiss", turn=point.turn, tool=one) for one, _ in _turned(held, point)]
    return [*missing, *added] or turned


def _unread(point: ActingPoint, reader: str, error: ReplyError) -> str:
    return f"before turn {point.turn} the {reader} gave no answer that can be read: {str(error).rstrip('.')}"


def _turned(held: HeldReading, point: ActingPoint) -> Iterator[tuple[str, str]]:
    """Calls that are read behind the one that takes a value from them."""
    for at, call in enumerate(point.due):
        for feed in unknown_arguments(call).values():
            if at in held.same and feed.call in held.same and held.same[feed.call] > held.same[at]:
                yield point.due[feed.call].tool, call.tool


def _answer(problems: Sequence[str], doubts: Sequence[DoubtedFact], score: float, proof: str) -> Answer:
    reason = "; ".join(dict.fromkeys(problems[:SHOWN]))
    return Answer(
        decision="unproved" if problems else "proved",
        score=round(score, 4),
        reason=f"{reason[:1].upper()}{reason[1:]}." if problems else f"{proof}, and no other.",
        doubts=tuple(doubts),
    )
