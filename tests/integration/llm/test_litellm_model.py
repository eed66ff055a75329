"""What only litellm does."""

import asyncio
import logging
import sys
from pathlib import Path

import pytest

from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.litellm_model import LiteLLMModel
from callwright.llm.prices import count_tokens
from callwright.warehouse.errors import ConfigurationError
from tests.support.llm.names import OTHER, PLAIN

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run

ROOT = Path(__file__).resolve().parents[3]
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
sys.modules["mcp"] = None  # an extra, without which models are given tools all the same
import callwright.llm.models
assert "litellm" not in sys.modules and "aiohttp" not in sys.modules
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.warehouse.records import Tool
tool = Tool(name="f", description="Does it.", parameters={"type": "object", "properties": {}}, category="c", source="s")
async def main():
    for name, tools in ((sys.argv[3], ()), ("openai/mine", (tool,))):
        settings = callwright.llm.models.read_model(name, {"api_base": sys.argv[1], "transport": sys.argv[2]})
        adapter = callwright.llm.models.open_adapter(settings)
        messages = (ChatMessage(role="user", content="Hi"),)
        request = ChatRequest(name, messages, {"type": "object"}, tools, settings.options, 0)
        assert (await adapter.send(request)).text
        await adapter.price(10, 10)
        await adapter.close()
asyncio.run(main())
print(sorted(reached), "litellm" in sys.modules)
"""


@pytest.fixture
async def ask(server):
    """Ask through litellm, once."""
    opened = []

    async def send(name):
        opened.append(LiteLLMModel(name, api_key="sk-secret"))
        messages = (ChatMessage(role="user", content="Which city?"),)
        return await opened[-1].send(
            ChatRequest(name, messages, None, (), (("api_base", server.url),), 0)
        )

    yield send
    for model in opened:
        await model.close()


async def test_a_provider_that_litellm_does_not_know_is_a_wrong_setting(ask, server):
    with pytest.raises(ConfigurationError, match="'nonsense/x'"):
        await ask("nonsense/x")

    assert server.bodies == []


async def test_a_model_without_a_price_is_free_and_says_so_once(ask, caplog):
    models = [LiteLLMModel("openai/unpriced") for _ in range(2)]
    with caplog.at_level(logging.WARNING):
        prices = [await model.price(1000, 1000) for model in models]
    for model in models:
        await model.close()

    assert (await ask("openai/unpriced")).cost == 0.0
    assert prices == [0.0, 0.0]
    assert (
        sum("price of openai/unpriced is unknown" in record.message for record in caplog.records)
        == 1
    )


@pytest.mark.parametrize("transport", ["litellm", "lean"])
async def test_nothing_but_the_given_address_is_reached(server, transport):
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CALLING,
        server.url,
        transport,
        PLAIN,
        env={},
        cwd=ROOT,
        stdout=-1,
        stderr=-1,
    )
    out, err = await child.communicate()

    assert child.returncode == 0, err.decode()
    assert out.decode().strip() == f"['127.0.0.1'] {transport == 'litellm'}", (
        "the lean way loads no litellm"
    )
    assert len(server.bodies) == 2


@pytest.mark.parametrize("name", [PLAIN, OTHER])
def test_tokens_are_counted_as_litellm_counts_them_without_a_network(name):
    import litellm

    litellm.disable_hf_tokenizer_download = True
    model = name.partition("/")[2]
    for text in ("", "Which city?", '{"城市": "里昂"}', "<|endoftext|>", "{" * 500):
        assert count_tokens(name, text) == litellm.token_counter(model=model, text=text)
