"""A sample as a reviewer changed it."""

import json
from collections.abc import Sequence

from annotation.task import last_call_turn, last_request, last_user_turn
from warehouse.records import CallTurn, Evidence, GoldCall, Origin, Sample, Turn, UserTurn

STAGE = "review"


def edited_sample(sample: Sample, request: str, calls: Sequence[GoldCall]) -> Sample | None:
    """The sample with this request and these calls, child of the old one; None where it has no turn to change."""
    asked, due = last_user_turn(sample), last_call_turn(sample)
    reworded, redone = request != last_request(sample), _plain(calls) != _plain(sample.gold)
    if (reworded and asked is None) or (redone and due is None):
        return None
    if not (reworded or redone):
        return sample
    touched = asked if reworded else None
    kept = tuple(_with_evidence(call, sample, touched, request) for call in calls)
    turns = [_changed(turn, index, (asked, due), request, kept) for index, turn in enumerate(sample.turns)]
    return sample.with_changes(turns=tuple(turns), origin=Origin(stage=STAGE, parents=(sample.key,)))


def _changed(
    turn: Turn, index: int, places: tuple[int | None, int | None], request: str, calls: tuple[GoldCall, ...]
) -> Turn:
    asked, due = places
    if isinstance(turn, UserTurn) and index == asked:
        return turn.with_changes(text=request)
    if isinstance(turn, CallTurn) and index == due:
        return turn.with_changes(calls=calls)
    return turn


def _plain(calls: Sequence[GoldCall]) -> str:
    """The calls as JSON, so that 1, 1.0 and true differ."""
    return json.dumps([[call.tool, call.arguments] for call in calls], sort_keys=True)


def _with_evidence(call: GoldCall, sample: Sample, touched: int | None, request: str) -> GoldCall:
    """The call with the evidence that still holds; what the reviewer changed rests on the reviewer."""
    same_tool = [old for old in sample.gold if old.tool == call.tool]
    evidence = tuple(_evidence_for(name, call, same_tool, touched, request) for name in call.arguments)
    return call.with_changes(evidence=evidence)


def _evidence_for(name: str, call: GoldCall, before: Sequence[GoldCall], touched: int | None, request: str) -> Evidence:
    value = json.dumps(call.arguments[name], sort_keys=True)
    for old in before:
        if name not in old.arguments or json.dumps(old.arguments[name], sort_keys=True) != value:
            continue
        for evidence in old.evidence:
            if evidence.argument == name and _still_holds(evidence, touched, request):
                return evidence
    return Evidence(argument=name, kind="person")


def _still_holds(evidence: Evidence, touched: int | None, request: str) -> bool:
    if touched is None or evidence.turn != touched or evidence.in_message:
        return True
    if evidence.start is None:
        return evidence.quote in request
    return request[evidence.start : evidence.end] == evidence.quote
