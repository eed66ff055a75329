"""Entries struck from the responses of a sample: the list gets shorter, and evidence further down the list moves up."""

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from annotation.edits import STAGE
from annotation.picks import step_turns
from generators.multi_step.picking import entries_of, join
from generators.multi_step.resolving import strike_out
from generators.multi_step.samples import WANTED_TAG, final_answer
from warehouse.errors import RecordError
from warehouse.records import Call, CallTurn, Evidence, Origin, ReplyTurn, ResultTurn, Sample, Strike, Turn

_Gone = Mapping[str, set[int]]  # the start of the entries' paths in evidence, and which of them are struck


def strike(sample: Sample, strikes: Sequence[Strike]) -> Sample:
    """The sample without these entries, child of the sample; the sample itself where nothing is struck.

    A strike's entry counts in the response as the sample holds it. Raises RecordError where an entry is not there, or a
    call goes on with it.
    """
    if not strikes:
        return sample
    gone = _gone(sample, strikes)
    turns = [_struck(turn, index, strikes, step_turns(sample)) for index, turn in enumerate(sample.turns)]
    moved = [_with_moved_evidence(turn, gone) for turn in turns]
    return sample.with_changes(
        turns=tuple(_with_answer(sample, moved)), origin=Origin(stage=STAGE, parents=(sample.key,))
    )


def _gone(sample: Sample, strikes: Sequence[Strike]) -> _Gone:
    gone: dict[str, set[int]] = {}
    places = step_turns(sample)
    for one in strikes:
        turn = sample.turns[places[one.step] + 1] if one.step < len(places) else None
        if not isinstance(turn, ResultTurn) or one.call >= len(turn.results):
            raise RecordError(f"The sample {sample.key} has no response {one.call} at step {one.step}.")
        if one.entry >= len(entries_of(turn.results[one.call], one.entries)):
            raise RecordError(f"{one.entries!r} of the sample {sample.key} has no entry {one.entry} to strike.")
        start = join(f"turns[{places[one.step] + 1}].results[{one.call}]", one.entries)
        gone.setdefault(start, set()).add(one.entry)
    return gone


def _struck(turn: Turn, index: int, strikes: Sequence[Strike], places: Sequence[int]) -> Turn:
    if not isinstance(turn, ResultTurn):
        return turn
    own = [one for one in strikes if places[one.step] + 1 == index]
    results = [
        strike_out(result, [one for one in own if one.call == number]) for number, result in enumerate(turn.results)
    ]
    return turn.with_changes(results=tuple(results)) if own else turn


def _with_moved_evidence(turn: Turn, gone: _Gone) -> Turn:
    if not isinstance(turn, CallTurn):
        return turn
    calls = [call.with_changes(evidence=tuple(_moved(one, gone) for one in call.evidence)) for call in turn.calls]
    return turn.with_changes(calls=tuple(calls))


def _moved(evidence: Evidence, gone: _Gone) -> Evidence:
    for start, struck in gone.items():
        found = re.match(rf"{re.escape(start)}\[(\d+)\]", evidence.path)
        if found is None:
            continue
        entry = int(found[1])
        if entry in struck:
            raise RecordError(f"Entry {entry} of {start} can't be struck: {evidence.argument!r} is picked out of it.")
        place = f"{start}[{entry - sum(one < entry for one in struck)}]"
        return evidence.with_changes(path=place + evidence.path[found.end() :])
    return evidence


def _with_answer(sample: Sample, turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns with the answer that the responses give now, where code made the one before of the responses then."""
    last = sample.turns[-1]
    if not isinstance(last, ReplyTurn) or last.text != final_answer(_wanted(sample, sample.turns), sample.language):
        return turns
    text = final_answer(_wanted(sample, turns), sample.language)
    return [*turns[:-1], last.with_changes(text=text)]


def _wanted(sample: Sample, turns: Sequence[Turn]) -> list[tuple[Call, JsonValue]]:
    """The calls that the user asks for, with their responses; none where the sample does not tell which."""
    places = step_turns(sample)
    tag = next((tag.removeprefix(WANTED_TAG) for tag in sample.tags if tag.startswith(WANTED_TAG)), "")
    found: list[tuple[Call, JsonValue]] = []
    for word in tag.split():
        step, position = (int(piece) for piece in word.split("."))
        made, results = turns[places[step]], turns[places[step] + 1]
        if isinstance(made, CallTurn) and isinstance(results, ResultTurn):
            call = made.calls[position]
            found.append((Call(tool=call.tool, arguments=call.arguments), results.results[position]))
    return found
