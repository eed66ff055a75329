"""What answers calls: a simulated world, a live server, or stored responses. All behind one protocol."""

from typing import NamedTuple, Protocol

from pydantic import JsonValue

from warehouse.records import Call, Link, Tool


class Answer(NamedTuple):
    """What a call was answered. `problem` says why there is no response; "" where there is one.

    `passing` says that a problem is not the answer to this call: another try or another setup may be answered otherwise.
    """

    response: JsonValue = None
    problem: str = ""
    passing: bool = False


class Environment(Protocol):
    """Answers calls of its tools; the same call is always answered alike (what changes is stored the first time)."""

    @property
    def name(self) -> str:
        """The name that recipes and samples call it by."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools; `category` is the domain."""

    @property
    def links(self) -> tuple[Link, ...]:
        """Every place in a response that can give a parameter its value."""

    async def answer(self, call: Call) -> Answer:
        """The response to a call, never an exception: what goes wrong is told in `problem`."""
