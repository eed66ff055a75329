"""What people say in a world with rules: of the places that one goal goes to, what lies in them, and one stretch of days."""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.rules import Row, RuleScope
from callwright.generators.environments.vocabularies import (
    KEPT_SHARE,
    PlainTrip,
    Vocabulary,
    Wish,
    element_of,
    is_replaceable,
)
from callwright.warehouse.records import ElementKind, Tool

_TRIES = 4  # so that two places of one goal are not the same, unless there is no other
_ROLES = ("main", "home", "other")


def ruled_vocabulary(scope: RuleScope, tools: Sequence[Tool]) -> Vocabulary:
    """What people say of the parameters of tools, as rules tell it, and where they don't their names and schemas."""
    rules = scope.rules
    schemas = {(tool.name, name): schema for tool in tools for name, schema in tool.properties.items()}

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
    """Where one goal goes: from home to a main place and perhaps another, with what lies in them."""

    def __init__(self, scope: RuleScope, rng: Random) -> None:
        """Choose places of its own."""
        super().__init__(rng)
        self._scope = scope
        self.places = dict(zip(_ROLES, rng.sample(scope.ends, len(_ROLES)), strict=True)) if scope.ends else {}
        self._known: dict[tuple[str, str], JsonValue] = {}
        self._moved: dict[str, Row] = {}  # the place that stands in for another, by the other's name

    def say(self, wish: Wish) -> JsonValue | None:
        """The value for a wish, of the place that its role names."""
        by_place = wish.element == self._scope.place_element or wish.element in self._scope.local
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
            case element if element not in (*self._scope.says, *self._scope.local):
                return None if element in ("identifier", "text") else super().say(wish)
        choices = [one for one in wish.schema.get("enum", ()) if one != wish.schema.get("default")]
        for _ in range(_TRIES):
            value = self._rng.choice(choices) if choices else self._scope.said(wish.element, self._rng, home)
            if wish.element not in self._scope.local or value not in self._known.values():
                break
        return str(value) if wish.schema.get("type") == "string" and not isinstance(value, str) else value

    def instead_of(self, old: JsonValue, wish: Wish) -> JsonValue | None:
        """The same kind of thing in the place that stands in for the old one's own; all else as anywhere."""
        if wish.element == self._scope.place_element or wish.element in self._scope.local:
            return self._elsewhere(old)
        if self._rng.random() < KEPT_SHARE:
            return None
        return self.say(wish._replace(role=_ROLES[0]))

    def _elsewhere(self, old: JsonValue) -> JsonValue | None:
        known = self._scope.whereabouts.get(str(old))
        if known is None:
            return None
        element, home = known
        if home["name"] not in self._moved:
            moved = [home["name"], *(one["name"] for one in self._moved.values())]
            self._moved[home["name"]] = self._rng.choice([one for one in self._scope.ends if one["name"] not in moved])
        new = self._moved[home["name"]]
        return str(new["name"]) if element == self._scope.place_element else self._scope.said(element, self._rng, new)
