"""A world of one's own: a library whose calls are answered out of what it holds, always alike."""

from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from callwright.generators.environments.protocol import CallResponse, Environment, Secret, World, WorldSettings
from callwright.warehouse.records import Call, Link, Tool

BOOKS: dict[str, list[JsonValue]] = {"Persuasion": ["1817", "Jane Austen"], "Solaris": ["1961", "Stanisław Lem"]}
SHELF = Tool(
    name="find_book",
    description="Finds a book by its title.",
    parameters={"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    category="Library",
    source="environment:example",
)


class Settings(WorldSettings):
    """What a recipe says of it, as `{environment: example, first: 1}`."""

    environment: Literal["example"]
    first: int = Field(default=0, description="The first column of a book that is told.")


class Library:
    """Answers calls of its tools; what it refuses is a `problem`, never an exception."""

    tools: tuple[Tool, ...] = (SHELF,)
    links: tuple[Link, ...] = ()

    def __init__(self, settings: Settings) -> None:
        self.name, self._first = settings.name, settings.first

    async def answer(self, call: Call) -> CallResponse:
        """A book by its title."""
        book = BOOKS.get(str(call.arguments.get("title")))
        return CallResponse(book[self._first :]) if book else CallResponse(problem="There is no such book.")


def open_library(settings: Settings, _store: Path, _secret: Secret) -> Environment:
    """The world of these settings."""
    return Library(settings)


WORLD = World("example", Settings, open_library)
