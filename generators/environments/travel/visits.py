"""When an attraction can be visited, and its tickets."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from pydantic import JsonValue

from generators.environments.travel.attractions import asked_product, is_open
from generators.environments.travel.chance import read_token, share, write_token
from generators.environments.travel.frame import Request, RequestError, World, success
from generators.environments.travel.prose import in_currency
from generators.environments.travel.sights import product_at, product_with_slug

_CALENDAR_DAYS = 14
_TICKETS = (("Adult", 1.0, 10), ("Child", 0.5, 8), ("Senior", 0.8, 6), ("Family of four", 2.6, 2))


def calendar(request: Request, world: World) -> JsonValue:
    """Days on which an attraction is open."""
    product, start = asked_product(request, world), request.day("start_date")
    price = in_currency(product.dollars, request.text("currency_code"))
    days = [start + timedelta(days=n) for n in range(_CALENDAR_DAYS)]
    listed: list[JsonValue] = [
        {"date": day.isoformat(), "available": is_open(product, day, world), "price": price} for day in days
    ]
    return success({"days": listed, "currency": request.text("currency_code")})


def availability(request: Request, world: World) -> JsonValue:
    """Times on a day."""
    product, day = product_with_slug(request.text("slug"), world), request.day("date")
    hours = [9 + 2 * n for n in range(6) if share(world.seed, product.serial, day.isoformat(), n) < 0.7]  # noqa: PLR2004
    if not is_open(product, day, world):
        hours = []
    currency = request.text("currency_code")
    offers: list[JsonValue] = [
        {
            "offerId": write_token([product.serial, day.isoformat(), hour], "visits", world.seed, 60),
            "startTime": f"{day.isoformat()} {hour:02}:00",
            "price": in_currency(product.dollars + 5 * (hour % 4), currency),
            "currency": currency,
            "ticketsLeft": 1 + int(30 * share(world.seed, "tickets", product.serial, day.isoformat(), hour)),
        }
        for hour in hours
    ]
    return success({"offers": offers})


def ticket_types(request: Request, world: World) -> JsonValue:
    """Sorts of ticket of an offer."""
    match read_token(request.text("offerId"), "visits", world.seed):
        case [int(index), str(day), int(hour)]:
            product = product_at(index)
        case _:
            product = None
    if product is None:
        raise RequestError("offerId is not the identifier of an offer.")
    currency = request.text("currency_code")
    base = product.dollars + 5 * (hour % 4)
    tickets: list[JsonValue] = [
        {"title": title, "price": in_currency(round(base * part, 1), currency), "currency": currency, "most": most}
        for title, part, most in _TICKETS
    ]
    return success({"name": product.name, "startTime": f"{day} {hour:02}:00", "tickets": tickets})


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Get_Availability_Calendar": calendar,
    "Get_Availability": availability,
    "Get_Ticket_Types": ticket_types,
}
