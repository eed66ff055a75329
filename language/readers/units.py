"""Units of measure, and how each language words them and what stands around quantities and times (its quantities.yaml)."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from callwright.language.names import split_name
from callwright.language.packs import packaged, read_as
from callwright.warehouse.records import DEFAULT_LANGUAGE

_SHORTEST_NAME = 3  # "m" and "s" in a parameter's name name no unit
_NO_UNITS = frozenset({"min", "max", "second", "start"})  # minimum, maximum, the second one
_PER, _MINUTES = "per", "min"
_LENGTHS = frozenset(
    {"duration", "time", "after", "delay", "interval", "minutes", "minutos", "tiempo", "retardo", "timeout", "length"}
)
_ENGLISH = DEFAULT_LANGUAGE  # most schemas are in English, whatever people speak


class Unit(NamedTuple):
    """A unit of measure: what it measures, and how many base units of that it is."""

    dimension: str
    factor: float


_CENT = Unit("money", 0.01)


class QuantityWords(NamedTuple):
    """How a language words units and what stands around quantities and times."""

    units: tuple[tuple[re.Pattern[str], Unit], ...]
    patterns: Mapping[str, re.Pattern[str]]
    shares: Mapping[str, float]
    scales: Mapping[str, float]
    counts: Mapping[str, float]
    respelled: Mapping[str, str]
    unit_spellings: Mapping[str, str]
    weekdays: str
    weekday_spellings: Mapping[str, str]
    days_from_now: Mapping[str, tuple[int, ...]]
    week_later: str
    week_earlier: str


@lru_cache(16)
def quantity_words(language: str) -> QuantityWords:
    """The words of a language for quantities, from its quantities.yaml."""
    data = dict(packaged(f"callwright.language.{read_as(language)}", "quantities.yaml"))
    units = [
        (pattern, Unit(dimension, float(factor)))
        for dimension, rows in data.pop("units").items()
        for pattern, factor in rows
    ]
    units.sort(key=lambda one: -max(map(len, one[0].split("|"))))
    whole = "(?:" + "|".join(pattern for pattern, _ in units) + ")"
    plain = {name: data.pop(name) for name in QuantityWords._fields if name in data}
    data["counted_day"] = "|".join(sorted(plain["days_from_now"], key=len, reverse=True)) or "(?!)"
    data["count"] = "(?<![a-z])(?:" + "|".join(plain["counts"]) + ")(?![a-z])" if plain["counts"] else "(?!)"
    return QuantityWords(
        units=tuple((re.compile(rf"\s*-?\s*(?:{pattern})(?![a-z]|-\d)"), unit) for pattern, unit in units),
        patterns={name: re.compile(pattern.replace("{0}", whole)) for name, pattern in data.items()},
        **plain,
    )


def unit_of(name: str, description: str, language: str) -> Unit | None:
    """The unit that a parameter counts in, by its name or its description; None where they name none, or several."""
    tokens = list(split_name(name))
    named = f"{' '.join(tokens)} {description}".lower()
    if any(quantity_words(one).patterns["names_cents"].search(named) for one in (language, _ENGLISH)):
        return _CENT
    if _PER in tokens:  # what is counted for each night is no night
        tokens = tokens[: tokens.index(_PER)]
    candidates = [token for token in tokens if len(token) >= _SHORTEST_NAME and token not in _NO_UNITS]
    candidates += [token for token in tokens[-1:] if len(token) == _SHORTEST_NAME - 1]
    candidates += [
        _MINUTES for _ in tokens[-1:] if tokens[-1] == _MINUTES and _LENGTHS & {*tokens, *description.lower().split()}
    ]
    languages = tuple(dict.fromkeys((language, _ENGLISH)))
    for token in candidates:
        for one in languages:
            unit = unit_named(token, quantity_words(one))
            if unit is not None and unit.dimension != "money":
                return unit
    described = {unit for one in languages for unit in _units_in(description.lower(), quantity_words(one))}
    return next(iter(described)) if len(described) == 1 else None


def _units_in(description: str, words: QuantityWords) -> Iterator[Unit]:
    for match in words.patterns["named_unit"].finditer(description):
        unit = unit_named(next(filter(None, match.groups()), ""), words)
        if unit is not None and unit.dimension != "money":
            yield unit


def unit_named(stated: str, words: QuantityWords) -> Unit | None:
    """The unit that these words name, and nothing else."""
    return next((unit for pattern, unit in words.units if pattern.fullmatch(stated)), None)
