"""Calls that somebody writes for a record, compared with all that its data set accepts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from callwright.generators.imports.reading import AcceptedValues, ImportedRecord
from callwright.language.schemas import replaced_at
from callwright.validators.audit.findings import Finding, FindingSort, Severity
from callwright.validators.matching import is_same_value
from callwright.validators.reading.points import Calls, DuePoint, do_the_same, is_same_call
from callwright.warehouse.records import Arguments, Call, JsonSchema, content_key

_STEPS = re.compile(r"([^.\[\]]+)(?!\])|\[(\d+)\]")


def with_gold(written: Calls, point: DuePoint, accepted: Iterable[AcceptedValues]) -> Calls:
    """Return calls with the gold in place of what the data set accepts, in the gold's order.

    A call of which only some arguments are accepted has the gold's values for these.
    """
    of_calls: dict[int, dict[str, AcceptedValues]] = {}
    for one in accepted:
        if one.turn == point.turn:
            of_calls.setdefault(one.call, {})[one.argument] = one

    def aligned(call: Call, place: int) -> Call | None:
        gold = point.calls[place]
        tool = point.tools.get(gold.tool)
        return _aligned(call, gold, of_calls.get(place, {}), tool.properties if tool else {})

    if point.is_ordered:
        places = range(len(point.calls))
        return (
            *(aligned(call, place) or call for place, call in zip(places, written, strict=False)),
            *written[len(places) :],
        )
    left, others = list(range(len(point.calls))), list(written)
    placed = dict[int, Call]()
    for is_partly in (False, True):  # whole calls first: they are surely meant for their golds
        for call in written:
            for place in left if call in others else ():
                own = aligned(call, place)
                if own and (is_partly or is_same_call(point.calls[place], own, point.tools)):
                    placed[place] = own if is_partly else point.calls[place]
                    others.remove(call)
                    left.remove(place)
                    break
    while left and others:
        placed[left.pop(0)] = others.pop(0)
    return (*(placed[place] for place in sorted(placed)), *others)


def _aligned(
    call: Call,
    gold: Call,
    accepted: Mapping[str, AcceptedValues],
    schemas: Mapping[str, JsonSchema],
) -> Call | None:
    """Return a call with the gold's arguments where its own are accepted; None for another tool."""
    if call.tool != gold.tool:
        return None
    arguments: JsonValue = call.arguments
    for path in dict.fromkeys([*gold.arguments, *accepted]):
        one, steps = accepted.get(path), steps_of(path, gold.arguments)
        due, given = value_at(gold.arguments, steps), value_at(arguments, steps)
        if is_absent(given):
            is_accepted = bool(one and one.may_lack)
        else:
            schema = schemas.get(path, {})
            is_accepted = any(
                is_same_value(value, given, schema)
                or _without_spaces(value) == _without_spaces(given)
                for value in (one.values if one else (due,))
            )
        if is_accepted:
            arguments = _with_member(arguments, steps, due)
    return call.with_changes(arguments=arguments)


_ABSENT = cast("JsonValue", object())  # stands where a value has no such member


def is_absent(value: JsonValue) -> bool:
    """Whether `value_at` found no member."""
    return value is _ABSENT


def steps_of(path: str, arguments: Arguments) -> tuple[str | int, ...]:
    """Return the steps of an argument's name or path: "legs[0].from"; names may have dots."""
    if path in arguments:
        return (path,)
    steps = _STEPS.findall(path)
    return tuple(int(index) if index else name for name, index in steps) or (path,)


def value_at(value: JsonValue, steps: Sequence[str | int]) -> JsonValue:
    """Return the member at some steps; what `is_absent` is true of if there is none."""
    for step in steps:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step, _ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return _ABSENT
    return value


def _with_member(value: JsonValue, steps: Sequence[str | int], new: JsonValue) -> JsonValue:
    """Return a value with a member replaced, added, or removed if the new one is absent."""
    *before, last = steps
    owner = value_at(value, before)
    if isinstance(owner, dict) and isinstance(last, str):
        members = {name: one for name, one in owner.items() if name != last}
        return replaced_at(value, before, members if is_absent(new) else {**members, last: new})
    return value if is_absent(new) else replaced_at(value, steps, new)


def _without_spaces(value: JsonValue) -> JsonValue:
    """Return a value whose texts have no spaces: 3x + 2 and 3x+2 are one."""
    if isinstance(value, str):
        return "".join(value.split())
    if isinstance(value, list):
        return [_without_spaces(one) for one in value]
    if isinstance(value, dict):
        return {name: _without_spaces(one) for name, one in value.items()}
    return value


def finding_of_difference(  # noqa: PLR0913 - who says it and how grave it is
    record: ImportedRecord,
    point: DuePoint,
    calls: Calls,
    said: str,
    *,
    sort: FindingSort,
    severity: Severity = "warning",
    support: int = 1,
) -> Finding:
    """Return the finding that calls differ from the gold at a point.

    If they differ in one value, `gold` and `expected` are these values; otherwise they are all
    calls of the turn. `said` tells who writes the calls; `support` is how many do.
    """
    item = record.item or record.where
    place, name = _only_difference(point, calls)
    tool, document = "", ""
    gold, expected = shown_calls(point.calls), shown_calls(calls)
    if name:
        due = point.calls[place]
        [made] = [one for one in calls if one not in point.calls]
        gold, expected, tool = due.arguments[name], made.arguments[name], due.tool
        schema = point.tools[tool].properties.get(name, {})
        document = str(schema.get("description") or "")
    reason = f"{said}: {_told(point, calls, name, expected)}"
    return Finding(
        content_key([item, sort, point.turn, place, name, gold, expected])[:16],
        item,
        record.where,
        record.line,
        severity,
        sort,
        reason,
        point.turn,
        place,
        tool,
        name,
        document=document,
        gold=gold,
        expected=expected,
        support=support,
    )


def finding_of_record(record: ImportedRecord, sort: FindingSort, reason: str) -> Finding:
    """Return a note on a whole record."""
    item = record.item or record.where
    key = content_key([item, sort, reason])[:16]
    return Finding(key, item, record.where, record.line, "note", sort, reason)


def shown_calls(calls: Iterable[Call]) -> JsonValue:
    """Return calls as findings hold them: a name and arguments each."""
    return [{"name": call.tool, "arguments": call.arguments} for call in calls]


def are_alike(one: Calls, other: Calls, point: DuePoint) -> bool:
    """Whether two ways to answer at a point do the same."""
    return do_the_same(one, other, point.tools, is_ordered=point.is_ordered)


def _only_difference(point: DuePoint, calls: Calls) -> tuple[int, str]:
    """Return the place of the call and the argument that alone has another value; else -1, ""."""
    due = [at for at, one in enumerate(point.calls) if one not in calls]
    made = [one for one in calls if one not in point.calls]
    if len(due) != 1 or len(made) != 1 or point.calls[due[0]].tool != made[0].tool:
        return -1, ""
    gold, other = point.calls[due[0]], made[0]
    tool = point.tools.get(gold.tool)
    names = [
        name
        for name in dict.fromkeys([*gold.arguments, *other.arguments])
        if not is_same_call(_with_only(gold, name), _with_only(other, name), point.tools)
    ]
    is_value = len(names) == 1 and names[0] in gold.arguments and names[0] in other.arguments
    return (due[0], names[0]) if tool and is_value else (-1, "")


def _with_only(call: Call, name: str) -> Call:
    return call.with_changes(
        arguments={one: value for one, value in call.arguments.items() if one == name}
    )


def _told(point: DuePoint, calls: Sequence[Call], name: str, expected: JsonValue) -> str:
    """Return what is written instead of the gold, as the end of a sentence."""
    if name:
        return f"{name} = {expected!r}."
    ways = (f"{call.tool}({_listed(call)})" for call in calls)
    return f"{' and '.join(ways) or 'no call'}."


def _listed(call: Call) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
