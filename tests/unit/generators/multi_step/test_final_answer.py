"""The answer at the end of a path tells the fields that were asked for, of every entry that can
be had, and no others.
"""

import pytest

from callwright.generators.environments.travel import open_travel
from callwright.generators.environments.vocabularies import vocabulary_of
from callwright.generators.multi_step.samples import Asked, answer_of, telling_fields
from callwright.warehouse.records import Call

TAXIS = {
    "data": {
        "taxis": [{"category": "Economy", "seats": 3, "price": 19.0, "currency": "USD"}],
        "distance_km": 2.2,
    }
}
DAYS = {
    "data": {
        "days": [
            {"date": "2027-12-03", "available": False},
            {"date": "2027-12-04", "available": True},
        ]
    }
}


def test_what_a_taxi_costs_is_told_with_its_currency_and_nothing_else():
    asked = vocabulary_of(open_travel()).asked("Search_Taxi")
    assert answer_of([Asked("Search_Taxi", TAXIS, asked)], "en") == "Taxi: Economy, price 19.0 USD."


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
    ("days", "told"), [(DAYS, "2027-12-04"), ({"data": {"days": DAYS["data"]["days"][:1]}}, "none")]
)
def test_days_on_which_nothing_is_free_are_no_answer(days, told):
    asked = Asked("Get_Room_Availability", days, ["data.days[].date"])
    assert answer_of([asked], "en") == f"Room availability: {told}."


def test_a_list_of_plain_values_is_told_by_what_it_is_called():
    response = {"data": {"included": ["Theft cover", "Roadside help"]}}
    told = answer_of([Asked("Vehicle_Details", response, ["data.included[]"])], "en")
    assert told == "Vehicle details: included Theft cover, Roadside help."


def test_yes_and_no_are_told_in_the_language_of_the_sample():
    response = {"data": {"children_welcome": False}}
    assert answer_of(
        [Asked("Get_Child_Policies", response, ["data.children_welcome"])], "es"
    ).endswith(" no.")


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


def test_a_field_that_no_path_leads_to_is_not_asked_for() -> None:
    response = {"labels": {"prefect.flow": "nightly", "owner": "ops"}, "name": "run 7"}
    assert telling_fields(response) == ("name", "labels.owner")


def test_what_names_nothing_worth_telling_is_done():
    assert answer_of([Asked("Delete_Pet", {"id": "x"}, ())], "en") == "Delete pet: done."
    assert answer_of([], "en") == "Done."
