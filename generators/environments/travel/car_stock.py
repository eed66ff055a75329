"""Cars for hire: which a search finds and what they cost."""

from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue

from generators.environments.travel.chance import WORDY, chance, read_token, share, write_token
from generators.environments.travel.frame import MOMENT_FORMAT, RequestError, World
from generators.environments.travel.geography import City, cities, distance_km
from generators.environments.travel.prose import score, words

MIN_CARS = 14
_REACH = 80  # kilometres from a city within which cars are let
_FARTHEST = 1800
_YOUNG = 25


class Hire(NamedTuple):
    """From where to where, from when to when, and how old the driver is."""

    pick_up: tuple[float, float]
    drop_off: tuple[float, float]
    start: str
    end: str
    age: int


class Car(NamedTuple):
    """A car that a company lets."""

    number: str
    company: str
    group: str
    model: str
    seats: int
    doors: int
    automatic: bool
    dollars: int


def check(hire: Hire) -> None:
    """Refuse a hire that ends before it begins, leads too far, or where no cars are let."""
    if _moment(hire.end) - _moment(hire.start) < timedelta(hours=1):
        raise RequestError("The drop-off must be at least an hour after the pick-up.")
    for point in (hire.pick_up, hire.drop_off):
        city_near(point)
    if distance_km(hire.pick_up, hire.drop_off) > _FARTHEST:
        raise RequestError("The drop-off is too far from the pick-up.")


def city_near(point: tuple[float, float]) -> City:
    """The city that a point belongs to; refused where no car is let there."""
    nearest = min(cities(), key=lambda city: distance_km(point, (city.latitude, city.longitude)))
    if distance_km(point, (nearest.latitude, nearest.longitude)) > _REACH:
        raise RequestError("No cars are let near these coordinates.")
    return nearest


def cars_for(hire: Hire, world: World) -> list[Car]:
    """The cars that are free, in no order."""
    check(hire)
    return [_car(hire, number, world) for number in range(max(MIN_CARS, world.size.entries))]


def days_of(hire: Hire) -> int:
    """The days that are paid."""
    return max(1, -(-int((_moment(hire.end) - _moment(hire.start)).total_seconds()) // 86400))


def write_key(hire: Hire, world: World) -> str:
    """The key of a search: more than 1,500 characters."""
    stored: list[JsonValue] = [*hire.pick_up, *hire.drop_off, hire.start, hire.end, hire.age]
    return write_token(stored, "car", world.seed, WORDY)


def read_key(key: str, world: World) -> Hire:
    """The hire that a key is for; refused where it is none."""
    match read_token(key, "car", world.seed):
        case [float() | int() as north, float() | int() as east, float() | int() as to_north, float() | int() as to_east,
              str(start), str(end), int(age)]:  # fmt: skip
            return Hire((north, east), (to_north, to_east), start, end, age)
        case _:
            raise RequestError("search_key is not the key of a search of cars.")


def rating(company: str, world: World) -> float:
    """How customers rate a company."""
    return score(world.seed, "company", company)


def _car(hire: Hire, number: int, world: World) -> Car:
    city = city_near(hire.pick_up)
    seeds: tuple[JsonValue, ...] = (world.seed, city.number, hire.start, hire.end, number)
    rng = chance("car", *seeds)
    companies: list[str] = words()["car_companies"]
    models = words()["cars"]
    kind = rng.randrange(len(models))
    group, model, seats, doors = models[kind]
    one_way = 0.35 * distance_km(hire.pick_up, hire.drop_off)
    daily = 22 + 6 * kind + 14 * share("demand", *seeds)
    young = 1.25 if hire.age < _YOUNG else 1.0
    dollars = 5 * round((daily * days_of(hire) * young + one_way) / 5)
    company = companies[(number + city.number) % len(companies)]
    vehicle = str(100 * int(10_000 + 80_000 * share("vehicle", *seeds)) + number)  # its own in every search
    return Car(vehicle, company, group, model, seats, doors, rng.random() < 0.5, dollars)  # noqa: PLR2004 - one in two


def _moment(text: str) -> datetime:
    return datetime.strptime(text, MOMENT_FORMAT)  # noqa: DTZ007 - local to the place
