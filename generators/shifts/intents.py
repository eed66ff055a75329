"""Intent shifts: instead of answering, the user asks for something that no candidate can do (HammerBench 4.2.3)."""

from collections.abc import Mapping
from itertools import product
from typing import Literal

from callwright.generators.kinds import name_of
from callwright.generators.shifts.turns import shifted_tags, snapshots_before
from callwright.generators.stages import StageContext
from callwright.generators.tools import are_redundant
from callwright.language.packs import LanguagePattern, of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, Derivation, Language, Origin, ReplyTurn, Sample, Tool, UserTurn

STAGE = "intent_shifts"


def obstacle(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Why no intent shift can be made of the sample; "" where one can."""
    unknown = next((key for key in sample.candidates if key not in tools), None)
    if unknown is not None:
        return f"The catalog has no tool with the key {unknown!r}, so nobody can tell what the candidates can't do."
    if not _replaceable(sample):
        return "The user speaks only once: with that replaced, nothing is left that the intent could shift from."
    return ""


def mismatch(source: Sample, other: Sample, tools: Mapping[str, Tool]) -> str:
    """Why the request of `other` is no shift away from `source`; "" where it is one."""
    if other.language != source.language:
        return f"The other request is in {other.language!r}, the conversation in {source.language!r}."
    if not isinstance(other.turns[0] if other.turns else None, UserTurn):
        return f"The sample {other.key} does not open with a request."
    wanted = _wanted(other, tools)
    if not wanted:
        return (
            f"Which tool the sample {other.key} asks for is not known, so nobody can tell that no candidate serves it."
        )
    for shown, tool in product((tools[key] for key in source.candidates), wanted):
        if are_redundant(shown, tool):
            return f"The candidate {shown.name!r} may serve what the other request asks {tool.name!r} for."
    return ""


async def shift_intents(derivation: Derivation, context: StageContext) -> list[Sample]:
    """The conversation up to a user turn that is replaced by the other sample's request; the assistant declines.

    Raises RecordError where the source has no such turn, or one of its candidates may serve the other request.
    """
    source, other = derivation.source, derivation.other
    if other is None:
        raise RecordError("An intent shift needs another sample to borrow its request from; plan it with one.")
    reason = obstacle(source, context.tools) or mismatch(source, other, context.tools)
    if reason:
        raise RecordError(reason)
    at = context.rng.choice(_replaceable(source))
    request = other.turns[0]
    assert isinstance(request, UserTurn)  # mismatch has seen to it  # noqa: S101
    opener = context.rng.choice(stock_phrases(source.language, "openers"))
    turns = (
        *source.turns[:at],
        request.with_changes(text=f"{opener}{request.text}"),
        CallTurn(),
        ReplyTurn(text=context.rng.choice(stock_phrases(source.language, "refusals"))),
    )
    sample = source.with_changes(
        kind=name_of(source.kind, "IS"),
        changes=(),
        turns=turns,
        withheld=tuple(dict.fromkeys((*source.withheld, *(tool.key for tool in _wanted(other, context.tools))))),
        tags=shifted_tags(source, snapshots_before(source.turns, at)),
        origin=Origin(stage=STAGE, parents=(source.key, other.key), seed=derivation.seed),
    )
    return [sample]


def _replaceable(sample: Sample) -> list[int]:
    """The user turns that something was stated before."""
    spoken = [index for index, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    return [index for index in spoken[1:] if isinstance(sample.turns[index - 1], ReplyTurn)]


def _wanted(other: Sample, tools: Mapping[str, Tool]) -> list[Tool]:
    """The tools that the other request asks for: those it calls at first, or the one that was withheld from it."""
    calls = next((snapshot.calls for snapshot in other.snapshots()), ())
    called = {call.tool for call in calls}
    keys = [key for key in other.candidates if key in tools and tools[key].name in called] if called else other.withheld
    found = [tools[key] for key in keys if key in tools]
    return found if len(found) >= len(called) else []


def stock_phrases(language: Language, deed: Literal["openers", "refusals", "done"]) -> tuple[str, ...]:
    """How a request that drops another begins, what an assistant replies that has no tool, or whose call went through.

    What follows an opener begins as its own writer began it; none of those that say that something is done asks anything.
    """
    return tuple(of(language).data["assistant"][deed])


_ASKS = LanguagePattern("@[?]|@{assistant_asks}")


def is_question(text: str) -> bool:
    """Whether the assistant's words leave something for the user to answer."""
    return _ASKS.of(text).search(text) is not None
