"""Asking: parsed strictly, repaired once, recorded, and never twice."""

import asyncio
from typing import Literal

import pytest
from pydantic import BaseModel

from callwright.llm.chat import ChatModel, RawReply
from callwright.llm.ledger import known_keys
from callwright.llm.limits import Limits
from callwright.llm.litellm_model import LiteLLMModel
from callwright.llm.prices import find_price
from callwright.warehouse.errors import ConfigurationError, ReplyError, TransientError
from tests.support.llm.names import ANOTHER, IN, OUT, PLAIN

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run


class Trip(BaseModel):
    """What the tests ask for."""

    city: str
    days: int


class Mood(BaseModel):
    """Another answer."""

    mood: Literal["good", "bad"]


GOOD = '{"city":"Lyon","days":2}'
LYON = Trip(city="Lyon", days=2)


async def test_an_answer_is_asked_once_and_recorded_both_times(chat_with, scripted, prompt):
    adapter = scripted(RawReply(GOOD, None, 10, 5, 0.02, "wrong value"))
    chat: ChatModel = chat_with(adapter)

    assert await chat.ask(prompt, Trip) == LYON
    assert await chat.ask(prompt, Trip) == LYON

    assert len(adapter.requests) == 1
    asked, known = chat.calls
    assert (asked.stage, asked.build, asked.model) == ("requests", "build-1", PLAIN)
    assert (asked.prompt_tokens, asked.completion_tokens, asked.cost, asked.cached) == (
        10,
        5,
        0.02,
        False,
    )
    assert asked.latency > 0
    assert (known.request, known.cached, known.cost, known.latency) == (
        asked.request,
        True,
        0.0,
        0.0,
    )
    assert asked.planted == known.planted == "wrong value"


async def test_a_call_is_noted_before_its_answer_is_kept(chat_with, scripted, prompt, ledger):
    """A process that is killed between the two leaves a call without an answer, which the ledger
    shows, never the reverse.
    """
    found = []
    chat = chat_with(scripted(GOOD)).for_stage(
        "values", lambda call: found.append(known_keys(ledger.path, [call.request]))
    )
    await chat.ask(prompt, Trip)
    await chat.ask(prompt, Trip)
    assert [len(known) for known in found] == [0, 1]


@pytest.mark.parametrize("difference", ["sample", "answer", "version", "model", "options"])
async def test_another_question_is_another_request(chat_with, scripted, prompt, difference):
    adapter = scripted(GOOD, '{"mood":"good"}' if difference == "answer" else GOOD)
    chat = other = chat_with(adapter)
    await chat.ask(prompt, Trip)

    match difference:
        case "sample":
            await chat.ask(prompt, Trip, sample_index=1)
        case "answer":
            await chat.ask(prompt, Mood)
        case "version":
            await chat.ask(prompt.with_changes(version="2"), Trip)
        case "model":
            other = chat_with(adapter, name=ANOTHER)
            await other.ask(prompt, Trip)
        case "options":
            other = chat_with(adapter, options=(("seed", 1),))
            await other.ask(prompt, Trip)

    assert len(adapter.requests) == 2
    assert not other.calls[-1].cached


async def test_another_stage_shares_the_answers(chat_with, scripted, prompt):
    adapter = scripted(GOOD)
    chat = chat_with(adapter)
    mine = []
    await chat.ask(prompt, Trip)
    await chat.for_stage("values").ask(prompt, Trip)
    await chat.for_stage("checks", mine.append).ask(prompt, Trip)

    assert [call.stage for call in chat.calls] == ["requests", "values"]
    assert [(call.stage, call.cached) for call in mine] == [("checks", True)]


async def test_a_bad_reply_is_shown_to_the_model_once(chat_with, scripted, prompt):
    adapter = scripted('{"city": "Lyon"}', GOOD)
    chat = chat_with(adapter)

    assert await chat.ask(prompt, Trip) == LYON
    assert await chat.ask(prompt, Trip) == LYON

    assert len(adapter.requests) == 2
    repair = adapter.requests[1].messages
    assert repair[:2] == prompt.messages
    assert (repair[2].role, repair[2].content) == ("assistant", '{"city": "Lyon"}')
    assert repair[3].role == "user"
    assert "days: Field required" in repair[3].content
    assert [call.cached for call in chat.calls] == [False, False, True, True]


async def test_a_reply_that_stays_bad_is_an_error_that_shows_it(chat_with, scripted, prompt):
    adapter = scripted("No.", "I would rather not. " * 50)
    chat = chat_with(adapter)

    with pytest.raises(ReplyError) as first:
        await chat.ask(prompt, Trip)
    with pytest.raises(ReplyError):
        await chat.ask(prompt, Trip)

    assert len(adapter.requests) == 2, "what was answered stays answered"
    assert "The reply is not a Trip: the whole: Invalid JSON" in str(first.value)
    assert repr(("I would rather not. " * 50)[:200]) in str(first.value)


async def test_a_reply_that_repeats_the_example_is_refused_and_not_shown_again(
    chat_with, scripted, prompt
):
    example = '<example>\nplace: by the sea\n{"city": "Kitetown-on-Sea", "days": 9}\n</example>'
    system = prompt.messages[0].with_changes(content=example)
    shown = prompt.with_changes(messages=(system, *prompt.messages[1:]))
    copied = '{"city": "Kitetown-on-Sea", "days": 2}'
    adapter = scripted(copied, GOOD)

    assert await chat_with(adapter).ask(shown, Trip) == LYON
    assert [one.role for one in adapter.requests[1].messages] == ["system", "user"]
    assert "repeats the worked example" in adapter.requests[1].messages[-1].content
    with pytest.raises(ReplyError, match="repeats the worked example"):
        await chat_with(scripted(copied, copied)).ask(shown, Trip, sample_index=1)


async def test_half_characters_do_not_break_the_ledger(chat_with, scripted, prompt):
    chat = chat_with(scripted("a\ud800b"))

    assert (await chat.complete(prompt)).text == "a?b"


async def test_a_transient_error_is_retried_and_recorded_as_one_call(
    chat_with, scripted, prompt, fake_time
):
    chat = chat_with(scripted(TransientError("Busy.", retry_after=7), GOOD))

    assert await chat.ask(prompt, Trip) == LYON
    assert fake_time.slept[0] >= 7
    assert [call.error for call in chat.calls] == [""]
    assert chat.calls[0].latency < 1


@pytest.mark.parametrize(
    "error", [TransientError("Busy."), ReplyError("Filtered."), ConfigurationError("No key.")]
)
async def test_a_failed_call_is_recorded_and_not_kept(chat_with, scripted, prompt, error):
    chat = chat_with(scripted(error, GOOD), limits=Limits(attempts=1))

    with pytest.raises(type(error)):
        await chat.ask(prompt, Trip)
    assert await chat.ask(prompt, Trip) == LYON

    assert str(error) in chat.calls[0].error
    assert [call.cached for call in chat.calls] == [False, False]


async def test_the_same_question_at_the_same_time_is_one_request(chat_with, scripted, prompt):
    adapter = scripted(GOOD)
    chat = chat_with(adapter)

    assert await asyncio.gather(*(chat.ask(prompt, Trip) for _ in range(10))) == [LYON] * 10
    assert sorted(call.cached for call in chat.calls) == [False] + [True] * 9
    assert len(adapter.requests) == 1


async def test_a_bad_day_at_the_provider_ends_in_answers(chat_with, server, prompt, fake_time):
    adapter = LiteLLMModel(
        PLAIN, api_key="sk-secret", timeout=3
    )  # a loaded machine answers in less
    chat = chat_with(
        adapter, options=(("api_base", server.url),), limits=Limits(concurrency=4, attempts=10)
    )
    server.script = ["busy", "ill", "half", "cut", "slow", "away", "well", "page"]

    trips = await asyncio.gather(
        *(chat.ask(prompt, Trip, sample_index=number) for number in range(6))
    )
    await chat.close()

    assert trips == [LYON] * 6
    assert len(server.bodies) == 7 + 6
    # What was sent and lost ("half", "cut", "slow", "page") may be charged for, as it was set
    # aside.
    never_came = 5 * IN + 512 * OUT
    assert sum(call.cost for call in chat.calls) == pytest.approx(
        6 * find_price(PLAIN).of(100, 20) + 4 * never_came
    )
    assert sum(fake_time.slept) >= 7, "the server's wish holds for all"


async def test_a_reply_that_was_cut_off_is_asked_for_with_twice_the_room_once(
    chat_with, scripted, prompt
):
    cut = RawReply('{"city":"Ly', None, 10, 64, is_cut=True)
    adapter = scripted(cut, cut, GOOD)
    chat = chat_with(adapter, options=(("max_tokens", 64),))
    assert await chat.ask(prompt, Trip) == LYON
    assert [dict(request.options)["max_tokens"] for request in adapter.requests] == [64, 128, 128]
    assert [len(request.messages) for request in adapter.requests] == [
        2,
        2,
        2,
    ]  # the last one is the repair, without the reply that had no end
    assert adapter.requests[2].messages[-1].content != prompt.messages[-1].content
    assert await chat.ask(prompt, Trip) == LYON
    assert len(adapter.requests) == 3
