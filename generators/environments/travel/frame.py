"""What every function of the world shares: its seed and size, how answers are framed, how requests are refused."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple, TypeVar

from pydantic import JsonValue

from warehouse.errors import RecordError

Entry = TypeVar("Entry")
DAY_FORMAT = "%Y-%m-%d"
MOMENT_FORMAT = "%Y-%m-%d %H:%M"


class Size(NamedTuple):
    """How much a response holds: entries of a list, and sentences, photos and reviews of an entry."""

    entries: int
    sentences: int


SIZES: Mapping[str, Size] = {"short": Size(4, 0), "medium": Size(7, 1), "long": Size(45, 24)}


class World(NamedTuple):
    """All that an answer depends on, besides the call."""

    seed: int
    size: Size


class RequestError(RecordError):
    """A request that a real service would answer with an error; its message is the answer."""


class Request:
    """The arguments of a call, defaults filled in and checked against the schema, read by type."""

    def __init__(self, arguments: Mapping[str, JsonValue]) -> None:
        """Read from `arguments`."""
        self.arguments = arguments

    def given(self, name: str) -> bool:
        """Whether there is a value."""
        return self.arguments.get(name) is not None

    def text(self, name: str) -> str:
        """A text, "" where it is left out."""
        value = self.arguments.get(name)
        return "" if value is None else str(value).strip()

    def number(self, name: str) -> float:
        """A number that the schema demands or gives a default."""
        value = self.arguments[name]
        if not isinstance(value, int | float):
            raise RequestError(f"{name} must be a number.")
        return float(value)

    def whole(self, name: str) -> int:
        """A whole number that the schema demands or gives a default."""
        return int(self.number(name))

    def flag(self, name: str) -> bool:
        """A boolean, false where it is left out."""
        return self.arguments.get(name) is True

    def day(self, name: str) -> date:
        """A date."""
        try:
            return datetime.strptime(self.text(name), DAY_FORMAT).date()  # noqa: DTZ007 - a calendar day has no zone
        except ValueError as error:
            raise RequestError(f"{name} must be a date like 2027-03-14, not {self.text(name)!r}.") from error

    def moment(self, name: str) -> datetime:
        """A date and time of day, at the place itself."""
        try:
            return datetime.strptime(self.text(name), MOMENT_FORMAT)  # noqa: DTZ007 - local to the place
        except ValueError as error:
            raise RequestError(
                f"{name} must be a date and time like 2027-03-14 09:30, not {self.text(name)!r}."
            ) from error

    def stay(self, first: str, last: str) -> tuple[date, int]:
        """The day that a stay begins and its length; refused where it does not end after it begins."""
        start, end = self.day(first), self.day(last)
        if end <= start:
            raise RequestError(f"{last} must be later than {first}.")
        return start, (end - start).days


def success(data: JsonValue) -> JsonValue:
    """A response that worked."""
    return {"status": True, "message": "Success", "data": data}


def refusal(message: str) -> JsonValue:
    """A response that says what was wrong with the request."""
    return {"status": False, "message": message}


def page_of(entries: Sequence[Entry], page: int, world: World) -> Sequence[Entry]:
    """One page of a list, pages counted from 1."""
    return entries[(page - 1) * world.size.entries : page * world.size.entries]
