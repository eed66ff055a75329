"""What models that do not see the gold say: calls by checker and judge, and whether a tool fits.

The question whether a tool fits is for points where none is due. There code answers first: a
candidate that is the withheld tool under another name contradicts the sample. Then the judge is
asked, turn by turn; the first tool that it names is an opinion, so the sample is unproved and
goes to people.
"""

from typing import NamedTuple

from callwright.generators.shifts.turns import was_made_already
from callwright.generators.stages import StageContext
from callwright.generators.tools import are_redundant, outlined_tools
from callwright.generators.transcripts import conversation_text, user_texts
from callwright.language.schemas import kind_of
from callwright.language.text import capitalised
from callwright.language.values import locate
from callwright.llm.answer_schemas import narrowed
from callwright.llm.stated_schemas import choice_schema
from callwright.validators.checks.declaring import ALL, MEANING, reader
from callwright.validators.checks.verdicts import Answer, answer_of, contradicted, unproved, weakest
from callwright.validators.judges import (
    ONE_SHOT,
    RELEVANCE,
    SAME_MEANING,
    ZERO_SHOT,
    Relevance,
    ask_opinion,
    judge_calls,
    propose_call,
)
from callwright.validators.matching import (
    READ_OTHERWISE,
    THRESHOLD,
    CallDifference,
    compare_calls,
    doubts_of,
)
from callwright.warehouse.records import (
    Call,
    Decision,
    DoubtedFact,
    JsonSchema,
    Sample,
    Snapshot,
    Tool,
)
from callwright.warehouse.shown_tools import without_examples

_SEVERAL = "This check reads one call a turn; the sample has no call turn, or several calls in one."
EXACT = 1.0  # any other writing of free text goes to the question about meaning


class Readings(NamedTuple):
    """How a model's readings of a prefix differ from the gold: zero-shot, then perhaps one-shot."""

    differences: tuple[CallDifference, ...]
    decision: Decision
    reason: str
    doubts: tuple[DoubtedFact, ...] = ()


def applies_to(sample: Sample) -> bool:
    """Whether these checks apply: at most one call is due per snapshot, and none was executed."""
    snapshots = list(sample.snapshots())
    has_one_at_most = bool(snapshots) and all(len(snapshot.calls) <= 1 for snapshot in snapshots)
    return has_one_at_most and not was_made_already(sample)


@reader(
    "consistency",
    "2",
    "Does the checker make the gold call from the conversation alone, zero-shot and one-shot?",
    source="HammerBench 4.2.1",
    role="checker",
    way="hammerbench",
    prompts=(ZERO_SHOT, ONE_SHOT),
    applies=applies_to,
    settles=ALL,
    doubts=READ_OTHERWISE,
)
async def check_consistency(sample: Sample, context: StageContext) -> Answer:
    """Let the checker make all calls of the sample from the conversation alone, in two settings."""
    if not applies_to(sample):
        return answer_of([unproved(_SEVERAL, DoubtedFact(kind="not_read"))], "")
    readings: list[Readings] = []
    for snapshot in sample.snapshots():
        is_unproved = any(reading.decision != "proved" for reading in readings)
        readings.append(await _read(snapshot, sample, context, is_unproved=is_unproved))
        if readings[-1].decision == "contradicted":
            break
    return _answer(readings)


async def _read(
    snapshot: Snapshot, sample: Sample, context: StageContext, *, is_unproved: bool
) -> Readings:
    """Return the checker's reading of a prefix; if `is_unproved`, only contradictions matter."""
    schemas = _schemas(due_call(snapshot), sample, context)
    zero_shot = await propose_call(ZERO_SHOT, sample, snapshot, context)
    first = compare_calls(due_call(snapshot), zero_shot, schemas, threshold=context.rouge_l)
    if first.is_same and is_unproved:
        return Readings((first,), "unproved", "")
    if not first.is_same and not _speaks_against(first, zero_shot, snapshot, schemas):
        doubts = tuple(doubts_of(first, zero_shot, snapshot.turn))
        return Readings((first,), "unproved", f"the zero-shot reading {first.sentence()}", doubts)
    one_shot = await propose_call(ONE_SHOT, sample, snapshot, context)
    return judge_readings(snapshot, zero_shot, one_shot, schemas, threshold=context.rouge_l)


def judge_readings(
    snapshot: Snapshot,
    zero_shot: Call | None,
    one_shot: Call | None,
    schemas: dict[str, JsonSchema],
    *,
    threshold: float = THRESHOLD,
) -> Readings:
    """Compare both readings of a snapshot with its gold; `schemas` are of the gold's tool."""
    gold = due_call(snapshot)
    both = first, second = tuple(
        compare_calls(gold, reading, schemas, threshold=threshold)
        for reading in (zero_shot, one_shot)
    )
    if first.is_same and second.is_same:
        return Readings(both, "proved", "")
    read = [
        *doubts_of(first, zero_shot, snapshot.turn),
        *doubts_of(second, one_shot, snapshot.turn),
    ]
    doubts = tuple(one for at, one in enumerate(read) if one not in read[:at])
    if first.is_same or second.is_same:
        odd, name = (second, "one-shot") if first.is_same else (first, "zero-shot")
        return Readings(
            both,
            "unproved",
            f"the {name} reading {odd.sentence()}, the other is the gold call",
            doubts,
        )
    if zero_shot != one_shot:
        reason = (
            f"the zero-shot reading {first.sentence()}; the one-shot reading {second.sentence()}"
        )
        return Readings(both, "unproved", reason, doubts)
    if _speaks_against(first, zero_shot, snapshot, schemas):
        reason = (
            f"both readings are one call that {first.sentence()}, and the conversation states what"
            " they say"
        )
        return Readings(both, "contradicted", reason, doubts)
    return Readings(both, "unproved", f"both readings are one call that {first.sentence()}", doubts)


def _speaks_against(
    difference: CallDifference,
    reading: Call | None,
    snapshot: Snapshot,
    schemas: dict[str, JsonSchema],
) -> bool:
    """Whether the conversation supports the reading against the gold wherever they differ."""
    if reading is None or not difference.has_same_tool:
        return False
    texts = user_texts(snapshot.prefix)
    read_arguments, gold = reading.arguments, snapshot.calls[0].arguments
    if any(kind_of(schemas.get(name, {})) == "text" for name in difference.hallucinated):
        # any words of the request could be put into free text that the gold has no use for
        return False
    added = [*difference.hallucinated, *(value.argument for value in difference.wrong)]
    dropped = [*difference.missing, *(value.argument for value in difference.wrong)]
    # A reading that only leaves something out states nothing: that the words are not found is no
    # word against the gold.
    return (
        bool(added)
        and all(_says(texts, read_arguments[name], schemas.get(name, {})) for name in added)
        and not any(_says(texts, gold[name], schemas.get(name, {})) for name in dropped)
    )


def _says(texts: list[str], value: object, schema: JsonSchema) -> bool:
    return any(locate(value, schema, text) is not None for text in texts)  # type: ignore[arg-type]


def _answer(readings: list[Readings]) -> Answer:
    decision = weakest([reading.decision for reading in readings])
    scores = [difference.score for reading in readings for difference in reading.differences]
    parts = [
        (
            f"At snapshot {at} {reading.reason}."
            if len(readings) > 1
            else f"{capitalised(reading.reason)}."
        )
        for at, reading in enumerate(readings)
        if reading.reason
    ]
    proof = "The checker made the gold call at every snapshot, zero-shot and one-shot."
    return Answer(
        decision=decision,
        score=round(sum(scores) / len(scores), 4),
        reason=" ".join(parts) or proof,
        doubts=tuple(doubt for reading in readings for doubt in reading.doubts),
    )


@reader(
    "meaning",
    "2",
    "Does the judge read the same call out of the conversation, or one that means the same?",
    source="HammerBench 4.2.1, D.4",
    role="judge",
    way="hammerbench",
    prompts=(ZERO_SHOT, SAME_MEANING),
    applies=applies_to,
    settles=ALL,
    doubts=READ_OTHERWISE,
)
async def check_meaning(sample: Sample, context: StageContext) -> Answer:
    """Let the judge make every call of the sample, and say whether it means what the gold means."""
    if not applies_to(sample):
        return answer_of([unproved(_SEVERAL, DoubtedFact(kind="not_read"))], "")
    opinions: list[Answer] = []
    for snapshot in sample.snapshots():
        opinions.append(await _judge(snapshot, sample, context))
        if opinions[-1].decision != "proved":
            break
    decision = weakest([opinion.decision for opinion in opinions])
    reasons = [opinion.reason for opinion in opinions if opinion.decision == decision]
    return Answer(
        decision=decision,
        score=sum(opinion.decision == "proved" for opinion in opinions) / len(opinions),
        reason=" ".join(dict.fromkeys(reasons)),
        doubts=tuple(doubt for opinion in opinions for doubt in opinion.doubts),
    )


async def _judge(snapshot: Snapshot, sample: Sample, context: StageContext) -> Answer:
    gold, own = due_call(snapshot), await propose_call(ZERO_SHOT, sample, snapshot, context)
    difference = compare_calls(gold, own, _schemas(gold, sample, context), threshold=EXACT)
    if difference.is_same:
        return Answer(decision="proved", reason="The judge's own call is the gold call.")
    doubts = tuple(doubts_of(difference, own, snapshot.turn))
    if gold is None or own is None or not difference.has_same_tool:
        return Answer(
            decision="unproved",
            reason=f"The judge's own reading {difference.sentence()}.",
            doubts=doubts,
        )
    tools = context.toolset(sample.candidates)
    pair, briefing = (gold, own), sample.time_sentence
    judgement = await judge_calls(
        context.chat, SAME_MEANING, tools, snapshot.prefix, pair, briefing=briefing
    )
    if judgement.agree:
        reason = (
            f"The judge's own call {difference.sentence()}, but means the same: {judgement.reason}"
        )
        return Answer(decision="proved", reason=reason)
    reason = f"The judge's own call {difference.sentence()}, and means another: {judgement.reason}"
    return Answer(decision="unproved", reason=reason, doubts=doubts)


def _schemas(gold: Call | None, sample: Sample, context: StageContext) -> dict[str, JsonSchema]:
    tools = context.toolset(sample.candidates)
    return next(
        (tool.properties for tool in tools if gold is not None and tool.name == gold.tool), {}
    )


def due_call(snapshot: Snapshot) -> Call | None:
    """Return the only call due at a snapshot, without its evidence, or None."""
    gold = next(iter(snapshot.calls), None)
    return gold.bare if gold is not None else None


def has_idle_turn(sample: Sample) -> bool:
    """Whether the sample has a turn at which no call is due."""
    return any(not snapshot.calls for snapshot in sample.snapshots())


@reader(
    "relevance",
    "4",
    "Where no call is due: can none of the candidates do it?",
    source="HammerBench 4.2, D.5",
    role="judge",
    prompts=(RELEVANCE,),
    applies=has_idle_turn,
    settles=MEANING,
)
async def check_relevance(sample: Sample, context: StageContext) -> Answer:
    """Prove that no candidate can do what is asked where none is to be called."""
    idle = [snapshot for snapshot in sample.snapshots() if not snapshot.calls]
    if not idle:
        return Answer(
            decision="proved", reason="A call is due at every turn, so nothing is to be refused."
        )
    duplicate = find_duplicate_tool(
        context.toolset(sample.withheld), context.toolset(sample.candidates)
    )
    if duplicate:
        reason = f"The withheld tool is still among the offered tools: {duplicate}."
        return answer_of([contradicted(reason, DoubtedFact(kind="candidates_amiss"))], "")
    reasons = list[str]()
    tools = context.toolset(sample.candidates)
    named = choice_schema([tool.name for tool in tools], or_none=True)
    for snapshot in idle:
        opinion = await ask_opinion(
            context.chat,
            RELEVANCE,
            narrowed(Relevance, {"tool": named}),
            tools=outlined_tools((without_examples(tool), ()) for tool in tools),
            conversation=conversation_text(snapshot.prefix),
        )
        if opinion.tool:
            reason = f"The judge says that {opinion.tool!r} fits: {opinion.reason}"
            doubt = DoubtedFact(kind="calls_needlessly", turn=snapshot.turn, tool=opinion.tool)
            return Answer(decision="unproved", reason=reason, doubts=(doubt,))
        reasons.append(f"None fits: {opinion.reason}")
    return Answer(decision="proved", reason=" ".join(reasons))


def find_duplicate_tool(withheld: list[Tool], candidates: list[Tool]) -> str:
    """Return which candidate could replace which withheld tool, as a clause, or "" if none can."""
    pairs = (
        (hidden, shown)
        for hidden in withheld
        for shown in candidates
        if are_redundant(hidden, shown)
    )
    return next(
        (f"{shown.name!r} serves what {hidden.name!r} serves" for hidden, shown in pairs), ""
    )
