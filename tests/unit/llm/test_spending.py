"""What asking costs: a budget stops it, and what nobody knows the price of counts as what was set aside."""

import asyncio

import pytest
from pydantic import BaseModel

from llm.chat import RawReply
from llm.limits import Budget, Limits
from warehouse.errors import BudgetError, TransientError


class PricedTrip(BaseModel):
    """What the tests ask for."""

    city: str
    days: int


GOOD = '{"city":"Lyon","days":2}'
LYON = PricedTrip(city="Lyon", days=2)


class PricedAdapter:
    """Each request costs ten cents, and is expected to."""

    def __init__(self, count=0):
        self.count = count

    async def send(self, request):
        self.count += 1
        await asyncio.sleep(0)
        return RawReply(GOOD, None, 10, 5, 0.1)

    async def price(self, prompt_tokens, completion_tokens):
        return 0.1

    async def close(self):
        pass


async def test_a_budget_stops_the_asking_and_what_is_known_stays_free(chat_with, prompt):
    adapter, budget = PricedAdapter(), Budget(0.55, spent=0.2)
    chat = chat_with(adapter, budget=budget)

    ended = await asyncio.gather(
        *(chat.ask(prompt, PricedTrip, sample_index=n) for n in range(9)), return_exceptions=True
    )

    assert ended.count(LYON) == adapter.count == 3
    assert all(isinstance(end, BudgetError) for end in ended if end != LYON)
    assert budget.spent == pytest.approx(0.5)
    assert len(chat.calls) == 3, "what was not sent is no call"
    known = [number for number, end in enumerate(ended) if end == LYON]
    assert await chat.ask(prompt, PricedTrip, sample_index=known[0]) == LYON


class SilentAdapter(PricedAdapter):
    """Its first replies never come, and nobody knows whether they were charged for."""

    def __init__(self, silent):
        super().__init__()
        self.silent = silent

    async def send(self, request):
        if self.count < self.silent:
            self.count += 1
            raise TransientError("No answer within 1 s.", may_be_charged=True)
        return await super().send(request)

    async def price(self, prompt_tokens, completion_tokens):
        return 0.01 * prompt_tokens + 0.001 * completion_tokens


PROMPTED, AT_MOST = 5, 20  # tokens: the prompt's 20 bytes by four, and max_tokens
SET_ASIDE = 0.01 * PROMPTED + 0.001 * AT_MOST


async def test_a_reply_that_never_came_counts_as_what_was_set_aside(chat_with, prompt):
    adapter, budget = SilentAdapter(2), Budget(1.0)
    chat = chat_with(adapter, budget=budget, options=(("max_tokens", AT_MOST),))

    assert await chat.ask(prompt, PricedTrip) == LYON

    assert budget.spent == pytest.approx(2 * SET_ASIDE + 0.1)
    assert [call.cost for call in chat.calls] == [pytest.approx(2 * SET_ASIDE + 0.1)]
    assert await chat.ask(prompt, PricedTrip) == LYON
    assert chat.calls[1].cost == 0.0, "the answer itself is known"


async def test_replies_that_never_come_use_the_budget_up(chat_with, prompt):
    adapter, budget = SilentAdapter(99), Budget(2.5 * SET_ASIDE)
    chat = chat_with(adapter, budget=budget, options=(("max_tokens", AT_MOST),))

    with pytest.raises(BudgetError, match="does not allow another request"):
        await chat.ask(prompt, PricedTrip)

    assert adapter.count == 2
    assert budget.spent == pytest.approx(2 * SET_ASIDE)
    assert [(call.cost, "budget" in call.error) for call in chat.calls] == [(pytest.approx(2 * SET_ASIDE), True)]


async def test_a_batch_that_was_not_seen_in_time_is_charged_for_when_it_is(chat_with, prompt):
    class Batched(SilentAdapter):
        async def send_under(self, key, request):
            return await self.send(request)

    budget = Budget(1.0)
    chat = chat_with(Batched(1), budget=budget)

    assert await chat.ask(prompt, PricedTrip) == LYON
    assert budget.spent == chat.calls[0].cost == 0.1


async def test_a_refusal_is_not_charged_for(chat_with, prompt):
    class Refusing(SilentAdapter):
        async def send(self, request):
            raise TransientError("Busy.")

    budget = Budget(1.0)
    chat = chat_with(Refusing(0), budget=budget, limits=Limits(attempts=3))

    with pytest.raises(TransientError):
        await chat.ask(prompt, PricedTrip)
    assert budget.spent == chat.calls[0].cost == 0.0


async def test_money_is_set_aside_inside_the_slot_only(chat_with, prompt):
    adapter = PricedAdapter()
    chat = chat_with(adapter, budget=Budget(1.05), limits=Limits(concurrency=1))

    await asyncio.gather(*(chat.ask(prompt, PricedTrip, sample_index=number) for number in range(10)))

    assert adapter.count == 10


async def test_a_spent_budget_does_not_stop_models_that_cost_nothing(chat_with, scripted, prompt):
    assert await chat_with(scripted(GOOD), budget=Budget(1.0, spent=2.0)).ask(prompt, PricedTrip) == LYON
