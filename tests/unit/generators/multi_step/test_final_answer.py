"""The reply at the end of a path states what the responses say of what was asked for."""

from callwright.generators.environments.travel import open_travel
from callwright.generators.multi_step.samples import final_answer
from callwright.warehouse.records import Call


async def test_of_prices_on_several_days_that_of_the_day_asked_for_is_stated():
    world = open_travel()
    ids = {}
    for city in ("London", "Rome"):
        found = await world.answer(Call(tool="Search_Flight_Location", arguments={"query": city}))
        ids[city] = found.response["data"][0]["id"]
    asked = {"fromId": ids["London"], "toId": ids["Rome"], "departDate": "2027-05-11", "currency_code": "EUR"}
    call = Call(tool="Get_Min_Price", arguments=asked)
    response = (await world.answer(call)).response
    price = next(day["price"] for day in response["data"] if day["departureDate"] == "2027-05-11")
    text = final_answer([(call, response)], "en")
    assert "departure date 2027-05-11" in text
    assert f"price {price}" in text


def test_of_entries_without_names_that_share_nothing_with_the_call_the_first_is_stated():
    call = Call(tool="Get_Fares", arguments={"id": "x"})
    assert final_answer([(call, {"data": [{"fare": 3}, {"fare": 4}]})], "en") == "Fares: fare 3."


def test_a_day_that_is_not_available_is_no_answer():
    call = Call(tool="Get_Availability_Calendar", arguments={"start_date": "2027-12-03"})
    days = [
        {"date": "2027-12-03", "available": False, "price": 15}, {"date": "2027-12-04", "available": True, "price": 16},
    ]  # fmt: skip
    assert final_answer([(call, {"days": days})], "en") == "Availability calendar: date 2027-12-04, price 16."
    assert "2027" not in final_answer([(call, {"days": days[:1]})], "en")
