"""Pick entries of responses by dotted paths and by conditions on them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.text import fold
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Arguments, Condition, JsonSchema

_PIECE = re.compile(r"[^.\[\]]+")
RANKS = frozenset({"lowest", "highest", "earliest", "latest"})
_LARGEST_FIRST = frozenset({"highest", "latest"})
MOST_STATED = 6  # values of a parameter that a schema is asked for


class Entry(NamedTuple):
    """An entry of a response: its path from the root, and its position in the list (0 if alone)."""

    index: int  # type: ignore[assignment]  # the position it has, not the search of a tuple
    place: str
    value: JsonValue


def value_at(value: JsonValue, path: str) -> JsonValue:
    """Return the value at a dotted path ("a.b[0].c"). Raises RecordError if there is none."""
    inner_value = value
    for piece in _PIECE.findall(path):
        if isinstance(inner_value, dict) and piece in inner_value:
            inner_value = inner_value[piece]
        elif isinstance(inner_value, list) and piece.isdecimal() and int(piece) < len(inner_value):
            inner_value = inner_value[int(piece)]
        else:
            raise RecordError(f"The response has nothing at {path!r}: {piece!r} is missing.")
    return inner_value


def has(value: JsonValue, path: str) -> bool:
    """Whether there is a value at a dotted path."""
    try:
        value_at(value, path)
    except RecordError:
        return False
    return True


def join(path: str, piece: str) -> str:
    """Return the path of `piece` below `path`."""
    return f"{path}.{piece}" if path and piece and not piece.startswith("[") else path + piece


def entries_of(response: JsonValue, entries: str) -> list[Entry]:
    """Return the entries at a dotted path: the members of a list, or the single value."""
    held = value_at(response, entries)
    if not isinstance(held, list):
        return [Entry(0, entries, held)]
    return [Entry(index, f"{entries}[{index}]", member) for index, member in enumerate(held)]


def values_of_parameter(arguments: JsonValue, parameter: str) -> Iterator[JsonValue]:
    """Yield the values that arguments hold at a parameter's place ("legs[].fromId")."""
    inner_values = [arguments]
    for piece in parameter.split("."):
        name = piece.removesuffix("[]")
        inner_values = [
            value[name] for value in inner_values if isinstance(value, dict) and name in value
        ]
        if piece.endswith("[]"):
            inner_values = [
                item for value in inner_values if isinstance(value, list) for item in value
            ]
    yield from inner_values


def argument_with(parameter: str, value: JsonValue) -> Arguments:
    """Return the single argument that holds `value` at a parameter's place."""
    for piece in reversed(parameter.split(".")):
        value = {piece.removesuffix("[]"): [value] if piece.endswith("[]") else value}
    return value if isinstance(value, dict) else {}


def stated_values(schema: JsonSchema) -> list[JsonValue]:
    """Return the values that a schema itself names: its default, choices or examples."""
    if schema.get("default") is not None:
        return [schema["default"]]
    return list(schema.get("enum") or schema.get("examples") or ())[:MOST_STATED]


def choose(
    entries: Sequence[Entry], where: Sequence[Condition], *, loosely: bool = False
) -> list[Entry]:
    """Return the entries that meet all conditions: comparisons first, then ranks in their order.

    `loosely` reads as a person may: a text that contains what it should equal also matches.
    """
    left = [
        entry for entry in entries if all(meets(entry.value, one, loosely=loosely) for one in where)
    ]
    for condition in (one for one in where if one.test in RANKS):
        ranked = [(_rank(value_at(entry.value, condition.field)), entry) for entry in left]
        are_alike = len({type(rank) for rank, _ in ranked}) == 1
        best = max if condition.test in _LARGEST_FIRST else min
        first = best(rank for rank, _ in ranked if rank is not None) if are_alike else None
        left = [entry for rank, entry in ranked if are_alike and rank == first]
    return left


def meets(entry: JsonValue, condition: Condition, *, loosely: bool = False) -> bool:
    """Whether an entry alone meets a condition; a ranking condition needs a value to rank by."""
    if condition.test == "only":
        return True
    if not has(entry, condition.field):
        return False
    field_value = value_at(entry, condition.field)
    if condition.test in RANKS:
        return _rank(field_value) is not None
    within = condition.test == "contains" or loosely
    return any(
        _compares(one, condition.value, within=within)
        for one in (field_value if isinstance(field_value, list) else [field_value])
    )


def _compares(held: JsonValue, wanted: JsonValue, *, within: bool) -> bool:
    if isinstance(held, str) and isinstance(wanted, str):
        return fold(wanted) in fold(held) if within else fold(held) == fold(wanted)
    return held == wanted and isinstance(held, bool) == isinstance(wanted, bool)


def _rank(value: JsonValue) -> float | str | None:
    """Return the sort key of a value: a number or non-empty text such as a date, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return value if isinstance(value, str) and value else None


def rivals(entries: Sequence[Entry], where: Sequence[Condition], chosen: int) -> list[Entry]:
    """Return entries that a strict or loose reader may take instead of the chosen one."""
    fitting_entries = {
        entry.index: entry
        for entry in (*choose(entries, where), *choose(entries, where, loosely=True))
    }
    return [entry for index, entry in sorted(fitting_entries.items()) if index != chosen]


def rendered(entries: Sequence[Entry], where: Sequence[Condition]) -> list[Entry]:
    """Return another list's entries that meet the conditions; a text may be anywhere in them.

    The list is empty if no condition has a text, or they rank by what these entries lack.
    """
    texts = [
        fold(str(one.value))
        for one in where
        if one.test in ("equals", "contains") and isinstance(one.value, str)
    ]
    ranks = [one for one in where if one.test in RANKS]
    left = [
        entry for entry in entries if texts and all(_mentions(entry.value, text) for text in texts)
    ]
    return choose(left, ranks)


def _mentions(value: JsonValue, text: str) -> bool:
    if isinstance(value, str):
        return text in fold(value)
    members = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return any(_mentions(member, text) for member in members)


def retold(
    entries: Sequence[Entry], entry: Entry, where: Sequence[Condition]
) -> tuple[Condition, ...]:
    """Adapt conditions so that they pick an entry of another list; unchanged if impossible."""
    if len(entries) == 1:
        return ()
    kept_conditions = [one for one in where if meets(entry.value, one)]
    for condition in where:
        if condition not in kept_conditions and condition.test in ("equals", "contains"):
            members = entry.value if isinstance(entry.value, dict) else {}
            fields = [
                condition.with_changes(field=name)
                for name, one in members.items()
                if isinstance(one, str)
            ]
            within = [one.with_changes(test="contains") for one in fields]
            kept_conditions += [one for one in (*fields, *within) if meets(entry.value, one)][:1]
    picked = choose(entries, kept_conditions) if kept_conditions else []
    return tuple(kept_conditions) if picked and picked[0].index == entry.index else tuple(where)
