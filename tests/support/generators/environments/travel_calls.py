"""A traveller who can make a valid call of any function: what is not said is taken out of
responses, as the links tell.
"""

import hashlib
from collections.abc import Mapping
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.rules import Row, RuleScope
from callwright.generators.environments.travel import open_travel
from callwright.warehouse.records import Arguments, Call, JsonSchema, Link, Tool

FORWARD = ("to", "drop", "departure", "end")
Entry = JsonValue


class NothingThereError(AssertionError):
    """A search that worked and found nothing: sold out, or closed on that day."""


def scope_of(world: DocumentWorld) -> RuleScope:
    scope = world.scope(world.seed)
    assert scope is not None
    return scope


def famous_cities() -> tuple[Row, ...]:
    return scope_of(open_travel()).places


def city_named(world: DocumentWorld, name: str) -> Row:
    return next(city for city in scope_of(world).places if city["name"] == name)


def values_at(response: JsonValue, entries: str, field: str) -> list[JsonValue]:
    """The values that a link gives: of every entry, in order."""
    listed = inside(response, entries)
    return [
        inside(entry, field)
        for entry in (listed if entries and isinstance(listed, list) else [listed])
    ]


def inside(value: JsonValue, path: str) -> JsonValue:
    for part in path.split(".") if path else ():
        assert isinstance(value, dict), (path, value)
        value = value[part]
    return value


class Traveller:
    """Makes calls in a city, with a second one where something leads elsewhere."""

    def __init__(self, world: DocumentWorld, city: str, other: str, seed: int = 0) -> None:
        self.world = world
        self.city = city
        self.other = other
        self.seed = seed
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in world.tools}

    async def ask(self, tool: str, arguments: Arguments) -> JsonValue:
        answer = await self.world.answer(Call(tool=tool, arguments=arguments))
        assert answer.problem == ""
        return answer.response

    async def refused(self, tool: str, arguments: Arguments) -> str:
        """Why a call is refused."""
        answer = await self.world.answer(Call(tool=tool, arguments=arguments))
        assert answer.error
        return answer.problem

    async def good(self, tool: str, arguments: Arguments) -> JsonValue:
        """A response that worked."""
        response = await self.ask(tool, arguments)
        assert isinstance(response, dict)
        assert response["status"] is True, (tool, arguments, response)
        return response

    async def arguments(
        self, tool: str, known: Mapping[str, JsonValue] | None = None, by: Link | None = None
    ) -> Arguments:
        """Valid required arguments; those in `known` as they are, and one taken by the link
        `by`.
        """
        found: Arguments = {}
        for name in self.tools[tool].required if by is None else self._asked(tool, by):
            if known and name in known:
                found[name] = known[name]
            else:
                found[name] = await self._value(
                    tool, name, self.tools[tool].properties[name], {**(known or {}), **found}, by
                )
        return found

    def _asked(self, tool: str, by: Link) -> list[str]:
        first = by.parameter.partition("[].")[0]
        return [*self.tools[tool].required, *({first} - set(self.tools[tool].required))]

    async def _value(
        self,
        tool: str,
        name: str,
        schema: JsonSchema,
        known: Mapping[str, JsonValue],
        by: Link | None,
    ) -> JsonValue:
        if name == "legs":
            return [await self._leg(tool, start, by) for start in range(2)]
        link = self._link(tool, name, by)
        if link is not None:
            return await self._linked(link, name, known)
        return self._stated(tool, name, schema)

    async def _leg(self, tool: str, number: int, by: Link | None) -> JsonValue:
        leg: dict[str, JsonValue] = {"date": f"2027-05-1{number}"}
        for end, place in (("fromId", number), ("toId", 1 - number)):
            link = self._link(tool, f"legs[].{end}", by)
            assert link is not None
            leg[end] = await self._linked(link, "from" if place == 0 else "to", {})
        return leg

    def _link(self, tool: str, parameter: str, by: Link | None) -> Link | None:
        links = [
            link for link in self.world.links if link.tool == tool and link.parameter == parameter
        ]
        if by is not None and by.parameter == parameter:
            return by
        same = [
            link
            for link in links
            if by is not None and link.source == by.source and link.entries == by.entries
        ]
        if parameter == "query" or parameter.endswith("date_time"):
            return None
        return (same or links or [None])[0]

    async def _linked(self, link: Link, name: str, known: Mapping[str, JsonValue]) -> JsonValue:
        source = self.tools[link.source]
        shared = {
            key: value
            for key, value in known.items()
            if key in source.properties and key != "query"
        }
        if "query" in source.properties:
            shared["query"] = self._query(link, name)
        response = await self.good(link.source, await self.arguments(link.source, shared))
        values = values_at(response, link.entries, link.field)
        if not values:
            raise NothingThereError(f"{link.source} answers with no entry in {link.entries!r}.")
        return values[-1 if name.startswith("drop_off_place") else 0]

    def _query(self, link: Link, name: str) -> str:
        home = self.other if name.startswith("to") else self.city
        return (
            f"{home}, {city_named(self.world, home)['country']}"
            if link.source != "Search_Attraction_Location"
            else home
        )

    def _stated(self, tool: str, name: str, schema: JsonSchema) -> JsonValue:
        vocabulary = self.world.vocabulary
        assert vocabulary is not None
        element = vocabulary.element(tool, name)
        rng = Random(
            hashlib.sha256(f"{self.seed}{tool}".encode()).digest()
        )  # one for all parameters of a function
        if name == "query":
            return self.city
        if element == "date":
            return f"2027-0{6 if name.startswith(FORWARD) else 5}-{rng.randrange(10, 29)}"
        if "date_time" in name:
            return "2027-05-11 10:30"
        if "enum" in schema:
            return rng.choice(schema["enum"])
        return scope_of(self.world).said(element, rng, city_named(self.world, self.city))
