"""The travel world: every function answers, alike for the same call, and says what is wrong with
a bad one.
"""

import asyncio
from collections import Counter

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from callwright.generators.environments.episodes import START, world_of
from callwright.generators.environments.travel import open_travel
from callwright.warehouse.records import Call, Tool
from tests.support.generators.environments.travel_calls import (
    NothingThereError,
    Traveller,
    famous_cities,
    inside,
)

WORLD = open_travel()
TOOLS = {tool.name: tool for tool in WORLD.tools}
NAMES = sorted(TOOLS)
CITIES = [str(city["name"]) for city in famous_cities()]
PARIS = {"arrival_date": "2027-03-01", "departure_date": "2027-03-04"}
TRIP = {"fromId": "PAR.CITY", "toId": "TYO.CITY", "departDate": "2027-03-01"}
HIRE = {
    "pick_up_latitude": 41.9,
    "pick_up_longitude": 12.5,
    "drop_off_latitude": 41.9,
    "drop_off_longitude": 12.5,
    "pick_up_date": "2027-03-01",
    "drop_off_date": "2027-03-05",
}


@pytest.fixture
def traveller() -> Traveller:
    return Traveller(WORLD, "Paris", "Rome")


async def destination(traveller: Traveller, query: str, **wanted: str) -> dict[str, JsonValue]:
    listed = inside(await traveller.good("Search_Hotel_Destination", {"query": query}), "data")
    assert isinstance(listed, list)
    found = [
        entry for entry in listed if isinstance(entry, dict) and wanted.items() <= entry.items()
    ]
    return {"dest_id": found[0]["dest_id"], "search_type": found[0]["search_type"], **PARIS}


def test_the_world_has_the_domains_and_as_many_functions_as_the_paper() -> None:
    counts = Counter(tool.category for tool in WORLD.tools)
    assert counts == {
        "Hotels": 18,
        "Flights": 10,
        "Car Rental": 9,
        "Attraction": 9,
        "Taxi": 2,
        "Shared": 4,
    }
    assert {tool.source for tool in WORLD.tools} == {"environment:travel"}
    assert len(CITIES) >= 60


@pytest.mark.parametrize("name", NAMES)
async def test_every_function_can_be_called_and_answers_as_its_schema_says(
    name: str, traveller: Traveller
) -> None:
    response = await traveller.good(name, await traveller.arguments(name))
    assert TOOLS[name].returns is not None
    assert [
        error.message for error in Draft202012Validator(TOOLS[name].returns).iter_errors(response)
    ] == []


@pytest.mark.parametrize("tool", WORLD.tools, ids=lambda tool: tool.name)
def test_schemas_are_valid_and_say_their_defaults(tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.parameters)
    for name, schema in tool.properties.items():
        assert schema["description"], name
        assert ("default" in schema) == ("Default:" in schema["description"]), name
        assert not (name in tool.required and "default" in schema), name
        assert not {"element", "fixed", "from", "required"} & (set(schema) - {"items"}), name


@given(
    city=st.sampled_from(CITIES),
    other=st.sampled_from(CITIES),
    number=st.integers(0, len(NAMES) - 1),
    seed=st.integers(0, 99),
)
@example(city="Athens", other="Paris", number=32, seed=0)
def test_the_same_call_is_answered_alike_and_defaults_may_be_left_out(
    city: str, other: str, number: int, seed: int
) -> None:
    tool = TOOLS[NAMES[number]]
    defaults = {
        name: schema["default"] for name, schema in tool.properties.items() if "default" in schema
    }

    async def check() -> None:
        if city == other:
            return
        first = Traveller(open_travel(seed), city, other)
        try:
            arguments = await first.arguments(tool.name)
        except NothingThereError:
            reject()
        answered = await first.ask(tool.name, arguments)
        assert await Traveller(open_travel(seed), city, other).ask(tool.name, arguments) == answered
        assert (
            await first.ask(tool.name, dict(reversed(list({**arguments, **defaults}.items()))))
            == answered
        )

    asyncio.run(check())


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("Search_Hotels", {"dest_id": "-1", "search_type": "city"}, "arrival_date"),
        ("Search_Hotels", {"dest_id": "-1", "search_type": "city", **PARIS}, "no destination"),
        ("Search_Hotels", {"dest_id": "x", "search_type": "hotel", **PARIS}, "no hotel"),
        ("Search_Hotel_Destination", {"query": "Rome", "town": "Rome"}, "town"),
        ("Search_Hotel_Destination", {"query": 5}, "string"),
        ("Search_Hotel_Destination", {"query": "Rome", "languagecode": "xx"}, "language"),
        ("Get_Hotel_Details", {"hotel_id": "12", **PARIS}, "no hotel"),
        (
            "Get_Hotel_Details",
            {"hotel_id": "12", "arrival_date": "1 March", "departure_date": "2027-03-04"},
            "date",
        ),
        ("Search_Flights", {**TRIP, "toId": "XXX.AIRPORT"}, "XXX.AIRPORT"),
        ("Search_Flights", {**TRIP, "toId": "CDG.AIRPORT"}, "same city"),
        ("Search_Flights", {**TRIP, "returnDate": "2027-02-01"}, "order"),
        ("Search_Flights", {**TRIP, "cabinClass": "STEERAGE"}, "STEERAGE"),
        ("Search_Flights", {**TRIP, "currency_code": "XYZ"}, "XYZ"),
        (
            "Search_Flights_Multi_Stops",
            {"legs": [{"fromId": "PAR.CITY", "toId": "ROM.CITY"}]},
            "date",
        ),
        ("Get_Flight_Details", {"token": "abc"}, "token"),
        ("Get_Seat_Map", {"offerToken": "AAAA"}, "offerToken"),
        (
            "Search_Car_Rentals",
            {**HIRE, "drop_off_latitude": 0, "drop_off_longitude": 0},
            "No cars",
        ),
        ("Search_Car_Rentals", {**HIRE, "drop_off_date": "2027-02-01"}, "hour"),
        ("Search_Car_Rentals", {**HIRE, "pick_up_time": "25:00"}, "25:00"),
        ("Vehicle_Details", {"vehicle_id": "1", "search_key": "nothing"}, "search_key"),
        ("Search_Attractions", {"id": "nothing"}, "destination"),
        ("Get_Attraction_Details", {"slug": "pr123456-tower"}, "slug"),
        ("Get_Attraction_Reviews", {"id": "nothing"}, "attraction"),
        ("Get_Ticket_Types", {"offerId": "nothing"}, "offer"),
        (
            "Search_Taxi",
            {
                "pick_up_place_id": "a",
                "drop_off_place_id": "b",
                "pick_up_date_time": "2027-03-01 10:00",
            },
            "place",
        ),
        ("Get_Exchange_Rates", {"base_currency": "XYZ"}, "XYZ"),
    ],
)
async def test_a_bad_request_is_refused_with_a_message(
    tool: str, arguments: dict[str, JsonValue], word: str, traveller: Traveller
) -> None:
    assert word in await traveller.refused(tool, arguments)
    episode = WORLD.begin()
    told = episode.answer(Call(tool=tool, arguments=arguments))
    assert isinstance(told.response, dict)
    assert told.response["status"] is False
    assert word in str(told.response["message"])
    assert episode.state == START


async def test_an_episode_answers_as_the_world_does_and_knows_another_seed() -> None:
    world, search = (
        world_of(WORLD),
        Call(tool="Search_Hotel_Destination", arguments={"query": "Paris"}),
    )
    episode = world.begin()
    assert episode.answer(search) == await WORLD.answer(search)
    assert (episode.state.clock, dict(episode.state.things)) == (1, {})
    assert (
        world.begin(7).answer(search)
        == await open_travel(7).answer(search)
        != await WORLD.answer(search)
    )
    assert (world.unclear, any(world.writes(name) for name in NAMES)) == ((), False)
