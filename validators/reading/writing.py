"""Reading a sample blind: a model that does not know the gold writes the calls.

At each point where calls are due the reader sees what a candidate sees, and nothing of the gold.
Code compares what it writes with the gold. Only if they differ is a second question asked: two
unmarked calls, in both orders, with "both" and "neither". A reader is never shown the gold among
variants of it: the gold would be their centre, and could be found unread.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, JsonValue

from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.stages import StageContext
from callwright.generators.tools import in_a_line, nearest_tools
from callwright.generators.transcripts import conversation_text, shown_call
from callwright.language.schemas import choices_of, kind_of
from callwright.llm.answer_schemas import calls_schema, narrowed
from callwright.llm.chat import ChatModel
from callwright.llm.models import reads_language
from callwright.llm.stated_schemas import Line
from callwright.validators.checks.declaring import ALL, reader
from callwright.validators.checks.verdicts import Answer
from callwright.validators.judges import PICK_TOOLS, SETTLE, WRITE, ask_opinion
from callwright.validators.matching import READ_OTHERWISE, compare_calls, doubts_of
from callwright.validators.reading.points import Calls, DuePoint, do_the_same, due_points
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, DoubtedFact, JsonSchema, Reading, Sample, Tool, Vote
from callwright.warehouse.shown_tools import without_examples

FEW_TOOLS = 30  # a reader is shown so many tools whole; of more it names first those that it needs
# tools like those of the gold that are always shown, so that what is shown does not tell which one
# it is
_SIBLINGS = 5
_TWINS = 2  # of each gold tool that a reader is shown besides the candidates


class WrittenCall(BaseModel):
    """A call: the name of a tool, and its arguments."""

    tool: str
    arguments: dict[str, JsonValue] = {}


class WrittenCalls(BaseModel):
    """The calls to make now; if none, whether to ask or tell first, or that no tool does it."""

    calls: list[WrittenCall]
    instead: Literal["ask", "none"] | None = None


class WrittenPlan(WrittenCalls):
    """All the calls that the request needs, in order; without any, why."""


class WrittenStep(WrittenCalls):
    """The calls that can be made next; without any, why."""


class NeededTools(BaseModel):
    """The names of the tools that are needed, in the order of their calls."""

    tools: list[str]


class Settlement(BaseModel):
    """Why, and which of two ways is right."""

    reason: Line
    right: Literal["first", "second", "both", "neither"]


def has_calls(sample: Sample) -> bool:
    """Whether some call is due in the sample."""
    return bool(sample.all_calls)


@reader(
    "reading",
    "4",
    "Does the checker, which does not know the gold calls, write the same ones?",
    source="HammerBench 4.2.1",
    role="checker",
    prompts=(WRITE, PICK_TOOLS, SETTLE),
    applies=has_calls,
    settles=ALL,
    only_rest=True,
    doubts={
        **READ_OTHERWISE,
        "both_fit": "The words{where} fit the call of {tool} and another one as well.",
        "neither_fits": "A comparison found neither the call{where} nor the reader's call right.",
        "call_missing": "The reader does not call {tool}, or calls it with other values.",
        "call_added": "The reader makes another call of {tool}.",
    },
)
async def check_reading(sample: Sample, context: StageContext) -> Answer:
    """Let the checker write the calls at every point, and the judge settle differences."""
    readings: list[Reading] = []
    doubts: list[DoubtedFact] = []
    reasons: list[str] = []
    points = due_points(sample, _tools_to_read(sample, context))
    for point in points:
        try:
            reading = await read_point(point, sample, context)
        except ReplyError as error:
            reasons.append(
                f"Before turn {point.turn} no answer could be read: {str(error).rstrip('.')}."
            )
            doubts.append(DoubtedFact(kind="unread", turn=point.turn))
            break  # what can't be read once is not paid for again and again
        readings.append(reading)
        if not agrees(reading, point, context.rouge_l):
            reasons.append(_disagreement(point, reading))
            doubts += _doubts(point, reading)
    if reasons:
        return Answer(
            decision="unproved",
            score=0.0,
            reason=" ".join(reasons),
            doubts=tuple(doubts),
            readings=tuple(readings),
        )
    return Answer(
        decision="proved", score=1.0, reason=_agreement(readings), readings=tuple(readings)
    )


# Writes the calls at a point of a sample without knowing its gold. Raises ReplyError where they
# can't be read.
Writer: TypeAlias = Callable[[DuePoint, Sample, StageContext], Awaitable[Reading]]
# Says which of a point's calls and those written is right, once for each order. Raises ReplyError.
Settler: TypeAlias = Callable[
    [DuePoint, Reading, Sample, StageContext], Awaitable[tuple[Vote, ...]]
]


class BlindReader(NamedTuple):
    """The reader that writes and the one that settles; `name` is "" for the context's model."""

    write: Writer
    settle: Settler
    name: str = ""


async def read_point(
    point: DuePoint,
    sample: Sample,
    context: StageContext,
    *,
    claimed: DuePoint | None = None,
    reader: BlindReader | None = None,
) -> Reading:
    """Return what the reader writes at a point, and how a difference from due calls is settled.

    The due calls are those of `claimed`, or else the point's own. Raises ReplyError if an answer
    can't be read, or calls a tool that is not there.
    """
    reader, due = reader or MODEL, claimed or point
    written = await reader.write(point, sample, context)
    if do_the_same(due.calls, written.calls, point.tools, is_ordered=point.is_ordered):
        return written
    votes = await reader.settle(due, written, sample, context)
    return written.with_changes(votes=votes, settled_by=reader.name or _settler(context).name)


async def write_calls(point: DuePoint, sample: Sample, context: StageContext) -> Reading:
    """Return the calls that the context's model makes at a point without seeing the gold.

    Raises ReplyError.
    """
    tools = await _shown_tools(point, sample, context)
    title: type[WrittenCalls] = (
        WrittenStep if point.in_steps else WrittenPlan if point.setting == "plan" else WrittenCalls
    )
    is_plan = title is WrittenPlan
    answer = narrowed(
        title,
        {
            "calls": calls_schema(
                tools, is_whole=point.in_steps, unknown=UNKNOWN if is_plan else None
            )
        },
    )
    written = await ask_opinion(
        context.chat,
        WRITE,
        answer,
        sample.briefing,
        setting="step" if point.in_steps else "plan" if is_plan else "call",
        tools=[_shown(tool, has_returns=is_plan) for tool in tools],
        conversation=conversation_text(point.prefix),
    )
    for call in written.calls:
        if call.tool not in point.tools:
            raise ReplyError(f"The reader calls {call.tool!r}, and there is no such tool.")
    calls = tuple(Call(tool=call.tool, arguments=call.arguments) for call in written.calls)
    return Reading(
        turn=point.turn, calls=calls, instead=None if calls else written.instead or "none"
    )


def _tools_to_read(sample: Sample, context: StageContext) -> list[Tool]:
    """Return the candidates, and the tools of the build that are most like those of the gold.

    Words that fit such a tool as well don't tell which is meant, whatever was offered beside the
    gold. All stand in the order of their names, which tells nothing of the gold. A grammar, which
    reads its own sentences, has no use for them.
    """
    offered = context.toolset(sample.candidates)
    names, called = {tool.name for tool in offered}, {call.tool for call in sample.all_calls}
    if len(offered) > FEW_TOOLS or not reads_language(context.chat.name):
        return offered
    twins: dict[str, Tool] = {}
    for gold in (tool for tool in offered if tool.name in called):
        beside = (
            tool
            for tool in context.tools.values()
            if tool.name not in names and tool.language == gold.language
        )
        twins |= {tool.name: tool for tool in nearest_tools(gold, beside, _TWINS)}
    return sorted([*offered, *twins.values()], key=lambda tool: tool.name) if twins else offered


async def _shown_tools(point: DuePoint, sample: Sample, context: StageContext) -> list[Tool]:
    """Return the tools shown whole: all, or of many the named ones and the gold's siblings."""
    tools = list(point.tools.values())
    if len(tools) <= FEW_TOOLS:
        return tools
    named = await ask_opinion(
        context.chat,
        PICK_TOOLS,
        NeededTools,
        sample.briefing,
        lines=[f"{tool.name}: {in_a_line(tool.description)}" for tool in tools],
        conversation=conversation_text(point.prefix),
    )
    due = [point.tools[call.tool] for call in point.calls if call.tool in point.tools]
    alike = [one.name for tool in due for one in nearest_tools(tool, tools, _SIBLINGS)]
    kept = [*dict.fromkeys([*alike, *(name for name in named.tools if name in point.tools)])][
        :FEW_TOOLS
    ]
    return [tool for tool in tools if tool.name in kept]


def _shown(tool: Tool, *, has_returns: bool) -> dict[str, JsonValue]:
    bare = without_examples(tool)
    return bare.signature | (
        {"returns": bare.returns} if has_returns and bare.returns is not None else {}
    )


async def settle(
    point: DuePoint, written: Reading, sample: Sample, context: StageContext
) -> tuple[Vote, ...]:
    """Return whether the settler prefers the point's calls or those written, in both orders.

    Raises ReplyError.
    """
    names = {call.tool for call in (*point.calls, *written.calls)}
    tools = [_shown(tool, has_returns=False) for tool in point.tools.values() if tool.name in names]
    gold, written_way = _way(point.calls, "none"), _way(written.calls, written.instead or "none")
    if not point.calls:  # the assistant speaks: it asks or tells something
        gold = _way((), "ask")
    votes: list[Vote] = []
    for first, second, meanings in (
        (gold, written_way, _GOLD_FIRST),
        (written_way, gold, _GOLD_SECOND),
    ):
        settlement = await ask_opinion(
            _settler(context),
            SETTLE,
            Settlement,
            sample.briefing,
            setting="step" if point.in_steps else point.setting,
            tools=tools,
            conversation=conversation_text(point.prefix),
            first=first,
            second=second,
        )
        votes.append(meanings[settlement.right])
    return tuple(votes)


MODEL = BlindReader(write_calls, settle)
_GOLD_FIRST: dict[str, Vote] = {
    "first": "gold",
    "second": "written",
    "both": "both",
    "neither": "neither",
}
_GOLD_SECOND: dict[str, Vote] = {**_GOLD_FIRST, "first": "written", "second": "gold"}


def _settler(context: StageContext) -> ChatModel:
    """Return the judge, unless the reader reads language and the judge only its own sentences."""
    judge = context.settler
    if judge is None or (reads_language(context.chat.name) and not reads_language(judge.name)):
        return context.chat
    return judge


def _way(calls: Iterable[Call], instead: str) -> JsonValue:
    """Return calls as a settler sees them, or what is done instead if there are none."""
    return [shown_call(call) for call in calls] or {"calls": [], "instead": instead}


def agrees(reading: Reading, point: DuePoint, rouge_l: float) -> bool:
    """Whether a reading matches the point's calls: as written, or as settled in both orders.

    If only free text differs, and is similar by Rouge-L, "both" means the same.
    """
    if not reading.votes:
        return do_the_same(point.calls, reading.calls, point.tools, is_ordered=point.is_ordered)
    votes = {*reading.votes}
    return votes == {"gold"} or (
        votes <= {"gold", "both"} and _differ_in_wording(point, reading.calls, rouge_l)
    )


def _differ_in_wording(point: DuePoint, written: Sequence[Call], rouge_l: float) -> bool:
    """Whether two sets of calls differ only in the wording of free text."""
    if not point.calls or len(point.calls) != len(written):
        return False
    for gold, written_call in zip(point.calls, written, strict=True):
        tool = point.tools.get(gold.tool)
        schemas = tool.properties if tool else {}
        exact = compare_calls(gold, written_call, schemas, threshold=1.0)
        is_alike = compare_calls(gold, written_call, schemas, threshold=rouge_l).is_same
        if not is_alike or not all(
            is_free_text(schemas.get(one.argument, {})) for one in exact.wrong
        ):
            return False
    return True


def is_free_text(schema: JsonSchema) -> bool:
    """Whether a parameter takes any words: its schema states no format, pattern or choice."""
    return (
        kind_of(schema) == "text"
        and not choices_of(schema)
        and not schema.keys() & {"format", "pattern"}
    )


def _agreement(readings: Sequence[Reading]) -> str:
    """Return why readings that agree settle a sample, as a sentence."""
    several = "s" if len(readings) != 1 else ""
    same = f"A reader that did not know the gold wrote the same at {len(readings)} point{several}"
    contested = sum(bool(one.votes) for one in readings)
    if contested:
        return f"{same}, {contested} of them contested and settled for the gold."
    return f"{same}."


def _disagreement(point: DuePoint, reading: Reading) -> str:
    """Return what was written instead of the gold, and how that was settled, as a sentence."""
    acts = {"ask": "asks first", "none": "calls nothing"}
    written = " and ".join(f"{call.tool} with {call.arguments!r}" for call in reading.calls)
    told = written or acts[reading.instead or "none"]
    votes = " and ".join(reading.votes)
    return f"Before turn {point.turn} the reader writes: {told}. Settled in both orders: {votes}."


def _doubts(point: DuePoint, reading: Reading) -> list[DoubtedFact]:
    """Return one fact for each difference from the gold, after the settler's view of it."""
    tool = next((call.tool for call in (*point.calls, *reading.calls)), "")
    settled = {
        "both": [DoubtedFact(kind="both_fit", turn=point.turn, tool=tool)],
        "neither": [DoubtedFact(kind="neither_fits", turn=point.turn, tool=tool)],
    }
    agreed = reading.votes[0] if len({*reading.votes}) == 1 else ""
    return [*settled.get(agreed, []), *_differences(point, reading.calls)]


def _differences(point: DuePoint, written: Calls) -> list[DoubtedFact]:
    if len(point.calls) <= 1 and len(written) <= 1:
        gold, read = next(iter(point.calls), None), next(iter(written), None)
        schemas = point.tools[gold.tool].properties if gold and gold.tool in point.tools else {}
        return doubts_of(compare_calls(gold, read, schemas, threshold=1.0), read, point.turn)
    missing = [one for one in point.calls if one not in written]
    added = [one for one in written if one not in point.calls]
    return [
        *(DoubtedFact(kind="call_missing", turn=point.turn, tool=one.tool) for one in missing),
        *(DoubtedFact(kind="call_added", turn=point.turn, tool=one.tool) for one in added),
    ] or [
        DoubtedFact(
            kind="order_amiss", turn=point.turn, tool=next((one.tool for one in point.calls), "")
        )
    ]
