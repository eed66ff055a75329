"""A chat server on loopback that misbehaves as told, and small things every test of llm needs."""

import asyncio
from collections.abc import AsyncIterator, Callable

import orjson
import pytest
from aiohttp import web

from callwright.llm.asking import LedgeredChat, Surroundings
from callwright.llm.chat import Adapter, ChatMessage, ChatRequest, Prompt, RawReply
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Budget, Clock, Gate, Limits
from tests.support.llm.names import PLAIN

ANSWER = '{"city":"Lyon","days":2}'


def completion(text: str, **message) -> dict:
    """What an OpenAI-compatible server answers."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "a-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


class ChatServer:
    """Speaks OpenAI chat completions; `script` holds what the next requests meet, in their
    order.
    """

    def __init__(self) -> None:
        self.url = ""
        self.script: list[str | dict] = []
        self.bodies: list[dict] = []
        self.keys: list[str] = []
        self.ports: set[int] = set()  # of the clients' connections

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(orjson.loads(await request.read()))
        self.keys.append(request.headers.get("Authorization", ""))
        self.ports.add(request.transport.get_extra_info("peername")[1])
        told = self.script.pop(0) if self.script else "well"
        if isinstance(told, str) and told in REFUSALS:
            status, message, headers, code = REFUSALS[told]
            error = {"message": message, "type": "error", "param": None, "code": code}
            return web.json_response({"error": error}, status=status, headers=headers)
        if told == "cut":
            return await _cut(request)
        if told == "slow":
            await asyncio.sleep(30)
        body = told if isinstance(told, dict) else completion(ANSWER)
        if told == "filtered":
            body["choices"][0]["finish_reason"] = "content_filter"
        text = {"half": orjson.dumps(body)[:80], "page": b"<html>Gateway</html>"}.get(
            str(told), orjson.dumps(body)
        )
        return web.Response(
            body=text, content_type="text/html" if told == "page" else "application/json"
        )


REFUSALS = {
    "busy": (429, "Rate limit reached", {"Retry-After": "7"}, None),
    "poor": (429, "You exceeded your current quota", {}, "insufficient_quota"),
    "ill": (500, "The server had an error", {}, None),
    "away": (503, "Overloaded", {"Retry-After": "3"}, None),
    "wrong key": (401, "Incorrect API key provided: sk-secret", {}, "invalid_api_key"),
    "no such model": (404, "The model `nothing` does not exist", {}, "model_not_found"),
    "bad request": (400, "Invalid schema for function", {}, None),
    "bad schema": (400, "Invalid schema for response_format 'answer'.", {}, None),
    "no schemas": (400, "'response_format.type' must be 'text'", {}, None),
    "unknown format": (
        500,
        "1 validation error: 'body', 'response_format': should be 'text'",
        {},
        None,
    ),
    "too long here": (
        400,
        "request (9018 tokens) exceeds the available context size (2048 tokens)",
        {},
        None,
    ),
    "too long": (
        400,
        "This model's maximum context length is 8192 tokens.",
        {},
        "context_length_exceeded",
    ),
}


async def _cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Length": "1000", "Content-Type": "application/json"}
    )
    await response.prepare(request)
    await response.write(b'{"id": "chatcmpl-1", "choi')
    request.transport.abort()
    return response


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    """A fresh chat server."""
    chat_server = ChatServer()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat_server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    chat_server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield chat_server
    await runner.cleanup()


class ScriptedAdapter:
    """Gives the replies it was given, in their order; an error among them is raised."""

    def __init__(self, *replies: str | RawReply | Exception) -> None:
        self.replies = list(replies)
        self.requests: list[ChatRequest] = []
        self.is_closed = False

    async def send(self, request: ChatRequest) -> RawReply:
        self.requests.append(request)
        await asyncio.sleep(0)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return RawReply(reply, None, 10, 5, 0.0) if isinstance(reply, str) else reply

    async def close(self) -> None:
        self.is_closed = True


class FakeTime:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.moment = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.moment += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.sleep)


@pytest.fixture
def fake_time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def prompt() -> Prompt:
    said = (
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", content="Which city?"),
    )
    return Prompt(name="trip", version="1", messages=said)


@pytest.fixture
async def ledger(tmp_path) -> AsyncIterator[Ledger]:
    async with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
def chat_with(ledger, fake_time) -> Callable[..., LedgeredChat]:
    """A chat around an adapter; its calls are kept in `chat.calls`."""

    def make(adapter: Adapter, *, name=PLAIN, options=(), limits=None, budget=None) -> LedgeredChat:
        calls = []
        gate = Gate(limits or Limits(), clock=fake_time.clock)
        around = Surroundings(
            adapter, ledger, gate, budget or Budget(None), calls.append, build="build-1"
        )
        chat = LedgeredChat(name, options, around, stage="requests")
        chat.calls = calls
        return chat

    return make


@pytest.fixture
def scripted() -> type[ScriptedAdapter]:
    return ScriptedAdapter
