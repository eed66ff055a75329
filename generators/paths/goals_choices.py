"""The conditions that single out an entry: by its name, by rank, or because it is the only one."""

from collections.abc import Iterator, Sequence
from random import Random

from pydantic import JsonValue

from generators.paths.picking import Entry, choose, has, value_at
from llm.language.folding import fold
from llm.template.entry_names import name_paths, named
from llm.template.rankings import FAMILIES, rank_fields
from warehouse.records import Condition
from warehouse.records.paths import Test

Where = tuple[Condition, ...]
_LONGEST_NAME = 70
_SHARE_BY_NAME = 0.15
_WEIGHTS = {"price": (6, 1), "rating": (0.3, 6), "reviews": (0.3, 2), "distance": (3, 0.5), "duration": (3, 0.3)}


def by_query(entries: Sequence[Entry], query: str, field: str) -> Where | None:
    """The condition under which the entry that `query` names is the first found; None where none is named so."""
    able = [entry for entry in entries if _holds(entry, field)]
    found = named([entry.value for entry in able], query)
    if found is None:
        return (Condition(test="only"),) if len(entries) == len(able) == 1 else None
    index, path, manner = found
    value = _text(able[index], path) if manner == "within" else query
    condition = Condition(test="contains" if manner == "contains" else "equals", field=path, value=value)
    fitting = choose(entries, (condition,))
    return (condition,) if fitting and fitting[0].index == able[index].index else None


def by_name(entries: Sequence[Entry], field: str, taken: Sequence[JsonValue], rng: Random) -> Where | None:
    """The name of any entry that no other has; the entries whose values are `taken` are passed over."""
    able = [entry for entry in entries if _holds(entry, field) and value_at(entry.value, field) not in taken]
    for path in name_paths([entry.value for entry in entries]):
        names = [fold(_text(entry, path)) for entry in entries]
        own = [entry for entry in able if _is_plain(_text(entry, path)) and names.count(fold(_text(entry, path))) == 1]
        if own:
            return (Condition(test="equals", field=path, value=_text(rng.choice(own), path)),)
    return None


def by_rank(entries: Sequence[Entry], fields: Sequence[str], taken: Sequence[int], rng: Random) -> Where | None:
    """What sets one entry apart from all others that people would say; entries at the indices `taken` are passed over."""
    if len(entries) == 1:
        return (
            None if 0 in taken or not all(_holds(entries[0], field) for field in fields) else (Condition(test="only"),)
        )
    options: list[Where] = []
    weights: list[float] = []
    for where, weight in _ranked(entries):
        fitting = choose(entries, where)
        if len(fitting) == 1 and fitting[0].index not in taken and all(_holds(fitting[0], field) for field in fields):
            options.append(where)
            weights.append(weight)
    named = by_name([entry for entry in entries if entry.index not in taken], fields[0], (), rng) if fields else None
    if named is not None and (not options or rng.random() < _SHARE_BY_NAME):
        return named if len(choose(entries, named)) == 1 else None
    return rng.choices(options, weights)[0] if options else None


def _ranked(entries: Sequence[Entry]) -> Iterator[tuple[Where, float]]:
    fields = rank_fields(entries[0].value)
    for family in FAMILIES:
        path = fields.get(family.name)
        if path is None:
            continue
        tests: tuple[Test, Test] = ("earliest", "latest") if family.is_time else ("lowest", "highest")
        for test, weight in zip(tests, _WEIGHTS.get(family.name, (1, 1)), strict=True):
            yield (Condition(test=test, field=path),), weight


def _holds(entry: Entry, field: str) -> bool:
    return has(entry.value, field) and value_at(entry.value, field) not in (None, "")


def _text(entry: Entry, path: str) -> str:
    value = value_at(entry.value, path) if has(entry.value, path) else ""
    return value if isinstance(value, str) else ""


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_NAME and not name.isdecimal() and "\n" not in name and "." not in name
