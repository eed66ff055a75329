"""Whether a reply tells what the user asked for: every value of the fields that the sample
names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pydantic import JsonValue

from callwright.warehouse.records import AskedField, CallTurn, ReplyTurn, ResultTurn, Sample

_UNAVAILABLE = ("available", "free")  # an entry that says no to one of them is none that can be had


def is_available(entry: JsonValue) -> bool:
    """Whether an entry of a list can be had, as far as it says."""
    return not isinstance(entry, dict) or all(entry.get(name) is not False for name in _UNAVAILABLE)


def values_at(value: JsonValue, path: str) -> Iterator[JsonValue]:
    """The values at a dotted path, of every entry that can be had where it has a "[]"; none
    where there is nothing.
    """
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


def untold_fields(
    sample: Sample,
    text: str | None = None,
    answers: Mapping[str, Sequence[JsonValue]] = MappingProxyType({}),
) -> list[AskedField]:
    """The fields asked for of which a text, the last reply unless given, does not tell every value.

    `answers` are what calls, by their keys, returned to whoever wrote the text: to tell all values
    of one of them is as good.
    """
    last = sample.turns[-1] if sample.turns else None
    if text is None and not isinstance(last, ReplyTurn):
        return []
    told = text if text is not None else getattr(last, "text", "")
    steps = [at for at, turn in sample.call_turns if turn.executed]

    def is_told(field: AskedField) -> bool:
        found = (values_at(one, field.path) for one in _returned(sample, steps, field, answers))
        return any(all(_is_told(one, told) for one in values) for values in found)

    return [field for field in sample.facts.asked if not is_told(field)]


def _returned(
    sample: Sample,
    steps: Sequence[int],
    field: AskedField,
    answers: Mapping[str, Sequence[JsonValue]],
) -> Iterator[JsonValue]:
    """What the call that a field is of returned, in the sample and to others; nothing where the
    sample has no such call.
    """
    after = steps[field.step] if field.step < len(steps) else len(sample.turns)
    calls, results = [*sample.turns[after : after + 2], None, None][:2]
    has_call = isinstance(calls, CallTurn) and isinstance(results, ResultTurn)
    returned = results.results if has_call and isinstance(results, ResultTurn) else ()
    yield returned[field.place] if field.place < len(returned) else None
    if isinstance(calls, CallTurn) and field.place < len(calls.calls):
        yield from answers.get(calls.calls[field.place].bare.key, ())


def _is_told(value: JsonValue, text: str) -> bool:
    """Whether a text has a value; one that is true or false, or no plain value, is told by words
    that nobody looks for.
    """
    if isinstance(value, bool | dict | list):
        return True
    forms = {str(value)}
    if isinstance(value, int | float):
        forms |= {f"{value:,}", f"{value:.2f}", f"{value:,.2f}"}
        forms |= {str(int(value)), f"{int(value):,}"} if value == int(value) else set()
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?!\w|[.,]\d)", text) for form in forms)
