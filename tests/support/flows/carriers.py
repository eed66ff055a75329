"""Carriers of tests: shards are worked by a function that is given."""

from collections.abc import Awaitable, Callable

from callwright.flows.run.carry import Carrier
from callwright.flows.run.work import Shard, ShardResult


class CarrierByFunction(Carrier):
    """Works shards by a function, `slots` at once."""

    def __init__(self, given: Callable[[Shard], Awaitable[ShardResult]], slots: int) -> None:
        """Work nothing yet."""
        self._given, self.slots, self.processes = given, slots, slots

    async def work(self, shard: Shard) -> ShardResult:
        """Work a shard as the function does."""
        return await self._given(shard)
