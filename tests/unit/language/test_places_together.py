"""Places of one call go together: no train leaves for another continent, and no taxi for another
town.
"""

from random import Random

import pytest

from callwright.language.calls.codes import lands
from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import fill_in

_TEXT = {"type": "string", "description": "city"}
_NAMES = ["origin", "destination"]


@pytest.mark.parametrize("language", ["en", "es", "zh"])
def test_a_tool_that_goes_by_land_stays_on_it_and_a_flight_need_not(language: str) -> None:
    properties = dict.fromkeys(_NAMES, _TEXT)
    joined: dict[str, list[bool]] = {}
    for tool in ("findTrains", "Trains.Search.find", "findFlights"):
        shown = in_context(properties, tool, "Find what runs.")
        for seed in range(60):
            drawn = fill_in(_NAMES, shown, language, Random(seed))
            origin, destination = (lands(language)[str(drawn[name])] for name in _NAMES)
            joined.setdefault(tool, []).append(origin == destination)
            assert drawn["origin"] != drawn["destination"]
    assert sum(joined["Trains.Search.find"]) >= 55  # but where a land has one place alone
    if language != "zh":
        assert sum(joined["findFlights"]) < 50


def test_parks_and_stations_are_not_mixed_with_cities() -> None:
    spots = {
        "type": "string",
        "description": "starting point",
        "examples": ["Union Station", "the museum", "Lakeside Mall"],
    }
    cities = {"type": "string", "description": "departure city", "examples": ["Boston", "Oslo"]}
    drawn = {
        str(fill_in(["origin"], {"origin": spots}, "en", Random(seed))["origin"])
        for seed in range(40)
    }
    assert drawn == {*spots["examples"]}
    assert (
        len(
            {
                str(fill_in(["origin"], {"origin": cities}, "en", Random(seed))["origin"])
                for seed in range(40)
            }
        )
        > 5
    )
