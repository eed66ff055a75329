"""Cars for hire: which a search finds and what they cost, places, details of a car and of the company that lets it."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.travel.frame import (
    MOMENT_FORMAT,
    WORDY,
    Request,
    RequestError,
    World,
    chance,
    in_currency,
    number_for,
    page_of,
    read_token,
    reviewer,
    score,
    sentences,
    share,
    words,
    write_token,
)
from callwright.generators.environments.travel.geography import (
    City,
    SearchPlace,
    beside,
    cities,
    distance_km,
    find_places,
    place_numbers,
)

_LOCATIONS = 8
_ASKED = ("Cleanliness", "Condition", "Helpfulness", "Waiting time", "Value for money")
_PACKAGES = (
    ("Basic cover", 0, 1500),
    ("Medium cover", 9, 600),
    ("Full cover", 17, 0),
    ("Full cover with tyres", 22, 0),
)
MIN_CARS = 14
_REACH = 80  # kilometres from a city within which cars are let
_FARTHEST = 1800
_YOUNG = 25


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


class Hire(NamedTuple):
    """From where to where, from when to when, and how old the driver is."""

    pick_up: tuple[float, float]
    drop_off: tuple[float, float]
    start: str
    end: str
    age: int


def search_location(request: Request, world: World) -> JsonValue:
    """Places that a query may mean."""
    found = find_places(request.text("query"), ("city", "airport", "district", "landmark"))
    return [_location(place, world) for place in found[:_LOCATIONS]]


def _location(place: SearchPlace, world: World) -> JsonValue:
    city = cities()[place.city]
    return {
        "id": str(number_for(place_numbers()[place], "car places", world.seed)),
        "name": place.name,
        "type": place.kind,
        "city": city.name,
        "region": city.region,
        "country": city.country,
        "iata_code": place.code if place.kind == "airport" else "",
        "coordinates": {"latitude": place.latitude, "longitude": place.longitude},
    }


def search_rentals(request: Request, world: World) -> JsonValue:
    """Cars that are free."""
    hire = Hire(
        (request.number("pick_up_latitude"), request.number("pick_up_longitude")),
        (request.number("drop_off_latitude"), request.number("drop_off_longitude")),
        f"{request.day('pick_up_date').isoformat()} {request.text('pick_up_time')}",
        f"{request.day('drop_off_date').isoformat()} {request.text('drop_off_time')}",
        request.whole("driver_age"),
    )
    orders: Mapping[str, Callable[[Car], float]] = {
        "recommended": lambda car: share(world.seed, "recommended", car.number),
        "price_low_to_high": lambda car: car.dollars,
        "company_rating": lambda car: -rating(car.company, world),
    }
    order = orders[request.text("sort_by")]
    cars = sorted(cars_for(hire, world), key=lambda car: (order(car), car.number))
    shown: list[JsonValue] = [_entry(car, request.text("currency_code"), world) for car in page_of(cars, 1, world)]
    return {
        "search_key": write_key(hire, world),
        "search_results": shown,
        "vehicles_in_all": len(cars),
    }


def _entry(car: Car, currency: str, world: World) -> JsonValue:
    body: dict[str, JsonValue] = {
        "vehicle_id": car.number,
        "name": car.model,
        "group": car.group,
        "company": car.company,
        "company_rating": rating(car.company, world),
        "seats": car.seats,
        "doors": car.doors,
        "transmission": "Automatic" if car.automatic else "Manual",
        "price": in_currency(car.dollars, currency),
        "currency": currency,
        "deposit": in_currency(200 + 50 * (len(car.model) % 7), currency),
        "unlimited_mileage": share(world.seed, "mileage", car.number) < 0.6,  # noqa: PLR2004 - most
    }
    if world.size.sentences > 1:
        body["reviews"] = [_review(car, n, world) for n in range(world.size.sentences // 3)]
    return body


def _chosen(request: Request, world: World) -> tuple[Hire, Car]:
    hire = read_key(request.text("search_key"), world)
    for car in cars_for(hire, world):
        if car.number == request.text("vehicle_id"):
            return hire, car
    raise RequestError(f"The search of this key found no vehicle with the id {request.text('vehicle_id')!r}.")


def details(request: Request, world: World) -> JsonValue:
    """One car."""
    hire, car = _chosen(request, world)
    entry = _entry(car, request.text("currency_code"), world)
    included = ["Theft cover", "Collision cover", "Breakdown service", "Third-party insurance", "Local taxes"]
    return {
        **(entry if isinstance(entry, dict) else {}),
        "days": days_of(hire),
        "included": [item for n, item in enumerate(included) if n < 2 or share(world.seed, car.number, n) < 0.6],  # noqa: PLR2004 - most
        "fuel_policy": ("Full to full", "Pick up full, return empty")[len(car.model) % 2],
        "pick_up": f"{car.company} counter, {city_near(hire.pick_up).label}",
        "description": sentences("car", 2 + world.size.sentences * 4, world.seed, car.number),
    }


def supplier_details(request: Request, world: World) -> JsonValue:
    """Where the company is found."""
    hire, car = _chosen(request, world)
    latitude, longitude = beside(*hire.pick_up, 0.004, car.company)
    street = words()["streets"][len(car.company) % len(words()["streets"])]
    return {
        "company": car.company,
        "address": f"{1 + len(car.company) * 3} {street}, {city_near(hire.pick_up).label}",
        "opening_hours": f"{6 + len(car.company) % 3:02}:00 to {20 + len(car.company) % 4}:00",
        "latitude": latitude,
        "longitude": longitude,
        "instructions": sentences("car", 2 + world.size.sentences * 2, world.seed, "counter", car.company),
    }


def _review(car: Car, number: int, world: World) -> dict[str, JsonValue]:
    seeds = (world.seed, car.company, number)
    return {
        "customer": reviewer(*seeds),
        "score": score("hire", *seeds),
        "text": sentences("car", 2 + world.size.sentences // 4, *seeds),
    }


def supplier_reviews(request: Request, world: World) -> JsonValue:
    """What customers wrote."""
    _, car = _chosen(request, world)
    numbers = page_of(range(3 * world.size.entries), request.whole("page_number"), world)
    return {"company": car.company, "reviews": [_review(car, n, world) for n in numbers]}


def supplier_ratings(request: Request, world: World) -> JsonValue:
    """How customers rate the company."""
    _, car = _chosen(request, world)
    parts: list[JsonValue] = [{"question": part, "score": score(world.seed, car.company, part)} for part in _ASKED]
    return {"company": car.company, "rating": rating(car.company, world), "ratings": parts}


def extras(request: Request, world: World) -> JsonValue:
    """What can be added."""
    hire, car = _chosen(request, world)
    return {"extras": _extras(hire, car, request.text("currency_code"))}


def _extras(hire: Hire, car: Car, currency: str) -> list[JsonValue]:
    return [
        {
            "id": f"{code}::{len(car.company)}",
            "title": title,
            "price": in_currency((4 + 2 * n) * days_of(hire), currency),
            "currency": currency,
            "most": 1 + n % 3,
        }
        for n, (code, title) in enumerate(words()["extras"])
    ]


def packages(request: Request, world: World) -> JsonValue:
    """Packages of insurance."""
    hire, car = _chosen(request, world)
    return {"packages": _packages(hire, car, request.text("currency_code"), world)}


def _packages(hire: Hire, car: Car, currency: str, world: World) -> list[JsonValue]:
    return [
        {
            "id": str(number_for(int(car.number) % 100_000 * 10 + n, "packages", world.seed)),
            "title": title,
            "price": in_currency(daily * days_of(hire), currency),
            "currency": currency,
            "excess": in_currency(excess, currency),
        }
        for n, (title, daily, excess) in enumerate(_PACKAGES)
    ]


def booking_summary(request: Request, world: World) -> JsonValue:
    """What it all costs."""
    hire, car = _chosen(request, world)
    currency = request.text("currency_code")
    items: list[JsonValue] = [
        {"title": f"{car.model}, {days_of(hire)} days", "price": in_currency(car.dollars, currency)}
    ]
    if request.given("package_id"):
        items.append(_ordered(_packages(hire, car, currency, world), request.text("package_id"), "package_id"))
    codes = [code.strip() for code in request.text("extras").split(",") if code.strip()]
    items += [_ordered(_extras(hire, car, currency), code, "extras") for code in codes]
    prices = (item["price"] for item in items if isinstance(item, dict))
    total = round(sum(price for price in prices if isinstance(price, int | float)), 2)
    return {"vehicle": car.model, "company": car.company, "items": items, "total": total, "currency": currency}


def _ordered(offered: list[JsonValue], code: str, parameter: str) -> JsonValue:
    for item in offered:
        if isinstance(item, dict) and item["id"] == code:
            return {"title": item["title"], "price": item["price"]}
    raise RequestError(f"{code!r} in {parameter} is not offered for this vehicle.")


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Search_Car_Location": search_location,
    "Search_Car_Rentals": search_rentals,
    "Vehicle_Details": details,
    "Vehicle_Supplier_Details": supplier_details,
    "Vehicle_Supplier_Reviews": supplier_reviews,
    "Vehicle_Supplier_Ratings": supplier_ratings,
    "Vehicle_Extras": extras,
    "Vehicle_Packages": packages,
    "Booking_Summary": booking_summary,
}


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
