"""GGUF models in this process, through llama.cpp.

Its waiting threads burn CPU unless OMP_WAIT_POLICY is PASSIVE.
"""

import asyncio
import secrets
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

from callwright.llm.chat import LONGEST_REPLY, ChatRequest, RawReply, seconds_for
from callwright.llm.wire_format import (
    WireCall,
    read_reasoning,
    read_reply,
    wire_messages,
    wire_tools,
)
from callwright.warehouse.errors import ConfigurationError, ReplyError, TransientError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.wire_names import wire_names

CONTEXT = 4096
_SERVER_FAULT = 500


class LocalModel:
    """A model file run by llama.cpp, loaded at the first request; a thread and slot for each."""

    def __init__(
        self,
        path: Path,
        *,
        slots: int = 1,
        context: int = CONTEXT,
        timeout: float = 120.0,
        slowest: float | None = None,
    ) -> None:
        """Answer from the file at `path`, `slots` requests at once, each with `context` tokens."""
        self._path = path
        self._slots = slots
        self._context = context
        self._timeout, self._slowest = timeout, slowest
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="llama")
        self._loading = asyncio.Lock()
        self._server: Any = None  # xllamacpp has no types

    async def send(self, request: ChatRequest) -> RawReply:
        """Answer a request; a schema becomes a grammar, so the reply always fits it.

        Generation stops at the timeout.
        """
        loop = asyncio.get_running_loop()
        async with self._loading:
            if self._server is None:
                self._server = await loop.run_in_executor(self._threads, self._load)
        stop, seconds = Event(), seconds_for(request, self._timeout, self._slowest)
        try:
            async with asyncio.timeout(seconds):
                chunks = await loop.run_in_executor(
                    self._threads, self._generate, _body(request), stop
                )
        except TimeoutError as error:
            problem = f"The model {self._path.name} did not finish within {seconds:g} s."
            raise TransientError(problem) from error
        finally:
            stop.set()
        return read_chunks(chunks, self._path.name)

    async def close(self) -> None:
        """Free the model's memory once the current generation has ended."""
        await asyncio.to_thread(self._threads.shutdown)
        self._server = None

    def _load(self) -> Any:  # noqa: ANN401 - xllamacpp has no types
        if not self._path.is_file():
            raise ConfigurationError(
                f"There is no model file {str(self._path)!r}. Name a .gguf file after 'local/'."
            )
        require_extra("local")
        import xllamacpp

        settings = xllamacpp.CommonParams()
        settings.model.path = str(self._path)
        settings.n_ctx = self._context * self._slots
        settings.n_parallel = self._slots
        settings.offline = True
        settings.warmup = False
        settings.verbosity = -1
        # it listens on a local port too, which is for nobody
        settings.api_keys = [secrets.token_hex()]
        try:
            return xllamacpp.Server(settings)
        except RuntimeError as error:
            problem = f"llama.cpp can't load {str(self._path)!r}: {error}."
            raise ConfigurationError(problem) from error

    def _generate(self, body: dict[str, Any], stop: Event) -> list[dict[str, Any]]:
        chunks: list[dict[str, Any]] = []

        def take(chunk: dict[str, Any] | list[dict[str, Any]]) -> bool:
            chunks.extend(chunk if isinstance(chunk, list) else [chunk])
            return stop.is_set()

        try:
            self._server.handle_chat_completions(body, take)
        except ValueError as error:
            problem = f"llama.cpp can't take the request to {self._path.name}: {error}"
            raise ReplyError(problem) from error
        return chunks


def read_chunks(chunks: Iterable[dict[str, Any]], name: str) -> RawReply:
    """Return the reply that a stream of chunks forms.

    Raises ReplyError or TransientError if the stream contains an error.
    """
    text: list[str] = []
    written: dict[int, list[str]] = {}
    usage: dict[str, int] = {}
    is_cut = False
    for chunk in chunks:
        if (refusal := chunk.get("error")) is not None:
            is_passing = refusal.get("code", 0) >= _SERVER_FAULT
            message = f"llama.cpp refused a request to {name}: {refusal.get('message')}."
            raise TransientError(message) if is_passing else ReplyError(message)
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices", ()):
            delta = choice.get("delta", {})
            is_cut = is_cut or choice.get("finish_reason") == "length"
            text.append(delta.get("content") or "")
            for call in delta.get("tool_calls") or ():
                known = written.setdefault(call.get("index", 0), ["", ""])
                known[0] += call.get("function", {}).get("name") or ""
                known[1] += call.get("function", {}).get("arguments") or ""
    whole = "".join(text)
    said, calls = read_reply(whole, [WireCall(*call) for _, call in sorted(written.items())])
    counted = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    return RawReply(said, calls, *counted, is_cut=is_cut, reasoning=read_reasoning(None, whole))


def _body(request: ChatRequest) -> dict[str, Any]:
    options, names = dict(request.options), wire_names(request.tools)
    body: dict[str, Any] = {
        "messages": wire_messages(request.messages, names),
        "max_tokens": options.get("max_tokens", LONGEST_REPLY),
        "stream": True,
        "stream_options": {"include_usage": True},
        **{name: options[name] for name in ("temperature", "seed") if name in options},
        **options.get("extra", {}),
    }
    if request.tools:
        body["tools"] = wire_tools(request.tools, names)
    if request.schema is not None:
        schema = {"name": "answer", "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body
