"""New values for what a goal's user says, by kind: the same old value gets the same new one everywhere.

Dates move together, so that order and duration stay; what lies in a city moves with it (ComplexFuncBench 2.1.3).
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.vocabularies import Wish, vocabulary_of
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.multi_step.sources import SourceLeaf, leaves_of, pattern_of, with_leaves
from callwright.language.dates import find_dates
from callwright.language.readers.moments import find_times
from callwright.language.schemas import DATE_TIME_VALUE, DATE_VALUE
from callwright.language.text import Found, fold
from callwright.language.values import locate, write_value
from callwright.warehouse.records import Condition, Default, Goal, JsonSchema, Language, Picked, StatedValue, Tool

_LATEST_SHIFT, _EARLIEST_SHIFT = 60, -40
Replacements = dict[str, JsonValue]  # by the old value's name, see `name_of`
_MASK = "\u25a1"
_MOST_MENTIONS = 6
_MOST_DRAWS = 20


def name_of(stated: StatedValue) -> str:
    """One name for equal values of one kind."""
    return f"{'date' if _is_dated(stated.value) else stated.element} {orjson.dumps(stated.value).decode()}"


def stated_leaves(goal: Goal) -> Iterator[SourceLeaf]:
    """Every value that the user says, where it stands."""
    for index, planned in enumerate(goal.calls):
        yield from (leaf for leaf in leaves_of(index, planned.arguments) if isinstance(leaf.source, StatedValue))


def choose_replacements(
    goal: Goal, environment: Environment, tools: Mapping[str, Tool], fixed: frozenset[str], rng: Random
) -> Replacements:
    """Another value for each that may be replaced; those named in `fixed` keep theirs."""
    drawn = _Draw(environment, rng)
    found: Replacements = {}
    for leaf in stated_leaves(goal):
        stated = leaf.source
        if (
            not isinstance(stated, StatedValue)
            or not stated.replaceable
            or name_of(stated) in found
            or name_of(stated) in fixed
        ):
            continue
        tool = tools[goal.calls[leaf.call].tool]
        new = drawn.instead_of(stated, tool, leaf.argument)
        if new is not None and new != stated.value:
            found[name_of(stated)] = new
    return found


def replace_stated(goal: Goal, new: Mapping[str, JsonValue]) -> Goal:
    """The goal with other values said, in its conditions as well where they compare with one of them."""
    texts: dict[str, JsonValue] = {
        stated.value: new[name_of(stated)]
        for leaf in stated_leaves(goal)
        if isinstance(stated := leaf.source, StatedValue) and isinstance(stated.value, str) and name_of(stated) in new
    }
    calls = []
    for index, planned in enumerate(goal.calls):
        leaves: dict[str, StatedValue | Default | Picked] = {}
        for leaf in leaves_of(index, planned.arguments):
            if isinstance(leaf.source, StatedValue) and name_of(leaf.source) in new:
                leaves[leaf.argument] = leaf.source.with_changes(value=new[name_of(leaf.source)])
            elif isinstance(leaf.source, Picked):
                leaves[leaf.argument] = leaf.source.with_changes(where=_where(leaf.source.where, texts))
        calls.append(planned.with_changes(arguments=with_leaves(planned.arguments, leaves)))
    return goal.with_changes(calls=tuple(calls))


def replace_condition(goal: Goal, old: tuple[Condition, ...], new: tuple[Condition, ...], call: int) -> Goal:
    """The goal with other conditions for every value that was picked from the response of `call` by the old ones."""
    calls = []
    for index, planned in enumerate(goal.calls):
        leaves: dict[str, StatedValue | Default | Picked] = {
            leaf.argument: leaf.source.with_changes(where=new)
            for leaf in leaves_of(index, planned.arguments)
            if isinstance(leaf.source, Picked) and leaf.source.call == call and leaf.source.where == old
        }
        calls.append(planned.with_changes(arguments=with_leaves(planned.arguments, leaves)) if leaves else planned)
    return goal.with_changes(calls=tuple(calls))


def _where(where: tuple[Condition, ...], texts: Mapping[str, JsonValue]) -> tuple[Condition, ...]:
    return tuple(
        one.with_changes(value=texts[one.value]) if isinstance(one.value, str) and one.value in texts else one
        for one in where
    )


class _Draw:
    """New values that go together."""

    def __init__(self, environment: Environment, rng: Random) -> None:
        self._rng = rng
        self._trip = vocabulary_of(environment).trip(rng)
        self._days = rng.choice([days for days in range(_EARLIEST_SHIFT, _LATEST_SHIFT) if days])

    def instead_of(self, stated: StatedValue, tool: Tool, argument: str) -> JsonValue | None:
        if _is_dated(stated.value):
            return _moved(str(stated.value), self._days)
        schema = schema_of(tool, argument)
        return self._trip.instead_of(stated.value, Wish(stated.element, "", tool.name, pattern_of(argument), 0, schema))


def _is_dated(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(DATE_VALUE.fullmatch(value) or DATE_TIME_VALUE.fullmatch(value))


def _moved(value: str, days: int) -> str:
    moved = datetime.fromisoformat(value) + timedelta(days=days)
    return moved.date().isoformat() + value[len("2027-01-01") :]


class ValueReplacement(NamedTuple):
    """A value that the request says, and the one that it is to say instead."""

    old: JsonValue
    new: JsonValue
    schema: JsonSchema


class _Span(NamedTuple):
    start: int
    end: int
    words: str


def mentions(value: JsonValue, schema: JsonSchema, text: str) -> list[Found]:
    """Every place where a text says a value."""
    found: list[Found] = []
    left = text
    while len(found) < _MOST_MENTIONS:
        one = locate(value, schema, left)
        if one is None or one.start >= one.end:
            break
        found.append(one)
        left = left[: one.start] + _MASK * (one.end - one.start) + left[one.end :]
    return found


def reword(request: str, changes: Iterable[ValueReplacement], language: Language, rng: Random) -> str:
    """The request with the new values in the place of the old ones."""
    spans = _without_overlaps([span for change in changes for span in _spans(request, change, language, rng)])
    text, position = "", 0
    for span in spans:
        text += request[position : span.start] + span.words
        position = span.end
    return text + request[position:]


def still_stated(request: str, changes: Iterable[ValueReplacement]) -> bool:
    """Whether a text that was to go is still in the request, and is no part of a new one."""
    changed = [(fold(str(one.old)), one) for one in changes if isinstance(one.old, str)]
    new_texts = [fold(str(one.new)) for _, one in changed]
    plain = fold(request)
    return any(old in plain and not any(old in new for new in new_texts) for old, _ in changed)


def _spans(request: str, change: ValueReplacement, language: Language, rng: Random) -> Iterator[_Span]:
    for found in mentions(change.old, change.schema, request):
        words = request[found.start : found.end]
        stated = str(change.new) if words == change.old else _stated_like(words, change, language, rng)
        if (
            words.endswith(".")
            and not stated.endswith(".")
            and not request[found.end : found.end + 2].strip().islower()
        ):
            stated += "."  # the full stop of an abbreviation was the sentence's as well
        yield _Span(found.start, found.end, stated)


def _stated_like(words: str, change: ValueReplacement, language: Language, rng: Random) -> str:
    """The new value in words; a day and a time in the order of the old ones, whose preposition stays ("at 16:00 on Monday")."""
    drawn = [write_value(change.new, change.schema, language, rng)]
    while _begins_with_day(drawn[-1]) != _begins_with_day(words) and len(drawn) < _MOST_DRAWS:
        drawn.append(write_value(change.new, change.schema, language, rng))
    return drawn[-1]


def _begins_with_day(words: str) -> bool:
    days, times = find_dates(words), find_times(words)
    return bool(days and times) and days[0].start < times[0].start


def _without_overlaps(spans: list[_Span]) -> list[_Span]:
    """The longer of two that overlap, in the order of the text."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)
