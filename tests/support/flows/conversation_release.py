"""A release of conversations, put into a warehouse as a build would have landed them."""

from collections.abc import Sequence

from callwright.flows.settings import Settings
from callwright.warehouse.records import (
    NO_FACTS,
    CallTurn,
    GoldCall,
    ReplyTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import freeze
from tests.support.flows.small_builds import warehouse_of

NAME = "v1"
HOTEL = Tool(
    name="book_hotel",
    description="Book a hotel room.",
    category="Hotels",
    parameters={
        "type": "object",
        "required": ["city", "nights"],
        "properties": {
            "city": {
                "type": "string",
                "description": "The city",
                "examples": ["Bergen", "Porto", "Ghent", "Lyon"],
            },
            "nights": {"type": "integer", "minimum": 1, "description": "How many nights"},
        },
    },
)
ALARM = Tool(
    name="set_alarm",
    description="Set an alarm.",
    category="Clock",
    parameters={
        "type": "object",
        "required": ["label"],
        "properties": {"label": {"type": "string"}},
    },
)


def sample(city: str, nights: int, *, kind: str = "sQsA", facts: SampleFacts = NO_FACTS) -> Sample:
    """A hotel is asked for, then the city is said, then the nights."""
    steps = ({}, {"city": city}, {"city": city, "nights": nights})
    said = (
        f"I need to book a hotel room{'!' * nights}",
        f"The city is {city}.",
        f"{nights} nights.",
    )
    asked = ("In which city?", "How many nights?", "Done.")
    turns = [
        turn
        for text, arguments, reply in zip(said, steps, asked, strict=True)
        for turn in (
            UserTurn(text=text),
            CallTurn(calls=(GoldCall(tool="book_hotel", arguments=arguments),)),
            ReplyTurn(text=reply),
        )
    ]
    return Sample(
        kind=kind,
        language="en",
        category="Hotels",
        candidates=(HOTEL.key, ALARM.key),
        turns=tuple(turns[:-1]),
        facts=facts,
    )


def away(city: str) -> Sample:
    """A hotel is asked for, then the user turns to the stars."""
    turns = (
        *sample(city, 4).turns[:3],
        UserTurn(text="Oh wait, what do the stars say about me?"),
        CallTurn(),
    )
    return sample(city, 4, kind="IS", facts=SampleFacts(shifts=(1,))).with_changes(turns=turns)


def release(settings: Settings, samples: Sequence[Sample], name: str = NAME) -> None:
    """Freeze the samples under a name."""
    warehouse = warehouse_of(settings)
    warehouse.put([HOTEL, ALARM, *samples])
    freeze(warehouse, name, sorted(one.key for one in samples))
