"""A small environment of six tools in two domains: towns with inns, and things to see in them."""

from collections.abc import Callable
from random import Random
from typing import Any

from pydantic import JsonValue

from callwright.generators.environments.protocol import CallResponse
from callwright.warehouse.records import Call, Link, Tool

TOWNS = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elstree", "Farlow")
INNS = ("Swan", "Old Bridge", "Red Lion", "Harbour", "Mill")
SIGHTS = ("Castle", "Glass Museum", "Botanic Garden", "Clock Tower")
TOWN_ID = "(`town_id` of an entry of `towns` in the response of Find_Town)"
INN_ID = "(`inn_id` of an entry of `inns` in the response of Search_Inns)"
SIGHT_ID = "(`id` of an entry of `sights` in the response of List_Sights)"
DAY = {"type": "string", "format": "date"}


def tool(
    name: str, category: str, description: str, required: list[str], **properties: dict[str, Any]
) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(name=name, description=description, parameters=schema, category=category)


STAY: dict[str, Any] = {
    "first_night": {**DAY, "description": "First night"},
    "last_night": {**DAY, "description": "Last night"},
    "guests": {
        "type": "integer",
        "minimum": 1,
        "maximum": 6,
        "default": 1,
        "description": "Number of guests",
    },
}
TOOLS = (
    tool(
        "Find_Town",
        "Inns",
        "Find towns by name.",
        ["query"],
        query={"type": "string", "description": "What the town is called", "examples": list(TOWNS)},
    ),
    tool(
        "Search_Inns",
        "Inns",
        "Search inns in a town.",
        ["town_id", "first_night", "last_night"],
        town_id={"type": "string", "description": f"The town {TOWN_ID}"},
        **STAY,
    ),
    tool(
        "Read_Inn_Reviews",
        "Inns",
        "Read what guests wrote about an inn.",
        ["inn_id"],
        inn_id={"type": "string", "description": f"The inn {INN_ID}"},
    ),
    tool(
        "List_Inn_Rooms",
        "Inns",
        "List the free rooms of an inn.",
        ["inn_id", "first_night", "last_night"],
        inn_id={"type": "string", "description": f"The inn {INN_ID}"},
        **STAY,
    ),
    tool(
        "List_Sights",
        "Sights",
        "List the sights of a town.",
        ["town_id"],
        town_id={"type": "string", "description": f"The town {TOWN_ID}"},
    ),
    tool(
        "Check_Opening_Hours",
        "Sights",
        "Check the opening hours of a sight.",
        ["sight", "day"],
        sight={"type": "string", "description": f"The sight {SIGHT_ID}"},
        day={**DAY, "description": "The day of the visit"},
    ),
)
LINKS = (
    Link(
        tool="Search_Inns",
        parameter="town_id",
        source="Find_Town",
        entries="towns",
        field="town_id",
    ),
    Link(
        tool="List_Sights",
        parameter="town_id",
        source="Find_Town",
        entries="towns",
        field="town_id",
    ),
    Link(
        tool="Read_Inn_Reviews",
        parameter="inn_id",
        source="Search_Inns",
        entries="inns",
        field="inn_id",
    ),
    Link(
        tool="List_Inn_Rooms",
        parameter="inn_id",
        source="Search_Inns",
        entries="inns",
        field="inn_id",
    ),
    Link(
        tool="Check_Opening_Hours",
        parameter="sight",
        source="List_Sights",
        entries="sights",
        field="id",
    ),
)


class SmallWorld:
    """Answers out of nothing but the arguments; an unknown identifier is a problem."""

    name = "small"
    tools = TOOLS
    links = LINKS

    async def answer(self, call: Call) -> CallResponse:
        return _ANSWERS[call.tool](call.arguments)


def _towns(arguments: dict[str, JsonValue]) -> CallResponse:
    said = str(arguments["query"])
    names = [name for name in TOWNS if said.lower() in name.lower()]
    towns = [
        {"town_id": f"t-{name[:3].lower()}-{TOWNS.index(name)}", "name": name} for name in names
    ]
    return CallResponse(
        {"towns": [*towns, {"town_id": "t-new-9", "name": f"New {said}"}]}
        if towns
        else {"towns": []}
    )


def _inns(arguments: dict[str, JsonValue]) -> CallResponse:
    if not str(arguments["town_id"]).startswith("t-"):
        return CallResponse(problem="There is no such town.")
    rng = Random(str(arguments))
    prices, ratings = rng.sample(range(40, 200), len(INNS)), rng.sample(range(60, 99), len(INNS))
    inns = [
        {
            "inn_id": f"i-{arguments['town_id']}-{at}",
            "name": f"{name} Inn",
            "price": prices[at],
            "rating": ratings[at] / 10,
        }
        for at, name in enumerate(INNS)
    ]
    return CallResponse({"inns": inns})


def _of_inn(arguments: dict[str, JsonValue]) -> CallResponse:
    if not str(arguments["inn_id"]).startswith("i-t-"):
        return CallResponse(problem="There is no such inn.")
    return CallResponse({"inn": arguments["inn_id"], "answers": ["fine", "quiet"]})


def _sights(arguments: dict[str, JsonValue]) -> CallResponse:
    rng = Random(str(arguments))
    marks = rng.sample(range(10, 50), len(SIGHTS))
    town = arguments["town_id"]
    sights = [
        {"id": f"s-{town}-{at}", "title": name, "rating": marks[at] / 10}
        for at, name in enumerate(SIGHTS)
    ]
    return CallResponse({"sights": sights})


def _hours(arguments: dict[str, JsonValue]) -> CallResponse:
    return CallResponse({"sight": arguments["sight"], "opens": "09:00", "closes": "17:00"})


_ANSWERS: dict[str, Callable[[dict[str, JsonValue]], CallResponse]] = {
    "Find_Town": _towns,
    "Search_Inns": _inns,
    "Read_Inn_Reviews": _of_inn,
    "List_Inn_Rooms": _of_inn,
    "List_Sights": _sights,
    "Check_Opening_Hours": _hours,
}
