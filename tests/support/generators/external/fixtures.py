"""A ride that is ordered in one request, or asked for bit by bit, and what a model may say about
it.
"""

from random import Random

import pytest

from callwright.generators.external.entities import Entities, FoundEntity
from callwright.generators.stages import StageContext
from callwright.testing import Line, ScriptedModel
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    Evidence,
    GoldCall,
    ReplyTurn,
    Sample,
    Tool,
    UserTurn,
)

RIDE = Tool(
    name="order_ride",
    description="Order a car.",
    category="Rides",
    parameters={
        "type": "object",
        "properties": {
            "pickup": {"type": "string", "description": "pickup point"},
            "destination": {"type": "string", "description": "destination"},
            "date": {"type": "string", "format": "date", "description": "day of the ride"},
            "passengers": {
                "type": "integer",
                "minimum": 1,
                "maximum": 6,
                "description": "number of passengers",
            },
            "vehicle": {
                "type": "string",
                "enum": ["economy", "luxury"],
                "description": "type of car",
            },
        },
        "required": ["pickup", "destination", "passengers"],
    },
)
TOOLS = {RIDE.key: RIDE}
REQUEST = "Order a car from the old mill to Central Station for 3 passengers."
SPANS = {"pickup": "the old mill", "destination": "Central Station", "passengers": "3"}
VALUES = {"pickup": "the old mill", "destination": "Central Station", "passengers": 3}


def said(argument: str, quote: str, turn: int, text: str) -> Evidence:
    start = text.index(quote)
    return Evidence(
        argument=argument, kind="span", turn=turn, start=start, end=start + len(quote), quote=quote
    )


@pytest.fixture
def perfect() -> Sample:
    call = GoldCall(
        tool="order_ride",
        arguments=VALUES,
        evidence=tuple(said(name, quote, 0, REQUEST) for name, quote in SPANS.items()),
    )
    return Sample(
        kind="perfect",
        language="en",
        category="Rides",
        candidates=(RIDE.key,),
        turns=(UserTurn(text=REQUEST), CallTurn(calls=(call,))),
    )


@pytest.fixture
def dialogue() -> Sample:
    texts = ("Order a car for 3 passengers.", "From the old mill.", "Central Station, please.")
    evidence = (
        said("passengers", "3", 0, texts[0]),
        said("pickup", "the old mill", 3, texts[1]),
        said("destination", "Central Station", 6, texts[2]),
    )
    snapshots = [
        GoldCall(
            tool="order_ride",
            arguments={one.argument: VALUES[one.argument] for one in evidence[: count + 1]},
            evidence=evidence[: count + 1],
        )
        for count in range(3)
    ]
    first, second, third = (CallTurn(calls=(call,)) for call in snapshots)
    return Sample(
        kind="sQsA",
        language="en",
        category="Rides",
        candidates=(RIDE.key,),
        turns=(
            UserTurn(text=texts[0]),
            first,
            ReplyTurn(text="Where shall I pick you up?"),
            UserTurn(text=texts[1]),
            second,
            ReplyTurn(text="Where do you want to go?"),
            UserTurn(text=texts[2]),
            third,
        ),
    )


def derivation(source: Sample) -> Derivation:
    return Derivation(transform="external", source=source, seed=5)


def context_of(**script: list[Line]) -> StageContext:
    return StageContext(chat=ScriptedModel(script), rng=Random(4), tools=TOOLS)


def found(*pairs: tuple[int, str]) -> Entities:
    return Entities(
        entities=[FoundEntity.model_validate({"id": at, "entity": kind}) for at, kind in pairs]
    )
