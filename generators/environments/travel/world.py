"""The travel world as an environment: its functions, read from YAML, and who answers each."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

import orjson
from pydantic import JsonValue

from callwright.generators.environments.protocol import CallResponse
from callwright.generators.environments.travel.frame import (
    LANGUAGES,
    PACKAGE,
    RATES,
    SIZES,
    Request,
    RequestError,
    World,
    in_currency,
    refusal,
)
from callwright.generators.environments.travel.geography import SearchPlace, cities, find_places
from callwright.generators.environments.travel.hotels import hotels_called
from callwright.generators.environments.vocabularies import Vocabulary
from callwright.generators.tools import argument_problems
from callwright.language.packs import packaged
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Arguments, Call, ElementKind, JsonSchema, Link, Tool

Answering = Callable[[Request, World], JsonValue]
NAME = "travel"
SOURCE = "environment:travel"
FILES = ("hotels", "flights", "car_rental", "attraction", "taxi", "shared")
_OWN = frozenset({"element", "fixed", "required", "from"})
_FOUND = 5


class TravelWorld:
    """Answers every call from its seed and the call alone: no clock, no state, no network."""

    def __init__(self, world: World, name: str) -> None:
        """Answer as `world` does, under `name`."""
        self._world = world
        self.name = name
        self._answering = _answering()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its functions; `category` is the domain."""
        return tuple(function.tool for function in functions().values())

    @property
    def links(self) -> tuple[Link, ...]:
        """Every place in a response that can give a parameter its value."""
        return tuple(link for function in functions().values() for link in function.links)

    @property
    def vocabulary(self) -> Vocabulary:
        """What people say in it."""
        from callwright.generators.environments.travel.vocabulary import vocabulary

        return vocabulary()

    async def answer(self, call: Call) -> CallResponse:
        """The response to a call; a request that makes no sense is answered with a message, as a real service does."""
        if call.tool not in self._answering:
            return CallResponse(problem=f"The travel world has no function {call.tool!r}.")
        tool = functions()[call.tool].tool
        problems = argument_problems(tool, call.arguments, partial=False)
        if problems:
            return CallResponse(refusal(" ".join(problems)))
        code = call.arguments.get("languagecode")
        if code is not None and code not in LANGUAGES:
            return CallResponse(
                refusal(f"{code!r} is not a language that texts are shown in; Get_Languages lists them.")
            )
        try:
            data = self._answering[call.tool](Request(_filled(tool, call.arguments)), self._world)
            return CallResponse({"status": True, "message": "Success", "data": data})
        except RequestError as error:
            return CallResponse(refusal(str(error)))


def open_travel(seed: int = 0, response_size: str = "medium", name: str = NAME) -> TravelWorld:
    """The travel world of a seed; responses are "short", "medium" (1 to 6 kB as a rule) or "long" (100 kB and more)."""
    if response_size not in SIZES:
        raise ConfigurationError(f"There is no response size {response_size!r}; the sizes are {', '.join(SIZES)}.")
    return TravelWorld(World(seed, SIZES[response_size]), name)


def _filled(tool: Tool, arguments: Arguments) -> Arguments:
    """The arguments with the defaults of what was left out, so that leaving one out changes nothing."""
    defaults = {name: schema["default"] for name, schema in tool.properties.items() if "default" in schema}
    return defaults | arguments


def _answering() -> Mapping[str, Answering]:
    from callwright.generators.environments.travel import attractions, cars, flights, hotel_details, hotels, taxis

    return {
        **hotels.ANSWERS,
        **hotel_details.ANSWERS,
        **flights.ANSWERS,
        **cars.ANSWERS,
        **attractions.ANSWERS,
        **taxis.ANSWERS,
        **_SHARED,
    }


class Function(NamedTuple):
    """A tool with its links, and by parameter ("legs[].date" where it lies deeper) its element; `fixed` are never replaced.

    `asked` are the fields of its response that it is asked for, as `PlannedCall` has them.
    """

    tool: Tool
    links: tuple[Link, ...]
    elements: Mapping[str, ElementKind]
    fixed: frozenset[str]
    asked: tuple[str, ...] = ()


@lru_cache(1)
def functions() -> Mapping[str, Function]:
    """Every function by name, domain by domain."""
    sources = packaged(PACKAGE, "tools/sources.yaml")
    found: dict[str, Function] = {}
    for file in FILES:
        content = packaged(PACKAGE, f"tools/{file}.yaml")
        for name, entry in content["tools"].items():
            found[name] = _FunctionReader(name, sources).function(entry, content["domain"])
    return found


def function_named(name: str) -> Function:
    """The function of this name; ConfigurationError where there is none."""
    if name not in functions():
        known = ", ".join(functions())
        raise ConfigurationError(f"The travel world has no function {name!r}; its functions are {known}.")
    return functions()[name]


def stated_source(link: Link) -> str:
    """The fixed words by which a description says where a value comes from."""
    place = f"`{link.field}` of an entry of `{link.entries}`" if link.entries else f"`{link.field}`"
    return f"({place} in the response of {link.source})"


class _FunctionReader:
    """Reads the entry of one function."""

    def __init__(self, name: str, sources: Mapping[str, Any]) -> None:
        self.name = name
        self.sources = sources
        self.links: list[Link] = []
        self.elements: dict[str, ElementKind] = {}
        self.fixed: set[str] = set()

    def function(self, entry: Mapping[str, Any], domain: str) -> Function:
        tool = Tool(
            name=self.name,
            description=entry["description"],
            parameters=self._object(entry.get("parameters", {}), ""),
            returns=_brief(entry["returns"]),
            category=domain,
            source=SOURCE,
        )
        asked = tuple(f"data{path}" if path.startswith("[]") else f"data.{path}" for path in entry.get("asked", ()))
        return Function(tool, tuple(self.links), self.elements, frozenset(self.fixed), asked)

    def _object(self, parameters: Mapping[str, Any], above: str) -> JsonSchema:
        required = [name for name, entry in parameters.items() if entry.get("required")]
        properties = {name: self._schema(entry, f"{above}{name}") for name, entry in parameters.items()}
        return {"type": "object", "properties": properties, "required": required}

    def _schema(self, entry: Mapping[str, Any], path: str) -> JsonSchema:
        schema = {name: value for name, value in entry.items() if name not in _OWN}
        if "element" in entry:
            self.elements[path] = cast("ElementKind", entry["element"])
        if entry.get("fixed"):
            self.fixed.add(path)
        if schema.get("items", {}).get("type") == "object":
            schema["items"] = self._object(schema["items"]["properties"], f"{path}[].")
        links = list(self._links(entry.get("from", ()), path))
        self.links += links
        schema["description"] = " ".join(_sentences(schema, links))
        return schema

    def _links(self, origin: list[str | list[str]], path: str) -> Iterator[Link]:
        for part in origin:
            for source, entries, field in self.sources[part] if isinstance(part, str) else [part]:
                yield Link(tool=self.name, parameter=path, source=source, entries=entries, field=field)


def _sentences(schema: JsonSchema, links: list[Link]) -> Iterator[str]:
    """The description, the default in words, and last of all where the value comes from."""
    yield schema["description"]
    if "default" in schema:
        yield f"Default: {orjson.dumps(schema['default']).decode()}."
    if links:
        yield " or ".join(stated_source(link) for link in links)


def _brief(returns: Mapping[str, Any]) -> JsonSchema:
    """The schema of a response, from its shape: a word is a type, a mapping an object, a list what its entries look like."""
    frame = {"status": {"type": "boolean"}, "message": {"type": "string"}, "data": _shape(returns)}
    return {"type": "object", "properties": frame}


def _shape(value: object) -> JsonSchema:
    if isinstance(value, Mapping):
        return {"type": "object", "properties": {name: _shape(part) for name, part in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": _shape(value[0])}
    return {"type": str(value)}


def locate_place(request: Request, world: World) -> JsonValue:
    """Places of a name with their coordinates."""
    query = request.text("query")
    found = [*hotels_called(query), *find_places(query, ("city", "district", "airport", "landmark"), around=False)]
    return [_located(place) for place in found[:_FOUND]]


def _located(place: SearchPlace) -> JsonValue:
    city = cities()[place.city]
    return {
        "name": place.name,
        "formatted_address": city.label if place.kind == "city" else f"{place.name}, {city.label}",
        "business_status": "OPERATIONAL",
        "types": [place.kind],
        "geometry": {"location": {"lat": place.latitude, "lng": place.longitude}},
    }


def exchange_rates(request: Request, world: World) -> JsonValue:
    """What a currency is worth."""
    base = request.text("base_currency")
    unit = in_currency(1, base)
    listed: list[JsonValue] = [
        {"currency": code, "rate": round(rate / unit, 6)} for code, rate in RATES.items() if code != base
    ]
    return {"base_currency": base, "exchange_rates": listed}


def currencies(request: Request, world: World) -> JsonValue:
    """The currencies that are known."""
    return [{"code": code} for code in RATES]


def languages(request: Request, world: World) -> JsonValue:
    """The languages that are known."""
    return [{"code": code, "name": name} for code, name in LANGUAGES.items()]


_SHARED: Mapping[str, Callable[[Request, World], JsonValue]] = {
    "Location_to_Lat_Long": locate_place,
    "Get_Exchange_Rates": exchange_rates,
    "Get_Currencies": currencies,
    "Get_Languages": languages,
}
