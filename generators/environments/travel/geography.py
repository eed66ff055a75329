"""Cities, airports, districts and sights: real names and coordinates, the same under every seed."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from math import asin, cos, radians, sin, sqrt
from typing import Any, Literal, NamedTuple

import yaml

from generators.environments.travel.chance import chance

PlaceKind = Literal["city", "district", "airport", "landmark", "hotel"]
_EARTH = 6371.0
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Place(NamedTuple):
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
    airports: tuple[Place, ...]
    districts: tuple[Place, ...]
    landmarks: tuple[Place, ...]
    minor: bool

    @property
    def label(self) -> str:
        """The city as a heading says it: "Paris, Texas, United States"."""
        return ", ".join(part for part in (self.name, self.region, self.country) if part)

    @property
    def place(self) -> Place:
        """The city itself as a place."""
        return Place("city", self.name, self.number, 0, self.latitude, self.longitude, self.metro)


def packaged(name: str) -> Any:  # noqa: ANN401 - parsed YAML, before anything is known of it
    """The content of one of this package's YAML files."""
    text = files("generators.environments.travel").joinpath(name).read_text(encoding="utf-8")
    return yaml.load(text, _LOADER)  # noqa: S506 - a safe loader, the fast one


@lru_cache(1)
def cities() -> tuple[City, ...]:
    """Every city, the famous ones first."""
    content = packaged("cities.yaml")
    rows = [(row, False) for row in content["cities"]] + [(row, True) for row in content["namesakes"]]
    return tuple(_city(index, row, minor) for index, (row, minor) in enumerate(rows))


@lru_cache(1)
def places() -> tuple[Place, ...]:
    """Every place but the hotels, city by city."""
    return tuple(place for city in cities() for place in (city.place, *city.airports, *city.districts, *city.landmarks))


@lru_cache(1)
def place_numbers() -> Mapping[Place, int]:
    """The index of every place in places()."""
    return {place: number for number, place in enumerate(places())}


@lru_cache(1)
def locations_by_id() -> Mapping[str, Place]:
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

    def near(kind: PlaceKind, names: list[str], reach: float) -> tuple[Place, ...]:
        return tuple(
            Place(kind, text, index, number, *beside(latitude, longitude, reach, index, kind, number))
            for number, text in enumerate(names)
        )

    airports = tuple(
        Place("airport", text, index, number, *beside(north, east, 0.0004, code), code)
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
