"""Slots: as many requests at once as a model stands, fewer while it refuses and soon more again as it answers."""

import asyncio
from collections import deque

_GIVEN_UP = 0.5  # of a slot, for each refusal: were all refused, the slots would halve with every round
_WON_BACK = 8  # rounds of good answers that lead from one slot to all


class Slots:
    """A semaphore whose size follows the answers. One reply in four may be a refusal before it shrinks. For one event loop."""

    def __init__(self, most: int) -> None:
        """Begin with `most` slots; there are never more, and never none."""
        self._most = most
        self._size = float(most)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def size(self) -> int:
        """How many slots there are now."""
        return int(self._size)

    async def take(self) -> None:
        """Wait for a slot; first come, first served."""
        if not self._waiting and self._taken < self.size:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.free()  # it came in the moment of leaving: on to the next one
            raise

    def free(self) -> None:
        """Give a slot back."""
        self._taken -= 1
        while self._waiting and self._taken < self.size:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)

    def grow(self) -> None:
        """The model answered."""
        if self._size < self._most:
            self._size = min(self._most, self._size + max(1.0, self._most / _WON_BACK) / self._size)

    def shrink(self) -> None:
        """The model refused, or did not answer."""
        self._size = max(1.0, self._size - _GIVEN_UP)
