"""The values that users say, invented from schemas or from an environment's own knowledge.

In a world with rules they belong to the places of one goal, to what is there, and to one period
of days.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from random import Random
from typing import NamedTuple, Protocol, runtime_checkable

from pydantic import JsonValue

from callwright.generators.environments.linking import is_opaque, names_thing, words_of
from callwright.generators.environments.picking import stated_values, values_of_parameter
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.rules import Row, RuleScope
from callwright.language.names import split_name
from callwright.language.schemas import json_type
from callwright.warehouse.records import Call, JsonSchema, Link, Tool
from callwright.warehouse.records.drafts import ElementKind

FIRST_DAY = date(2027, 3, 1)
_DAYS = 300
_KEPT = frozenset({"filter", "sort", "language", "currency", "flag", "identifier"})
KEPT_SHARE = (
    0.25  # of values that are no places and no dates: a variant need not change all of them
)
LOCAL = frozenset({"city", "place", "airport", "hotel", "attraction"})  # what moves with the city

_FORMATS: Mapping[str, ElementKind] = {
    "date": "date",
    "time": "time",
    "uuid": "identifier",
    "date-time": "time",
}
_WORDS: Mapping[str, ElementKind] = {
    "city": "city",
    "airport": "airport",
    "hotel": "hotel",
    "company": "company",
    "person": "person",
    "user": "person",
    "sort": "sort",
    "language": "language",
    "currency": "currency",
    "price": "price",
    "amount": "price",
}


_TRIES = 4  # so that two places of one goal are not the same, unless there is no other
_ROLES = ("main", "home", "other")


class Wish(NamedTuple):
    """The purpose of a value in a goal.

    `ordinal` counts the dates of one call; `role` tells which of the trip's cities it is about.
    """

    element: ElementKind
    role: str
    tool: str
    parameter: str
    ordinal: int
    schema: JsonSchema


@runtime_checkable
class SeededSpeech(Protocol):
    """An environment in which people say other things in the world of another seed."""

    def vocabulary_at(self, seed: int) -> "Vocabulary | None":
        """Return what people say in the world of a seed; None where its schemas alone tell."""


class GoalValues(Protocol):
    """The values of one goal, which fit together: one city, one stretch of days."""

    def say(self, wish: Wish) -> JsonValue | None:
        """Return the value for a wish, always the same; None if there is none to say."""

    def instead_of(self, old: JsonValue, wish: Wish) -> JsonValue | None:
        """Return another value in place of an old one; values that fitted together still do.

        Returns None if there is none, or the old one can stay.
        """


class Vocabulary(NamedTuple):
    """What is known about an environment's parameters: their elements, and trips to draw from.

    An environment provides its own as its `vocabulary`.
    """

    element: Callable[[str, str], ElementKind]
    trip: Callable[[Random], GoalValues]
    is_replaceable: Callable[[str, str], bool]
    asked: Callable[[str], tuple[str, ...]] = (
        lambda _tool: ()
    )  # the fields that a tool is asked for, where it says so


def is_replaceable(element: ElementKind) -> bool:
    """Whether a variant may state another value (ComplexFuncBench, figure 9)."""
    return element not in _KEPT


def element_of(name: str, schema: JsonSchema) -> ElementKind:
    """Return the element that a parameter is about, inferred from its name and its schema."""
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


class _Trip(GoalValues):
    _rng: Random

    def __init__(self, rng: Random) -> None:
        self._rng, self._told = rng, dict[str, JsonValue]()

    def _of_thing(self, wish: Wish, value: JsonValue | None) -> JsonValue | None:
        """Return the id that the goal says already for a parameter that names its thing."""
        if value is None or wish.element != "identifier" or not names_thing(wish.parameter):
            return value
        return self._told.setdefault(wish.parameter, value)

    def instead_of(self, old: JsonValue, wish: Wish) -> JsonValue | None:
        """Return a value in place of the old one, or None if it stays.

        A value that belongs to no place sometimes stays.
        """
        if self._rng.random() < KEPT_SHARE and wish.element not in LOCAL:
            return None
        return self.say(wish._replace(role=str(old)))


class PlainTrip(_Trip):
    """Values from a schema: its choices and examples, numbers in bounds, and successive days."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self._start = FIRST_DAY + timedelta(days=rng.randrange(_DAYS))
        self._stay = rng.randrange(2, 8)
        self._stated: dict[tuple[str, str], JsonValue] = {}

    def day(self, ordinal: int) -> str:
        """Return the first day of the trip, the last, or a day after it."""
        return (self._start + timedelta(days=self._stay * ordinal)).isoformat()

    def clock(self) -> str:
        """Return a time of day between eight in the morning and eight in the evening."""
        return f"{self._rng.randrange(8, 20):02}:{self._rng.choice((0, 30)):02}"

    def say(self, wish: Wish) -> JsonValue | None:
        """Return a value for a wish that fits its schema."""
        wish_key = (
            wish.role if wish.element in {"keyword", "city", "place"} else wish.tool,
            wish.parameter,
        )
        if wish_key not in self._stated:
            value = self._new(wish)
            if value is None:
                return None
            self._stated[wish_key] = value
        return self._stated[wish_key]

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
        low, high = schema.get("minimum", 1), schema.get("maximum", 9)
        are_bounds = isinstance(low, int | float) and isinstance(high, int | float)
        if schema.get("type") not in {"integer", "number"} or not are_bounds:
            return None
        low = max(low, 2 if high > 2 else low)  # noqa: PLR2004 - one is what goes without saying
        return self._rng.randint(int(low), int(min(high, low + 7)))


class SeenTrip(_Trip):
    """The values of one goal: for each tool, one call that is known to be answered."""

    def __init__(self, calls: Mapping[str, Sequence[Call]], rng: Random) -> None:
        """Choose a call for each tool in order of names, so that equal seeds choose alike."""
        super().__init__(rng)
        self._chosen = {tool: rng.choice(calls[tool]) for tool in sorted(calls) if calls[tool]}

    def say(self, wish: Wish) -> JsonValue | None:
        """Return the chosen call's value, else the first that the schema names, else None."""
        return self._of_thing(wish, _said_in(self._chosen.get(wish.tool), wish))


class WorldTrip(_Trip):
    """The values of one goal in a world: for each tool, a call about one of its things.

    `sayable` makes such a call at random, or returns None for a tool without one. It is asked for
    those tools alone that a goal is about, as a world can have hundreds.
    """

    def __init__(self, sayable: Callable[[str, Random], Call | None], rng: Random) -> None:
        super().__init__(rng)
        self._seed = rng.getrandbits(32)
        self._sayable, self._chosen = sayable, dict[str, Call | None]()

    def say(self, wish: Wish) -> JsonValue | None:
        """Return the chosen call's value, else the first that the schema names, else None."""
        if wish.tool not in self._chosen:
            rng = Random(f"{self._seed} {wish.tool}")
            self._chosen[wish.tool] = self._sayable(wish.tool, rng)
        return self._of_thing(wish, _said_in(self._chosen[wish.tool], wish))


def _said_in(call: Call | None, wish: Wish) -> JsonValue | None:
    seen = list(values_of_parameter(call.arguments, wish.parameter)) if call else []
    return next(iter(seen or stated_values(wish.schema)), None)


def vocabulary_of(environment: Environment, seed: int | None = None) -> Vocabulary:
    """Return the environment's own vocabulary, or else one inferred from its schemas.

    With a `seed` it is that of the world of this seed.
    """
    if seed is not None and isinstance(environment, SeededSpeech):
        own = environment.vocabulary_at(seed)
    else:
        own = getattr(environment, "vocabulary", None)
    if isinstance(own, Vocabulary):
        return own
    schemas = {
        (tool.name, name): schema
        for tool in environment.tools
        for name, schema in tool.properties.items()
    }

    def element(tool: str, parameter: str) -> ElementKind:
        name = parameter.rpartition("[].")[2]
        return element_of(name, schemas.get((tool, parameter), {}))

    return Vocabulary(element, PlainTrip, lambda *one: is_replaceable(element(*one)))


def vocabulary_of_calls(
    tools: Iterable[Tool], links: Iterable[Link], calls: Iterable[Call]
) -> Vocabulary:
    """Return what people can say, from answered calls; nobody says a value that a link gives."""
    linked = {(link.tool, link.parameter.partition(".")[0].removesuffix("[]")) for link in links}
    elements = {
        (tool.name, name): (
            "identifier" if (tool.name, name) in linked else _element_seen(name, schema)
        )
        for tool in tools
        for name, schema in tool.properties.items()
    }
    by_tool: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        if call.arguments:
            by_tool[call.tool].append(call)

    def element(tool: str, parameter: str) -> ElementKind:
        return elements.get((tool, parameter), "text")

    return Vocabulary(
        element, partial(SeenTrip, by_tool), lambda *one: is_replaceable(element(*one))
    )


def _element_seen(name: str, schema: JsonSchema) -> ElementKind:
    """Return the element that a parameter is about, inferred from its schema and its name."""
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if is_opaque(name) and not schema.get("enum"):
        return "identifier"
    known = next((_WORDS[word] for word in words_of(name) if word in _WORDS), None)
    if known is not None:
        return known
    if schema.get("type") == "boolean":
        return "flag"
    if schema.get("enum"):
        return "filter"
    if schema.get("type") in ("integer", "number"):
        return "count"
    return "keyword" if schema.get("examples") else "text"


def ruled_vocabulary(scope: RuleScope, tools: Sequence[Tool]) -> Vocabulary:
    """Return what people say for parameters by the rules, or else by their names and schemas."""
    rules = scope.rules
    schemas = {
        (tool.name, name): schema for tool in tools for name, schema in tool.properties.items()
    }

    def element(tool: str, parameter: str) -> ElementKind:
        stated = rules.parameter(tool, parameter)
        name = parameter.rpartition("[].")[2]
        return stated.element if stated else element_of(name, schemas.get((tool, parameter), {}))

    def may_differ(tool: str, parameter: str) -> bool:
        stated, known = rules.parameter(tool, parameter), element(tool, parameter)
        return known != "identifier" and not (stated and stated.fixed) and is_replaceable(known)

    def asked(tool: str) -> tuple[str, ...]:
        return rules.stated.tools[tool].asked if tool in rules.stated.tools else ()

    return Vocabulary(element, lambda rng: RuledTrip(scope, rng), may_differ, asked)


class RuledTrip(PlainTrip):
    """The places of one goal: home, a main place and perhaps another, with what is in them."""

    def __init__(self, scope: RuleScope, rng: Random) -> None:
        super().__init__(rng)
        self._scope = scope
        self.places = (
            dict(zip(_ROLES, rng.sample(scope.ends, len(_ROLES)), strict=True))
            if scope.ends
            else {}
        )
        self._known: dict[tuple[str, str], JsonValue] = {}
        self._moved: dict[
            str, Row
        ] = {}  # the place that stands in for another, by the other's name

    def say(self, wish: Wish) -> JsonValue | None:
        """Return the value for a wish, at the place that its role names."""
        by_place = (
            wish.element == self._scope.place_element or wish.element in self._scope.rules.local
        )
        wish_key = (wish.role, wish.tool if by_place else wish.parameter)
        if wish.element in {"date", "time"}:
            wish_key = (wish.parameter, str(wish.ordinal))
        if wish_key not in self._known:
            value = self._value(wish)
            if value is None:
                return None
            self._known[wish_key] = value
        return self._known[wish_key]

    def _value(self, wish: Wish) -> JsonValue | None:
        home = self.places.get(wish.role.split(maxsplit=1)[0])
        match wish.element:
            case "date":
                return self.day(wish.ordinal)
            case "time" if r"\d{4}" in str(wish.schema.get("pattern")):
                return f"{self.day(wish.ordinal)} {self.clock()}"
            case "time":
                return self.clock()
            case self._scope.place_element if home is not None:
                return str(home["name"])
            case element if element not in (*self._scope.rules.says, *self._scope.rules.local):
                return None if element in ("identifier", "text") else super().say(wish)
        choices = [one for one in wish.schema.get("enum", ()) if one != wish.schema.get("default")]
        for _ in range(_TRIES):
            value = (
                self._rng.choice(choices)
                if choices
                else self._scope.said(wish.element, self._rng, home)
            )
            if wish.element not in self._scope.rules.local or value not in self._known.values():
                break
        return (
            str(value)
            if wish.schema.get("type") == "string" and not isinstance(value, str)
            else value
        )

    def instead_of(self, old: JsonValue, wish: Wish) -> JsonValue | None:
        """Return the same kind of thing in the place that replaces the old one's.

        None if the old value is unknown. Values that belong to no place are handled as
        elsewhere.
        """
        if (
            wish.element != self._scope.place_element
            and wish.element not in self._scope.rules.local
        ):
            return (
                None if self._rng.random() < KEPT_SHARE else self.say(wish._replace(role=_ROLES[0]))
            )
        known = self._scope.whereabouts.get(str(old))
        if known is None:
            return None
        element, home = known
        if home["name"] not in self._moved:
            moved = [home["name"], *(one["name"] for one in self._moved.values())]
            self._moved[home["name"]] = self._rng.choice(
                [one for one in self._scope.ends if one["name"] not in moved]
            )
        new = self._moved[home["name"]]
        return (
            str(new["name"])
            if element == self._scope.place_element
            else self._scope.said(element, self._rng, new)
        )
