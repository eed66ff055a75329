"""Which vocabulary goes with an environment: the travel world knows its own, others are told from their schemas."""

from random import Random

from pydantic import JsonValue

from generators.environments.protocol import Environment
from generators.environments.recorded import RecordedEnvironment
from generators.environments.sayable import sayable_from_responses
from generators.environments.store import StoredEnvironment
from generators.paths.goals_values import PlainTrip, Vocabulary, Wish, element_of, is_replaceable, schema_vocabulary
from warehouse.records.paths import ElementKind

_TRAVEL = "environment:travel"
_TRIES = 4  # so that two places of one goal are not the same, unless there is no other
_LOCAL = frozenset({"place", "airport", "hotel", "attraction"})


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
    from generators.environments.travel import functions, places

    def element(tool: str, parameter: str) -> ElementKind:
        return functions.function_named(tool).elements.get(parameter, "text")

    def may_differ(tool: str, parameter: str) -> bool:
        return places.is_replaceable(tool, parameter) and is_replaceable(element(tool, parameter))

    return Vocabulary(element, TravelTrip, may_differ)


class TravelTrip(PlainTrip):
    """Where one goal of the travel world goes: from home to a main city and perhaps another, with what lies in them."""

    def __init__(self, rng: Random) -> None:
        """Choose cities of its own."""
        from generators.environments.travel.places import cities

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
        from generators.environments.travel.places import sayable

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
