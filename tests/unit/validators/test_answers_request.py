"""An answer tells every field that the goal names; one that does not goes to people, and trains
nobody.
"""

import pytest

from callwright.validators.checks.facts import check_answers
from callwright.warehouse.answers import values_at
from callwright.warehouse.records import (
    AskedField,
    CallPlace,
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    UserTurn,
)

TAXIS = {
    "data": {
        "taxis": [{"category": "Economy", "price": 19.0}, {"category": "Minibus", "price": 1150.0}]
    }
}


def answered(text: str, *asked: str) -> Sample:
    return Sample(
        kind="multi_step",
        language="en",
        category="Taxi",
        candidates=(),
        turns=(
            UserTurn(text="What does a taxi cost?"),
            CallTurn(calls=(GoldCall(tool="Search_Taxi"),), executed=True),
            ResultTurn(results=(TAXIS,)),
            ReplyTurn(text=text),
        ),
        facts=SampleFacts(
            wanted=(CallPlace(0, 0),), asked=tuple(AskedField(0, 0, path) for path in asked)
        ),
    )


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Taxi: Economy, price 19.0 USD; Minibus, price 1150.0 USD.", "proved"),
        ("19 dollars for the small one, 1,150 for the minibus.", "proved"),
        ("Taxi: distance km 2.2, category Economy.", "contradicted"),
        ("The cheapest is 19.0 USD.", "contradicted"),
        ("It costs 219.0 or 1150.05.", "contradicted"),
    ],
)
async def test_an_answer_without_the_price_that_was_asked_for_is_contradicted(text, decision):
    [verdict] = await check_answers(answered(text, "data.taxis[].price"), None)
    assert verdict.decision == decision
    if decision == "contradicted":
        assert verdict.doubts[0].argument == "price"


def test_values_stand_at_paths_through_lists_whose_entries_can_be_had():
    rooms = {
        "rooms": [
            {"name": "A", "beds": ["one", "two"]},
            {"name": "B", "available": False, "beds": ["none"]},
        ]
    }
    assert list(values_at(rooms, "rooms[].beds[]")) == ["one", "two"]
    assert list(values_at(rooms, "rooms[].price")) == []
    assert list(values_at(rooms, "rooms.name")) == []
