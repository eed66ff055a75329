"""Runs of candidates over multi-step samples as what can be taught: right ones whole, of wrong ones a step that is provably wrong.

A run is right where it was a success. One that recovered from a call that went wrong is not taught, for the mistake would be
taught with it. Of a wrong run the first step that differs is provable where the conversation before it is the gold's to the
letter: there the gold's calls are due, and something else was done.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import orjson
from pydantic import JsonValue, TypeAdapter

from callwright.warehouse.answers import untold_fields
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    RunCall,
    RunTurn,
    Sample,
    Turn,
    UserTurn,
)
from callwright.warehouse.rows import Row

WRONG = "its run is wrong"
NOT_CLEAN = "its run is right in the end, but a call of it went wrong, which would be taught with it"
NOT_TOLD = "its run is right, but its last words do not tell all that was asked for: they are left out"
ELSEWHERE = (
    "before it errs its run goes another way than the gold, or talks with a user: which step is wrong is not proved"
)
NOT_PROVED = "its run is wrong, but nothing proves which step is"
_TURNS = TypeAdapter(tuple[RunTurn, ...])


class GivenRun(NamedTuple):
    """A candidate's run: whether it is right, and the whole conversation where that can be taught; `problem` says what can't."""

    given_by: str
    is_right: bool
    turns: tuple[Turn, ...] = ()
    problem: str = ""


class WrongStep(NamedTuple):
    """What a run did where the gold's calls were due: calls, or words."""

    turn: int
    calls: tuple[Call, ...]
    words: str


def read_run(sample: Sample, row: Row) -> tuple[GivenRun, WrongStep | None]:
    """A run over a sample as it can be taught, and the step at which it is provably wrong, if there is one."""
    messages = _TURNS.validate_json(row["messages"])
    given_by = row["given_by"]
    if row["success"]:
        return _right(sample, row, messages), None
    found = _first_wrong(sample, row, messages)
    if isinstance(found, str):
        return GivenRun(given_by, is_right=False, problem=found), None
    return GivenRun(given_by, is_right=False), found


def _right(sample: Sample, row: Row, messages: Sequence[RunTurn]) -> GivenRun:
    turns = _conversation(sample, row["opening"] or sample.request, messages)
    if turns is None:
        return GivenRun(row["given_by"], is_right=True, problem=NOT_CLEAN)
    last = turns[-1]
    is_short = {row["completeness"], row["correctness"]} - {None, _BEST}
    if isinstance(last, ReplyTurn) and (is_short or untold_fields(sample, last.text, _returned(turns))):
        return GivenRun(row["given_by"], is_right=True, turns=turns[:-1], problem=NOT_TOLD)
    return GivenRun(row["given_by"], is_right=True, turns=turns)


_BEST = 2  # of a judge's scores


def _returned(turns: Sequence[Turn]) -> dict[str, list[JsonValue]]:
    """What calls returned in a conversation, by their keys."""
    found: dict[str, list[JsonValue]] = {}
    for turn, following in pairwise(turns):
        if isinstance(turn, CallTurn) and isinstance(following, ResultTurn):
            for call, result in zip(turn.calls, following.results, strict=True):
                found.setdefault(call.bare.key, []).append(result)
    return found


def _conversation(sample: Sample, opening: str, messages: Sequence[RunTurn]) -> tuple[Turn, ...] | None:
    """The conversation of a run; None where a call of it went wrong, or what it returned is not known."""
    begun = sample.turns[: sample.fault.until] if sample.fault else (UserTurn(text=opening),)
    turns: list[Turn] = [*begun]
    recorded = [turn.results for turn in sample.turns if isinstance(turn, ResultTurn)]
    for message in messages:
        if message.problem:
            return None
        calls = tuple(GoldCall(tool=call.tool, arguments=call.arguments) for call in message.calls)
        if calls and not recorded and all(one.matched for one in message.calls):
            return (*turns, CallTurn(calls=calls))  # of a dialogue, whose call nobody carries out
        if message.calls:
            results = [_result(call, recorded) for call in message.calls]
            if any(one is _UNKNOWN or (_is_error(one) and not sample.fault) for one in results):
                return None
            turns += [CallTurn(calls=calls, executed=True), ResultTurn(results=tuple(results))]
            continue
        turns.append(ReplyTurn(text=message.text))
        turns += [UserTurn(text=message.told)] if message.told else []
    return tuple(turns)


_UNKNOWN: JsonValue = "\0"


def _result(call: RunCall, recorded: Sequence[tuple[JsonValue, ...]]) -> JsonValue:
    """What a call returned: what was observed, or what the sample has recorded of the gold call that it is."""
    if call.observation is not None:
        return call.observation
    return recorded[call.step][call.place] if call.step is not None and call.place is not None else _UNKNOWN


def _is_error(result: JsonValue) -> bool:
    return isinstance(result, dict) and bool(result.get("error"))


def _first_wrong(sample: Sample, row: Row, messages: Sequence[RunTurn]) -> WrongStep | str:
    """The first step that is not the gold's, or why it is not proved to be wrong."""
    if sample.fault or row["opening"]:
        return ELSEWHERE
    due = [(at, turn) for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn) and turn.executed]
    for number, ((at, turn), message) in enumerate(zip(due, messages, strict=False)):
        if message.problem:
            return NOT_PROVED
        if _called(message.calls) == _called(turn.calls):
            continue
        if not message.calls and message.text:  # the run ended here, with calls to be made
            return WrongStep(at, (), message.text)
        if not _is_refused(row, number, message.calls):
            return ELSEWHERE
        return WrongStep(at, tuple(Call(tool=one.tool, arguments=one.arguments) for one in message.calls), "")
    return NOT_PROVED


def _is_refused(row: Row, number: int, calls: Sequence[RunCall]) -> bool:
    """Whether a call of a turn is wrong by rule: in a task its world refuses it, otherwise no gold call is like it."""
    if row["end_reached"] is not None:
        return any(_is_error(one.observation) for one in calls)
    return number in row["wrong_turns"]


def _called(calls: Sequence[GoldCall | RunCall]) -> list[bytes]:
    """What is called, in whatever order."""
    return sorted(orjson.dumps([one.tool, one.arguments], option=orjson.OPT_SORT_KEYS) for one in calls)
