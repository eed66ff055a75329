"""A small world of hotels for the tests of paths: two cities, two ways to their places, five
hotels.
"""

from pydantic import JsonValue

from callwright.generators.environments.protocol import CallResponse
from callwright.warehouse.records import (
    Call,
    Condition,
    Default,
    Goal,
    JsonSchema,
    Link,
    Picked,
    PlannedCall,
    StatedValue,
    Tool,
)

TEXT: JsonSchema = {
    "type": "string",
    "description": "The name.",
    "examples": ["Oslo", "Bern", "Graz", "Turin"],
}
DAY: JsonSchema = {"type": "string", "format": "date"}
ID: JsonSchema = {"type": "string"}
PLACES: dict[str, dict[str, JsonValue]] = {
    "oslo": {"id": "p1", "name": "Oslo", "lat": 59.9},
    "bern": {"id": "p2", "name": "Bern", "lat": 46.9},
    "graz": {"id": "p3", "name": "Graz", "lat": 47.1},
}
HOTELS: list[dict[str, JsonValue]] = [
    {"hotel_id": "h1", "place": "p1", "name": "Fjord House", "price": 90, "stars": 4},
    {"hotel_id": "h2", "place": "p1", "name": "Fjord House Annex", "price": 70, "stars": 3},
    {"hotel_id": "h3", "place": "p2", "name": "Bear Inn", "price": 60, "stars": 3},
    {"hotel_id": "h4", "place": "p2", "name": "Aare Lodge", "price": 60, "stars": 4},
    {"hotel_id": "h5", "place": "p3", "name": "Castle Hill Rooms", "price": 55, "stars": 4},
    {"hotel_id": "h6", "place": "p3", "name": "Mur Palace", "price": 75, "stars": 5},
]


def _tool(
    name: str, description: str, required: dict[str, JsonSchema], **optional: JsonSchema
) -> Tool:
    properties = {**required, **optional}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name=name, description=description, parameters=schema, category="Hotels")


TOOLS = (
    _tool("find_place", "Find a place by its name.", {"query": TEXT}),
    _tool("locate_place", "Find where a place lies.", {"text": TEXT}),
    _tool(
        "search_hotels",
        "Search hotels in a place.",
        {"place_id": ID, "check_in": DAY},
        adults={"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
    ),
    _tool("hotel_details", "Tell about a hotel.", {"hotel_id": ID}),
    _tool("hotel_reviews", "Tell what guests say of a hotel.", {"hotel_id": ID}),
    _tool("hotel_card", "Tell about a hotel, again.", {"hotel_id": ID}),
)
LINKS = (
    Link(
        tool="search_hotels", parameter="place_id", source="find_place", entries="data", field="id"
    ),
    Link(
        tool="search_hotels",
        parameter="place_id",
        source="locate_place",
        entries="data",
        field="place",
    ),
    *(
        Link(
            tool=tool,
            parameter="hotel_id",
            source="search_hotels",
            entries="data.hotels",
            field="hotel_id",
        )
        for tool in ("hotel_details", "hotel_reviews", "hotel_card")
    ),
)


class Town:
    """Answers the calls of TOOLS."""

    name = "town"
    tools = TOOLS
    links = LINKS

    def __init__(self) -> None:
        """Count what is asked."""
        self.asked = 0

    async def answer(self, call: Call) -> CallResponse:
        """The response, or why there is none."""
        self.asked += 1
        match call.tool:
            case "find_place":
                return _find(str(call.arguments.get("query", "")), with_twin=False)
            case "locate_place":
                return _find(str(call.arguments.get("text", "")), with_twin=True)
            case "search_hotels":
                found = [
                    hotel
                    for hotel in HOTELS
                    if hotel["place"] == call.arguments.get("place_id", "")
                ]
                return (
                    CallResponse({"data": {"hotels": [dict(hotel) for hotel in found]}})
                    if found
                    else _unknown(call)
                )
            case "hotel_reviews":
                return _hotel(call, "reviews", ["Quiet rooms.", "Good bread."])
            case _:
                return _hotel(call, "about", "A house near the river.")


def _find(query: str, *, with_twin: bool) -> CallResponse:
    place = PLACES.get(query.lower())
    if place is None:
        return CallResponse(problem=f"There is no place {query!r}.")
    if with_twin:
        return CallResponse(
            {
                "data": [
                    {"place": place["id"], "label": f"{place['name']}, city", "lat": place["lat"]}
                ]
            }
        )
    suburb = {"id": f"{place['id']}s", "name": f"{place['name']} Airport", "lat": place["lat"]}
    return CallResponse(
        {"data": [dict(place), suburb, {"id": "x9", "name": "Elsewhere", "lat": 1.5}]}
    )


def _unknown(call: Call) -> CallResponse:
    return CallResponse(problem=f"There is nothing for {call.arguments!r}.")


def _hotel(call: Call, name: str, value: JsonValue) -> CallResponse:
    found = [hotel for hotel in HOTELS if hotel["hotel_id"] == call.arguments.get("hotel_id", "")]
    return CallResponse({"data": {**found[0], name: value}}) if found else _unknown(call)


def keys_of(*names: str) -> tuple[str, ...]:
    """The keys of the tools of these names, of all but hotel_card where none is named."""
    return tuple(
        tool.key
        for tool in TOOLS
        if tool.name in names or (not names and tool.name != "hotel_card")
    )


def goal(
    *, city: str = "Oslo", where: tuple[Condition, ...] = (), candidates: tuple[str, ...] = ()
) -> Goal:
    """Details and reviews of a hotel in a city, the cheapest unless said otherwise: three steps,
    four calls.
    """
    where = where or (Condition(test="lowest", field="price"),)
    place = Picked(
        call=0,
        entries="data",
        field="id",
        where=(Condition(test="equals", field="name", value=city),),
    )
    hotel = Picked(call=1, entries="data.hotels", field="hotel_id", where=where)
    return Goal(
        environment="town",
        language="en",
        domain="Hotels",
        calls=(
            PlannedCall(
                tool="find_place", arguments={"query": StatedValue(value=city, element="city")}
            ),
            PlannedCall(
                tool="search_hotels",
                arguments={
                    "place_id": place,
                    "check_in": StatedValue(value="2026-12-05", element="date"),
                    "adults": Default(value=1),
                },
            ),
            PlannedCall(tool="hotel_details", arguments={"hotel_id": hotel}, wanted=True),
            PlannedCall(tool="hotel_reviews", arguments={"hotel_id": hotel}, wanted=True),
        ),
        candidates=candidates
        or keys_of("find_place", "search_hotels", "hotel_details", "hotel_reviews"),
    )


def request(city: str = "Oslo", which: str = "the cheapest hotel") -> str:
    """A request that says every value of the goal."""
    return (
        f"I am off to {city} and check in on 5 December 2026. Tell me about {which} and what guests"
        " say of it."
    )
