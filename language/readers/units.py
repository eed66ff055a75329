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
_ALTERNATIVE = re.compile(r"\|(?![^(]*\))")
_POWER = re.compile(r"(?:(?<=[a-z])\^?([23])|([²³])|\s+(squared|cubed))(?![\w.])")
_OVER = re.compile(r"\s?/\s?|\s+per\s+")
_LENGTHS = frozenset(
    {"duration", "time", "after", "delay", "interval", "minutes", "minutos", "tiempo", "retardo", "timeout", "length"}
)
_ENGLISH = DEFAULT_LANGUAGE  # most schemas are in English, whatever people speak


class Unit(NamedTuple):
    """A unit of measure: what it measures, and how many base units of that it is."""

    dimension: str
    factor: float


_CENT = Unit("money", 0.01)
_OF_LENGTHS = {"distance2": Unit("area", 1), "distance3": Unit("volume", 1e6)}  # by what tables count in


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
    tables = data.pop("units").items()
    units = [(pattern, Unit(dimension, float(factor))) for dimension, rows in tables for pattern, factor in rows]
    units.sort(key=lambda one: -max(map(len, _ALTERNATIVE.split(one[0]))))
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
    if tokens[-1:] == [_MINUTES] and _LENGTHS & {*tokens, *description.lower().split()}:
        candidates.append(_MINUTES)
    languages = tuple(dict.fromkeys((language, _ENGLISH)))
    told = (unit_named(token, quantity_words(one)) for token in candidates for one in languages)
    if unit := next((unit for unit in told if unit is not None and unit.dimension != "money"), None):
        return unit
    described = {unit for one in languages for unit in _units_in(description.lower(), quantity_words(one))}
    whole = description.lower().strip(" .")
    described |= {
        unit for one in languages if (unit := unit_named(whole, quantity_words(one))) and unit.dimension != "money"
    }
    return next(iter(described)) if len(described) == 1 else None


def _units_in(description: str, words: QuantityWords) -> Iterator[Unit]:
    for match in words.patterns["named_unit"].finditer(description):
        group = next((at for at, one in enumerate(match.groups(), 1) if one), 0)
        unit, _ = unit_at(description, match.start(group), words)
        if unit is not None and unit.dimension != "money":
            yield unit


def unit_named(stated: str, words: QuantityWords) -> Unit | None:
    """The unit that these words name, and nothing else."""
    return next((unit for pattern, unit in words.units if pattern.fullmatch(stated)), None)


def unit_at(text: str, at: int, words: QuantityWords) -> tuple[Unit | None, int]:
    """The unit that a text names at a place, also one made of two or with a power, and where it ends."""
    found = _units_at(text, at, words)
    plain, end = next(one for one in found if one[1] == found[-1][1])
    first, after = _powered(*found[0], text)
    over = _OVER.match(text, after) if first else None
    if first and over:
        beneath = _units_at(text, over.end(), words)
        second, last = _powered(*next(one for one in beneath if one[1] == beneath[-1][1]), text)
        if second and last > end:
            return Unit(f"{first.dimension}/{second.dimension}", first.factor / second.factor), last
    return (first, after) if first and after > end else (plain, end)


def _powered(unit: Unit | None, end: int, text: str) -> tuple[Unit | None, int]:
    match = _POWER.match(text, end) if unit else None
    if unit is None or match is None:
        return unit, end
    power = 2 if match[1] == "2" or match[2] == "²" or match[3] == "squared" else 3
    whole = _OF_LENGTHS.get(f"{unit.dimension}{power}", Unit(f"{unit.dimension}{power}", 1))
    return Unit(whole.dimension, whole.factor * unit.factor**power), match.end()


def _units_at(text: str, at: int, words: QuantityWords) -> list[tuple[Unit | None, int]]:
    """The plain units that begin here, the shortest first; none, and the place itself, where there is no unit."""
    found = [(unit, match.end()) for pattern, unit in words.units if (match := pattern.match(text, at))]
    return sorted(found, key=lambda one: one[1]) or [(None, at)]
