"""The links of the travel world: each leads from a response to a call that works, and
descriptions tell the same.
"""

import asyncio

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from callwright.generators.environments.linking import hint_of
from callwright.generators.environments.travel import open_travel
from callwright.warehouse.records import JsonSchema, Link
from tests.support.generators.environments.travel_calls import (
    NothingThereError,
    Traveller,
    famous_cities,
)

WORLD = open_travel()
TOOLS = {tool.name: tool for tool in WORLD.tools}
CITIES = [str(city["name"]) for city in famous_cities()]


def schema_of(link: Link) -> JsonSchema:
    first, _, member = link.parameter.partition("[].")
    schema = TOOLS[link.tool].properties[first]
    return schema["items"]["properties"][member] if member else schema


@pytest.mark.parametrize(
    "link", WORLD.links, ids=lambda link: f"{link.tool}.{link.parameter}-{link.source}"
)
async def test_every_link_leads_from_a_response_to_a_call_that_works(link: Link) -> None:
    traveller = Traveller(WORLD, "London", "Rome")
    assert (
        await traveller.good(link.tool, await traveller.arguments(link.tool, by=link)) is not None
    )


@given(
    seed=st.integers(0, 10_000),
    pair=st.lists(st.sampled_from(CITIES), min_size=2, max_size=2, unique=True),
    link=st.sampled_from(WORLD.links),
)
def test_links_hold_in_every_city_under_every_seed(seed: int, pair: list[str], link: Link) -> None:
    async def follow() -> None:
        traveller = Traveller(open_travel(seed), *pair)
        assert (
            await traveller.good(link.tool, await traveller.arguments(link.tool, by=link))
            is not None
        )

    try:
        asyncio.run(follow())
    except NothingThereError:
        assume(link.source != "Get_Availability")  # an attraction is closed on some days
        raise


@pytest.mark.parametrize(
    "link", WORLD.links, ids=lambda link: f"{link.tool}.{link.parameter}-{link.source}"
)
def test_descriptions_say_where_values_come_from_and_end_with_it(link: Link) -> None:
    description = schema_of(link)["description"]
    assert hint_of(link, TOOLS[link.source]) in description
    assert description.endswith(")")


def test_what_a_link_names_exists() -> None:
    for link in WORLD.links:
        assert link.tool in TOOLS
        assert link.source in TOOLS
    assert len(set(WORLD.links)) == len(WORLD.links)


def test_every_parameter_that_nobody_can_say_has_a_link() -> None:
    linked = {(link.tool, link.parameter) for link in WORLD.links}
    for name in (
        "dest_id",
        "hotel_id",
        "token",
        "offerToken",
        "slug",
        "search_key",
        "vehicle_id",
        "pick_up_place_id",
    ):
        for tool in WORLD.tools:
            assert name not in tool.properties or (tool.name, name) in linked, (tool.name, name)


def test_coordinates_come_from_several_functions() -> None:
    sources = {link.source for link in WORLD.links if link.parameter == "latitude"}
    assert {"Search_Hotel_Destination", "Location_to_Lat_Long"} <= sources
