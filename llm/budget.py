"""Money: a limit that is kept by setting a request's price aside before it is asked."""

import asyncio

from warehouse.errors import BudgetError


class Budget:
    """US dollars that a build may spend; None means no limit. For one event loop."""

    def __init__(self, limit: float | None, spent: float = 0.0) -> None:
        """Start with what the same build has `spent` before."""
        self.limit = limit
        self.spent = spent
        self._reserved = 0.0
        self._under_way = 0
        self._settled = asyncio.Event()  # the next time; then there is another one

    async def reserve(self, estimate: float) -> None:
        """Set `estimate` aside; waits while only requests under way stand against it. Raises BudgetError."""
        limit = self.limit
        if limit is None:
            return
        while not self._is_over(estimate, limit) and not self._fits(estimate, limit):
            await self._settled.wait()
        if self._is_over(estimate, limit):
            raise BudgetError(
                f"The budget of ${limit:.4f} does not allow another request: ${self.spent:.4f} is spent, "
                f"and the next one may cost ${estimate:.4f}. Raise the recipe's budget and build again; "
                "what was answered is not asked again."
            )
        self._reserved += estimate
        self._under_way += 1

    def settle(self, estimate: float, cost: float) -> None:
        """Put the true `cost` in place of a reserved `estimate`; 0 where the request failed and is not charged for.

        It waits for nothing, so that money comes back whatever becomes of those who asked.
        """
        self.spent += cost
        if self.limit is None:
            return
        self._under_way -= 1
        # Sums of floats leave dust, and dust must not keep the last waiter waiting.
        self._reserved = self._reserved - estimate if self._under_way else 0.0
        settled, self._settled = self._settled, asyncio.Event()
        settled.set()

    def _is_over(self, estimate: float, limit: float) -> bool:
        return self.spent >= limit or self.spent + estimate > limit

    def _fits(self, estimate: float, limit: float) -> bool:
        return self.spent + self._reserved + estimate <= limit
