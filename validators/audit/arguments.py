"""Defects of gold arguments that only a conversation shows: of another user, from a turn too early, too late, taken back."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from pydantic import JsonValue

from callwright.validators.audit.editing import with_arguments
from callwright.validators.audit.subjects import ArgumentPlace, AuditSubject, Injector, pick
from callwright.warehouse.records import Arguments, CallTurn, GoldCall, Sample

_LONG = 4  # words


def with_value(sample: Sample, place: ArgumentPlace, value: JsonValue) -> Sample:
    """The sample with another value for an argument, at every snapshot that has the old one; its evidence stays."""

    def has(call: GoldCall) -> bool:
        is_same = call.tool == place.call.tool and place.evidence in call.evidence
        return is_same and call.arguments.get(place.name) == place.value

    return with_arguments(sample, has, lambda arguments: {**arguments, place.name: value})


def _without(arguments: Arguments, name: str) -> Arguments:
    return {one: value for one, value in arguments.items() if one != name}


def _last_places(subject: AuditSubject) -> Iterator[ArgumentPlace]:
    """The arguments of the calls that count in the end; of what was executed all."""
    places = list(subject.places())
    last = places[-1].turn if places else -1
    return (place for place in places if subject.traits.is_executed or place.turn == last)


def _cut_short(subject: AuditSubject, rng: Random) -> Sample | None:
    """A free text without its last words; enums, codes and dates have no part in it."""
    texts = [
        place for place in _last_places(subject)
        if isinstance(place.value, str) and "enum" not in place.schema and len(place.value.split()) >= _LONG
    ]  # fmt: skip
    place = pick(texts, rng)
    words = str(place.value).split()
    return with_value(subject.sample, place, " ".join(words[: len(words) // 2]))


def _type_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """A number as text."""
    places = [
        place for place in _last_places(subject) if isinstance(place.value, int) and not isinstance(place.value, bool)
    ]
    place = pick(places, rng)
    return with_value(subject.sample, place, str(place.value))


def _of_another_user(subject: AuditSubject, rng: Random) -> Sample | None:
    """All arguments of a call are those of another sample's call of the tool."""
    options: list[tuple[GoldCall, GoldCall]] = []
    for _, turn in subject.call_turns[-1:]:
        for call in turn.calls:
            pooled = subject.pool.calls.get((subject.sample.language, call.tool), [])
            options += [
                (call, other) for other in pooled
                if other.arguments.keys() == call.arguments.keys() and other.arguments != call.arguments
                and all(str(value).casefold() not in subject.words for value in other.arguments.values())
            ]  # fmt: skip
    own, other = pick(options, rng)
    return with_arguments(subject.sample, lambda call: call == own, lambda _arguments: other.arguments)


def _behind(subject: AuditSubject, rng: Random) -> Sample | None:
    """A snapshot lacks what the turn before it gives; the next one has it."""
    turns = subject.call_turns
    options = [
        (at, name)
        for (at, turn), (_, later) in pairwise(turns)
        for name in turn.calls[0].arguments
        if _is_one(turn, later) and name in later.calls[0].arguments
    ]
    if subject.traits.is_executed:
        return None
    at, name = pick(options, rng)
    call = dict(turns)[at].calls[0]
    return with_arguments(subject.sample, lambda one: one is call, lambda arguments: _without(arguments, name))


def _ahead(subject: AuditSubject, rng: Random) -> Sample | None:
    """A snapshot has what only the turn after it gives."""
    turns = subject.call_turns
    options = [
        (turn.calls[0], name, later.calls[0].arguments[name])
        for (_, turn), (_, later) in pairwise(turns)
        if _is_one(turn, later)
        for name in later.calls[0].arguments if name not in turn.calls[0].arguments
    ]  # fmt: skip
    if subject.traits.is_executed:
        return None
    call, name, value = pick(options, rng)
    return with_arguments(subject.sample, lambda one: one is call, lambda arguments: {**arguments, name: value})


def _is_one(turn: CallTurn, later: CallTurn) -> bool:
    return len(turn.calls) == len(later.calls) == 1 and turn.calls[0].tool == later.calls[0].tool


def _taken_back(subject: AuditSubject, rng: Random) -> Sample | None:
    """The gold has a value that was taken back: that of a snapshot before, or another one that stands in the turn."""
    if not subject.traits.has_correction:
        return None
    options: list[tuple[ArgumentPlace, JsonValue]] = []
    for place in subject.places():
        earlier = [
            call.arguments[place.name] for at, turn in subject.call_turns if at < place.turn
            for call in turn.calls if place.name in call.arguments
        ]  # fmt: skip
        options += [(place, value) for value in earlier if value != place.value]
        options += [(place, value) for value in _stated_besides(place, subject)]
    return with_value(subject.sample, *pick(options, rng))


def _stated_besides(place: ArgumentPlace, subject: AuditSubject) -> Iterator[JsonValue]:
    """Values that other samples have for the parameter and that stand in the very turn of the gold value, before it."""
    evidence = place.evidence
    turn = dict(subject.user_turns).get(-1 if evidence.turn is None else evidence.turn)
    before = turn.text[: evidence.start].casefold() if turn and place.is_stated else ""
    for one in subject.pool.values_by_name.get((subject.sample.language, place.name), []):
        is_other = one.value != place.value and type(one.value) is type(place.value)
        if is_other and len(one.quote) > 1 and one.quote.casefold() in before:
            yield one.value


INJECTORS = (
    Injector("text_cut_short", "a gold text lacks its second half", _cut_short),
    Injector("number_as_text", "a gold number is text", _type_changed),
    Injector("values_of_another_user", "all arguments are those of another sample", _of_another_user),
    Injector("snapshot_behind", "a snapshot lacks what was said before it", _behind),
    Injector("snapshot_ahead", "a snapshot has what is said only later", _ahead),
    Injector("value_taken_back", "the gold has a value that the user took back", _taken_back),
)
