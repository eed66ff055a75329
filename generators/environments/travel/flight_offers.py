"""Flight offers: what flies where on a day, when it lands and what it costs."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue

from generators.environments.travel.chance import chance, share
from generators.environments.travel.frame import DAY_FORMAT, RequestError, World
from generators.environments.travel.geography import City, Place, cities, distance_km, locations_by_id
from generators.environments.travel.prose import words

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

    start: Place
    end: Place
    leaves: datetime
    lands: datetime
    minutes: int
    stops: int
    number: str
    dollars: float


class Trip(NamedTuple):
    """What is searched for: legs, whether the last of two leads back, the cabin and how many full fares."""

    legs: tuple[Leg, ...]
    back: bool
    cabin: str
    fares: float


class Offer(NamedTuple):
    """The `number`th offer for a trip."""

    trip: Trip
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


def location(identifier: str) -> Place:
    """The city or airport with this identifier; refused where there is none."""
    if identifier not in locations_by_id():
        raise RequestError(f"There is no city or airport with the id {identifier!r}.")
    return locations_by_id()[identifier]


def offers_for(trip: Trip, world: World) -> Iterator[Offer]:
    """Every offer for a trip, in no order; refused where a leg leads nowhere or goes back in time."""
    _check(trip.legs)
    for number in range(max(MIN_OFFERS, world.size.entries)):
        yield offer_of(trip, number, world)


def offer_of(trip: Trip, number: int, world: World) -> Offer:
    """One offer for a trip."""
    airlines = words()["airlines"]
    code, airline = airlines[(number + len(trip.legs[0].start + trip.legs[0].day)) % len(airlines)]
    return Offer(trip, number, airline, tuple(_flight(leg, number, code, world) for leg in trip.legs))


def trip_stored(trip: Trip) -> list[JsonValue]:
    """A trip as a token holds it."""
    legs: list[JsonValue] = [list(leg) for leg in trip.legs]
    return [legs, trip.back, trip.cabin, trip.fares]


def trip_of(stored: JsonValue) -> Trip:
    """The trip that a token holds."""
    match stored:
        case [list(legs), bool(back), str(cabin), (int() | float()) as fares]:
            read = (Leg(*(str(part) for part in leg)) for leg in legs if isinstance(leg, list))
            return Trip(tuple(read), back, cabin, float(fares))
        case _:
            raise RequestError("The token is not one of a flight offer.")


def _check(legs: tuple[Leg, ...]) -> None:
    for leg in legs:
        if location(leg.start).city == location(leg.end).city:
            raise RequestError(f"A flight cannot lead from {leg.start} to {leg.end}: they are the same city.")
    days = [_day(leg.day) for leg in legs]
    if days != sorted(days):
        raise RequestError("The flights must be in the order of their days.")


def _day(text: str) -> date:
    try:
        return datetime.strptime(text, DAY_FORMAT).date()  # noqa: DTZ007 - a calendar day has no zone
    except ValueError as error:
        raise RequestError(f"{text!r} is not a date like 2027-03-14.") from error


def _airport(place: Place, number: int, *seeds: JsonValue) -> Place:
    airports = cities()[place.city].airports
    return place if place.kind == "airport" else airports[int(share("airport", number, *seeds) * len(airports))]


def _flight(leg: Leg, number: int, airline: str, world: World) -> Flight:
    seeds: tuple[JsonValue, ...] = (world.seed, *leg)
    start = _airport(location(leg.start), number, "from", *seeds)
    end = _airport(location(leg.end), number, "to", *seeds)
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


def _ahead(start: Place, end: Place) -> float:
    home: City = cities()[start.city]
    return cities()[end.city].hours_ahead - home.hours_ahead
