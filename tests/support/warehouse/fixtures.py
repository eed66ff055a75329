"""A small release with every shape that the exports must carry."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Message,
    Release,
    ReplyTurn,
    Sample,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import ReleaseContent
from callwright.warehouse.store import Warehouse

NAME = "Travel.Desk.book_trip"


def make_tool(name: str, **properties: Any) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return Tool(name=name, description=f"Do {name}.", parameters=parameters, category="Travel")


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb", patience=5)


@pytest.fixture
def trip() -> Tool:
    return make_tool(
        NAME,
        city={"type": "string", "description": "Where to."},
        nights={"type": "integer", "minimum": 1},
        price={"type": "number"},
        insured={"type": "boolean"},
        board={"type": "string", "enum": ["none", "half"]},
        stops={"type": "array", "items": {"type": "string"}},
        points={"type": "array", "items": {"type": "number"}},
        guests={
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
        room={
            "type": "object",
            "properties": {"beds": {"type": "integer"}, "view": {"type": "object"}},
        },
        note={"anyOf": [{"type": "integer"}, {"type": "null"}]},
        anything={},
    )


@pytest.fixture
def taxi() -> Tool:
    return make_tool("出行.打车/now!", place={"type": "string"})


@pytest.fixture
def arguments() -> dict[str, Any]:
    return {
        "city": "Oslo",
        "nights": 3,
        "price": 99.5,
        "insured": False,
        "board": "half",
        "stops": ["Bergen", "Voss"],
        "points": [1.5, 2],
        "guests": [{"name": "Ida"}],
        "room": {"beds": 2, "view": {"side": "sea"}},
        "note": 7,
        "anything": [4],
    }


@pytest.fixture
def content(trip: Tool, taxi: Tool, arguments: dict[str, Any]) -> ReleaseContent:
    def sample(kind: str, *turns: Any, **more: Any) -> Sample:
        fields = {
            "language": "en",
            "category": "Travel",
            "candidates": (trip.key, taxi.key),
            **more,
        }
        return Sample(kind=kind, turns=turns, **fields)

    asked = UserTurn(text="Book it.", external=Message(app="Mail", text="Oslo, three nights."))
    ride = CallTurn(calls=(GoldCall(tool=taxi.name, arguments={"place": "Voss"}),))
    samples = (
        sample(
            "perfect",
            UserTurn(text="A trip."),
            CallTurn(calls=(GoldCall(tool=NAME, arguments=arguments),)),
        ),
        sample("imperfect", UserTurn(text="Some trip."), CallTurn(calls=(GoldCall(tool=NAME),))),
        sample(
            "external",
            asked,
            CallTurn(calls=(GoldCall(tool=NAME, arguments={"city": "Oslo", "nights": 3}),)),
        ),
        sample(
            "irrelevant",
            UserTurn(text="Sing."),
            CallTurn(),
            candidates=(taxi.key,),
            withheld=(trip.key,),
        ),
        sample(
            "sQsA",
            UserTurn(text="A taxi."),
            CallTurn(calls=(GoldCall(tool=taxi.name),)),
            ReplyTurn(text="Where to?"),
            UserTurn(text="Voss."),
            ride,
        ),
    )
    release = Release(
        name="v1",
        content_hash="0",
        samples=len(samples),
        created_at=datetime(2026, 11, 21, tzinfo=UTC),
    )
    return ReleaseContent(release, samples, {trip.key: trip, taxi.key: taxi})
