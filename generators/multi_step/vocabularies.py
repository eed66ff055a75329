"""The values that a user says: invented from the schema alone, or by an environment's own knowledge of its world."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from random import Random
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from callwright.generators.environments.exploring import Wish, sayable_from_responses
from callwright.generators.environments.linking import is_opaque
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.stored import RecordedEnvironment, StoredEnvironment
from callwright.language.names import split_name
from callwright.language.schemas import json_type
from callwright.warehouse.records import JsonSchema
from callwright.warehouse.records.paths import ElementKind

FIRST_DAY = date(2027, 3, 1)
_DAYS = 300
_KEPT = frozenset({"filter", "sort", "language", "currency", "flag", "identifier"})
_TRAVEL = "environment:travel"
_TRIES = 4  # so that two places of one goal are not the same, unless there is no other
_LOCAL = frozenset({"place", "airport", "hotel", "attraction"})


class GoalValues(Protocol):
    """The values of one goal, which go together: one city, one stretch of days."""

    def say(self, wish: Wish) -> JsonValue | None:
        """The value for a wish, the same for the same wish; None where there is none to say."""


class Vocabulary(NamedTuple):
    """What is known of an environment's parameters: their elements, and trips to take values from."""

    element: Callable[[str, str], ElementKind]
    trip: Callable[[Random], GoalValues]
    is_replaceable: Callable[[str, str], bool]
    asked: Callable[[str], tuple[str, ...]] = lambda _tool: ()  # the fields that a tool is asked for, where it says so


def is_replaceable(element: ElementKind) -> bool:
    """Whether a variant may say another value (ComplexFuncBench, figure 9)."""
    return element not in _KEPT


def element_of(name: str, schema: JsonSchema) -> ElementKind:
    """What a parameter is about, inferred from its name and its schema."""
    words = set(split_name(name))
    if schema.get("format") == "date" or "date" in words:
        return "date"
    if "pattern" in schema and "time" in words:
        return "time"
    if schema.get("type") == "boolean":
        return "flag"
    if schema.get("enum"):
        return "sort" if "sort" in words else "count"
    if is_opaque(name):
        return "identifier"
    if json_type(schema) in ("integer", "number"):
        return "people" if words & {"guests", "adults", "people"} else "count"
    if words & {"id", "ids", "token", "slug", "key"}:
        return "identifier"
    return "text" if not schema.get("examples") else "keyword"


class PlainTrip:
    """Values that a schema offers by itself: its choices, its examples, numbers within its bounds, days one after another."""

    def __init__(self, rng: Random) -> None:
        """Begin at a day of its own."""
        self._rng = rng
        self._start = FIRST_DAY + timedelta(days=rng.randrange(_DAYS))
        self._stay = rng.randrange(2, 8)
        self._stated: dict[tuple[str, str], JsonValue] = {}

    def day(self, ordinal: int) -> str:
        """The first day of the trip, the last, and days after it."""
        return (self._start + timedelta(days=self._stay * ordinal)).isoformat()

    def clock(self) -> str:
        """A time of day between eight in the morning and eight in the evening."""
        return f"{self._rng.randrange(8, 20):02}:{self._rng.choice((0, 30)):02}"

    def say(self, wish: Wish) -> JsonValue | None:
        """The value for a wish: what fits its schema."""
        known = (wish.role if wish.element in {"keyword", "city", "place"} else wish.tool, wish.parameter)
        if known not in self._stated:
            value = self._new(wish)
            if value is None:
                return None
            self._stated[known] = value
        return self._stated[known]

    def _new(self, wish: Wish) -> JsonValue | None:
        schema = wish.schema
        if wish.element == "date":
            return self.day(wish.ordinal)
        if wish.element == "time":
            return self.clock()
        choices = schema.get("enum") or schema.get("examples")
        if choices:
            used = self._stated.values()
            return self._rng.choice([one for one in choices if one not in used] or list(choices))  # type: ignore[no-any-return]
        if schema.get("type") == "boolean":
            return True
        return _number(schema, self._rng)


def _number(schema: Mapping[str, JsonValue], rng: Random) -> JsonValue | None:
    if schema.get("type") not in {"integer", "number"}:
        return None
    low, high = schema.get("minimum", 1), schema.get("maximum", 9)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    low = max(low, 2 if high > 2 else low)  # noqa: PLR2004 - one is what goes without saying
    return rng.randint(int(low), int(min(high, low + 7)))


def schema_vocabulary(element: Callable[[str, str], ElementKind]) -> Vocabulary:
    """The vocabulary of an environment of which nothing is known but its schemas."""
    return Vocabulary(element, PlainTrip, lambda tool, parameter: is_replaceable(element(tool, parameter)))


def vocabulary_of(environment: Environment) -> Vocabulary:
    """The environment's own vocabulary where it has one, else what its schemas give away."""
    if any(tool.source == _TRAVEL for tool in environment.tools):
        return _travel()
    if isinstance(environment, StoredEnvironment | RecordedEnvironment) and environment.known_calls:
        seen = sayable_from_responses(environment.tools, environment.links, environment.known_calls)
        return Vocabulary(seen.element, seen.trip, lambda *one: is_replaceable(seen.element(*one)))
    schemas = {(tool.name, name): schema for tool in environment.tools for name, schema in tool.properties.items()}

    def element(tool: str, parameter: str) -> ElementKind:
        name = parameter.rpartition("[].")[2]
        return element_of(name, schemas.get((tool, parameter), {}))

    return schema_vocabulary(element)


def _travel() -> Vocabulary:
    from callwright.generators.environments.travel import places
    from callwright.generators.environments.travel.world import function_named

    def element(tool: str, parameter: str) -> ElementKind:
        return function_named(tool).elements.get(parameter, "text")

    def may_differ(tool: str, parameter: str) -> bool:
        return places.is_replaceable(tool, parameter) and is_replaceable(element(tool, parameter))

    return Vocabulary(element, TravelTrip, may_differ, lambda tool: function_named(tool).asked)


class TravelTrip(PlainTrip):
    """Where one goal of the travel world goes: from home to a main city and perhaps another, with what lies in them."""

    def __init__(self, rng: Random) -> None:
        """Choose cities of its own."""
        from callwright.generators.environments.travel.places import cities

        super().__init__(rng)
        chosen = rng.sample([city.name for city in cities() if city.airports], 3)
        self.cities = dict(zip(("main", "home", "other"), chosen, strict=True))
        self._known: dict[tuple[str, str], JsonValue] = {}

    def say(self, wish: Wish) -> JsonValue | None:
        """The value for a wish, of the city that its role names."""
        by_place = wish.element == "city" or wish.element in _LOCAL
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
        from callwright.generators.environments.travel.places import sayable

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
            if wish.element not in _LOCAL or value not in self._known.values():
                break
        return str(value) if wish.schema.get("type") == "string" and not isinstance(value, str) else value

    def _home(self, role: str) -> str:
        return self.cities[role.split(maxsplit=1)[0]]
