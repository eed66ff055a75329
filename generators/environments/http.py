"""A live server as an environment: any OpenAPI document's tools, asked at an address."""

import asyncio
import re
import ssl
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import httpx

from generators.environments.endpoints import Endpoint
from generators.environments.http_answers import HttpResponse, read_answer
from generators.environments.http_requests import HttpRequest, request_of
from generators.environments.protocol import Answer
from generators.environments.settings import LARGEST, PATIENCE
from warehouse.errors import ConfigurationError
from warehouse.records import Call, Link, Tool

HIDDEN = "[secret]"
LAST_PORT = 65_535
SHORTEST_HIDDEN = 8  # a shorter word may stand in an answer by itself
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_-]{1,63})*\.?")


class HttpLimits(NamedTuple):
    """How long a call may take from first to last byte, in seconds, and how many bytes its answer may have."""

    seconds: float = PATIENCE
    size: int = LARGEST


class HttpEnvironment:
    """Asks a live server. Redirects are not followed, proxies and passwords of the machine not used.

    `secrets` are headers with their values, sent with each call to this server and hidden in what it answers.
    """

    def __init__(
        self,
        name: str,
        endpoints: Sequence[Endpoint],
        base_url: str,
        *,
        secrets: Mapping[str, str] | None = None,
        links: Sequence[Link] = (),
        limits: HttpLimits | None = None,
    ) -> None:
        """Nothing is sent before the first call. Raises ConfigurationError where an address or a secret is unusable."""
        self._name = name
        self._endpoints = {endpoint.tool.name: endpoint for endpoint in endpoints}
        self._base_url = _checked_address(base_url)
        self._secrets = dict(secrets or {})
        for header, value in self._secrets.items():
            _check_secret(header, value)
        words = {word for value in self._secrets.values() for word in (value, value.split()[-1])}
        self._hidden_words = sorted((word for word in words if len(word) >= SHORTEST_HIDDEN), key=len, reverse=True)
        self._links = tuple(links)
        self._limits = limits or HttpLimits()
        self._trust: ssl.SSLContext | None = None

    @property
    def name(self) -> str:
        """The name that recipes and samples call it by."""
        return self._name

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that may be called, with the tag or the first segment of the path as category."""
        return tuple(endpoint.tool for endpoint in self._endpoints.values())

    @property
    def links(self) -> tuple[Link, ...]:
        """What the document's schemas say about which response gives which parameter its value."""
        return self._links

    def with_endpoints(self, endpoints: Sequence[Endpoint]) -> "HttpEnvironment":
        """The same server with other endpoints."""
        return HttpEnvironment(
            self._name, endpoints, self._base_url, secrets=self._secrets, links=self._links, limits=self._limits
        )

    async def answer(self, call: Call) -> Answer:
        """The server's response; whatever goes wrong is told in `problem`, within the time allowed."""
        endpoint = self._endpoints.get(call.tool)
        if endpoint is None:
            return Answer(problem=f"{self._name} has no tool {call.tool!r} that may be called.")
        request = request_of(endpoint, call.arguments)
        if isinstance(request, str):
            return Answer(problem=request)
        try:
            async with asyncio.timeout(self._limits.seconds):  # a server that drips bytes ends here too
                return await self._ask(request)
        except TimeoutError:
            return _passing(f"The server at {self._base_url} did not answer within {self._limits.seconds:g} seconds.")
        except httpx.InvalidURL as error:
            return Answer(problem=f"The call makes no address that can be asked ({error}).")
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            return _passing(self._hidden(f"The server at {self._base_url} can't be asked ({reason})."))

    async def _ask(self, request: HttpRequest) -> Answer:
        headers = [*request.headers, ("Accept", "application/json"), ("Accept-Encoding", "identity")]
        async with (
            httpx.AsyncClient(verify=self._trusted(), trust_env=False, timeout=None) as client,  # noqa: S113 - see answer
            client.stream(
                request.method,
                self._base_url + request.target,
                headers=[*headers, *self._secrets.items()],
                content=request.body,
                follow_redirects=False,
            ) as response,
        ):
            body = await self._body(response)
        if isinstance(body, Answer):
            return body
        kind, location = response.headers.get("content-type", ""), response.headers.get("location", "")
        answer = read_answer(HttpResponse(response.status_code, kind, self._hidden_bytes(body), location))
        return answer._replace(problem=self._hidden(answer.problem))

    async def _body(self, response: httpx.Response) -> bytes | Answer:
        """The body as sent, never unpacked, so that its size on the wire is its size here."""
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            return _passing(f"The server packs its answers ({encoding!r}) though it was asked not to.")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._limits.size:
                return _passing(f"The server's answer is larger than the {self._limits.size} bytes allowed.")
        return bytes(body)

    def _trusted(self) -> ssl.SSLContext:
        if self._trust is None:
            secure = self._base_url.startswith("https:")
            self._trust = (
                httpx.create_ssl_context(trust_env=False) if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            )
        return self._trust

    def _hidden(self, text: str) -> str:
        for word in self._hidden_words:
            text = text.replace(word, HIDDEN)
        return text

    def _hidden_bytes(self, body: bytes) -> bytes:
        for word in self._hidden_words:
            body = body.replace(word.encode(), HIDDEN.encode())
        return body


def _passing(problem: str) -> Answer:
    return Answer(problem=problem, passing=True)


def _checked_address(base_url: str) -> str:
    try:
        parsed = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"The address {base_url!r} can't be read ({error}).") from error
    # A host is a name, or an IPv6 address, which httpx has read; what is neither would only fail on the way.
    is_host = bool(_HOST.fullmatch(parsed.host)) or parsed.host.count(":") > 1
    is_bare = not (parsed.query or parsed.fragment or parsed.userinfo)
    if parsed.scheme not in ("http", "https") or not is_host or not is_bare or (parsed.port or 0) > LAST_PORT:
        raise ConfigurationError(
            f"The address {base_url!r} can't be asked; give one such as 'http://127.0.0.1:4200/api', its secrets apart."
        )
    return base_url.rstrip("/")


def _check_secret(header: str, value: str) -> None:
    if not value:
        raise ConfigurationError(
            f"The secret of the header {header!r} is empty; set the variable that the recipe names."
        )
    if not (value.isascii() and value.isprintable()) or not header.isascii() or not header.replace("-", "").isalnum():
        raise ConfigurationError(f"The header {header!r} or its secret can't be sent; give printable ASCII.")
