"""A sample as a reviewer changed it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotation.call_changes import is_same, same_calls
from warehouse.records import CallTurn, Evidence, GoldCall, Origin, Sample, Turn, UserTurn

STAGE = "review"


def edited_sample(sample: Sample, request: str, calls: Sequence[GoldCall]) -> Sample:
    """The sample of one request and its calls with these ones instead, child of the old one."""
    turns = [
        turn.with_changes(text=request) if isinstance(turn, UserTurn)
        else turn.with_changes(calls=tuple(calls)) if isinstance(turn, CallTurn) and not same_calls(calls, turn.calls)
        else turn
        for turn in sample.turns
    ]  # fmt: skip
    return with_turns(sample, turns)


def with_turns(sample: Sample, turns: Sequence[Turn]) -> Sample:
    """The sample with each turn as `turns` have it, child of the old one; the sample itself where nothing is changed.

    Evidence that still holds is kept; what the reviewer changed rests on the reviewer.
    """
    texts = {index: _Texts(turn.text, _message(turn)) for index, turn in enumerate(turns) if isinstance(turn, UserTurn)}
    kept = [_with_evidence(old, new, texts) for old, new in zip(sample.turns, turns, strict=True)]
    if tuple(kept) == sample.turns:
        return sample
    return sample.with_changes(turns=tuple(kept), origin=Origin(stage=STAGE, parents=(sample.key,)))


class _Texts(NamedTuple):
    """What a user turn says now, and the message that comes with it."""

    text: str
    message: str


def _message(turn: UserTurn) -> str:
    return turn.external.text if turn.external else ""


def _with_evidence(old: Turn, new: Turn, texts: Mapping[int, _Texts]) -> Turn:
    if not (isinstance(old, CallTurn) and isinstance(new, CallTurn)):
        return new
    all_stands = all(_standing(item, texts) == item for call in old.calls for item in call.evidence)
    if all_stands and same_calls(old.calls, new.calls):
        return old
    return new.with_changes(calls=tuple(_proved(call, old.calls, texts) for call in new.calls))


def _proved(call: GoldCall, before: Sequence[GoldCall], texts: Mapping[int, _Texts]) -> GoldCall:
    same_tool = [old for old in before if old.tool == call.tool]
    found = (_evidence_for(name, call, same_tool, texts) for name in call.arguments)
    return call.with_changes(evidence=tuple(evidence for some in found for evidence in some))


def is_part_of(place: str, argument: str) -> bool:
    """Whether evidence for `place` ("legs[0].fromId") is evidence for this argument or a part of it."""
    return place == argument or place.startswith((f"{argument}[", f"{argument}."))


def _evidence_for(
    name: str, call: GoldCall, before: Sequence[GoldCall], texts: Mapping[int, _Texts]
) -> Sequence[Evidence]:
    """What still proves an argument; one of which not every part is proved any more rests on the reviewer."""
    for old in before:
        if name not in old.arguments or not is_same(old.arguments[name], call.arguments[name]):
            continue
        own = [evidence for evidence in old.evidence if is_part_of(evidence.argument, name)]
        found = [stands for evidence in own if (stands := _standing(evidence, texts)) is not None]
        if own and len(found) == len(own):
            return found
    return [Evidence(argument=name, kind="person")]


def _standing(evidence: Evidence, texts: Mapping[int, _Texts]) -> Evidence | None:
    """The evidence as it stands in what is said now, moved along with its words; None where they are gone."""
    said = None if evidence.turn is None else texts.get(evidence.turn)
    if said is None:
        return evidence
    text = said.message if evidence.in_message else said.text
    if evidence.start is None:
        return evidence if evidence.quote in text else None
    if text[evidence.start : evidence.end] == evidence.quote:
        return evidence
    start = text.find(evidence.quote) if evidence.quote else -1
    moved = evidence.with_changes(start=start, end=start + len(evidence.quote))
    return moved if start >= 0 and text.count(evidence.quote) == 1 else None
