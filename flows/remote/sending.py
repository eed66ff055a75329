"""How parcels reach workers, and how often these give a sign of life."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

BEAT = 1.0  # seconds between a worker's signs of life, and what it may have paid for in vain where its machine is lost


class Sender(NamedTuple):
    """Whoever takes parcels to workers: `send` returns when one has ended, and says no word of the result; so many at once."""

    send: Callable[[str], Awaitable[None]]
    slots: int
