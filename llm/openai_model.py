"""Servers that speak OpenAI's chat format, over one aiohttp session per model.

Only this module imports aiohttp.
"""

import asyncio
import re
from collections.abc import Mapping
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import orjson

from callwright.llm.answer_schemas import AnswerForms, RefusedError, StatedSchema
from callwright.llm.chat import ChatRequest, RawReply, seconds_for
from callwright.llm.known_models import taken_options
from callwright.llm.prices import FREE, OwnPrice, read_price, read_usage
from callwright.llm.refusals import (
    AWAY,
    HEADERS,
    LOOPBACK,
    AskedModel,
    Kind,
    is_about_money,
    read_retry_after,
    refusal,
    shown,
    with_values,
    without_values,
)
from callwright.llm.wire_format import (
    read_content,
    read_reasoning,
    read_reply,
    read_tool_calls,
    wire_question,
)
from callwright.warehouse.errors import (
    CallwrightError,
    ReplyError,
    TransientError,
    UnavailableError,
)
from callwright.warehouse.wire_names import WireNames, wire_names

if TYPE_CHECKING:
    import aiohttp

WELL = 200
_DIGITS = 3  # of a status
# 500: llama-cpp-python's server says so of a response_format that it does not know
_WRONG = frozenset({400, 422, 500})
_LOOK = 5.0  # seconds
# of a reply; the longest that is read (llm.bounds) has far less, however it is escaped
_MOST_BYTES = 16_000_000
_NO_KEY = frozenset({401, 403})
_KEPT = 60.0  # seconds for which an idle connection is worth keeping
# the last is llama.cpp's
_TOO_LONG = re.compile(r"maximum context length|context_length|available context size")
# another address: nothing is sent there
_KINDS: Mapping[int, Kind] = {
    **dict.fromkeys((401, 403), "key"),
    **dict.fromkeys((301, 302, 303, 307, 308, 404, 405), "no model"),
    402: "money",
    **dict.fromkeys((400, 413, 422), "request"),
    **dict.fromkeys(AWAY, "away"),
}
_CODES: Mapping[str, Kind] = {
    "context_length_exceeded": "too long",
    "content_policy_violation": "policy",
    "content_filter": "policy",
    "model_not_found": "no model",
    "unsupported_parameter": "settings",
    "unsupported_value": "settings",
}


class OpenAIModel:
    """One model of one server; each request's options carry whatever may change its answers."""

    _in_batches: ClassVar[bool] = False  # which are cheaper

    def __init__(  # noqa: PLR0913 - one argument for each setting of a model that is not sent
        self,
        name: str,
        *,
        api_base: str,
        api_key: str = "",
        api_key_variable: str = "",
        timeout: float = 120.0,
        slowest: float | None = None,
        connections: int = 16,
        price: OwnPrice | None = None,
        header_values: Mapping[str, str] | None = None,
        ledger: Path | None = None,
    ) -> None:
        """Ask PROVIDER/MODEL at `api_base` over at most so many `connections`.

        `ledger` is the file that keeps how it takes schemas.
        """
        variable = api_key_variable or "the model's api_key_variable, and the variable it names,"
        self._asked = AskedModel(name, api_key, variable)
        self._model = name.partition("/")[2]
        self._header_values = header_values or {}
        self._hidden = without_values(self._header_values)
        self._address = f"{api_base}/chat/completions"
        self._timeout, self._slowest = timeout, slowest
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None
        self._own_price = price
        self._price = FREE
        self._forms = AnswerForms(name, ledger)

    async def send(self, request: ChatRequest) -> RawReply:
        """Ask once, and again for each form of the schema that the server refuses."""
        if self._session is None:  # with it comes what is known of the model
            await self._open()
        names = wire_names(request.tools)

        async def send(stated: StatedSchema | None) -> RawReply:
            body, headers = self._body(request, names, stated)
            seconds = seconds_for(request, self._timeout, self._slowest)
            status, received, content = await self._exchange(
                "POST", self._address, body, headers, most=_MOST_BYTES, seconds=seconds
            )
            document, said = document_of(content), content.decode(errors="replace")
            if status == WELL and not isinstance(document, dict):
                text = shown(said, self._asked.key)
                problem = f"{self._asked.name} can't answer now: {text}"
                raise TransientError(problem, may_be_charged=True)
            if status == WELL and isinstance(document, dict) and not document.get("error"):
                return self._read(document)
            error = self._refused(status, received, content, document)
            raise RefusedError(said, error) if status in _WRONG else error

        return await self._forms.ask(request, send, is_known=self._price.takes_schemas)

    async def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of so many tokens by the recipe or else litellm's price map, or 0."""
        if self._session is None:
            await self._open()
        return self._price.of(prompt_tokens, completion_tokens)

    async def look(self) -> CallwrightError | None:
        """Return why the server can't be asked, by its list of models; None if it seems it can."""
        address = f"{self._address.removesuffix('/chat/completions')}/models"
        try:
            async with asyncio.timeout(_LOOK):
                status, received, content = await self._exchange("GET", address)
        except TimeoutError:
            return None  # slow, but there
        except TransientError as error:
            if error.may_be_charged:
                return None
            return UnavailableError(
                f"The server of {self._asked.name} at {address} can't be reached. Start it, or"
                f" correct api_base. {error}"
            )
        if status in _NO_KEY:
            return self._refused(status, received, content, document_of(content))
        return None

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _open(self) -> "aiohttp.ClientSession":
        self._price = await asyncio.to_thread(
            read_price, self._asked.name, own=self._own_price, in_batches=self._in_batches
        )
        if self._session is None:
            self._session = self._connect()
        return self._session

    def _connect(self) -> "aiohttp.ClientSession":
        import aiohttp

        key = {"Authorization": f"Bearer {self._asked.key}"} if self._asked.key else {}
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=_KEPT),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Content-Type": "application/json", "Accept": "application/json", **key},
            proxy=_proxy(self._address),
        )

    def _body(
        self, request: ChatRequest, names: WireNames, stated: StatedSchema | None
    ) -> tuple[bytes, dict[str, str] | None]:
        options = dict(request.options)
        extra = dict(options.get("extra", {}))
        own = extra.pop(HEADERS, None)
        fill = partial(with_values, values=self._header_values)
        headers = own and {name: fill(str(value)) for name, value in own.items()}
        body: dict[str, Any] = {
            "model": self._model,
            "messages": None,
            **taken_options(self._asked.name, options),
            **extra.pop("extra_body", {}),
            **extra,
        }
        body |= wire_question(request, names, stated)
        return orjson.dumps(body), headers

    async def _exchange(
        self,
        method: str,
        address: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        most: float = inf,
        seconds: float | None = None,
    ) -> tuple[int, Mapping[str, str], bytes]:
        import aiohttp

        session, seconds = self._session or await self._open(), seconds or self._timeout
        try:
            async with session.request(
                method,
                address,
                data=body,
                headers=headers,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds),
            ) as response:
                return response.status, response.headers, await self._content(response, most)
        except TimeoutError as error:
            text = f"{self._asked.name} gave no answer within {seconds:g} s."
            raise TransientError(text, may_be_charged=True) from error
        except (aiohttp.ClientError, OSError) as error:
            text = shown(self._hidden(str(error)), self._asked.key) or type(error).__name__
            if isinstance(error, aiohttp.ClientConnectorError):
                raise UnavailableError(f"{self._asked.name} can't be reached: {text}.") from error
            problem = f"{self._asked.name} can't answer now: the connection broke ({text})."
            raise TransientError(problem, may_be_charged=True) from error

    async def _content(self, response: "aiohttp.ClientResponse", most: float) -> bytes:
        pieces, size = [], 0
        async for piece in response.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise ReplyError(
                    f"{self._asked.name} answers with more than {most / 1e6:g} MB; the rest is not"
                    " read.",
                    may_be_charged=True,
                )
        body = b"".join(pieces)
        return self._hidden(body.decode(errors="replace")).encode() if self._header_values else body

    def _refused(
        self, status: int, received: Mapping[str, str], content: bytes, document: object
    ) -> CallwrightError:
        error = document.get("error") if isinstance(document, dict) else None
        code, text = "", content.decode(errors="replace")
        if isinstance(error, dict):
            code, text = str(error.get("code") or ""), str(error.get("message") or error)
        elif error:
            text = str(error)
        # some gateways say it in the body only
        if code.isdecimal() and len(code) <= _DIGITS and status == WELL:
            status = int(code)
        if is_about_money(code) or is_about_money(text):
            return refusal("money", self._asked, text)
        kind = _CODES.get(code) or _KINDS.get(status, "busy")
        if kind == "request" and _TOO_LONG.search(text):
            kind = "too long"
        return refusal(
            kind,
            self._asked,
            text or f"it answered with {status} and nothing else",
            read_retry_after(received),
        )

    def _read(self, document: dict[str, Any]) -> RawReply:
        choices = document.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise TransientError(
                f"{self._asked.name} answered without a choice.", may_be_charged=True
            )
        if choice.get("finish_reason") == "content_filter":
            problem = f"The provider's content filter withheld the reply of {self._asked.name}."
            raise ReplyError(problem, may_be_charged=True)
        content = read_content(message.get("content"))
        reasoning = read_reasoning(
            message.get("reasoning_content") or message.get("reasoning"), content
        )
        text, calls = read_reply(content, read_tool_calls(message.get("tool_calls")))
        stated = document.get("usage")
        usage = read_usage(stated if isinstance(stated, dict) else {})
        cost = self._price.of(*usage)
        is_cut = choice.get("finish_reason") == "length"
        return RawReply(
            text, calls, usage.prompt, usage.completion, cost, is_cut=is_cut, reasoning=reasoning
        )


def document_of(content: bytes) -> object:
    """Return the parsed JSON of a body, or None if it is not JSON."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _proxy(address: str) -> str | None:
    """Return the system's proxy for this address; aiohttp's lookup would also read ~/.netrc."""
    parts = urlsplit(address)
    if address.startswith(LOOPBACK) or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)
