"""Whether a reply tells what the user asked for: all values of the fields in the sample."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pydantic import JsonValue

from callwright.warehouse.records import AskedField, CallTurn, ReplyTurn, ResultTurn, Sample

_UNAVAILABLE = ("available", "free")  # an entry that says no to one of them is none that can be had


def is_available(entry: JsonValue) -> bool:
    """Whether an entry of a list is available, as far as it says."""
    return not isinstance(entry, dict) or all(entry.get(name) is not False for name in _UNAVAILABLE)


def values_at(value: JsonValue, path: str) -> Iterator[JsonValue]:
    """Yield the values at a dotted path, of each available entry for "[]", nothing if none."""
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
    """Return the requested fields that a text, by default the last reply, does not tell in full.

    `answers` are what calls, by key, returned to the author of the text: telling all values of
    one of them is enough.
    """
    last = sample.turns[-1] if sample.turns else None
    if text is None and not isinstance(last, ReplyTurn):
        return []
    reply_text = text if text is not None else getattr(last, "text", "")
    steps = [at for at, turn in sample.call_turns if turn.executed]

    def is_told(field: AskedField) -> bool:
        found = (values_at(one, field.path) for one in _returned(sample, steps, field, answers))
        return any(all(_is_told(one, reply_text) for one in values) for values in found)

    return [field for field in sample.facts.asked if not is_told(field)]


def _returned(
    sample: Sample,
    steps: Sequence[int],
    field: AskedField,
    answers: Mapping[str, Sequence[JsonValue]],
) -> Iterator[JsonValue]:
    """Yield what a field's call returned, here (None without such a call) and to others."""
    after = steps[field.step] if field.step < len(steps) else len(sample.turns)
    calls, results = [*sample.turns[after : after + 2], None, None][:2]
    has_call = isinstance(calls, CallTurn) and isinstance(results, ResultTurn)
    returned = results.results if has_call and isinstance(results, ResultTurn) else ()
    yield returned[field.place] if field.place < len(returned) else None
    if isinstance(calls, CallTurn) and field.place < len(calls.calls):
        yield from answers.get(calls.calls[field.place].bare.key, ())


def _is_told(value: JsonValue, text: str) -> bool:
    """Whether a text has a value; booleans, objects and lists always count as told."""
    if isinstance(value, bool | dict | list):
        return True
    forms = {str(value)}
    if isinstance(value, int | float):
        forms |= {f"{value:,}", f"{value:.2f}", f"{value:,.2f}"}
        forms |= {str(int(value)), f"{int(value):,}"} if value == int(value) else set()
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?!\w|[.,]\d)", text) for form in forms)
