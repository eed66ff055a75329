"""What belongs to no domain alone: coordinates, currencies and languages."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from generators.environments.travel.frame import Request, World, success
from generators.environments.travel.geography import Place, cities
from generators.environments.travel.hotels import hotels_called
from generators.environments.travel.matching import find_places
from generators.environments.travel.prose import LANGUAGES, RATES, in_currency

_FOUND = 5


def locate_place(request: Request, world: World) -> JsonValue:
    """Places of a name with their coordinates."""
    query = request.text("query")
    found = [*hotels_called(query), *find_places(query, ("city", "district", "airport", "landmark"), around=False)]
    return success([_located(place) for place in found[:_FOUND]])


def _located(place: Place) -> JsonValue:
    city = cities()[place.city]
    return {
        "name": place.name,
        "formatted_address": city.label if place.kind == "city" else f"{place.name}, {city.label}",
        "business_status": "OPERATIONAL",
        "types": [place.kind],
        "geometry": {"location": {"lat": place.latitude, "lng": place.longitude}},
    }


def exchange_rates(request: Request, world: World) -> JsonValue:
    """What a currency is worth."""
    base = request.text("base_currency")
    unit = in_currency(1, base)
    listed: list[JsonValue] = [
        {"currency": code, "rate": round(rate / unit, 6)} for code, rate in RATES.items() if code != base
    ]
    return success({"base_currency": base, "exchange_rates": listed})


def currencies(request: Request, world: World) -> JsonValue:
    """The currencies that are known."""
    return success([{"code": code} for code in RATES])


def languages(request: Request, world: World) -> JsonValue:
    """The languages that are known."""
    return success([{"code": code, "name": name} for code, name in LANGUAGES.items()])


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Location_to_Lat_Long": locate_place,
    "Get_Exchange_Rates": exchange_rates,
    "Get_Currencies": currencies,
    "Get_Languages": languages,
}
