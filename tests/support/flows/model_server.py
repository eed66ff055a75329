"""A model behind a real wire: speaks OpenAI chat completions on loopback, answers by
template/v1, misbehaves as told.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson
from aiohttp import web

from bench.slot_answers import slot_answer
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.prices import find_price
from callwright.llm.template.model import TemplateModel
from callwright.warehouse.records import Call, Tool
from tests.support.llm.names import PLAIN

MODEL = "openai/stub"  # litellm has no price for it
PRICED = PLAIN  # and a well-known one for this
PRICE = find_price(PRICED).of(100, 20)  # of a reply of the stub, by litellm's price map

# What is asked only of models that read language, so that the template model has no answer to it.
OPINIONS = {
    "NaturalReading": (
        '{"wording_reason": "Plain.", "wording": 5, "values_reason": "Usual.", "values": 5,'
        ' "broken": []}'
    )
}


class ServedRequest(NamedTuple):
    """One request as the server met it: which question, what kind of answer is wanted, how often
    it came before.
    """

    question: str
    title: str
    times: int
    number: int


class Refusal(NamedTuple):
    """An error instead of an answer."""

    status: int
    message: str
    code: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})


Behaviour = Callable[[ServedRequest], Refusal | str | None]
WRONG_KEY = Refusal(401, "Incorrect API key provided", "invalid_api_key")
NO_SUCH_MODEL = Refusal(404, "The model `stub` does not exist", "model_not_found")
BUSY = Refusal(429, "Rate limit reached", headers={"Retry-After": "0"})
ILL = Refusal(500, "The server had an error")
LOADING = Refusal(503, "Loading model")
FILTERED = "\x00filtered"


class ModelServer:
    """What was asked and answered; `behaviour` may give a Refusal or a text instead of the
    template's answer.

    While it `is_holding` nobody gets an answer. Asked the same again it answers otherwise, unless
    it `is_steady`.
    """

    def __init__(self) -> None:
        self.url = ""
        self.delay = 0.0
        self.is_holding = False
        self.is_steady = False
        self.at_once = self.most_at_once = 0  # requests under way
        self.behaviour: Behaviour = lambda asked: None
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.titles: Counter[str] = Counter()
        self.tools: list[tuple[str, ...]] = []  # the names of those that came with each request
        self.most_tools: int | None = None
        self.ended = asyncio.Event()
        self.moments: list[float] = []  # when each request came, of the monotonic clock
        self._model = TemplateModel()
        self._transports: set[asyncio.BaseTransport] = set()
        self._runner: web.AppRunner | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def requests(self) -> int:
        """How many requests came."""
        return self.asked.total()

    def forget(self) -> None:
        """Count from nothing again."""
        for counter in (self.asked, self.answered, self.titles):
            counter.clear()

    async def start(self) -> None:
        """Listen, at the port of before where there was one."""
        self._loop = asyncio.get_running_loop()
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        port = int(self.url.rpartition(":")[2].partition("/")[0]) if self.url else 0
        await web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        """Refuse connections, and break those that there are."""
        if self._runner is not None:
            for transport in self._transports:
                transport.close()
            await self._runner.cleanup()
            self._runner = None

    def go_away(self) -> None:
        """Refuse connections from now on."""
        self._do(self.stop())

    def come_back(self) -> None:
        """Answer again."""
        self._do(self.start())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.moments.append(time.monotonic())
        if request.transport is not None:
            self._transports.add(request.transport)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(request)
        finally:
            self.at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        title = schema["title"] if schema else ""
        question = orjson.dumps([body["messages"], title]).decode()
        asked = ServedRequest(question, title, self.asked[question], self.requests)
        self.asked[question] += 1
        self.titles[title] += 1
        if self.delay:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), self.delay)
        while self.is_holding and not self.ended.is_set():  # noqa: ASYNC110 - set by a test, in another thread
            await asyncio.sleep(0.01)
        told = self.behaviour(asked)
        if isinstance(told, Refusal):
            error = {"message": told.message, "type": "error", "param": None, "code": told.code}
            return web.json_response({"error": error}, status=told.status, headers=told.headers)
        messages = tuple(ChatMessage(**message) for message in body["messages"])
        tools = tuple(Tool(**one["function"], category="") for one in body.get("tools") or ())
        self.tools.append(tuple(tool.name for tool in tools))
        if self.most_tools is not None and len(tools) > self.most_tools:
            told = Refusal(
                400,
                f"Expected an array with maximum length {self.most_tools}, but got {len(tools)}"
                " tools",
            )
            return web.json_response(
                {"error": {"message": told.message, "type": "error"}}, status=told.status
            )
        calls: tuple[Call, ...] | None = None
        if told is None and title in OPINIONS:
            told = OPINIONS[title]
        elif told is None and (worded := slot_answer(title, messages)) is not None:
            told = orjson.dumps(worded).decode()
        elif told is None:
            again = 0 if self.is_steady else self.answered[question]
            reply = await self._model.send(
                ChatRequest(MODEL, messages, schema, tools, (), again, _marks(messages))
            )
            told, calls = reply.text, reply.calls
        if request.transport is None or request.transport.is_closing():
            raise ConnectionResetError("nobody waits for this answer any more")
        self.answered[question] += 1
        return web.json_response(_completion(told, calls))


_WANTED = {
    "calls": (
        "of your tools|with your tools|Make all the calls|Do what comes next|Call the tool that"
    ),
    "names": "Name the tools",
    "last": "which one call comes last",
    "before": "what has to be called before",
}
_FORMATS = {
    "native": "Make all the calls|Do what comes next for the user|Call the tool that",
    "yaml": "YAML",
    "json": "",
}
_SETTINGS = {
    "plan": "Make all the calls|Give all the calls|Plan backwards|have to be called to do",
    "conversation": "Do what comes next|the tools to call next",
    "call": "",
}


def _marks(messages: Sequence[ChatMessage]) -> str:
    """What the template model is wanted to do, read from the words that every other model goes
    by.
    """
    system = messages[0].content
    if "with one of your tools" in system:
        return ""
    found = {
        tag: next(
            (
                name
                for name, words in names.items()
                if any(one in system for one in words.split("|"))
            ),
            "",
        )
        for tag, names in {"wanted": _WANTED, "format": _FORMATS, "setting": _SETTINGS}.items()
    }
    chat = ""
    if found["format"] == "native":  # the messages are the conversation
        lines = "\n".join(f"{one.role}: {one.content}" for one in messages[1:])
        chat = f"\n<conversation>\n{lines}\n</conversation>"
    return (
        "\n".join(f"<{tag}>{name}</{tag}>" for tag, name in found.items()) + chat
        if found["wanted"]
        else ""
    )


def _completion(text: str, calls: tuple[Call, ...] | None = None) -> dict[str, object]:
    reason = "content_filter" if text == FILTERED else "tool_calls" if calls else "stop"
    message: dict[str, object] = {"role": "assistant", "content": "" if text == FILTERED else text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{place}",
                "type": "function",
                "function": {"name": call.tool, "arguments": orjson.dumps(call.arguments).decode()},
            }
            for place, call in enumerate(calls)
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "a-model",
        "choices": [{"index": 0, "finish_reason": reason, "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


@contextmanager
def serve_model() -> Iterator[ModelServer]:
    """A server in a thread of its own."""
    server = ModelServer()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(server.ended.set)
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
