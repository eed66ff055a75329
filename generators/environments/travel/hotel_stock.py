"""Hotels: which a city has (the same under every seed), what they cost and how they are liked (by seed)."""

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from generators.environments.travel.chance import chance, index_of, number_for, share
from generators.environments.travel.frame import RequestError, World
from generators.environments.travel.geography import Place, beside, cities, place_numbers, places
from generators.environments.travel.prose import score, words

PER_CITY = 48
PER_MINOR_CITY = 6
_CITY_STRIDE = 100  # hotel numbers of one city stay below this
_CHAIN_EVERY = 3  # every third hotel belongs to a chain
_FIRST_CHAIN_CODE = 1072


class Hotel(NamedTuple):
    """A hotel. `district` is the name of the part of the city it lies in."""

    place: Place
    chain: str
    district: str
    stars: int
    facilities: tuple[str, ...]
    nightly: int

    @property
    def serial(self) -> int:
        """Its index among all hotels."""
        return self.place.city * _CITY_STRIDE + self.place.number


@lru_cache(256)
def hotels_in(city_index: int) -> tuple[Hotel, ...]:
    """The hotels of a city."""
    city = cities()[city_index]
    rng = chance("hotels", city_index)
    lore = words()
    pairs = [(word, kind) for word in lore["hotel_words"] for kind in dict.fromkeys(lore["hotel_kinds"])]
    rng.shuffle(pairs)
    chained = [(chain, district) for chain in lore["chains"] for district in city.districts]
    rng.shuffle(chained)
    found = []
    for number in range(PER_MINOR_CITY if city.minor else PER_CITY):
        belongs = number % _CHAIN_EVERY == 0 and bool(chained)
        chain, home = chained.pop() if belongs else ("", rng.choice(city.districts))
        word, kind = pairs.pop()
        name = f"{chain} {city.name} {home.name}" if chain else f"{word} {kind} {city.name}"
        at = beside(home.latitude, home.longitude, 0.012, "hotel", city_index, number)
        stars = rng.choice((2, 3, 3, 4, 4, 5))
        codes = tuple(code for code, _ in lore["facilities"] if rng.random() < 0.25 + stars / 10)
        # rounded to five, so that equal prices happen
        nightly = 5 * round((25 + 22 * stars + rng.randrange(60)) / 5)
        found.append(Hotel(Place("hotel", name, city_index, number, *at), chain, home.name, stars, codes, nightly))
    return tuple(found)


@lru_cache(1)
def filter_titles() -> Mapping[str, str]:
    """Every filter of a search by its code, with the words that the site shows."""
    titles: dict[str, str] = dict(words()["facilities"])
    titles |= {f"class::{stars}": f"{stars} stars" for stars in (2, 3, 4, 5)}
    titles |= {"reviewscore::90": "Superb: 9+", "reviewscore::80": "Very good: 8+", "reviewscore::70": "Good: 7+"}
    return titles | {f"chaincode::{_FIRST_CHAIN_CODE + n}": chain for n, chain in enumerate(words()["chains"])}


def meets(hotel: Hotel, code: str, world: World) -> bool:
    """Whether a hotel passes the filter with this code; refused where there is no such filter."""
    if code not in filter_titles():
        raise RequestError(f"{code!r} is not a filter of this search.")
    group, _, value = code.partition("::")
    match group:
        case "class":
            return hotel.stars == int(value)
        case "reviewscore":
            return review_score(hotel, world) >= int(value) / 10
        case "chaincode":
            return hotel.chain == filter_titles()[code]
        case _:
            return code in hotel.facilities


def review_score(hotel: Hotel, world: World) -> float:
    """How guests like it, of 10."""
    return score(world.seed, "hotel", hotel.serial)


def review_count(hotel: Hotel, world: World) -> int:
    """How many reviews it has."""
    return 40 + int(2600 * share(world.seed, "reviews", hotel.serial))


def is_free(hotel: Hotel, day: date, world: World) -> bool:
    """Whether it has a room on the day that a stay begins."""
    return share(world.seed, "free", hotel.serial, day.isoformat()) > 0.12  # noqa: PLR2004 - about one in eight is full


def price_of_night(hotel: Hotel, day: date, world: World) -> int:
    """What a night for two costs from a day on, in US dollars."""
    season = 0.85 + 0.4 * share(world.seed, "season", hotel.place.city, day.isoformat())
    return 5 * max(4, round(hotel.nightly * season / 5))


def hotel_number(hotel: Hotel, world: World) -> str:
    """Its identifier."""
    return str(number_for(hotel.serial, "hotels", world.seed))


def hotel_numbered(number: str, world: World) -> Hotel:
    """The hotel with an identifier; refused where there is none."""
    index = index_of(int(number), "hotels", world.seed) if number.isdecimal() else -1
    city_index, own = divmod(index, _CITY_STRIDE)
    if index < 0 or city_index >= len(cities()) or own >= len(hotels_in(city_index)):
        raise RequestError(f"There is no hotel with the id {number!r}.")
    return hotels_in(city_index)[own]


def destination_number(place: Place, world: World) -> str:
    """The identifier of a place as a destination; those of cities are negative."""
    if place.kind == "hotel":
        return hotel_number(hotels_in(place.city)[place.number], world)
    number = number_for(place_numbers()[place], "destinations", world.seed)
    return f"-{number}" if place.kind == "city" else str(number)


def destination_numbered(number: str, search_type: str, world: World) -> Place:
    """The place with an identifier; refused where there is none, or where it is of another type."""
    if search_type == "hotel":
        return hotel_numbered(number, world).place
    digits = number.removeprefix("-")
    index = index_of(int(digits), "destinations", world.seed) if digits.isdecimal() else len(places())
    if index >= len(places()) or destination_number(places()[index], world) != number:
        raise RequestError(f"There is no destination with the dest_id {number!r}.")
    place = places()[index]
    if place.kind != search_type:
        raise RequestError(f"The destination {number} is not of the type {search_type!r}.")
    return place


def address(hotel: Hotel) -> str:
    """Where it stands, as an envelope says it."""
    city = cities()[hotel.place.city]
    street = words()["streets"][hotel.serial % len(words()["streets"])]
    return f"{1 + hotel.serial * 7 % 180} {street}, {hotel.district}, {city.label}"


def titles_of(hotel: Hotel) -> list[JsonValue]:
    """The words for what it offers."""
    return [filter_titles()[code] for code in hotel.facilities]
