"""Cities, airports, districts and sights: real names and coordinates, the same under every seed; found by what somebody typed."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import asin, cos, radians, sin, sqrt
from typing import Any, Literal, NamedTuple

from callwright.generators.environments.travel.frame import PACKAGE, RequestError, chance
from callwright.language.packs import packaged
from callwright.language.text import fold

PlaceKind = Literal["city", "district", "airport", "landmark", "hotel"]
_EARTH = 6371.0
_WORD = re.compile(r"[^\W_]+")
_NOISE = frozenset({"the", "of", "in", "at", "near", "and", "city"})
_NEARBY = 2  # districts and sights that are shown besides a city
_NO_MATCH = 9


class SearchPlace(NamedTuple):
    """Somewhere that can be searched for. `city` is the number of its city, `number` its own in that city and of its kind."""

    kind: PlaceKind
    name: str
    city: int
    number: int
    latitude: float
    longitude: float
    code: str = ""


class City(NamedTuple):
    """The `number`th city. One that shares a famous name is `minor`: few hotels, perhaps no airport."""

    number: int
    name: str
    country: str
    country_code: str
    region: str
    latitude: float
    longitude: float
    hours_ahead: float
    currency: str
    metro: str
    other_names: tuple[str, ...]
    airports: tuple[SearchPlace, ...]
    districts: tuple[SearchPlace, ...]
    landmarks: tuple[SearchPlace, ...]
    minor: bool

    @property
    def label(self) -> str:
        """The city as a heading says it: "Paris, Texas, United States"."""
        return ", ".join(part for part in (self.name, self.region, self.country) if part)

    @property
    def place(self) -> SearchPlace:
        """The city itself as a place."""
        return SearchPlace("city", self.name, self.number, 0, self.latitude, self.longitude, self.metro)


@lru_cache(1)
def cities() -> tuple[City, ...]:
    """Every city, the famous ones first."""
    content = packaged(PACKAGE, "cities.yaml")
    rows = [(row, False) for row in content["cities"]] + [(row, True) for row in content["namesakes"]]
    return tuple(_city(index, row, minor) for index, (row, minor) in enumerate(rows))


@lru_cache(1)
def places() -> tuple[SearchPlace, ...]:
    """Every place but the hotels, city by city."""
    return tuple(place for city in cities() for place in (city.place, *city.airports, *city.districts, *city.landmarks))


@lru_cache(1)
def place_numbers() -> Mapping[SearchPlace, int]:
    """The index of every place in places()."""
    return {place: number for number, place in enumerate(places())}


@lru_cache(1)
def locations_by_id() -> Mapping[str, SearchPlace]:
    """Cities with an airport and airports, by the identifier that flights know them by: "PAR.CITY", "CDG.AIRPORT"."""
    found = {f"{city.metro}.CITY": city.place for city in cities() if city.airports}
    return found | {f"{place.code}.AIRPORT": place for city in cities() for place in city.airports}


def distance_km(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The way between two points (latitude, longitude) over the globe."""
    south, north = radians(one[0]), radians(other[0])
    lift = sin((north - south) / 2) ** 2
    turn = sin(radians(other[1] - one[1]) / 2) ** 2
    return 2 * _EARTH * asin(sqrt(lift + cos(south) * cos(north) * turn))


def beside(latitude: float, longitude: float, reach: float, *seeds: str | int) -> tuple[float, float]:
    """A point within `reach` degrees, always the same for the same seeds."""
    rng = chance("beside", *seeds)
    return (
        round(latitude + rng.uniform(-reach, reach), 6),
        round(longitude + rng.uniform(-reach, reach) / max(cos(radians(latitude)), 0.2), 6),
    )


def _city(index: int, row: Mapping[str, Any], minor: bool) -> City:  # noqa: FBT001 - one of two lists in the file
    latitude, longitude = row["at"]
    name = row["name"]

    def near(kind: PlaceKind, names: list[str], reach: float) -> tuple[SearchPlace, ...]:
        return tuple(
            SearchPlace(kind, text, index, number, *beside(latitude, longitude, reach, index, kind, number))
            for number, text in enumerate(names)
        )

    airports = tuple(
        SearchPlace("airport", text, index, number, *beside(north, east, 0.0004, code), code)
        for number, (code, text, north, east) in enumerate(row.get("airports", []))
    )
    return City(
        number=index,
        name=name,
        country=row["country"],
        country_code=row["code"],
        region=row.get("region", ""),
        latitude=beside(latitude, longitude, 0.0004, index)[0],
        longitude=beside(latitude, longitude, 0.0004, index)[1],
        hours_ahead=row["utc"],
        currency=row["currency"],
        metro=row.get("metro") or (airports[0].code if airports else ""),
        other_names=tuple(row.get("other", [])),
        airports=airports,
        districts=near("district", row.get("districts", [f"Downtown {name}", f"North {name}"]), 0.05),
        landmarks=near("landmark", row.get("sights", [f"{name} City Hall", f"{name} History Museum"]), 0.03),
        minor=minor,
    )


class _GazetteerEntry(NamedTuple):
    place: SearchPlace
    names: tuple[frozenset[str], ...]
    around: frozenset[str]


@lru_cache(16384)
def words_of(text: str) -> frozenset[str]:
    """The words that count, folded."""
    words = frozenset(_WORD.findall(fold(text)))
    return words - _NOISE or words


def find_places(query: str, kinds: Sequence[PlaceKind], *, around: bool = True) -> list[SearchPlace]:
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


@lru_cache(1024)
def _matching(wanted: frozenset[str]) -> tuple[SearchPlace, ...]:
    scored = sorted((_rank(entry, wanted), number) for number, entry in enumerate(_index()))
    return tuple(_index()[number].place for rank, number in scored if rank < _NO_MATCH)


def _rank(entry: _GazetteerEntry, wanted: frozenset[str]) -> int:
    if wanted in entry.names:
        return 0
    if any(name and wanted <= name | entry.around and name & wanted for name in entry.names):
        return 1 if any(name <= wanted for name in entry.names) else 3
    # more was typed than the place is called: "guided tour of the Colosseum"
    return (
        4 if entry.place.kind in {"landmark", "airport"} and any(name <= wanted for name in entry.names) else _NO_MATCH
    )


@lru_cache(1)
def _index() -> tuple[_GazetteerEntry, ...]:
    return tuple(_entry(place, cities()[place.city]) for place in places())


def _entry(place: SearchPlace, city: City) -> _GazetteerEntry:
    names = [words_of(place.name)]
    if place.kind == "city":
        names += [words_of(name) for name in city.other_names]
    if place.kind == "airport":
        names.append(frozenset({place.code.lower()}))
    around = words_of(f"{city.name} {city.region} {city.country}") | words_of(" ".join(city.other_names) or city.name)
    return _GazetteerEntry(place, tuple(names), around)
