"""Hotels: which a city has (the same under every seed), what they cost and how they are liked (by seed), and searching them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.travel.frame import (
    Request,
    RequestError,
    World,
    chance,
    in_currency,
    index_of,
    number_for,
    page_of,
    reviewer,
    score,
    sentences,
    share,
    words,
)
from callwright.generators.environments.travel.geography import (
    SearchPlace,
    beside,
    cities,
    cities_named,
    distance_km,
    find_places,
    place_numbers,
    places,
    words_of,
)

_DESTINATIONS = 12
_NEAREST = 18  # hotels that a search near a sight or an airport looks at
SORTS: Mapping[str, str] = {
    "popularity": "Our top picks",
    "price": "Price (lowest first)",
    "bayesian_review_score": "Best reviewed",
    "class_descending": "Stars (most first)",
    "class_ascending": "Stars (fewest first)",
    "distance": "Distance",
}
PER_CITY = 48
PER_MINOR_CITY = 6
_CITY_STRIDE = 100  # hotel numbers of one city stay below this
_CHAIN_EVERY = 3  # every third hotel belongs to a chain
_FIRST_CHAIN_CODE = 1072


class Hotel(NamedTuple):
    """A hotel. `district` is the name of the part of the city it lies in."""

    place: SearchPlace
    chain: str
    district: str
    stars: int
    facilities: tuple[str, ...]
    nightly: int

    @property
    def serial(self) -> int:
        """Its index among all hotels."""
        return self.place.city * _CITY_STRIDE + self.place.number


class HotelOffer(NamedTuple):
    """A hotel as a search shows it."""

    hotel: Hotel
    dollars: float
    kilometres: float


def search_destination(request: Request, world: World) -> JsonValue:
    """Places that a query may mean."""
    query = request.text("query")
    found = [*hotels_called(query), *find_places(query, ("city", "district", "airport", "landmark"))]
    return [_destination(place, world) for place in found[:_DESTINATIONS]]


def hotels_called(query: str) -> list[SearchPlace]:
    """Hotels whose whole name stands in the query."""
    wanted = words_of(query)
    known = (hotel.place for city in cities_named(query) for hotel in hotels_in(city.number))
    return [place for place in known if words_of(place.name) <= wanted]


def _destination(place: SearchPlace, world: World) -> JsonValue:
    city = cities()[place.city]
    return {
        "dest_id": destination_number(place, world),
        "search_type": place.kind,
        "name": place.name,
        "label": city.label if place.kind == "city" else f"{place.name}, {city.label}",
        "city_name": city.name,
        "region": city.region,
        "country": city.country,
        "cc1": city.country_code,
        "latitude": place.latitude,
        "longitude": place.longitude,
        "nr_hotels": len(_near(place)),
    }


def search_hotels(request: Request, world: World) -> JsonValue:
    """Hotels of a destination that have a room."""
    place = destination_numbered(request.text("dest_id"), request.text("search_type"), world)
    return _listed(_near(place), (place.latitude, place.longitude), request, world)


def search_by_coordinates(request: Request, world: World) -> JsonValue:
    """Hotels within a radius of a point that have a room."""
    point = (request.number("latitude"), request.number("longitude"))
    reach = request.number("radius")
    inside = [city for city in cities() if distance_km(point, (city.latitude, city.longitude)) < reach + 25]
    known = [hotel for city in inside for hotel in hotels_in(city.number)]
    return _listed([hotel for hotel in known if _way(hotel, point) <= reach], point, request, world)


def get_filter(request: Request, world: World) -> JsonValue:
    """The filters that a search of a destination offers, with how many hotels pass each."""
    place = destination_numbered(request.text("dest_id"), request.text("search_type"), world)
    start, _ = request.stay("arrival_date", "departure_date")
    free = [hotel for hotel in _near(place) if is_free(hotel, start, world)]
    counts = {code: sum(meets(hotel, code, world) for hotel in free) for code in filter_titles()}
    filters: list[JsonValue] = [
        {"id": code, "title": title, "group": code.partition("::")[0], "hotels": counts[code]}
        for code, title in filter_titles().items()
        if counts[code]
    ]
    return {"filters": filters, "hotels_in_all": len(free)}


def get_sort_by(request: Request, world: World) -> JsonValue:
    """The orders that a search of a destination can be put in."""
    destination_numbered(request.text("dest_id"), request.text("search_type"), world)
    request.stay("arrival_date", "departure_date")
    return [{"id": code, "title": title} for code, title in SORTS.items()]


def _near(place: SearchPlace) -> list[Hotel]:
    known = hotels_in(place.city)
    if place.kind == "city":
        return list(known)
    if place.kind == "hotel":
        return [known[place.number]]
    if place.kind == "district":
        return [hotel for hotel in known if hotel.district == place.name]
    return sorted(known, key=lambda hotel: _way(hotel, (place.latitude, place.longitude)))[:_NEAREST]


def _way(hotel: Hotel, point: tuple[float, float]) -> float:
    return distance_km(point, (hotel.place.latitude, hotel.place.longitude))


def _listed(known: Iterable[Hotel], point: tuple[float, float], request: Request, world: World) -> JsonValue:
    start, nights = request.stay("arrival_date", "departure_date")
    codes = [code.strip() for code in request.text("categories_filter").split(",") if code.strip()]
    offers = [
        HotelOffer(hotel, stay_price(hotel, start, nights, request, world), round(_way(hotel, point), 2))
        for hotel in known
        if is_free(hotel, start, world) and all(meets(hotel, code, world) for code in codes)
    ]
    offers = [offer for offer in offers if _affordable(offer.dollars, request)]
    offers.sort(key=_order(request.text("sort_by"), world))
    page = request.whole("page_number")
    shown: list[JsonValue] = [_entry(offer, request, world) for offer in page_of(offers, page, world)]
    return {"hotels": shown, "hotels_in_all": len(offers), "page": page}


def _order(sort: str, world: World) -> Callable[[HotelOffer], tuple[float, int]]:
    if sort not in SORTS:
        raise RequestError(f"{sort!r} is not an order of this search.")
    ranks: Mapping[str, Callable[[HotelOffer], float]] = {
        "popularity": lambda offer: -review_count(offer.hotel, world),
        "price": lambda offer: offer.dollars,
        "bayesian_review_score": lambda offer: -review_score(offer.hotel, world),
        "class_descending": lambda offer: -offer.hotel.stars,
        "class_ascending": lambda offer: offer.hotel.stars,
        "distance": lambda offer: offer.kilometres,
    }
    return lambda offer: (ranks[sort](offer), offer.hotel.serial)


def stay_price(hotel: Hotel, start: date, nights: int, request: Request, world: World) -> float:
    """What a stay of everybody costs in US dollars."""
    ages = [age for age in request.text("children_age").split(",") if age.strip()]
    beds = max(0, request.whole("adults") + len(ages) - 2 * request.whole("room_qty"))
    return price_of_night(hotel, start, world) * nights * (request.whole("room_qty") + 0.4 * beds)


def _affordable(dollars: float, request: Request) -> bool:
    price = in_currency(dollars, request.text("currency_code"))
    lowest = request.number("price_min") if request.given("price_min") else 0
    return lowest <= price and (not request.given("price_max") or price <= request.number("price_max"))


def _entry(offer: HotelOffer, request: Request, world: World) -> JsonValue:
    hotel = offer.hotel
    brief: dict[str, JsonValue] = {
        "hotel_id": hotel_number(hotel, world),
        "name": hotel.place.name,
        "city": cities()[hotel.place.city].name,
        "district": hotel.district,
        "latitude": hotel.place.latitude,
        "longitude": hotel.place.longitude,
        "distance_km": offer.kilometres,
        "stars": hotel.stars,
        "review_score": review_score(hotel, world),
        "review_count": review_count(hotel, world),
        "price": in_currency(offer.dollars, request.text("currency_code")),
        "currency": request.text("currency_code"),
    }
    return brief | _particulars(hotel, world)


def _particulars(hotel: Hotel, world: World) -> dict[str, JsonValue]:
    """What larger responses say of a hotel besides."""
    amount = world.size.sentences
    if not amount:
        return {}
    number = hotel_number(hotel, world)
    body: dict[str, JsonValue] = {
        "address": address(hotel),
        "facilities": titles_of(hotel)[: 4 * amount],
        "description": sentences("hotel", amount, world.seed, hotel.serial),
        "photos": [f"https://photos.travel.example/{number}/{n}.jpg" for n in range(1 + amount // 2)],
    }
    if amount > 1:
        body["reviews"] = [
            {"by": reviewer(world.seed, hotel.serial, n), "text": sentences("review", 4, world.seed, hotel.serial, n)}
            for n in range(amount // 2)
        ]
    return body


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Search_Hotel_Destination": search_destination,
    "Search_Hotels": search_hotels,
    "Search_Hotels_By_Coordinates": search_by_coordinates,
    "Get_Filter": get_filter,
    "Get_Sort_By": get_sort_by,
}


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
        found.append(
            Hotel(SearchPlace("hotel", name, city_index, number, *at), chain, home.name, stars, codes, nightly)
        )
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


def destination_number(place: SearchPlace, world: World) -> str:
    """The identifier of a place as a destination; those of cities are negative."""
    if place.kind == "hotel":
        return hotel_number(hotels_in(place.city)[place.number], world)
    number = number_for(place_numbers()[place], "destinations", world.seed)
    return f"-{number}" if place.kind == "city" else str(number)


def destination_numbered(number: str, search_type: str, world: World) -> SearchPlace:
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
