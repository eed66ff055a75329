"""What is stated about one hotel: details, rooms, photos, reviews, policies, what is around."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from pydantic import JsonValue

from callwright.generators.environments.travel.frame import (
    Request,
    RequestError,
    World,
    in_currency,
    number_for,
    page_of,
    reviewer,
    score,
    sentences,
    share,
    words,
)
from callwright.generators.environments.travel.geography import cities, distance_km
from callwright.generators.environments.travel.hotels import (
    Hotel,
    address,
    hotel_number,
    hotel_numbered,
    is_free,
    price_of_night,
    review_count,
    review_score,
    stay_price,
    titles_of,
)

REVIEW_SORTS: Mapping[str, str] = {
    "f_relevance": "Most relevant",
    "f_recent_desc": "Newest first",
    "f_recent_asc": "Oldest first",
    "f_score_desc": "Highest scores",
    "f_score_asc": "Lowest scores",
}
_REVIEWED = ("Staff", "Cleanliness", "Location", "Comfort", "Value for money", "Facilities")
_CALENDAR_DAYS = 14


def _hotel(request: Request, world: World) -> Hotel:
    return hotel_numbered(request.text("hotel_id"), world)


def details(request: Request, world: World) -> JsonValue:
    """A hotel and what a stay costs."""
    hotel = _hotel(request, world)
    start, nights = request.stay("arrival_date", "departure_date")
    dollars = stay_price(hotel, start, nights, request, world)
    return {
        "hotel_id": hotel_number(hotel, world),
        "hotel_name": hotel.place.name,
        "chain": hotel.chain,
        "address": address(hotel),
        "city": cities()[hotel.place.city].name,
        "country": cities()[hotel.place.city].country,
        "latitude": hotel.place.latitude,
        "longitude": hotel.place.longitude,
        "stars": hotel.stars,
        "review_score": review_score(hotel, world),
        "review_count": review_count(hotel, world),
        "available": is_free(hotel, start, world),
        "nights": nights,
        "price": in_currency(dollars, request.text("currency_code")),
        "currency": request.text("currency_code"),
        "checkin_from": f"{14 + hotel.serial % 3}:00",
        "checkout_until": f"{10 + hotel.serial % 3}:00",
        "description": sentences("hotel", 4 + world.size.sentences * 4, world.seed, hotel.serial),
    }


def rooms(request: Request, world: World) -> JsonValue:
    """The kinds of room that a hotel lets on given days, with their identifiers."""
    hotel = _hotel(request, world)
    start, nights = request.stay("arrival_date", "departure_date")
    dollars = stay_price(hotel, start, nights, request, world)
    return {"rooms": [_room(hotel, kind, dollars, request, world) for kind in _room_kinds(hotel)]}


def _room_kinds(hotel: Hotel) -> list[int]:
    return [kind for kind in range(len(words()["rooms"])) if (hotel.serial + kind) % 3]


def _room(hotel: Hotel, kind: int, dollars: float, request: Request, world: World) -> JsonValue:
    return {
        "room_id": str(number_for(hotel.serial * 10 + kind, "rooms", world.seed)),
        "name": words()["rooms"][kind],
        "guests": 1 + (kind + 1) // 2,
        "square_metres": 12 + 4 * kind + hotel.stars,
        "breakfast": share(world.seed, "breakfast", hotel.serial, kind) < 0.5,  # noqa: PLR2004 - one in two
        "refundable": share(world.seed, "refund", hotel.serial, kind) < 0.6,  # noqa: PLR2004 - most
        "price": in_currency(round(dollars * (0.9 + 0.12 * kind)), request.text("currency_code")),
        "currency": request.text("currency_code"),
        "description": sentences("hotel", 1 + world.size.sentences * 4, world.seed, hotel.serial, kind),
    }


def room_details(request: Request, world: World) -> JsonValue:
    """One kind of room of a hotel."""
    hotel = _hotel(request, world)
    start, nights = request.stay("arrival_date", "departure_date")
    dollars = stay_price(hotel, start, nights, request, world)
    for kind in _room_kinds(hotel):
        if request.text("room_id") == str(number_for(hotel.serial * 10 + kind, "rooms", world.seed)):
            beds = "one double bed" if kind % 2 else "two single beds"
            body = _room(hotel, kind, dollars, request, world)
            return {"room": body, "beds": beds, "amenities": titles_of(hotel)}
    raise RequestError(f"The hotel has no room with the id {request.text('room_id')!r}.")


def room_availability(request: Request, world: World) -> JsonValue:
    """The price of a night for each of two weeks."""
    hotel, start = _hotel(request, world), request.day("start_date")
    days = [start + timedelta(days=n) for n in range(_CALENDAR_DAYS)]
    listed: list[JsonValue] = [
        {
            "date": day.isoformat(),
            "available": is_free(hotel, day, world),
            "price": in_currency(price_of_night(hotel, day, world), request.text("currency_code")),
        }
        for day in days
    ]
    return {"days": listed, "currency": request.text("currency_code")}


def photos(request: Request, world: World) -> JsonValue:
    """The photos of a hotel."""
    hotel = _hotel(request, world)
    subjects = ("front", "lobby", "room", "bathroom", "breakfast room", "view", "street", "stairs")
    count = 8 + 24 * world.size.sentences
    return [
        {
            "id": number_for(hotel.serial * 1000 + n, "photos", world.seed),
            "url": f"https://photos.travel.example/{hotel_number(hotel, world)}/{n}.jpg",
            "subject": subjects[n % len(subjects)],
        }
        for n in range(count)
    ]


def reviews(request: Request, world: World) -> JsonValue:
    """Reviews of a hotel, in an order and page by page."""
    hotel, sort = _hotel(request, world), request.text("sort_option_id")
    if sort not in REVIEW_SORTS:
        raise RequestError(f"{sort!r} is not an order of reviews.")
    body = [_review(hotel, n, world) for n in range(3 * world.size.entries)]
    field, down = {"f_recent": ("date", True), "f_score": ("score", True)}.get(sort.rpartition("_")[0], ("", False))
    if field:
        body.sort(key=lambda review: str(review[field]), reverse=down == sort.endswith("desc"))
    page: list[JsonValue] = [*page_of(body, request.whole("page_number"), world)]
    return {"reviews": page, "review_count": review_count(hotel, world)}


def _review(hotel: Hotel, number: int, world: World) -> dict[str, JsonValue]:
    seeds = (world.seed, hotel.serial, number)
    return {
        "review_id": number_for(hotel.serial * 1000 + number, "reviews", world.seed),
        "date": f"2026-{1 + number * 5 % 12:02}-{1 + int(share('day', *seeds) * 28):02}",
        "guest": reviewer(*seeds),
        "score": score("review", *seeds),
        "text": sentences("review", 2 + world.size.sentences, *seeds),
    }


def review_filters(request: Request, world: World) -> JsonValue:
    """The orders that reviews of a hotel can be put in."""
    _hotel(request, world)
    return {"sort_options": [{"id": code, "title": title} for code, title in REVIEW_SORTS.items()]}


def review_scores(request: Request, world: World) -> JsonValue:
    """How guests score a hotel, question by question."""
    hotel = _hotel(request, world)
    parts: list[JsonValue] = [{"question": part, "score": score(world.seed, hotel.serial, part)} for part in _REVIEWED]
    return {"review_score": review_score(hotel, world), "breakdown": parts}


def policies(request: Request, world: World) -> JsonValue:
    """House rules of a hotel."""
    hotel = _hotel(request, world)
    deposit = 50 * (hotel.serial % 4)
    return {
        "cancellation": f"Free of charge until {1 + hotel.serial % 5} days before arrival.",
        "deposit": f"{deposit} US dollars on arrival." if deposit else "No deposit is asked for.",
        "pets": "Pets are welcome." if "facility::4" in hotel.facilities else "Pets are not allowed.",
        "smoking": "Smoking is not allowed anywhere in the house.",
        "quiet_hours": f"From {21 + hotel.serial % 3}:00 to 07:00.",
        "minimum_age": 18 + 3 * (hotel.serial % 2),
        "house_rules": sentences("hotel", 2 + world.size.sentences * 2, world.seed, "rules", hotel.serial),
    }


def child_policies(request: Request, world: World) -> JsonValue:
    """What children pay in a hotel."""
    hotel = _hotel(request, world)
    free_until = 2 + hotel.serial % 6
    return {
        "children_welcome": True,
        "free_until_age": free_until,
        "cots": f"Free of charge for children up to {free_until}.",
        "extra_bed_price": 5 * (2 + hotel.serial % 6),
        "currency": "USD",
    }


def facilities(request: Request, world: World) -> JsonValue:
    """What a hotel offers its guests."""
    hotel = _hotel(request, world)
    return [{"id": code, "title": title} for code, title in zip(hotel.facilities, titles_of(hotel), strict=True)]


def payment_features(request: Request, world: World) -> JsonValue:
    """How a hotel can be paid."""
    hotel = _hotel(request, world)
    taken = [way for n, way in enumerate(words()["payments"]) if n < 2 or (hotel.serial + n) % 3]  # noqa: PLR2004 - cards
    return [{"method": way, "prepayment": (hotel.serial + len(way)) % 2 == 0} for way in taken]


def nearby_sights(request: Request, world: World) -> JsonValue:
    """Sights around a hotel with their distance."""
    hotel = _hotel(request, world)
    here = (hotel.place.latitude, hotel.place.longitude)
    sights = [
        (round(distance_km(here, (sight.latitude, sight.longitude)), 2), sight)
        for sight in cities()[hotel.place.city].landmarks
    ]
    return [
        {"name": sight.name, "distance_km": way, "latitude": sight.latitude, "longitude": sight.longitude}
        for way, sight in sorted(sights)
    ]


ANSWERS: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Get_Hotel_Details": details,
    "Get_Room_List": rooms,
    "Get_Room_Details": room_details,
    "Get_Room_Availability": room_availability,
    "Get_Hotel_Photos": photos,
    "Get_Hotel_Reviews": reviews,
    "Get_Hotel_Review_Filters": review_filters,
    "Get_Hotel_Review_Scores": review_scores,
    "Get_Hotel_Policies": policies,
    "Get_Child_Policies": child_policies,
    "Get_Hotel_Facilities": facilities,
    "Get_Payment_Features": payment_features,
    "Get_Nearby_Sights": nearby_sights,
}
