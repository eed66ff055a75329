"""What a traveller may say about the world: values by the kind of thing they are, and which parameters take them."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.travel import geography
from callwright.generators.environments.travel.attractions import products_in
from callwright.generators.environments.travel.frame import LANGUAGES, RATES, words
from callwright.generators.environments.travel.geography import City
from callwright.generators.environments.travel.hotels import hotels_in
from callwright.generators.environments.travel.world import function_named
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import ElementKind

FIRST_DAY = date(2027, 2, 1)  # fixed: the world has no clock
DAYS = 270
CABINS = ("ECONOMY", "PREMIUM_ECONOMY", "BUSINESS", "FIRST")
FLIGHT_SORTS = ("BEST", "CHEAPEST", "FASTEST")
_PEOPLE = ("my parents", "my sister", "my best friend", "our team", "my colleagues", "my family")
_COMMON_CURRENCIES = ("USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY")


def cities(*, famous: bool = True) -> tuple[City, ...]:
    """The cities that goals are about; with `famous` off, also the small ones that merely share a name with one."""
    return tuple(city for city in geography.cities() if not (famous and city.minor))


def city_named(name: str) -> City:
    """The famous city of this name; ConfigurationError where there is none."""
    for city in cities():
        if name == city.name or name in city.other_names:
            return city
    raise ConfigurationError(f"The travel world has no city {name!r}.")


def hotel_names(city: str) -> tuple[str, ...]:
    """The names of a city's hotels; they are the same under every seed."""
    return tuple(hotel.place.name for hotel in hotels_in(city_named(city).number))


def chains() -> tuple[str, ...]:
    """The hotel chains, each of which has a hotel in most cities and a filter in Get_Filter."""
    return tuple(words()["chains"])


def car_companies() -> tuple[str, ...]:
    """The companies that rent out cars, at every airport and in every city."""
    return tuple(words()["car_companies"])


def filters() -> tuple[str, ...]:
    """The titles of the facilities and meals that hotels can be filtered by."""
    return tuple(title for _, title in words()["facilities"])


def attractions(city: str) -> tuple[str, ...]:
    """The names of what can be booked in a city; they are the same under every seed."""
    return tuple(product.name for product in products_in(city_named(city).number))


def sayable(element: ElementKind, rng: Random, *, city: str | None) -> JsonValue:
    """A value of a kind that a person might say, of `city` where the kind belongs to one.

    Raises ConfigurationError for kinds that nobody says (identifiers) and for cities that do not exist.
    """
    if element in _ANYWHERE:
        return _ANYWHERE[element](rng)
    if element in _LOCAL:
        home = city_named(city) if city else rng.choice(cities())
        return _LOCAL[element](home, rng)
    raise ConfigurationError(f"Nobody says a value of the kind {element!r}; it comes out of a response.")


def is_replaceable(tool: str, parameter: str) -> bool:
    """Whether the parameter's value may differ between the variants of a sample (ComplexFuncBench 2.1.3)."""
    function = function_named(tool)
    return parameter not in function.fixed and function.elements.get(parameter) != "identifier"


def _day(rng: Random) -> JsonValue:
    return (FIRST_DAY + timedelta(days=rng.randrange(DAYS))).isoformat()


_ANYWHERE: Mapping[ElementKind, Callable[[Random], JsonValue]] = {
    "city": lambda rng: rng.choice(cities()).name,
    "chain": lambda rng: rng.choice(chains()),
    "keyword": lambda rng: rng.choice(words()["keywords"]),
    "company": lambda rng: rng.choice(car_companies()),
    "person": lambda rng: rng.choice(_PEOPLE),
    "date": _day,
    "time": lambda rng: f"{rng.randrange(8, 21):02}:{rng.choice((0, 30)):02}",
    "duration": lambda rng: rng.randint(1, 14),
    "age": lambda rng: rng.randint(1, 9),
    "people": lambda rng: rng.randint(2, 6),
    "count": lambda rng: rng.randint(2, 3),
    "price": lambda rng: 50 * rng.randint(4, 30),
    "distance": lambda rng: 10 * rng.randint(1, 5),
    "sort": lambda rng: rng.choice(FLIGHT_SORTS),
    "cabin": lambda rng: rng.choice(CABINS),
    "filter": lambda rng: rng.choice(filters()),
    "language": lambda rng: rng.choice(sorted(LANGUAGES)),
    "currency": lambda rng: rng.choice([code for code in _COMMON_CURRENCIES if code in RATES]),
    "number": lambda rng: rng.randint(2, 5),
    "flag": lambda rng: rng.random() < 0.5,  # noqa: PLR2004 - a coin
}
_LOCAL: Mapping[ElementKind, Callable[[City, Random], JsonValue]] = {
    "place": lambda city, rng: rng.choice((*city.landmarks, *city.districts)).name,
    "airport": lambda city, rng: rng.choice(city.airports).name,
    "hotel": lambda city, rng: rng.choice(hotels_in(city.number)).place.name,
    "attraction": lambda city, rng: rng.choice(products_in(city.number)).name,
}
