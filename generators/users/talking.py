"""Talking with a simulated user: an assistant calls and speaks until it has said its last word, or may do no more."""

from collections.abc import Sequence
from itertools import count
from typing import Protocol, TypeVar

from callwright.generators.users.user import SimulatedUser
from callwright.warehouse.records import Exchange

USER_IS_THERE = (
    "The person is there and answers you. Where something that you need was neither said nor can be found by a call, call"
    " nothing and ask the person for it in your answer; what they say stands in the history. Do not guess it. Once all is"
    " done, say so, tell what was asked for, and ask nothing more: that ends the conversation."
)


class NextMove(Protocol):
    """What an assistant does next: its calls, or, without any, what it says."""

    @property
    def calls(self) -> Sequence[object]:
        """The calls to make at once."""

    @property
    def answer(self) -> str:
        """What it says."""


Move = TypeVar("Move", bound=NextMove)


class Assistant(Protocol[Move]):
    """Who is talked with: a model, and what answers its calls."""

    @property
    def is_over(self) -> bool:
        """Whether it may do no more."""

    async def move(self, history: Sequence[Exchange]) -> Move:
        """What it does next, after what was called and said so far."""

    async def call(self, move: Move) -> Exchange | None:
        """Make the calls of a move; None where the assistant is shown nothing of them."""

    async def say(self, move: Move, told: str | None) -> None:
        """Take note of what it said and was told; None: it was its last word."""


async def converse(assistant: Assistant[Move], user: SimulatedUser | None, history: list[Exchange], most: int) -> None:
    """Let an assistant go on from a history, to which is added what is called and said, until it is over.

    The user answers what is said within the first `most` moves. Where nobody does, what is said first ends it.
    """
    for number in count():
        if assistant.is_over:
            return
        move = await assistant.move(history)
        if move.calls:
            made = await assistant.call(move)
            history += [] if made is None else [made]
            continue
        told = await user.hear(move.answer) if user and move.answer and number < most else None
        await assistant.say(move, told)
        if told is None:
            return
        history.append(Exchange(calls=(), responses=(), said=move.answer, told=told))
