"""Money is kept: a budget stops before it is passed, and not before that."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.limits import Budget
from callwright.warehouse.errors import BudgetError


async def test_without_a_limit_anything_goes_and_is_counted():
    budget = Budget(None)
    await budget.reserve(1e9)
    budget.settle(1e9, 3.0)

    assert budget.spent == 3.0


async def test_what_would_pass_the_limit_is_refused_with_what_to_do():
    budget = Budget(1.0, spent=0.9)

    with pytest.raises(
        BudgetError, match=r"budget of \$1\.0000 .*\$0\.9000 is spent.*\$0\.2000.*Raise the budget"
    ):
        await budget.reserve(0.2)
    await budget.reserve(0.05)


async def test_requests_under_way_are_waited_for_rather_than_refused():
    budget = Budget(1.0)
    await budget.reserve(0.8)
    second = asyncio.create_task(budget.reserve(0.8))
    await asyncio.sleep(0.001)
    assert not second.done()

    budget.settle(0.8, 0.1)
    await asyncio.wait_for(second, 1)
    budget.settle(0.8, 0.1)

    assert budget.spent == pytest.approx(0.2)


async def test_a_waiter_is_refused_when_the_money_is_gone():
    budget = Budget(1.0)
    await budget.reserve(0.8)
    second = asyncio.create_task(budget.reserve(0.8))
    await asyncio.sleep(0.001)
    budget.settle(0.8, 0.7)

    with pytest.raises(BudgetError):
        await second


@given(st.lists(st.tuples(st.floats(0, 0.3), st.floats(0, 1)), max_size=30), st.floats(0.01, 2))
def test_what_is_spent_never_passes_the_limit(prices, limit):
    async def spend():
        budget = Budget(limit)

        async def one(estimate, part):
            await budget.reserve(estimate)
            await asyncio.sleep(0)
            budget.settle(estimate, estimate * part)

        await asyncio.wait_for(
            asyncio.gather(*(one(*price) for price in prices), return_exceptions=True), 5
        )
        return budget.spent

    assert asyncio.run(spend()) <= limit + 1e-9
