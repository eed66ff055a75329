"""What people say in the travel world: of one city, its airports, hotels and sights, and one stretch of days."""

from functools import lru_cache
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.travel.places import attractions, cities, hotel_names, sayable
from callwright.generators.environments.travel.places import is_replaceable as is_named_replaceable
from callwright.generators.environments.travel.world import function_named
from callwright.generators.environments.vocabularies import (
    KEPT_SHARE,
    LOCAL,
    PlainTrip,
    Vocabulary,
    Wish,
    is_replaceable,
)
from callwright.warehouse.records import ElementKind

_TRIES = 4  # so that two places of one goal are not the same, unless there is no other
_WITHIN = LOCAL - {"city"}
_MAIN = "main"


def vocabulary() -> Vocabulary:
    """What people say in the travel world."""

    def element(tool: str, parameter: str) -> ElementKind:
        return function_named(tool).elements.get(parameter, "text")

    def may_differ(tool: str, parameter: str) -> bool:
        return is_named_replaceable(tool, parameter) and is_replaceable(element(tool, parameter))

    return Vocabulary(element, TravelTrip, may_differ, lambda tool: function_named(tool).asked)


class TravelTrip(PlainTrip):
    """Where one goal of the travel world goes: from home to a main city and perhaps another, with what lies in them."""

    def __init__(self, rng: Random) -> None:
        """Choose cities of its own."""
        super().__init__(rng)
        chosen = rng.sample([city.name for city in cities() if city.airports], 3)
        self.cities = dict(zip(("main", "home", "other"), chosen, strict=True))
        self._known: dict[tuple[str, str], JsonValue] = {}
        self._moved: dict[str, str] = {}  # the city that stands in for another

    def say(self, wish: Wish) -> JsonValue | None:
        """The value for a wish, of the city that its role names."""
        by_place = wish.element == "city" or wish.element in _WITHIN
        known = (wish.role, wish.tool if by_place else wish.parameter)
        if wish.element in {"date", "time"}:
            known = (wish.parameter, str(wish.ordinal))
        if known not in self._known:
            value = self._value(wish)
            if value is None:
                return None
            self._known[known] = value
        return self._known[known]

    def _value(self, wish: Wish) -> JsonValue | None:
        match wish.element:
            case "date":
                return self.day(wish.ordinal)
            case "time" if r"\d{4}" in str(wish.schema.get("pattern")):
                return f"{self.day(wish.ordinal)} {self.clock()}"
            case "time":
                return self.clock()
            case "city":
                return self._home(wish.role)
            case "identifier" | "text":
                return None
        choices = [one for one in wish.schema.get("enum", ()) if one != wish.schema.get("default")]
        for _ in range(_TRIES):
            value = (
                self._rng.choice(choices) if choices else sayable(wish.element, self._rng, city=self._home(wish.role))
            )
            if wish.element not in _WITHIN or value not in self._known.values():
                break
        return str(value) if wish.schema.get("type") == "string" and not isinstance(value, str) else value

    def _home(self, role: str) -> str:
        return self.cities[role.split(maxsplit=1)[0]]

    def instead_of(self, old: JsonValue, wish: Wish) -> JsonValue | None:
        """The same kind of thing in the city that takes the place of the old one's own; all else as anywhere."""
        if wish.element in LOCAL:
            return self._elsewhere(old)
        if self._rng.random() < KEPT_SHARE:
            return None
        return self.say(wish._replace(role=_MAIN))

    def _elsewhere(self, old: JsonValue) -> JsonValue | None:
        place = _places().get(str(old))
        if place is None:
            return None
        element, home = place
        if home not in self._moved:
            left = [name for name in _airport_cities() if name != home and name not in self._moved.values()]
            self._moved[home] = self._rng.choice(left)
        new = self._moved[home]
        return new if element == "city" else sayable(element, self._rng, city=new)


@lru_cache(1)
def _airport_cities() -> tuple[str, ...]:
    return tuple(city.name for city in cities() if city.airports)


@lru_cache(1)
def _places() -> dict[str, tuple[ElementKind, str]]:
    """The kind and the city of each thing that lies in a city, by its name."""
    found: dict[str, tuple[ElementKind, str]] = {}
    for city in cities():
        found |= dict.fromkeys(attractions(city.name), ("attraction", city.name))
        found |= dict.fromkeys(hotel_names(city.name), ("hotel", city.name))
        found |= {place.name: ("place", city.name) for place in (*city.landmarks, *city.districts)}
        found |= {place.name: ("airport", city.name) for place in city.airports}
    return found | {name: ("city", city.name) for city in cities() for name in (city.name, *city.other_names)}
