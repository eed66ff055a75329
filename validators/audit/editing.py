"""Changing a sample while evidence and facts go on pointing at what they pointed at.

A changed word keeps the evidence that stood on it, as a writer who is wrong about a sample would
quote the same words.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.validators.origins import root_of
from callwright.warehouse.records import (
    AskedField,
    CallPlace,
    CallTurn,
    Evidence,
    FeedRule,
    GoldCall,
    Sample,
    SampleFacts,
    SpokenPart,
    Turn,
    UserTurn,
)

_PLACE_IN_RESULTS = re.compile(r"^turns\[(\d+)\]\.results\[(\d+)\]")


class Replacement(NamedTuple):
    """Words that replace those at `start`..`end` of a text."""

    start: int
    end: int
    words: str


class KeptTurn(NamedTuple):
    """A turn of the changed sample, its old index (None if new), and its calls' old places."""

    turn: Turn
    old: int | None
    places: tuple[int | None, ...] = ()


def replaced(text: str, changes: Iterable[Replacement]) -> str:
    """Return the text with these changes, which do not overlap."""
    for one in sorted(changes, reverse=True):
        text = text[: one.start] + one.words + text[one.end :]
    return text


def with_words(sample: Sample, at: int, changes: Sequence[Replacement]) -> Sample:
    """Return the sample with other words in a user turn; evidence moves to the new words."""
    turn = sample.turns[at]
    if not isinstance(turn, UserTurn):
        return sample
    text = replaced(turn.text, changes)

    def moved(evidence: Evidence) -> Evidence | None:
        if (
            evidence.turn != at
            or evidence.in_message
            or evidence.start is None
            or evidence.end is None
        ):
            return evidence
        span = _moved(evidence.start, evidence.end, changes)
        if span is None or not text[span[0] : span[1]].strip():
            return None
        return evidence.with_changes(start=span[0], end=span[1], quote=text[span[0] : span[1]])

    turns = tuple(
        turn.with_changes(text=text) if index == at else one
        for index, one in enumerate(sample.turns)
    )
    return with_evidence(sample.with_changes(turns=turns), moved)


def _moved(start: int, end: int, changes: Iterable[Replacement]) -> tuple[int, int] | None:
    """Return where a span is afterwards, or None if a change covers more or only part of it."""
    before = within = 0
    for change in changes:
        grown = len(change.words) - (change.end - change.start)
        if change.end <= start and (change.start, change.end) != (start, end):
            before += grown
        elif start <= change.start and change.end <= end:
            within += grown
        elif change.start < end:
            return None
    return start + before, end + before + within


def with_evidence(sample: Sample, moved: Callable[[Evidence], Evidence | None]) -> Sample:
    """Return the sample with its evidence changed by `moved`, and dropped where that is None."""

    def changed(call: GoldCall) -> GoldCall:
        kept = tuple(one for one in map(moved, call.evidence) if one is not None)
        return call if kept == call.evidence else call.with_changes(evidence=kept)

    turns = tuple(
        (
            turn.with_changes(calls=tuple(map(changed, turn.calls)))
            if isinstance(turn, CallTurn)
            else turn
        )
        for turn in sample.turns
    )
    return sample.with_changes(turns=turns)


def with_turn(sample: Sample, at: int, turn: Turn) -> Sample:
    """Return the sample with one turn replaced."""
    return sample.with_changes(turns=(*sample.turns[:at], turn, *sample.turns[at + 1 :]))


def with_call(sample: Sample, at: int, position: int, call: GoldCall) -> Sample:
    """Return the sample with one call replaced."""
    turn = sample.turns[at]
    if not isinstance(turn, CallTurn):
        return sample
    calls = (*turn.calls[:position], call, *turn.calls[position + 1 :])
    return with_turn(sample, at, turn.with_changes(calls=calls))


def with_arguments(
    sample: Sample,
    chosen: Callable[[GoldCall], bool],
    changed: Callable[[dict[str, JsonValue]], Mapping[str, JsonValue]],
) -> Sample:
    """Return the sample with other arguments in chosen calls, dropping unneeded evidence."""
    for at, turn in sample.call_turns:
        for position, call in enumerate(turn.calls):
            if chosen(call):
                arguments = dict(changed(dict(call.arguments)))
                kept = tuple(one for one in call.evidence if root_of(one.argument) in arguments)
                sample = with_call(
                    sample, at, position, call.with_changes(arguments=arguments, evidence=kept)
                )
    return sample


def kept_turns(sample: Sample) -> list[KeptTurn]:
    """Return all turns of a sample, ready to be removed, moved or extended."""
    return [
        KeptTurn(turn, at, tuple(range(len(turn.calls))) if isinstance(turn, CallTurn) else ())
        for at, turn in enumerate(sample.turns)
    ]


def rebuilt(sample: Sample, kept: Sequence[KeptTurn]) -> Sample:
    """Return the sample with these turns; evidence and facts point at what they pointed at."""
    moves = _Moves(kept)
    turns = [
        (
            one.turn.with_changes(calls=tuple(moves.call(call, one.old) for call in one.turn.calls))
            if isinstance(one.turn, CallTurn) and one.old is not None
            else one.turn
        )
        for one in kept
    ]
    return sample.with_changes(turns=tuple(turns), facts=moves.facts(sample))


class _Moves:
    """Where the turns and calls of a sample are after a change."""

    def __init__(self, kept: Sequence[KeptTurn]) -> None:
        self._turns = {one.old: at for at, one in enumerate(kept) if one.old is not None}
        self._calls = {
            (one.old, old): (at, place)
            for at, one in enumerate(kept)
            for place, old in enumerate(one.places)
            if one.old is not None and old is not None
        }
        self._steps = [at for at, one in enumerate(kept) if isinstance(one.turn, CallTurn)]

    def call(self, call: GoldCall, turn: int) -> GoldCall:
        found = (self._evidence(one, turn) for one in call.evidence)
        return call.with_changes(evidence=tuple(filter(None, found)))

    def _evidence(self, evidence: Evidence, own: int) -> Evidence | None:
        path, rule = evidence.path, evidence.rule
        if source := _PLACE_IN_RESULTS.match(path):
            place = self._calls.get((int(source[1]) - 1, int(source[2])))
            if place is None:
                return None
            path = f"turns[{place[0] + 1}].results[{place[1]}]{path[source.end() :]}"
        if isinstance(rule, FeedRule):
            place = self._calls.get((own, rule.call))
            if place is None:
                return None
            rule = rule.with_changes(call=place[1])
        turn = None if evidence.turn is None else self._turns.get(evidence.turn)
        is_gone = turn is None and evidence.turn is not None
        return None if is_gone else evidence.with_changes(turn=turn, path=path, rule=rule)

    def facts(self, sample: Sample) -> SampleFacts:
        known, before = sample.facts, [at for at, _ in sample.call_turns]
        shifts = [
            self._turns.get(before[number]) for number in known.shifts if number < len(before)
        ]
        wanted = [self._place(before, one.step, one.place) for one in known.wanted]
        asked = [(self._place(before, *field[:2]), field.path) for field in known.asked]
        return known.with_changes(
            shifts=tuple(self._steps.index(at) for at in shifts if at is not None),
            wanted=tuple(place for place in wanted if place),
            asked=tuple(AskedField(*at, path=path) for at, path in asked if at),
            goals=self._spoken(known.goals),
            extras=self._spoken(known.extras),
        )

    def _place(self, before: Sequence[int], step: int, place: int) -> CallPlace | None:
        found = self._calls.get((before[step], place)) if step < len(before) else None
        return found and CallPlace(self._steps.index(found[0]), found[1])

    def _spoken(self, parts: Iterable[SpokenPart]) -> tuple[SpokenPart, ...]:
        return tuple(
            one._replace(turn=self._turns[one.turn]) for one in parts if one.turn in self._turns
        )
