"""Searching for hotels: destinations, hotels of a place or near a point, filters and sort orders."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import NamedTuple

from pydantic import JsonValue

from generators.environments.travel.frame import Request, RequestError, World, page_of, success
from generators.environments.travel.geography import Place, cities, distance_km
from generators.environments.travel.hotel_stock import (
    Hotel,
    address,
    destination_number,
    destination_numbered,
    filter_titles,
    hotel_number,
    hotels_in,
    is_free,
    meets,
    price_of_night,
    review_count,
    review_score,
    titles_of,
)
from generators.environments.travel.matching import cities_named, find_places, words_of
from generators.environments.travel.prose import in_currency, reviewer, sentences

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


class Offer(NamedTuple):
    """A hotel as a search shows it."""

    hotel: Hotel
    dollars: float
    kilometres: float


def search_destination(request: Request, world: World) -> JsonValue:
    """Places that a query may mean."""
    query = request.text("query")
    found = [*hotels_called(query), *find_places(query, ("city", "district", "airport", "landmark"))]
    return success([_destination(place, world) for place in found[:_DESTINATIONS]])


def hotels_called(query: str) -> list[Place]:
    """Hotels whose whole name stands in the query."""
    wanted = words_of(query)
    known = (hotel.place for city in cities_named(query) for hotel in hotels_in(city.number))
    return [place for place in known if words_of(place.name) <= wanted]


def _destination(place: Place, world: World) -> JsonValue:
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
    return success({"filters": filters, "hotels_in_all": len(free)})


def get_sort_by(request: Request, world: World) -> JsonValue:
    """The orders that a search of a destination can be put in."""
    destination_numbered(request.text("dest_id"), request.text("search_type"), world)
    request.stay("arrival_date", "departure_date")
    return success([{"id": code, "title": title} for code, title in SORTS.items()])


def _near(place: Place) -> list[Hotel]:
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
        Offer(hotel, stay_price(hotel, start, nights, request, world), round(_way(hotel, point), 2))
        for hotel in known
        if is_free(hotel, start, world) and all(meets(hotel, code, world) for code in codes)
    ]
    offers = [offer for offer in offers if _affordable(offer.dollars, request)]
    offers.sort(key=_order(request.text("sort_by"), world))
    page = request.whole("page_number")
    shown: list[JsonValue] = [_entry(offer, request, world) for offer in page_of(offers, page, world)]
    return success({"hotels": shown, "hotels_in_all": len(offers), "page": page})


def _order(sort: str, world: World) -> Callable[[Offer], tuple[float, int]]:
    if sort not in SORTS:
        raise RequestError(f"{sort!r} is not an order of this search.")
    ranks: Mapping[str, Callable[[Offer], float]] = {
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


def _entry(offer: Offer, request: Request, world: World) -> JsonValue:
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
    told: dict[str, JsonValue] = {
        "address": address(hotel),
        "facilities": titles_of(hotel)[: 4 * amount],
        "description": sentences("hotel", amount, world.seed, hotel.serial),
        "photos": [f"https://photos.travel.example/{number}/{n}.jpg" for n in range(1 + amount // 2)],
    }
    if amount > 1:
        told["reviews"] = [
            {"by": reviewer(world.seed, hotel.serial, n), "text": sentences("review", 4, world.seed, hotel.serial, n)}
            for n in range(amount // 2)
        ]
    return told


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Search_Hotel_Destination": search_destination,
    "Search_Hotels": search_hotels,
    "Search_Hotels_By_Coordinates": search_by_coordinates,
    "Get_Filter": get_filter,
    "Get_Sort_By": get_sort_by,
}
