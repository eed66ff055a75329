"""Taxis: places to ride from and to, and rides between them."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from callwright.generators.environments.travel.frame import (
    MOMENT_FORMAT,
    Request,
    RequestError,
    World,
    in_currency,
    number_for,
    read_token,
    share,
    write_token,
)
from callwright.generators.environments.travel.geography import (
    SearchPlace,
    cities,
    distance_km,
    find_places,
    place_numbers,
    places,
)
from callwright.generators.environments.travel.hotels import hotels_called, hotels_in

_FOUND = 10
_PADDING = 24
_FARTHEST = 250  # kilometres
_CARS = (("Economy", 3, 2), ("Comfort", 3, 3), ("Executive", 3, 3), ("People carrier", 6, 6), ("Minibus", 8, 8))
_SUPPLIERS = ("Quickstep Cabs", "Citywheel", "Blue Lamp Taxis")


def search_location(request: Request, world: World) -> JsonValue:
    """Places that a query may mean."""
    query = request.text("query")
    found = [*hotels_called(query), *find_places(query, ("airport", "landmark", "district", "city"))]
    return [_listed(place, world) for place in found[:_FOUND]]


def _listed(place: SearchPlace, world: World) -> JsonValue:
    city = cities()[place.city]
    stored: list[JsonValue] = ["hotel", place.city, place.number] if place.kind == "hotel" else [place_numbers()[place]]
    return {
        "placeId": write_token(stored, "taxi", world.seed, _PADDING),
        "name": place.name,
        "type": place.kind,
        "city": city.name,
        "country": city.country,
        "iataCode": place.code if place.kind == "airport" else "",
        "latitude": place.latitude,
        "longitude": place.longitude,
    }


def _place(request: Request, name: str, world: World) -> SearchPlace:
    match read_token(request.text(name), "taxi", world.seed):
        case ["hotel", int(city), int(number)]:
            return hotels_in(city)[number].place
        case [int(index)]:
            return places()[index]
        case _:
            raise RequestError(f"{name} is not the identifier of a place.")


def search_taxi(request: Request, world: World) -> JsonValue:
    """Rides from one place to another."""
    start, end = _place(request, "pick_up_place_id", world), _place(request, "drop_off_place_id", world)
    moment = request.moment("pick_up_date_time")
    way = distance_km((start.latitude, start.longitude), (end.latitude, end.longitude)) * 1.25
    if start == end or way > _FARTHEST:
        raise RequestError("There is no taxi between these places: they are the same, or too far apart.")
    night = 1.3 if moment.hour < 6 or moment.hour > 21 else 1.0  # noqa: PLR2004 - from ten to six
    fares: list[JsonValue] = []
    for kind, (name, seats, bags) in enumerate(_CARS):
        if seats >= request.whole("passengers"):
            seeds: tuple[JsonValue, ...] = (world.seed, *start[:4], *end[:4], kind)
            dollars = (8 + 1.6 * way) * (1 + 0.35 * kind) * night * (0.9 + 0.2 * share("fare", *seeds))
            fares.append(
                {
                    "resultId": str(number_for(int(share("ride", *seeds) * 1e6), "rides", world.seed)),
                    "category": name,
                    "seats": seats,
                    "bags": bags,
                    "price": in_currency(round(dollars), request.text("currency_code")),
                    "currency": request.text("currency_code"),
                    "durationMinutes": 6 + round(1.4 * way),
                    "supplier": _SUPPLIERS[int(share("supplier", *seeds) * len(_SUPPLIERS))],
                }
            )
    return {"taxis": fares, "distance_km": round(way, 1), "pickUpTime": moment.strftime(MOMENT_FORMAT)}


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Taxi_Search_Location": search_location,
    "Search_Taxi": search_taxi,
}
