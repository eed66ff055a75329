"""What travellers may say: values of each kind, fitting the parameters that take them."""

from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.tools import value_validator
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import ElementKind, Tool
from tests.support.generators.environments.travel_calls import (
    Traveller,
    city_named,
    famous_cities,
    scope_of,
    values_at,
)

WORLD = open_travel()
SCOPE, SAID = scope_of(WORLD), vocabulary_of(WORLD)
CITIES = [str(city["name"]) for city in famous_cities()]
UNSAID = {"identifier", "text"}
KINDS = [kind for kind in get_args(ElementKind) if kind not in UNSAID]
TYPED = {"age", "count", "currency", "date", "distance", "language", "number", "people", "price"}


@given(kind=st.sampled_from(KINDS), seed=st.integers(), city=st.sampled_from(CITIES))
def test_every_kind_can_be_said_and_the_same_chance_says_the_same(
    kind: ElementKind, seed: int, city: str
) -> None:
    said = SCOPE.said(kind, Random(seed), city_named(WORLD, city))
    assert said not in (None, "")
    assert SCOPE.said(kind, Random(seed), city_named(WORLD, city)) == said


@pytest.mark.parametrize("kind", sorted(UNSAID))
def test_nobody_says_an_identifier(kind: ElementKind) -> None:
    with pytest.raises(ConfigurationError, match=kind):
        SCOPE.said(kind, Random(1), None)


@pytest.mark.parametrize("tool", WORLD.tools, ids=lambda tool: tool.name)
def test_what_is_said_fits_the_parameters_that_take_it(tool: Tool) -> None:
    for parameter, schema in tool.properties.items():
        if parameter == "legs":
            continue
        element = SAID.element(tool.name, parameter)
        if element in TYPED and schema["type"] != "string" and "enum" not in schema:
            said = SCOPE.said(element, Random(3), city_named(WORLD, "Rome"))
            assert value_validator(schema).is_valid(said), (parameter, said)
    assert "legs" not in tool.properties or SAID.element(tool.name, "legs[].date") == "date"


def test_what_must_stay_in_every_variant_stays() -> None:
    kept = [
        ("Search_Hotels", "sort_by"),
        ("Search_Hotels", "categories_filter"),
        ("Get_Hotel_Reviews", "sort_option_id"),
        ("Search_Car_Rentals", "sort_by"),
        ("Booking_Summary", "extras"),
        ("Get_Attraction_Reviews", "sort_by"),
        ("Search_Hotels", "dest_id"),
    ]
    assert not any(SAID.is_replaceable(tool, parameter) for tool, parameter in kept)
    replaced = [
        ("Search_Flights", "cabinClass"),
        ("Search_Flights", "departDate"),
        ("Search_Hotels", "adults"),
    ]
    assert all(SAID.is_replaceable(tool, parameter) for tool, parameter in replaced)


@given(city=st.sampled_from(CITIES))
def test_hotels_of_a_city_have_names_of_their_own(city: str) -> None:
    names, sights = (
        SCOPE.inside(kind, city_named(WORLD, city)) for kind in ("hotel", "attraction")
    )
    assert len(set(names)) == len(names) > 20
    assert all(city in name for name in names)
    chains = [
        str(hotel["chain"])
        for hotel in SCOPE.rows("hotel", city_named(WORLD, city))
        if hotel["chain"]
    ]
    assert len(chains) > 10
    assert len(set(sights)) == len(sights) > 15


async def test_every_place_that_can_be_said_is_found_by_every_search() -> None:
    traveller = Traveller(open_travel(3), "Paris", "Rome")
    searches = (
        "Search_Hotel_Destination",
        "Location_to_Lat_Long",
        "Search_Car_Location",
        "Taxi_Search_Location",
    )
    for city in famous_cities():
        for number, place in enumerate((*city["airports"], *city["landmarks"], *city["districts"])):
            name = searches[(city.number + number) % len(searches)]
            found = values_at(
                await traveller.good(name, {"query": f"{place['name']}, {city['name']}"}),
                "data",
                "name",
            )
            assert place["name"] in found, (name, place["name"])
        for airport in city["airports"]:
            assert airport["name"] in values_at(
                await traveller.good("Search_Flight_Location", {"query": airport["name"]}),
                "data",
                "name",
            )
