"""litellm against a real server, which behaves well and badly."""

import asyncio
import logging
import sys
from pathlib import Path

import pytest

from llm.chat import ChatMessage, ChatRequest
from llm.litellm_model import LiteLLMModel
from warehouse.errors import ConfigurationError, ReplyError, TransientError
from warehouse.records import Call, Tool

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALLING = """
import asyncio, os, sys
assert not [name for name in os.environ if name.startswith("LITELLM")]
reached = set()
def note(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        reached.add(arguments[1][0])
    elif event == "socket.getaddrinfo":
        reached.add(arguments[0])
sys.addaudithook(note)
import llm.models
assert "litellm" not in sys.modules and "aiohttp" not in sys.modules
from llm.chat import ChatMessage, ChatRequest
async def main():
    for name in ("openai/gpt-4o-mini", "openai/mine"):
        settings = llm.models.read_model(name, {"api_base": sys.argv[1]})
        adapter = llm.models.open_adapter(settings)
        messages = (ChatMessage(role="user", content="Hi"),)
        request = ChatRequest(name, messages, {"type": "object"}, (), settings.options, 0)
        assert (await adapter.send(request)).text
        await adapter.price(10, 10)
        await adapter.close()
asyncio.run(main())
print(sorted(reached))
"""


@pytest.fixture
async def ask(server):
    """Ask through litellm, once."""
    opened = []

    async def send(*, name="openai/gpt-4o-mini", patience=10.0, key="sk-secret", schema=None, tools=(), **options):
        model = LiteLLMModel(name, api_key=key, timeout=patience)
        opened.append(model)
        messages = (ChatMessage(role="user", content="Which city?"),)
        chosen = tuple(sorted({"api_base": server.url, **options}.items()))
        return await model.send(ChatRequest(name, messages, schema, tuple(tools), chosen, 0))

    yield send
    for model in opened:
        await model.close()


async def test_a_good_answer_comes_with_its_tokens_and_its_price(ask, server):
    reply = await ask(temperature=0.0, max_tokens=50, seed=3, extra={"top_p": 0.5})

    assert reply.text == '{"city":"Lyon","days":2}'
    assert (reply.calls, reply.prompt_tokens, reply.completion_tokens) == (None, 100, 20)
    assert reply.cost == pytest.approx(100 * 0.15e-6 + 20 * 0.6e-6)
    sent = server.bodies[0]
    assert {name: sent[name] for name in ("temperature", "max_tokens", "seed", "top_p")} == {
        "temperature": 0.0,
        "max_tokens": 50,
        "seed": 3,
        "top_p": 0.5,
    }
    assert server.keys == ["Bearer sk-secret"]


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        ("busy", TransientError, "Rate limit reached"),
        ("ill", TransientError, "The server had an error"),
        ("away", TransientError, "Overloaded"),
        ("half", TransientError, "can't answer now"),
        ("page", TransientError, "Gateway"),
        ("cut", TransientError, "Connection error"),
        ("slow", TransientError, "no answer within 0.3 s"),
        ({"choices": []}, TransientError, "without a choice"),
        ("poor", ConfigurationError, "has no money left"),
        ("wrong key", ConfigurationError, "set OPENAI_API_KEY to a valid one"),
        ("no such model", ConfigurationError, "no model 'openai/gpt-4o-mini'"),
        ("bad request", ReplyError, "Invalid schema for function"),
        ("too long", ReplyError, "longer than openai/gpt-4o-mini can read"),
        ("filtered", ReplyError, "content filter"),
    ],
)
async def test_what_goes_wrong_there_is_the_right_error_here(ask, server, behaviour, error, words):
    server.script = [behaviour]

    with pytest.raises(error, match=words) as caught:
        await ask(patience=0.3 if behaviour == "slow" else 10.0)

    assert type(caught.value) is error
    assert len(server.bodies) == 1, "litellm must not retry by itself"
    assert "sk-secret" not in str(caught.value)


async def test_the_servers_wish_to_wait_is_kept(ask, server):
    server.script = ["busy", "away", "ill"]
    wishes = []
    for _ in range(3):
        with pytest.raises(TransientError) as caught:
            await ask()
        wishes.append(caught.value.retry_after)

    assert wishes == [7.0, 3.0, None]


async def test_a_server_that_is_not_there_may_come_back(ask):
    with pytest.raises(TransientError):
        await ask(api_base="http://127.0.0.1:9/v1")


async def test_a_provider_that_litellm_does_not_know_is_a_wrong_setting(ask, server):
    with pytest.raises(ConfigurationError, match="'nonsense/x'"):
        await ask(name="nonsense/x")

    assert server.bodies == []


async def test_a_schema_goes_out_natively_where_the_model_takes_one(ask, server):
    await ask(schema=SCHEMA)

    told = {"name": "answer", "schema": SCHEMA, "strict": False}
    assert server.bodies[0]["response_format"] == {"type": "json_schema", "json_schema": told}
    assert len(server.bodies[0]["messages"]) == 1


@pytest.mark.parametrize(("name", "structured"), [("openai/mine", "auto"), ("openai/gpt-4o-mini", "prompt")])
async def test_a_schema_stands_in_the_prompt_where_the_model_takes_none(ask, server, name, structured):
    await ask(name=name, schema=SCHEMA, structured=structured)

    assert "response_format" not in server.bodies[0]
    assert '"required":["city"]' in server.bodies[0]["messages"][0]["content"]
    assert server.bodies[0]["messages"][1] == {"role": "user", "content": "Which city?"}


async def test_a_model_without_a_price_is_free_and_says_so_once(ask, caplog):
    models = [LiteLLMModel("openai/unpriced") for _ in range(2)]
    with caplog.at_level(logging.WARNING):
        prices = [await model.price(1000, 1000) for model in models]
    for model in models:
        await model.close()

    assert (await ask(name="openai/unpriced")).cost == 0.0
    assert prices == [0.0, 0.0]
    assert sum("no price for openai/unpriced" in record.message for record in caplog.records) == 1


async def test_native_calls_come_back_under_the_tools_own_names(ask, server):
    tools = [Tool(name=name, description="", parameters={}, category="travel") for name in ("trip.plan", "trip plan")]
    server.script = [_calling('{"city": "Lyon"}')]

    reply = await ask(tools=tools)

    assert [tool["function"]["name"] for tool in server.bodies[0]["tools"]] == ["trip_plan", "trip_plan_2"]
    assert reply.calls == (Call(tool="trip plan", arguments={"city": "Lyon"}),)


async def test_calls_whose_arguments_are_no_json_stay_text(ask, server):
    server.script = [_calling('{"city": "Ly')]

    reply = await ask(tools=[Tool(name="trip", description="", parameters={}, category="travel")])

    assert reply.calls is None
    assert reply.text == 'trip_plan_2({"city": "Ly)'


async def test_a_server_on_this_machine_never_sees_the_accounts_key(ask, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-account")

    await ask(key="")

    assert server.keys == ["Bearer none"]


async def test_nothing_but_the_given_address_is_reached(server):
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CALLING, server.url, env={}, cwd=ROOT, stdout=-1, stderr=-1
    )
    out, err = await child.communicate()

    assert child.returncode == 0, err.decode()
    assert out.decode().strip() == "['127.0.0.1']"
    assert len(server.bodies) == 2


def _calling(arguments):
    called = {"id": "1", "type": "function", "function": {"name": "trip_plan_2", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [called]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
