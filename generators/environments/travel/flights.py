"""Flights: what flies where on a day and what it costs; locations, searches of one or several legs, details of an offer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.travel.frame import (
    DAY_FORMAT,
    MOMENT_FORMAT,
    WORDY,
    Request,
    RequestError,
    World,
    chance,
    in_currency,
    page_of,
    read_token,
    sentences,
    share,
    words,
    write_token,
)
from callwright.generators.environments.travel.geography import (
    City,
    SearchPlace,
    cities,
    distance_km,
    find_places,
    locations_by_id,
)

_LOCATIONS = 8
_BRIEF = 90
_LONG_SHARE = 0.4  # of trips have tokens of more than 1,500 characters
_CHILD_FARE = 0.75
_DAYS_AROUND = 3
_ROWS = 12
MIN_OFFERS = 14
CABINS = {"ECONOMY": 1.0, "PREMIUM_ECONOMY": 1.6, "BUSINESS": 3.1, "FIRST": 4.8}
_SPEED = 820 / 60  # kilometres a minute
_ON_GROUND = 40  # minutes of taxiing, climbing and landing
_STOP_KM = 400  # shorter flights have no stops


class Leg(NamedTuple):
    """From where to where on which day; `start` and `end` are identifiers of locations."""

    start: str
    end: str
    day: str


class Flight(NamedTuple):
    """One leg as one airline flies it, times local to its airports."""

    start: SearchPlace
    end: SearchPlace
    leaves: datetime
    lands: datetime
    minutes: int
    stops: int
    number: str
    dollars: float


class FlightSearch(NamedTuple):
    """What is searched for: legs, whether the last of two leads back, the cabin and how many full fares."""

    legs: tuple[Leg, ...]
    back: bool
    cabin: str
    fares: float


class FlightOffer(NamedTuple):
    """The `number`th offer for a trip."""

    trip: FlightSearch
    number: int
    airline: str
    flights: tuple[Flight, ...]

    @property
    def outward(self) -> tuple[Flight, ...]:
        """The flights up to where the traveller wants to go: without the flight back."""
        return self.flights[:1] if self.trip.back else self.flights

    @property
    def dollars(self) -> int:
        """The price in US dollars, rounded to five, so that equal prices happen."""
        whole = sum(flight.dollars for flight in self.flights) * self.trip.fares * CABINS[self.trip.cabin]
        return 5 * round(whole / 5)

    @property
    def minutes(self) -> int:
        """The time spent travelling."""
        return sum(flight.minutes for flight in self.flights)


def search_location(request: Request, world: World) -> JsonValue:
    """Cities and airports that a query may mean."""
    found = find_places(request.text("query"), ("city", "airport"))
    flown = [place for place in found if cities()[place.city].airports]
    return [_location(place) for place in flown[:_LOCATIONS]]


def _location(place: SearchPlace) -> JsonValue:
    city = cities()[place.city]
    return {
        "id": f"{place.code}.{place.kind.upper()}",
        "type": place.kind.upper(),
        "name": place.name,
        "code": place.code,
        "cityName": city.name,
        "regionName": city.region,
        "country": city.country,
        "coordinates": {"latitude": place.latitude, "longitude": place.longitude},
    }


def search_flights(request: Request, world: World) -> JsonValue:
    """Offers there, or there and back."""
    start, end = request.text("fromId"), request.text("toId")
    legs = [Leg(start, end, request.day("departDate").isoformat())]
    if request.given("returnDate"):
        legs.append(Leg(end, start, request.day("returnDate").isoformat()))
    return _listed(_trip(legs, request, back=request.given("returnDate")), request, world)


def search_multi_stops(request: Request, world: World) -> JsonValue:
    """Offers for several legs."""
    return _listed(_trip(_legs(request), request, back=False), request, world)


def _legs(request: Request) -> list[Leg]:
    legs = request.arguments["legs"]
    if not isinstance(legs, list):
        raise RequestError("legs must be a list.")
    return [
        Leg(str(leg.get("fromId")), str(leg.get("toId")), str(leg.get("date"))) for leg in legs if isinstance(leg, dict)
    ]


def _trip(legs: list[Leg], request: Request, *, back: bool) -> FlightSearch:
    adults = request.whole("adults") if request.given("adults") else 1
    children = len([age for age in request.text("children").split(",") if age.strip()])
    return FlightSearch(tuple(legs), back, request.text("cabinClass"), adults + _CHILD_FARE * children)


def _listed(trip: FlightSearch, request: Request, world: World) -> JsonValue:
    ranks: Mapping[str, Callable[[FlightOffer], float]] = {
        "BEST": lambda offer: offer.dollars + 0.9 * offer.minutes * trip.fares,
        "CHEAPEST": lambda offer: offer.dollars,
        "FASTEST": lambda offer: offer.minutes,
    }
    rank = ranks[request.text("sort")]
    offers = sorted(offers_for(trip, world), key=lambda offer: (rank(offer), offer.number))
    page, currency = page_of(offers, request.whole("pageNo"), world), request.text("currency_code")
    return {"flightOffers": [_entry(offer, currency, world) for offer in page], "offers_in_all": len(offers)}


def _entry(offer: FlightOffer, currency: str, world: World) -> dict[str, JsonValue]:
    seeds = (world.seed, *trip_stored(offer.trip), offer.number)
    long = share("long", world.seed, *trip_stored(offer.trip)) < _LONG_SHARE
    body: dict[str, JsonValue] = {
        "token": write_token([*trip_stored(offer.trip), offer.number], "flight", world.seed, WORDY if long else _BRIEF),
        **_outline(offer, currency),
        "seatsLeft": 1 + int(9 * share("seats", *seeds)),
    }
    if world.size.sentences > 1:
        body["conditions"] = sentences("flight", world.size.sentences * 2, *seeds)
    return body


def _outline(offer: FlightOffer, currency: str) -> dict[str, JsonValue]:
    first, last = offer.outward[0], offer.outward[-1]
    body: dict[str, JsonValue] = {
        "airline": offer.airline,
        "flightNumber": first.number,
        "departureAirport": _airport(first.start),
        "arrivalAirport": _airport(last.end),
        "departureTime": first.leaves.strftime(MOMENT_FORMAT),
        "arrivalTime": last.lands.strftime(MOMENT_FORMAT),
        "durationMinutes": offer.minutes,
        "stops": sum(flight.stops for flight in offer.flights),
        "cabinClass": offer.trip.cabin,
        "price": in_currency(offer.dollars, currency),
        "currency": currency,
    }
    if offer.trip.back:
        body["returnDepartureTime"] = offer.flights[1].leaves.strftime(MOMENT_FORMAT)
        body["returnArrivalTime"] = offer.flights[1].lands.strftime(MOMENT_FORMAT)
    return body


def _airport(place: SearchPlace) -> JsonValue:
    return {"code": place.code, "name": place.name, "cityName": cities()[place.city].name}


def _offer(request: Request, parameter: str, world: World) -> FlightOffer:
    kind = "flight" if parameter == "token" else "offer"
    match read_token(request.text(parameter), kind, world.seed):
        case [*trip, int(number)]:
            return offer_of(trip_of(trip), number, world)
        case _:
            raise RequestError(f"{parameter} is not one of a flight offer.")


def flight_details(request: Request, world: World) -> JsonValue:
    """One offer, flight by flight."""
    offer = _offer(request, "token", world)
    stored = [*trip_stored(offer.trip), offer.number]
    body: dict[str, JsonValue] = {
        "offerToken": write_token(stored, "offer", world.seed, WORDY),
        **_outline(offer, request.text("currency_code")),
        "flights": [_flight(flight) for flight in offer.flights],
        "conditions": sentences("flight", 2 + world.size.sentences * 8, world.seed, *stored),
    }
    return body


def _flight(flight: Flight) -> JsonValue:
    return {
        "flightNumber": flight.number,
        "departureAirport": _airport(flight.start),
        "arrivalAirport": _airport(flight.end),
        "departureTime": flight.leaves.strftime(MOMENT_FORMAT),
        "arrivalTime": flight.lands.strftime(MOMENT_FORMAT),
        "durationMinutes": flight.minutes,
        "stops": flight.stops,
    }


def seat_map(request: Request, world: World) -> JsonValue:
    """Seats of an offer, free and taken."""
    offer = _offer(request, "offerToken", world)
    currency = request.text("currency_code")
    seeds = (world.seed, *trip_stored(offer.trip), offer.number)
    positions = {"A": "window", "B": "middle", "C": "aisle", "D": "aisle", "E": "middle", "F": "window"}
    seats: list[JsonValue] = [
        {
            "seat": f"{row}{letter}",
            "position": position,
            "free": share(row, letter, *seeds) < 0.4,  # noqa: PLR2004 - two of five
            "price": in_currency(8 + 4 * (row < 4) + 3 * (position != "middle"), currency),  # noqa: PLR2004 - the front
        }
        for row in range(1, _ROWS + 1 + 2 * world.size.sentences)
        for letter, position in positions.items()
    ]
    return {"cabinClass": offer.trip.cabin, "seats": seats, "currency": currency}


def min_price(request: Request, world: World) -> JsonValue:
    """The lowest fare there, day by day."""
    leg = Leg(request.text("fromId"), request.text("toId"), request.day("departDate").isoformat())
    return _cheapest((leg,), request, world)


def min_price_multi_stops(request: Request, world: World) -> JsonValue:
    """The lowest fare of several legs, day by day."""
    return _cheapest(tuple(_legs(request)), request, world)


def _cheapest(legs: tuple[Leg, ...], request: Request, world: World) -> JsonValue:
    currency = request.text("currency_code")
    list(
        offers_for(_trip(list(legs), request, back=False), world)
    )  # refuses what cannot be flown, before any day is moved
    days: list[JsonValue] = []
    for shift in range(-_DAYS_AROUND, _DAYS_AROUND + 1):
        moved = [leg._replace(day=_later(leg.day, shift)) for leg in legs]
        lowest = _lowest(offers_for(_trip(moved, request, back=False), world))
        price = in_currency(lowest, currency)
        days.append({"departureDate": moved[0].day, "isSearched": shift == 0, "price": price, "currency": currency})
    return days


def _lowest(offers: Iterable[FlightOffer]) -> int:
    return min(offer.dollars for offer in offers)


def _later(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def fare_rules(request: Request, world: World) -> JsonValue:
    """What changing an offer costs."""
    offer, currency = _offer(request, "token", world), request.text("currency_code")
    seeds = (world.seed, *trip_stored(offer.trip), offer.number)
    return {
        "refundable": share("refundable", *seeds) < 0.5,  # noqa: PLR2004 - one in two
        "changeFee": in_currency(10 * int(9 * share("change", *seeds)), currency),
        "cancellationFee": in_currency(20 + 10 * int(12 * share("cancel", *seeds)), currency),
        "currency": currency,
        "conditions": sentences("flight", 3 + world.size.sentences * 4, *seeds),
    }


def baggage(request: Request, world: World) -> JsonValue:
    """What may be taken along."""
    offer, currency = _offer(request, "token", world), request.text("currency_code")
    roomy = offer.trip.cabin in {"BUSINESS", "FIRST"}
    return {
        "cabinBags": 2 if roomy else 1,
        "cabinBagKilograms": 8 + offer.number % 3,
        "checkedBags": 2 if roomy else offer.number % 2,
        "extraBagPrice": in_currency(25 + 5 * (offer.number % 5), currency),
        "currency": currency,
    }


def airport_information(request: Request, world: World) -> JsonValue:
    """Terminals and transfers."""
    place = location(request.text("id"))
    city = cities()[place.city]
    asked = city.airports if place.kind == "city" else (place,)
    ways = ("airport train", "express bus", "underground", "shared shuttle", "taxi rank")
    body: list[JsonValue] = [
        {
            "code": airport.code,
            "name": airport.name,
            "terminals": 1 + int(3 * share(world.seed, "terminals", airport.code)),
            "kilometres_to_centre": round(
                distance_km((airport.latitude, airport.longitude), (city.latitude, city.longitude)), 1
            ),
            "transfers": [way for way in ways if share(world.seed, airport.code, way) < 0.7],  # noqa: PLR2004 - most
        }
        for airport in asked
    ]
    return {"airports": body}


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Search_Flight_Location": search_location,
    "Search_Flights": search_flights,
    "Search_Flights_Multi_Stops": search_multi_stops,
    "Get_Flight_Details": flight_details,
    "Get_Seat_Map": seat_map,
    "Get_Min_Price": min_price,
    "Get_Min_Price_Multi_Stops": min_price_multi_stops,
    "Get_Fare_Rules": fare_rules,
    "Get_Baggage_Allowance": baggage,
    "Get_Airport_Information": airport_information,
}


def location(identifier: str) -> SearchPlace:
    """The city or airport with this identifier; refused where there is none."""
    if identifier not in locations_by_id():
        raise RequestError(f"There is no city or airport with the id {identifier!r}.")
    return locations_by_id()[identifier]


def offers_for(trip: FlightSearch, world: World) -> Iterator[FlightOffer]:
    """Every offer for a trip, in no order; refused where a leg leads nowhere or goes back in time."""
    for leg in trip.legs:
        if location(leg.start).city == location(leg.end).city:
            raise RequestError(f"A flight cannot lead from {leg.start} to {leg.end}: they are the same city.")
    days = [_day(leg.day) for leg in trip.legs]
    if days != sorted(days):
        raise RequestError("The flights must be in the order of their days.")
    for number in range(max(MIN_OFFERS, world.size.entries)):
        yield offer_of(trip, number, world)


def offer_of(trip: FlightSearch, number: int, world: World) -> FlightOffer:
    """One offer for a trip."""
    airlines = words()["airlines"]
    code, airline = airlines[(number + len(trip.legs[0].start + trip.legs[0].day)) % len(airlines)]
    return FlightOffer(trip, number, airline, tuple(_flown(leg, number, code, world) for leg in trip.legs))


def trip_stored(trip: FlightSearch) -> list[JsonValue]:
    """A trip as a token holds it."""
    legs: list[JsonValue] = [list(leg) for leg in trip.legs]
    return [legs, trip.back, trip.cabin, trip.fares]


def trip_of(stored: JsonValue) -> FlightSearch:
    """The trip that a token holds."""
    match stored:
        case [list(legs), bool(back), str(cabin), (int() | float()) as fares]:
            read = (Leg(*(str(part) for part in leg)) for leg in legs if isinstance(leg, list))
            return FlightSearch(tuple(read), back, cabin, float(fares))
        case _:
            raise RequestError("The token is not one of a flight offer.")


def _day(text: str) -> date:
    try:
        return datetime.strptime(text, DAY_FORMAT).date()  # noqa: DTZ007 - a calendar day has no zone
    except ValueError as error:
        raise RequestError(f"{text!r} is not a date like 2027-03-14.") from error


def _airport_of(place: SearchPlace, number: int, *seeds: JsonValue) -> SearchPlace:
    airports = cities()[place.city].airports
    return place if place.kind == "airport" else airports[int(share("airport", number, *seeds) * len(airports))]


def _flown(leg: Leg, number: int, airline: str, world: World) -> Flight:
    seeds: tuple[JsonValue, ...] = (world.seed, *leg)
    start = _airport_of(location(leg.start), number, "from", *seeds)
    end = _airport_of(location(leg.end), number, "to", *seeds)
    way = distance_km((start.latitude, start.longitude), (end.latitude, end.longitude))
    rng = chance("flight", number, *seeds)
    stops = 0 if way < _STOP_KM else rng.choice((0, 0, 1, 1, 2))
    minutes = round(way / _SPEED) + _ON_GROUND + sum(rng.randrange(70, 260) for _ in range(stops))
    leaves = datetime.combine(_day(leg.day), datetime.min.time()) + timedelta(minutes=5 * rng.randrange(66, 270))
    demand = 0.8 + 0.5 * share("demand", *seeds)
    return Flight(
        start=start,
        end=end,
        leaves=leaves,
        lands=leaves + timedelta(minutes=minutes, hours=_ahead(start, end)),
        minutes=minutes,
        stops=stops,
        number=f"{airline} {rng.randrange(100, 1900)}",
        dollars=(45 + 0.065 * way) * demand * rng.uniform(0.75, 1.4) * (0.9 if stops else 1.1),
    )


def _ahead(start: SearchPlace, end: SearchPlace) -> float:
    home: City = cities()[start.city]
    return cities()[end.city].hours_ahead - home.hours_ahead
