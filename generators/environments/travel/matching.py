"""Finding places by what somebody typed, the way a search box does: several answers, the likeliest first."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from generators.environments.travel.frame import RequestError
from generators.environments.travel.geography import City, Place, PlaceKind, cities, places
from language.text import fold

_WORD = re.compile(r"[^\W_]+")
_NOISE = frozenset({"the", "of", "in", "at", "near", "and", "city"})
_NEARBY = 2  # districts and sights that are shown besides a city


class _Entry(NamedTuple):
    place: Place
    names: tuple[frozenset[str], ...]
    around: frozenset[str]


@lru_cache(16384)
def words_of(text: str) -> frozenset[str]:
    """The words that count, folded."""
    words = frozenset(_WORD.findall(fold(text)))
    return words - _NOISE or words


def find_places(query: str, kinds: Sequence[PlaceKind], *, around: bool = True) -> list[Place]:
    """Places that `query` may mean; with `around`, a city is followed by what lies in it. Refused where it is empty."""
    wanted = words_of(query)
    if not wanted:
        raise RequestError("query must not be empty.")
    best = _matching(wanted)
    found = dict.fromkeys(place for place in best if place.kind in kinds)
    if around:
        for city in (cities()[place.city] for place in best if place.kind == "city"):
            inside = (*city.airports, *city.districts[:_NEARBY], *city.landmarks[:_NEARBY])
            found.update(dict.fromkeys(place for place in inside if place.kind in kinds))
    return list(found)


def cities_named(query: str) -> list[City]:
    """Cities whose name stands in `query`, those whose region or country stands there as well first."""
    wanted = words_of(query)
    hits = [entry for entry in _index() if entry.place.kind == "city" and any(name <= wanted for name in entry.names)]
    hits.sort(key=lambda entry: -len(entry.around & wanted))
    return [cities()[entry.place.city] for entry in hits]


_NO_MATCH = 9


@lru_cache(1024)
def _matching(wanted: frozenset[str]) -> tuple[Place, ...]:
    scored = sorted((_rank(entry, wanted), number) for number, entry in enumerate(_index()))
    return tuple(_index()[number].place for rank, number in scored if rank < _NO_MATCH)


def _rank(entry: _Entry, wanted: frozenset[str]) -> int:
    if wanted in entry.names:
        return 0
    if any(name and wanted <= name | entry.around and name & wanted for name in entry.names):
        return 1 if any(name <= wanted for name in entry.names) else 3
    # more was typed than the place is called: "guided tour of the Colosseum"
    return (
        4 if entry.place.kind in {"landmark", "airport"} and any(name <= wanted for name in entry.names) else _NO_MATCH
    )


@lru_cache(1)
def _index() -> tuple[_Entry, ...]:
    return tuple(_entry(place, cities()[place.city]) for place in places())


def _entry(place: Place, city: City) -> _Entry:
    names = [words_of(place.name)]
    if place.kind == "city":
        names += [words_of(name) for name in city.other_names]
    if place.kind == "airport":
        names.append(frozenset({place.code.lower()}))
    around = words_of(f"{city.name} {city.region} {city.country}") | words_of(" ".join(city.other_names) or city.name)
    return _Entry(place, tuple(names), around)
