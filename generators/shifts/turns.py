"""Intent shifts, and how turns, evidence and facts are carried over around a change.

Of an intent the user turns to something that no candidate can do, instead of answering (HammerBench
4.2.3).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Literal

from pydantic import JsonValue

from callwright.generators.kinds import name_of, traits_of
from callwright.generators.stages import StageContext
from callwright.generators.stated_values import Place, span_evidence
from callwright.generators.tools import are_redundant
from callwright.language.packs import LanguagePattern, of
from callwright.language.pages import shapes_in, without_greeting
from callwright.language.values import locate
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    Evidence,
    GoldCall,
    JsonSchema,
    Language,
    Origin,
    ReplyTurn,
    Sample,
    SampleFacts,
    Tool,
    Transform,
    Turn,
    UserTurn,
)

_TURN_IN_PATH = re.compile(r"^turns\[(\d+)\]")
_BEFORE_THE_CALL = frozenset({"SO_case1", "SO_case2"})


def until_due(sample: Sample, transform: Transform) -> Sample:
    """Return the part of the sample that a transform can change.

    In a simulated conversation whose value is overridden before the call, this is everything up
    to the last call that is not part of a chain and still to be made (CONFETTI 3.2 cuts there
    too); in any other sample it is everything.
    """
    last = sample.turns[-1]
    is_due = isinstance(last, CallTurn) and not last.executed
    if is_due or not is_conversation(sample) or transform not in _BEFORE_THE_CALL:
        return sample
    kinds, chain = [turn.kind for turn in sample.turns], ["user", "calls", "result", "reply"]
    single = [at for at in range(1, len(kinds)) if kinds[at - 1 : at + 3] == chain]
    if transform == "SO_case2":  # the correction comes while a question is open
        before = ((at, sample.turns[at - 2] if at > 1 else None) for at in single)
        single = [at for at, turn in before if isinstance(turn, ReplyTurn) and "seek" in turn.acts]
    if not single:
        return sample
    end = single[-1]
    due = sample.turns[end].with_changes(executed=False)
    facts = sample.facts.with_changes(
        goals=tuple(one for one in sample.facts.goals if one.turn < end),
        extras=tuple(one for one in sample.facts.extras if one.turn < end),
    )
    return sample.with_changes(turns=(*sample.turns[:end], due), facts=facts)


def is_conversation(sample: Sample) -> bool:
    """Whether the sample is a simulated conversation, or was made from one."""
    return traits_of(sample.kind).asked == "conversation"


def find_stated(
    call: GoldCall, argument: str, prefix: Sequence[Turn], schema: JsonSchema
) -> Evidence | None:
    """Return where the user said an argument's value, by evidence or by search, or None."""
    for evidence in call.evidence:
        if evidence.argument == argument and evidence.turn is not None and not evidence.in_message:
            stated = prefix[evidence.turn] if evidence.turn < len(prefix) else None
            if (
                isinstance(stated, UserTurn)
                and stated.text[evidence.start : evidence.end] == evidence.quote != ""
            ):
                return evidence
    for index in range(len(prefix) - 1, -1, -1):
        turn = prefix[index]
        if isinstance(turn, UserTurn):
            mention = locate(call.arguments[argument], {"title": argument, **schema}, turn.text)
            if mention is not None:
                place = Place(mention.start, mention.end)
                rule = mention.rule
                return span_evidence(argument, index, place, turn.text).with_changes(rule=rule)
    return None


def snapshots_before(turns: Sequence[Turn], index: int) -> int:
    """Return how many snapshots precede turn `index`: the next snapshot's number, from 0."""
    return sum(isinstance(turn, CallTurn) for turn in turns[:index])


def with_value(
    turn: CallTurn, calls: Collection[int], value: JsonValue, evidence: Evidence
) -> CallTurn:
    """Return the turn with another value for the evidence's argument in the calls at `calls`."""
    new_calls = (
        call_with_value(one, value, evidence) if at in calls else one
        for at, one in enumerate(turn.calls)
    )
    return turn.with_changes(calls=tuple(new_calls))


def call_with_value(call: GoldCall, value: JsonValue, evidence: Evidence) -> GoldCall:
    """Return the same call with another value for one argument, and the evidence for it."""
    kept = tuple(one for one in call.evidence if one.argument != evidence.argument)
    arguments = {**call.arguments, evidence.argument: value}
    return call.with_changes(arguments=arguments, evidence=(*kept, evidence))


def moved(turn: Turn, at: int, by: int) -> Turn:
    """Return the turn after `by` turns were inserted at index `at`, with its evidence moved."""
    if not isinstance(turn, CallTurn):
        return turn
    calls: list[GoldCall] = []
    for call in turn.calls:
        evidence: list[Evidence] = []
        for proof in call.evidence:
            if proof.turn is None or proof.turn < at:
                evidence.append(proof)
                continue
            path = _TURN_IN_PATH.sub(lambda match: f"turns[{int(match[1]) + by}]", proof.path)
            evidence.append(proof.with_changes(turn=proof.turn + by, path=path))
        calls.append(call.with_changes(evidence=tuple(evidence)))
    return turn.with_changes(calls=tuple(calls))


def shifted_facts(source: Sample, shift: int) -> SampleFacts:
    """The source's facts that still hold, and the snapshot at which the change takes effect."""
    known = source.facts.paper_id
    return with_shift(source, shift).with_changes(
        complexity="",
        hammerbench_labels=(),
        paper_id=None if known and known.paper == "hammerbench" else known,
    )


def with_shift(source: Sample, shift: int) -> SampleFacts:
    """The source's facts with another snapshot at which something shifts.

    Results that were simulated for a conversation keep their seed; the new sample has another.
    """
    seed = source.simulation_seed if is_conversation(source) else source.facts.simulation
    return source.facts.with_changes(shifts=(shift,), simulation=seed)


def was_made_already(sample: Sample) -> bool:
    """Whether later turns build on the calls' results: a path or a simulated conversation."""
    return is_path(sample) or is_conversation(sample)


def is_path(sample: Sample) -> bool:
    """Whether the sample's calls were made in an environment."""
    made = any(turn.executed for _, turn in sample.call_turns)
    return made and bool(sample.facts.environment)


STAGE = "intent_shifts"


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why no intent shift can be made from the sample, or "" if one can."""
    unknown = next((key for key in sample.candidates if key not in tools), None)
    if unknown is not None:
        return f"The catalog has no tool with the key {unknown!r}, a candidate of the sample."
    if not _replaceable(sample):
        return "The user speaks only once, so that there is no intent to shift from."
    return ""


def mismatch(source: Sample, other: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why the request of `other` is no shift away from `source`, or "" if it is one."""
    if other.language != source.language:
        return (
            f"The other request is in {other.language!r}, the conversation in {source.language!r}."
        )
    if not isinstance(other.turns[0] if other.turns else None, UserTurn):
        return f"The sample {other.key} does not open with a request."
    wanted = _wanted(other, tools)
    if not wanted:
        return f"Which tool the sample {other.key} asks for is not known."
    for shown, tool in product((tools[key] for key in source.candidates), wanted):
        if are_redundant(shown, tool):
            return f"The candidate {shown.name!r} may serve the request for {tool.name!r}."
    return ""


async def shift_intents(derivation: Derivation, context: StageContext) -> list[Sample]:
    """Replace a user turn by the other sample's request, which the assistant declines.

    Raises RecordError if the source has no such turn, or one of its candidates may serve the
    other request.
    """
    source, lender = derivation.source, derivation.other
    if lender is None:
        raise RecordError(
            "An intent shift needs another sample to borrow its request from; plan it with one."
        )
    reason = obstacle(source, context.tools) or mismatch(source, lender, context.tools)
    if reason:
        raise RecordError(reason)
    at = context.rng.choice(_replaceable(source))
    request = lender.turns[0]
    assert isinstance(request, UserTurn)  # mismatch has seen to it  # noqa: S101
    opener = context.rng.choice(stock_phrases(source.language, "openers"))
    turns = (
        *source.turns[:at],
        request.with_changes(text=f"{opener}{without_greeting(request.text)}"),
        CallTurn(),
        ReplyTurn(text=context.rng.choice(stock_phrases(source.language, "refusals"))),
    )
    sample = source.with_changes(
        kind=name_of(source.kind, "IS"),
        changes=(),
        turns=turns,
        withheld=tuple(
            dict.fromkeys(
                (*source.withheld, *(tool.key for tool in _wanted(lender, context.tools)))
            )
        ),
        facts=shifted_facts(source, snapshots_before(source.turns, at)),
        origin=Origin(stage=STAGE, parents=(source.key, lender.key), seed=derivation.seed),
    )
    return [sample]


def _replaceable(sample: Sample) -> list[int]:
    """Return the indices of the user turns that follow a reply."""
    spoken = [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    return [index for index in spoken[1:] if isinstance(sample.turns[index - 1], ReplyTurn)]


def _wanted(other: Sample, tools: Mapping[str, Tool]) -> list[Tool]:
    """Return the tools that the other request needs: those called first, or those withheld."""
    calls = next((snapshot.calls for snapshot in other.snapshots()), ())
    called = {call.tool for call in calls}
    known = [tools[key] for key in (other.candidates if called else other.withheld) if key in tools]
    found = [tool for tool in known if not called or tool.name in called]
    return found if len(found) >= len(called) else []


def stock_phrases(
    language: Language, deed: Literal["openers", "refusals", "done"]
) -> tuple[str, ...]:
    """Return phrases for dropping a request, refusing without a tool, or reporting success.

    What follows an opener keeps its own first letter; phrases that report success don't ask
    anything.
    """
    space = of(language).space if deed == "openers" else ""
    return tuple(f"{one}{space}" for one in shapes_in(language, f"assistant.{deed}"))


_ASKS = LanguagePattern("@[?]|@{assistant_asks}")


def is_question(text: str) -> bool:
    """Whether the assistant's words ask the user for an answer."""
    return _ASKS.of(text).search(text) is not None
