"""A sample as a reviewer edited it: other texts, other calls, or entries struck from responses."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from callwright.annotation.calls import is_same, same_calls
from callwright.annotation.picks import step_turns
from callwright.generators.environments.picking import entries_of, join
from callwright.generators.multi_step.answers import answer_of, reported
from callwright.generators.multi_step.resolving import strike_out
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    Strike,
    Turn,
    UserTurn,
)

STAGE = "review"
# the start of the entries' paths in evidence, and which of them are struck
_Gone = Mapping[str, set[int]]


def with_turns(sample: Sample, turns: Sequence[Turn]) -> Sample:
    """Return a child of the sample with these turns, or the sample itself if nothing changed.

    Evidence that still holds is kept; what the reviewer changed has the reviewer as evidence.
    """
    texts = {
        index: _Texts(turn.text, turn.external.text if turn.external else "")
        for index, turn in enumerate(turns)
        if isinstance(turn, UserTurn)
    }
    kept = [_with_evidence(old, new, texts) for old, new in zip(sample.turns, turns, strict=True)]
    if tuple(kept) == sample.turns:
        return sample
    return sample.with_changes(turns=tuple(kept), origin=_edited_origin(sample))


def _edited_origin(sample: Sample) -> Origin:
    """Return the origin of a person's edit; it keeps the seed that simulated the results."""
    seed = sample.origin.seed if sample.origin else 0
    return Origin(stage=STAGE, parents=(sample.key,), seed=seed)


class _Texts(NamedTuple):
    """The current text of a user turn, and the message that comes with it."""

    text: str
    message: str


def _with_evidence(old: Turn, new: Turn, texts: Mapping[int, _Texts]) -> Turn:
    if not (isinstance(old, CallTurn) and isinstance(new, CallTurn)):
        return new
    found = (_unchanged(item, texts) == item for call in old.calls for item in call.evidence)
    all_stands = all(found)
    if all_stands and same_calls(old.calls, new.calls):
        return old
    return new.with_changes(calls=tuple(_proved(call, old.calls, texts) for call in new.calls))


def _proved(call: GoldCall, before: Sequence[GoldCall], texts: Mapping[int, _Texts]) -> GoldCall:
    same_tool = [old for old in before if old.tool == call.tool]
    found = (_evidence_for(name, call, same_tool, texts) for name in call.arguments)
    return call.with_changes(evidence=tuple(evidence for some in found for evidence in some))


def is_part_of(place: str, argument: str) -> bool:
    """Whether evidence for `place` ("legs[0].fromId") proves this argument or a part of it."""
    return place == argument or place.startswith((f"{argument}[", f"{argument}."))


def _evidence_for(
    name: str, call: GoldCall, before: Sequence[GoldCall], texts: Mapping[int, _Texts]
) -> Sequence[Evidence]:
    """Return the evidence that still proves an argument.

    If any part of it is no longer proved, the evidence is the reviewer.
    """
    for old in before:
        if name not in old.arguments or not is_same(old.arguments[name], call.arguments[name]):
            continue
        own = [evidence for evidence in old.evidence if is_part_of(evidence.argument, name)]
        found = [stands for evidence in own if (stands := _unchanged(evidence, texts)) is not None]
        if own and len(found) == len(own):
            return found
    return [Evidence(argument=name, kind="person")]


def _unchanged(evidence: Evidence, texts: Mapping[int, _Texts]) -> Evidence | None:
    """Return the evidence at its new position in the edited text, or None if its words are gone."""
    now = None if evidence.turn is None else texts.get(evidence.turn)
    if now is None:
        return evidence
    text = now.message if evidence.in_message else now.text
    if evidence.start is None:
        return evidence if evidence.quote in text else None
    if text[evidence.start : evidence.end] == evidence.quote:
        return evidence
    start = text.find(evidence.quote) if evidence.quote else -1
    moved = evidence.with_changes(start=start, end=start + len(evidence.quote))
    return moved if start >= 0 and text.count(evidence.quote) == 1 else None


def strike(sample: Sample, strikes: Sequence[Strike]) -> Sample:
    """Return a child of the sample without these entries, or the sample if there are none.

    A strike's entry index refers to the response as the sample holds it. Raises RecordError if
    an entry does not exist or a later call depends on it.
    """
    if not strikes:
        return sample
    gone: dict[str, set[int]] = {}
    places = step_turns(sample)
    for struck_entry in strikes:
        turn = (
            sample.turns[places[struck_entry.step] + 1] if struck_entry.step < len(places) else None
        )
        if not isinstance(turn, ResultTurn) or struck_entry.call >= len(turn.results):
            problem = (
                f"The sample {sample.key} has no response {struck_entry.call} at step"
                f" {struck_entry.step}."
            )
            raise RecordError(problem)
        if struck_entry.entry >= len(
            entries_of(turn.results[struck_entry.call], struck_entry.entries)
        ):
            raise RecordError(
                f"{struck_entry.entries!r} of the sample {sample.key} has no entry"
                f" {struck_entry.entry} to strike."
            )
        start = join(
            f"turns[{places[struck_entry.step] + 1}].results[{struck_entry.call}]",
            struck_entry.entries,
        )
        gone.setdefault(start, set()).add(struck_entry.entry)
    turns = [_struck(turn, index, strikes, places) for index, turn in enumerate(sample.turns)]
    moved = [_with_moved_evidence(turn, gone) for turn in turns]
    found = _with_answer(sample, moved)
    return sample.with_changes(turns=tuple(found), origin=_edited_origin(sample))


def _struck(turn: Turn, index: int, strikes: Sequence[Strike], places: Sequence[int]) -> Turn:
    if not isinstance(turn, ResultTurn):
        return turn
    own = [one for one in strikes if places[one.step] + 1 == index]
    of = [[one for one in own if one.call == number] for number in range(len(turn.results))]
    results = tuple(map(strike_out, turn.results, of))
    return turn.with_changes(results=results) if own else turn


def _with_moved_evidence(turn: Turn, gone: _Gone) -> Turn:
    if not isinstance(turn, CallTurn):
        return turn
    proofs = [tuple(_moved(one, gone) for one in call.evidence) for call in turn.calls]
    pairs = zip(turn.calls, proofs, strict=True)
    return turn.with_changes(calls=tuple(call.with_changes(evidence=own) for call, own in pairs))


def _moved(evidence: Evidence, gone: _Gone) -> Evidence:
    for start, struck in gone.items():
        entry_match = re.match(rf"{re.escape(start)}\[(\d+)\]", evidence.path)
        if entry_match is None:
            continue
        entry = int(entry_match[1])
        if entry in struck:
            raise RecordError(
                f"Entry {entry} of {start} can't be struck: the argument {evidence.argument!r}"
                " comes from it."
            )
        place = f"{start}[{entry - sum(one < entry for one in struck)}]"
        return evidence.with_changes(path=place + evidence.path[entry_match.end() :])
    return evidence


def _with_answer(sample: Sample, turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns with an answer made from the new responses.

    If the old answer was not the one that code makes from the old responses, the turns stay as
    they are.
    """
    last = sample.turns[-1]
    if not isinstance(last, ReplyTurn) or last.text != answer_of(reported(sample), sample.language):
        return turns
    text = answer_of(reported(sample, turns), sample.language)
    return [*turns[:-1], last.with_changes(text=text)]
