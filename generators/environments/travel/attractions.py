"""Attractions that can be booked: which a city has, searching a destination, details, days on which one can be visited, tickets."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
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
    read_token,
    reviewer,
    score,
    sentences,
    share,
    words,
    write_token,
)
from callwright.generators.environments.travel.geography import City, SearchPlace, cities, cities_named, words_of
from callwright.language.text import fold

CATEGORIES: Mapping[str, str] = {
    "type::11": "Tours",
    "type::12": "Tickets",
    "type::15": "Family",
    "type::17": "Outdoors",
    "type::21": "Food",
    "type::26": "Shows",
}
_FOUND = 6
_LONGEST = 14  # days that a search looks at
PER_CITY = 26
_CITY_STRIDE = 100
_TOURS_OF_A_SIGHT = 6
_UNFIT = re.compile(r"[^a-z0-9]+")
_CALENDAR_DAYS = 14
_TICKETS = (("Adult", 1.0, 10), ("Child", 0.5, 8), ("Senior", 0.8, 6), ("Family of four", 2.6, 2))


class Product(NamedTuple):
    """An attraction. `sight` is the place it belongs to."""

    city: int
    number: int
    name: str
    sight: SearchPlace
    category: str
    dollars: int
    minutes: int

    @property
    def serial(self) -> int:
        """Its index among all attractions."""
        return self.city * _CITY_STRIDE + self.number


def search_location(request: Request, world: World) -> JsonValue:
    """Destinations and attractions that a query may mean."""
    query = request.text("query")
    wanted = words_of(query)
    named = cities_named(query)
    found = _named_so(wanted, named or cities())
    beside = [product for city in named if words_of(city.name) == wanted for product in products_in(city.number)[:3]]
    shown = list(dict.fromkeys([*found, *beside]))[:_FOUND]
    return {
        "destinations": [_destination(city, world) for city in named[:_FOUND]],
        "products": [_brief(product, world) for product in shown],
    }


def _named_so(wanted: frozenset[str], inside: Iterable[City]) -> list[Product]:
    """Attractions whose name has every word that is wanted; the city may be named besides."""
    return [
        product
        for city in inside
        for product in products_in(city.number)
        if wanted <= words_of(product.name) | words_of(city.label) and not wanted <= words_of(city.label)
    ]


def _destination(city: City, world: World) -> JsonValue:
    return {
        "id": write_token(["city", city.number], "attractions", world.seed),
        "cityName": city.name,
        "region": city.region,
        "country": city.country,
        "label": city.label,
        "productCount": len(products_in(city.number)),
    }


def _product_id(product: Product, world: World) -> str:
    return write_token(["product", product.serial], "attractions", world.seed)


def _brief(product: Product, world: World) -> JsonValue:
    city = cities()[product.city]
    return {
        "id": _product_id(product, world),
        "productSlug": slug_of(product, world),
        "title": product.name,
        "cityName": city.name,
        "country": city.country,
    }


def _city(request: Request, world: World) -> City:
    match read_token(request.text("id"), "attractions", world.seed):
        case ["city", int(index)]:
            return cities()[index]
        case _:
            raise RequestError("id is not the identifier of a destination.")


def asked_product(request: Request, world: World) -> Product:
    """The attraction whose identifier is given."""
    match read_token(request.text("id"), "attractions", world.seed):
        case ["product", int(index)]:
            product = product_at(index)
            if product is not None:
                return product
    raise RequestError("id is not the identifier of an attraction.")


def search_attractions(request: Request, world: World) -> JsonValue:
    """Attractions of a destination."""
    city, currency = _city(request, world), request.text("currency_code")
    categories = {_category(code.strip()) for code in request.text("typeFilters").split(",") if code.strip()}
    first, last = _span(request)
    orders: Mapping[str, Callable[[Product], float]] = {
        "most_popular": lambda product: -_review_count(product, world),
        "highest_rated": lambda product: -_score(product, world),
        "lowest_price": lambda product: product.dollars,
    }
    order = orders[request.text("sortBy")]
    found = [
        product
        for product in products_in(city.number)
        if (not categories or product.category in categories) and _open_between(product, first, last, world)
    ]
    found.sort(key=lambda product: (order(product), product.number))
    page = page_of(found, request.whole("page"), world)
    return {"products": [_entry(product, currency, world) for product in page], "products_in_all": len(found)}


def _span(request: Request) -> tuple[date | None, date | None]:
    first = request.day("startDate") if request.given("startDate") else None
    last = request.day("endDate") if request.given("endDate") else first
    if first and last and last < first:
        raise RequestError("endDate must not be before startDate.")
    return first or last, last


def _open_between(product: Product, first: date | None, last: date | None, world: World) -> bool:
    if first is None or last is None:
        return True
    days = min((last - first).days, _LONGEST) + 1
    return any(is_open(product, first + timedelta(days=n), world) for n in range(days))


def is_open(product: Product, day: date, world: World) -> bool:
    """Whether it can be visited on a day."""
    return share(world.seed, "open", product.serial, day.isoformat()) < 0.8  # noqa: PLR2004 - four days of five


def _category(code: str) -> str:
    if code not in CATEGORIES:
        raise RequestError(f"{code!r} is not a filter of this search.")
    return CATEGORIES[code]


def _score(product: Product, world: World) -> float:
    return round(score(world.seed, "attraction", product.serial) / 2, 1)


def _review_count(product: Product, world: World) -> int:
    return 10 + int(4000 * share(world.seed, "visitors", product.serial))


def _entry(product: Product, currency: str, world: World) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {
        "id": _product_id(product, world),
        "slug": slug_of(product, world),
        "name": product.name,
        "sight": product.sight.name,
        "category": product.category,
        "price": in_currency(product.dollars, currency),
        "currency": currency,
        "score": _score(product, world),
        "review_count": _review_count(product, world),
        "durationMinutes": product.minutes,
        "free_cancellation": share(world.seed, "cancel", product.serial) < 0.7,  # noqa: PLR2004 - most
    }
    if world.size.sentences:
        body["description"] = sentences("attraction", world.size.sentences * 3, world.seed, product.serial)
    if world.size.sentences > 1:
        body["reviews"] = [_review(product, n, world) for n in range(world.size.sentences // 2)]
    return body


def filters(request: Request, world: World) -> JsonValue:
    """Filters of a destination."""
    known = products_in(_city(request, world).number)
    counts = {code: sum(product.category == title for product in known) for code, title in CATEGORIES.items()}
    return {
        "filters": [
            {"id": code, "title": CATEGORIES[code], "products": count} for code, count in counts.items() if count
        ]
    }


def details(request: Request, world: World) -> JsonValue:
    """One attraction."""
    product = product_with_slug(request.text("slug"), world)
    city = cities()[product.city]
    included = ("Entrance fee", "Guide", "Headset", "Map", "Cold drink", "Insurance")
    return {
        **_entry(product, request.text("currency_code"), world),
        "city": city.name,
        "address": f"{product.sight.name}, {city.label}",
        "latitude": product.sight.latitude,
        "longitude": product.sight.longitude,
        "included": [item for n, item in enumerate(included) if (product.serial + n) % 3],
        "cancellation": f"Free of charge until {12 * (1 + product.serial % 4)} hours before.",
        "description": sentences("attraction", 4 + world.size.sentences * 6, world.seed, product.serial),
    }


def photos(request: Request, world: World) -> JsonValue:
    """Photos of an attraction."""
    product = product_with_slug(request.text("slug"), world)
    subjects = ("entrance", "visitors", "view", "detail", "guide")
    return [
        {
            "url": f"https://photos.travel.example/a{number_for(product.serial, 'photos', world.seed)}/{n}.jpg",
            "subject": subjects[n % len(subjects)],
        }
        for n in range(6 + 20 * world.size.sentences)
    ]


def _review(product: Product, number: int, world: World) -> dict[str, JsonValue]:
    seeds = (world.seed, product.serial, number)
    return {
        "date": f"2026-{1 + number * 7 % 12:02}-{1 + int(28 * share('visit', *seeds)):02}",
        "visitor": reviewer("visit", *seeds),
        "score": 2 + int(4 * share("stars", *seeds)),
        "text": sentences("attraction", 2 + world.size.sentences // 2, "visit", *seeds),
    }


def reviews(request: Request, world: World) -> JsonValue:
    """Reviews of an attraction."""
    product = asked_product(request, world)
    field, down = {
        "most_recent": ("date", True),
        "highest_score": ("score", True),
        "lowest_score": ("score", False),
    }[request.text("sort_by")]
    body = [_review(product, n, world) for n in range(3 * world.size.entries)]
    body.sort(key=lambda review: str(review[field]), reverse=down)
    page: list[JsonValue] = [*page_of(body, request.whole("page"), world)]
    return {"reviews": page, "review_count": _review_count(product, world)}


@lru_cache(256)
def products_in(city_index: int) -> tuple[Product, ...]:
    """The attractions of a city."""
    city = cities()[city_index]
    rng = chance("attractions", city_index)
    named = [
        (f"{opening} {sight.name}", sight, category)
        for sight in city.landmarks
        for _, opening, category in rng.sample(words()["tours"], _TOURS_OF_A_SIGHT)
    ]
    named += [(f"{show} {city.name}", rng.choice(city.landmarks), "Shows") for show in rng.sample(words()["shows"], 5)]
    rng.shuffle(named)
    return tuple(
        Product(city_index, number, name, sight, category, 5 * rng.randint(2, 30), 30 * rng.randint(1, 9))
        for number, (name, sight, category) in enumerate(named[:PER_CITY])
    )


def slug_of(product: Product, world: World) -> str:
    """The text that an attraction is addressed by."""
    number = number_for(product.serial, "slugs", world.seed)
    return f"pr{number:x}-{_UNFIT.sub('-', fold(product.name)).strip('-')}"


def product_with_slug(slug: str, world: World) -> Product:
    """The attraction with a slug; refused where there is none."""
    number = re.match(r"pr([0-9a-f]{5,7})-", slug)
    product = product_at(index_of(int(number[1], 16), "slugs", world.seed)) if number else None
    if product is None or slug_of(product, world) != slug:
        raise RequestError(f"There is no attraction with the slug {slug!r}.")
    return product


def product_at(index: int) -> Product | None:
    """The attraction with an index among all, None where there is none."""
    city_index, own = divmod(index, _CITY_STRIDE)
    if not 0 <= city_index < len(cities()) or own >= len(products_in(city_index)):
        return None
    return products_in(city_index)[own]


def calendar(request: Request, world: World) -> JsonValue:
    """Days on which an attraction is open."""
    product, start = asked_product(request, world), request.day("start_date")
    price = in_currency(product.dollars, request.text("currency_code"))
    days = [start + timedelta(days=n) for n in range(_CALENDAR_DAYS)]
    listed: list[JsonValue] = [
        {"date": day.isoformat(), "available": is_open(product, day, world), "price": price} for day in days
    ]
    return {"days": listed, "currency": request.text("currency_code")}


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
    return {"offers": offers}


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
    return {"name": product.name, "startTime": f"{day} {hour:02}:00", "tickets": tickets}


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Search_Attraction_Location": search_location,
    "Search_Attractions": search_attractions,
    "Get_Attraction_Filters": filters,
    "Get_Attraction_Details": details,
    "Get_Attraction_Photos": photos,
    "Get_Attraction_Reviews": reviews,
    "Get_Availability_Calendar": calendar,
    "Get_Availability": availability,
    "Get_Ticket_Types": ticket_types,
}
