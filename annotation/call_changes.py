"""What one snapshot adds to, changes in or takes from the one before it."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import JsonValue

from annotation.typed_values import write_name, write_value
from annotation.words import Words
from warehouse.records import CallTurn, GoldCall, Sample

Sign = Literal["+", "~", "-"]
SHIFT_TAG = "shift="


class Change(NamedTuple):
    """An argument that is new (+), different (~) or gone (-)."""

    sign: Sign
    name: str
    old: JsonValue = None
    new: JsonValue = None


def changes(before: GoldCall, after: GoldCall) -> list[Change]:
    """How the arguments of `after` differ from those of `before`, in the order of `after`, the missing ones last."""
    found: list[Change] = []
    for name, value in after.arguments.items():
        if name not in before.arguments:
            found.append(Change("+", name, new=value))
        elif not is_same(before.arguments[name], value):
            found.append(Change("~", name, before.arguments[name], value))
    return found + [Change("-", name, old) for name, old in before.arguments.items() if name not in after.arguments]


def is_same(one: object, other: object) -> bool:
    """Whether two values are the same JSON, so that 1, 1.0 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def same_calls(one: Sequence[GoldCall], other: Sequence[GoldCall]) -> bool:
    """Whether two lists of calls ask for the same, whatever their evidence."""
    return is_same(*([[call.tool, call.arguments] for call in calls] for calls in (one, other)))


def goes_on(before: CallTurn | None, after: CallTurn) -> bool:
    """Whether `after` is best told as what is new in it: the same tools are due, and nothing was executed between."""
    if before is None or before.executed or after.executed or not after.calls:
        return False
    return [call.tool for call in before.calls] == [call.tool for call in after.calls]


def tell_snapshot(before: CallTurn | None, after: CallTurn, words: Words) -> str:
    """One line for the eye: what is new in this snapshot."""
    if not after.calls:
        return words.no_call
    if before is None or not goes_on(before, after):
        return "  |  ".join(_tell_call(call, words) for call in after.calls)
    pairs = list(zip(before.calls, after.calls, strict=True))
    told = [_tell_changes(old, new, named=len(pairs) > 1) for old, new in pairs if not same_calls([old], [new])]
    return "  |  ".join(told) or words.no_change


def shift_turn(sample: Sample) -> int | None:
    """The index of the call turn at which the user's shift takes effect, None where there is none.

    The sample's tag tells it; imported samples have no tag, so there the first change of mind that can be seen counts.
    A value that stands in a message is marked by the message, and is no change of mind.
    """
    if sample.kind.endswith("external"):
        return None
    places = [index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)]
    told = [tag.removeprefix(SHIFT_TAG) for tag in sample.tags if tag.startswith(SHIFT_TAG)]
    if told:
        number = int(told[0]) if told[0].isdecimal() else len(places)
        return places[number] if number < len(places) else None
    turns = [(place, turn) for place in places if isinstance(turn := sample.turns[place], CallTurn)]
    found = (place for (_, before), (place, after) in pairwise(turns) if _changes_mind(before, after))
    return next(found, None)


def _changes_mind(before: CallTurn, after: CallTurn) -> bool:
    if before.executed or after.executed:
        return False
    if before.calls and not after.calls:
        return True
    return goes_on(before, after) and any(
        change.sign != "+"
        for old, new in zip(before.calls, after.calls, strict=True)
        for change in changes(old, new)
    )  # fmt: skip


def _tell_call(call: GoldCall, words: Words) -> str:
    arguments = [f"+ {write_name(name)} = {write_value(value)}" for name, value in call.arguments.items()]
    return "   ".join([write_name(call.tool), *(arguments or [words.no_arguments])])


def _tell_changes(old: GoldCall, new: GoldCall, *, named: bool) -> str:
    told = ["   ".join(_tell_change(change) for change in changes(old, new))]
    return "   ".join([write_name(new.tool), *told] if named else told)


def _tell_change(change: Change) -> str:
    name = write_name(change.name)
    match change.sign:
        case "+":
            return f"+ {name} = {write_value(change.new)}"
        case "~":
            return f"~ {name}: {write_value(change.old)} → {write_value(change.new)}"
        case "-":
            return f"- {name}"
