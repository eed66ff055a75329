"""What asking costs: a budget stops it, and what nobody knows the price of counts as what was
set aside.
"""

import asyncio

import pytest
from pydantic import BaseModel

from callwright.llm.chat import ChatMessage, ChatRequest, Prompt, RawReply
from callwright.llm.known_models import known_model
from callwright.llm.limits import Budget, Limits
from callwright.llm.prices import (
    OwnPrice,
    TokenEstimates,
    count_tokens,
    find_price,
    knows_tokenizer,
    longest_reply,
    read_usage,
)
from callwright.llm.stated_schemas import stated_schema
from callwright.warehouse.errors import BudgetError, ReplyError, TransientError
from tests.support.llm.names import PLAIN


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


UNKNOWN = "own/model"  # no tokenizer is known, so that a byte is a token, at most
AT_MOST = 20  # max_tokens


async def what_is_set_aside(prompt):
    most = await TokenEstimates(UNKNOWN).most(asked(prompt))
    return 0.01 * most.prompt + 0.001 * AT_MOST


def asked(prompt, **options):
    schema = stated_schema(PricedTrip)
    return ChatRequest(
        UNKNOWN, prompt.messages, schema, (), tuple(({"max_tokens": AT_MOST} | options).items()), 0
    )


async def test_a_reply_that_never_came_counts_as_what_was_set_aside(chat_with, prompt):
    adapter, budget, set_aside = SilentAdapter(2), Budget(20.0), await what_is_set_aside(prompt)
    chat = chat_with(adapter, name=UNKNOWN, budget=budget, options=(("max_tokens", AT_MOST),))

    assert await chat.ask(prompt, PricedTrip) == LYON

    assert budget.spent == pytest.approx(2 * set_aside + 0.1)
    assert [call.cost for call in chat.calls] == [pytest.approx(2 * set_aside + 0.1)]
    assert await chat.ask(prompt, PricedTrip) == LYON
    assert chat.calls[1].cost == 0.0, "the answer itself is known"


async def test_replies_that_never_come_use_the_budget_up(chat_with, prompt):
    set_aside = await what_is_set_aside(prompt)
    adapter, budget = SilentAdapter(99), Budget(2.5 * set_aside)
    chat = chat_with(adapter, name=UNKNOWN, budget=budget, options=(("max_tokens", AT_MOST),))

    with pytest.raises(BudgetError, match="does not allow another request"):
        await chat.ask(prompt, PricedTrip)

    assert adapter.count == 2
    assert budget.spent == pytest.approx(2 * set_aside)
    assert [(call.cost, "budget" in call.error) for call in chat.calls] == [
        (pytest.approx(2 * set_aside), True)
    ]


async def test_a_batch_that_was_not_seen_in_time_is_charged_for_when_it_is(chat_with, prompt):
    class Batched(SilentAdapter):
        async def send_under(self, key, request):
            return await self.send(request)

    budget = Budget(100.0)
    chat = chat_with(Batched(1), name=UNKNOWN, budget=budget)

    assert await chat.ask(prompt, PricedTrip) == LYON
    assert budget.spent == chat.calls[0].cost == 0.1


async def test_money_is_set_aside_inside_the_slot_only(chat_with, prompt):
    adapter = PricedAdapter()
    chat = chat_with(adapter, budget=Budget(1.05), limits=Limits(concurrency=1))

    await asyncio.gather(
        *(chat.ask(prompt, PricedTrip, sample_index=number) for number in range(10))
    )

    assert adapter.count == 10


async def test_a_spent_budget_does_not_stop_models_that_cost_nothing(chat_with, scripted, prompt):
    assert (
        await chat_with(scripted(GOOD), budget=Budget(1.0, spent=2.0)).ask(prompt, PricedTrip)
        == LYON
    )


class Metered(PricedAdapter):
    """A model of a real price, whose replies state the usage that they are given and cost what
    they took.
    """

    def __init__(self, price, usage, text=GOOD, **cut):
        super().__init__()
        self.known, self.usage, self.text, self.cut = price, usage, text, cut
        self.at_once = self.most_at_once = 0

    async def send(self, request):
        self.count += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        for _ in range(5):
            await asyncio.sleep(0)
        self.at_once -= 1
        usage = read_usage(self.usage)
        return RawReply(
            self.text, None, usage.prompt, usage.completion, self.known.of(*usage), **self.cut
        )

    async def price(self, prompt_tokens, completion_tokens):
        return self.known.of(prompt_tokens, completion_tokens)


def long_prompt(words):
    return Prompt(name="trip", version="1", messages=(ChatMessage(role="user", content=words),))


DEAR = find_price(PLAIN, own=OwnPrice(input=1.0, output=10.0))


async def ask_many(chat, prompt, count=64):
    asking = (chat.ask(prompt, PricedTrip, sample_index=n) for n in range(count))
    return await asyncio.gather(*asking, return_exceptions=True)


async def test_64_in_flight_without_max_tokens_never_pass_the_budget(chat_with, prompt):
    """Each may answer with as many tokens as the model's own limit allows, and does."""
    longest = DEAR.longest_reply
    adapter = Metered(DEAR, {"prompt_tokens": 100, "completion_tokens": longest})
    budget = Budget(6.1 * DEAR.of(0, longest))

    ended = await ask_many(chat_with(adapter, budget=budget, limits=Limits(concurrency=64)), prompt)

    assert 0 < budget.spent <= budget.limit
    assert any(isinstance(end, BudgetError) for end in ended)
    assert adapter.most_at_once == adapter.count == 6


@pytest.mark.parametrize(
    "words",
    ["{" * 4000, "\u4f60\u597d\uff0c\u6211\u60f3\u8ba2" * 700, '{"a": [1, 2, 3]}, ' * 300],
    ids=["brackets", "Chinese", "JSON"],
)
@pytest.mark.parametrize("name", [PLAIN, UNKNOWN])
async def test_prompts_of_more_tokens_than_bytes_by_four_do_not_pass_it(chat_with, words, name):
    tokens = count_tokens(PLAIN, words)
    adapter = Metered(DEAR, {"prompt_tokens": tokens + 200, "completion_tokens": 5})
    budget = Budget(6.5 * tokens / 1e6 + 6 * 20 / 1e5)
    chat = chat_with(
        adapter,
        name=name,
        budget=budget,
        options=(("max_tokens", 20),),
        limits=Limits(concurrency=64),
    )

    await ask_many(chat, long_prompt(words))

    assert 0 < budget.spent <= budget.limit


async def test_a_provider_that_counts_more_than_we_do_is_believed_from_the_first_answer_on():
    estimates = TokenEstimates(UNKNOWN)
    request = asked(long_prompt("word " * 400))
    before = await estimates.most(request)
    estimates.learn(before.counted, 2 * before.counted)
    after = await estimates.most(request)
    assert after.prompt == pytest.approx(2 * before.prompt, abs=3)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": -100, "completion_tokens": 20},
        {"prompt_tokens": 100, "completion_tokens": -20},
        {"prompt_tokens": "many", "completion_tokens": 20},
        {"prompt_tokens": 1e12, "completion_tokens": 20},
        {"prompt_tokens": None, "completion_tokens": None},
    ],
)
async def test_what_a_provider_does_not_count_is_counted_by_our_own_estimate_and_stops(
    chat_with, caplog, usage
):
    adapter, budget = Metered(DEAR, usage), Budget(0.01)
    chat = chat_with(
        adapter,
        name=UNKNOWN,
        budget=budget,
        options=(("max_tokens", 20),),
        limits=Limits(concurrency=4),
    )

    ended = await ask_many(chat, long_prompt("word " * 400))

    assert 0 < adapter.count < 64
    assert 0.005 < budget.spent <= 0.01
    assert any(isinstance(end, BudgetError) for end in ended)
    assert all(call.prompt_tokens > 400 and call.cost > 0 for call in chat.calls if not call.error)


async def test_a_withheld_reply_that_was_paid_for_counts(chat_with, prompt):
    class Withholding(SilentAdapter):
        async def send(self, request):
            raise ReplyError("The filter withheld it.", may_be_charged=True)

    budget = Budget(20.0)
    with pytest.raises(ReplyError):
        await chat_with(
            Withholding(0), name=UNKNOWN, budget=budget, options=(("max_tokens", 20),)
        ).ask(prompt, PricedTrip)
    assert budget.spent == pytest.approx(await what_is_set_aside(prompt))


async def test_a_reply_that_stays_cut_off_says_so(chat_with, prompt):
    adapter = Metered(
        DEAR, {"prompt_tokens": 10, "completion_tokens": 4}, '{"city": "Ly', is_cut=True
    )
    with pytest.raises(
        ReplyError, match=r"cut off at its longest \(finish_reason length\); raise max_tokens"
    ):
        await chat_with(adapter).ask(prompt, PricedTrip)


def test_the_longest_reply_is_the_settings_or_the_models_own(prompt):
    assert longest_reply(asked(prompt)) == AT_MOST
    unset = asked(prompt, max_tokens=None)
    assert longest_reply(unset._replace(model=PLAIN)) == known_model(PLAIN)["max_output_tokens"]
    assert longest_reply(unset) == 4096
    assert longest_reply(asked(prompt, max_tokens=None, extra={"max_completion_tokens": 99})) == 99


def test_a_price_of_ones_own_is_counted_and_zero_is_a_price():
    price = find_price("openai/stub", own=OwnPrice(input=0.15, output=0.6))
    assert price.of(1_000_000, 1_000_000) == pytest.approx(0.75)
    assert find_price("openai/stub", own=OwnPrice(input=0, output=0)).is_known
    assert not find_price("openai/stub").is_known
    assert [knows_tokenizer(name) for name in (PLAIN, "openai/stub", "groq/a-model")] == [
        True,
        False,
        False,
    ]
