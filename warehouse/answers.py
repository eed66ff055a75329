"""Whether a reply tells what the user asked for: every value of the fields that the sample names."""

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from callwright.warehouse.records import AskedField, CallTurn, ReplyTurn, ResultTurn, Sample

_UNAVAILABLE = ("available", "free")  # an entry that says no to one of them is none that can be had


def is_available(entry: JsonValue) -> bool:
    """Whether an entry of a list can be had, as far as it says."""
    return not isinstance(entry, dict) or all(entry.get(name) is not False for name in _UNAVAILABLE)


def values_at(value: JsonValue, path: str) -> Iterator[JsonValue]:
    """The values at a dotted path, of every entry that can be had where it has a "[]"; none where there is nothing."""
    head, is_list, rest = path.partition("[]")
    for piece in filter(None, head.split(".")):
        if not isinstance(value, dict) or piece not in value:
            return
        value = value[piece]
    if not is_list:
        yield from [] if value is None or value == "" else [value]
        return
    for entry in value if isinstance(value, list) else ():
        if is_available(entry):
            yield from values_at(entry, rest)


def untold_fields(sample: Sample) -> list[AskedField]:
    """The fields asked for of which the last reply does not tell every value."""
    last = sample.turns[-1] if sample.turns else None
    if not isinstance(last, ReplyTurn):
        return []
    steps = [at for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn) and turn.executed]
    return [
        field for field in sample.asked if not all(_is_told(one, last.text) for one in _values_of(sample, steps, field))
    ]


def _values_of(sample: Sample, steps: Sequence[int], field: AskedField) -> Iterator[JsonValue]:
    results = sample.turns[steps[field.step] + 1] if field.step < len(steps) else None
    if isinstance(results, ResultTurn) and field.place < len(results.results):
        yield from values_at(results.results[field.place], field.path)


def _is_told(value: JsonValue, text: str) -> bool:
    """Whether a text has a value; one that is true or false, or no plain value, is told by words that nobody looks for."""
    if isinstance(value, bool | dict | list):
        return True
    forms = {str(value)}
    if isinstance(value, int | float):
        forms |= {f"{value:,}", f"{value:.2f}", f"{value:,.2f}"}
        forms |= {str(int(value)), f"{int(value):,}"} if value == int(value) else set()
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?!\w|[.,]\d)", text) for form in forms)
