"""The answer at the end of a path tells the fields that were asked for, of every entry that can
be had, and no others.
"""

import pytest

from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.multi_step.samples import Asked, answer_of, telling_fields
from callwright.warehouse.records import Call


async def test_every_day_of_a_search_for_fares_is_told():
    world = open_travel()
    ids = {}
    for city in ("London", "Rome"):
        found = await world.answer(Call(tool="Search_Flight_Location", arguments={"query": city}))
        ids[city] = found.response["data"][0]["id"]
    call = Call(
        tool="Get_Min_Price",
        arguments={"fromId": ids["London"], "toId": ids["Rome"], "departDate": "2027-05-11"},
    )
    response = (await world.answer(call)).response
    text = answer_of([Asked(call.tool, response, vocabulary_of(world).asked(call.tool))], "en")
    assert len(response["data"]) > 1
    assert all(
        f"{day['departureDate']}, price {day['price']} {day['currency']}" in text
        for day in response["data"]
    )


@pytest.mark.parametrize(
    ("response", "fields"),
    [
        (
            {"data": [{"fare": 3, "id": "x"}, {"fare": 4, "note": "late"}]},
            ("data[].fare", "data[].note"),
        ),
        (
            {"status": True, "message": "ok", "data": {"age": 4, "name": "Rex"}},
            ("data.name", "data.age"),
        ),
        ([{"petId": 7, "title": "Rex"}], ("[].title",)),
        ({"ids": ["a"], "url": "b"}, ()),
        ({"status": "sold"}, ("status",)),
        ({"id": "p7", "status": "sold", "price": 4}, ("status", "price")),
    ],
)
def test_of_a_tool_that_names_no_fields_those_are_asked_for_that_people_read(response, fields):
    assert telling_fields(response) == fields
