"""A live server as environment: an OpenAPI document's tools, and its HTTP requests and replies."""

import asyncio
import re
import ssl
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple
from urllib.parse import quote, urlencode

import httpx
import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.openapi import ParameterPlace
from callwright.generators.environments.endpoints import Endpoint
from callwright.generators.environments.protocol import LARGEST, PATIENCE, CallResponse
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.json_text import DEEPEST, depth
from callwright.warehouse.records import Arguments, Call, Link

HIDDEN = "[secret]"
LAST_PORT = 65_535
SHORTEST_HIDDEN = 8  # a shorter word may stand in an answer by itself
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.[A-Za-z0-9_-]{1,63})*\.?")
LONGEST_TARGET = 16_000  # characters; servers refuse longer ones in their own ways
_NO_SEGMENT = ("", ".", "..")  # as a path's segment they would lead to another endpoint
# of the call itself; asked again, an API says the same
OWN_WORD = frozenset({400, 404, 405, 409, 410, 422})
LONGEST_PROBLEM = 400
_OK, _NO_CONTENT, _REDIRECT, _ERROR, _FAULT = 200, 204, 300, 400, 500
_Given = tuple[ParameterPlace, JsonValue]
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)


class HttpLimits(NamedTuple):
    """Limits of a call: seconds from first to last byte, and bytes of the answer."""

    seconds: float = PATIENCE
    size: int = LARGEST


class HttpRequest(NamedTuple):
    """A request: `target` is path and query; `body` is None if there is none."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class HttpResponse(NamedTuple):
    """A complete response; `location` is the target of a redirect."""

    status: int
    content_type: str
    body: bytes
    location: str = ""


class HttpEnvironment:
    """Sends calls to a live server.

    Redirects are not followed; the machine's proxies and passwords are not used.

    `secrets` are headers with their values, sent with each call to this server and hidden in its
    answers.
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
        """Set up the server; nothing is sent before the first call.

        Raises ConfigurationError if an address or a secret is unusable.
        """
        self.name = name
        self._endpoints = {endpoint.tool.name: endpoint for endpoint in endpoints}
        self._base_url = _checked_address(base_url)
        self._secrets = dict(secrets or {})
        for header, value in self._secrets.items():
            _check_secret(header, value)
        self._hidden_words = hidden_words(self._secrets.values())
        self.tools = tuple(endpoint.tool for endpoint in self._endpoints.values())
        self.links = tuple(links)
        self._limits = limits or HttpLimits()

    def with_endpoints(self, endpoints: Sequence[Endpoint]) -> "HttpEnvironment":
        """Return the same server with other endpoints."""
        return HttpEnvironment(
            self.name,
            endpoints,
            self._base_url,
            secrets=self._secrets,
            links=self.links,
            limits=self._limits,
        )

    async def answer(self, call: Call) -> CallResponse:
        """Return the server's response within the time limit; `problem` says what went wrong."""
        endpoint = self._endpoints.get(call.tool)
        if endpoint is None:
            return CallResponse(
                problem=f"{self.name} has no tool {call.tool!r} that may be called."
            )
        request = request_of(endpoint, call.arguments)
        if isinstance(request, str):
            return CallResponse(problem=request)
        try:
            # a server that drips bytes ends here too
            async with asyncio.timeout(self._limits.seconds):
                return await self._ask(request)
        except TimeoutError:
            return _passing(
                f"The server at {self._base_url} did not answer within {self._limits.seconds:g}"
                " seconds."
            )
        except httpx.InvalidURL as error:
            return CallResponse(problem=f"The call makes no address that can be asked ({error}).")
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            problem = f"The server at {self._base_url} can't be asked ({reason})."
            return _passing(hide(problem, self._hidden_words))

    async def _ask(self, request: HttpRequest) -> CallResponse:
        headers = [
            *request.headers,
            ("Accept", "application/json"),
            ("Accept-Encoding", "identity"),
        ]
        body = bytearray()
        async with (
            httpx.AsyncClient(verify=self._trusted, trust_env=False, timeout=None) as client,  # noqa: S113 - see answer
            client.stream(
                request.method,
                self._base_url + request.target,
                headers=[*headers, *self._secrets.items()],
                content=request.body,
                follow_redirects=False,
            ) as response,
        ):
            # The body is taken as sent, never unpacked, so that its size on the wire is its size
            # here.
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            if encoding not in ("", "identity"):
                return _passing(
                    f"The server packs its answers ({encoding!r}) though it was asked not to."
                )
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > self._limits.size:
                    return _passing(
                        f"The server's answer is larger than the {self._limits.size} bytes allowed."
                    )
        for word in self._hidden_words:
            body = body.replace(word.encode(), HIDDEN.encode())
        kind, location = (
            response.headers.get("content-type", ""),
            response.headers.get("location", ""),
        )
        answer = read_answer(HttpResponse(response.status_code, kind, bytes(body), location))
        return answer._replace(problem=hide(answer.problem, self._hidden_words))

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        if self._base_url.startswith("https:"):
            return httpx.create_ssl_context(trust_env=False)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def hidden_words(secrets: Iterable[str]) -> list[str]:
    """Return the parts of secrets to hide in answers, longest first."""
    words = {word for value in secrets for word in (value, value.split()[-1])}
    return sorted((word for word in words if len(word) >= SHORTEST_HIDDEN), key=len, reverse=True)


def hide(text: str, words: Iterable[str]) -> str:
    """Return a text with these words hidden."""
    for word in words:
        text = text.replace(word, HIDDEN)
    return text


def _passing(problem: str) -> CallResponse:
    return CallResponse(problem=problem, passing=True)


def _checked_address(base_url: str) -> str:
    try:
        parsed = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ConfigurationError(f"The address {base_url!r} can't be read ({error}).") from error
    # A host is a name, or an IPv6 address, which httpx has read; what is neither would only fail on
    # the way.
    is_host = bool(_HOST.fullmatch(parsed.host)) or parsed.host.count(":") > 1
    is_bare = not (parsed.query or parsed.fragment or parsed.userinfo)
    if (
        parsed.scheme not in ("http", "https")
        or not is_host
        or not is_bare
        or (parsed.port or 0) > LAST_PORT
    ):
        raise ConfigurationError(
            f"The address {base_url!r} can't be asked; give one such as"
            " 'http://127.0.0.1:4200/api', its secrets apart."
        )
    return base_url.rstrip("/")


def _check_secret(header: str, value: str) -> None:
    if not value:
        raise ConfigurationError(
            f"The secret of the header {header!r} is empty; set the variable that the recipe names."
        )
    if (
        not (value.isascii() and value.isprintable())
        or not header.isascii()
        or not header.replace("-", "").isalnum()
    ):
        problem = f"The header {header!r} or its secret can't be sent; give printable ASCII."
        raise ConfigurationError(problem)


def request_of(endpoint: Endpoint, arguments: Arguments) -> HttpRequest | str:
    """Return the request that a call makes, or why it makes none."""
    problem = _mismatch(endpoint, arguments)
    if problem:
        return problem
    given_by_part: dict[str, list[_Given]] = defaultdict(list)
    for place in endpoint.places:
        if place.parameter in arguments:
            given_by_part[place.part].append((place, arguments[place.parameter]))
    path = endpoint.path
    for place, value in given_by_part["path"]:
        text = _text(value)
        if text in _NO_SEGMENT:
            return (
                f"The path parameter {place.parameter!r} can't be {text!r}; give a value that names"
                " something."
            )
        path = path.replace(f"{{{place.name}}}", quote(text, safe="", errors="replace"))
    query_values = (
        (place.name, value if isinstance(value, list) else [value])
        for place, value in given_by_part["query"]
        if value is not None
    )
    query = [(name, _text(one)) for name, values in query_values for one in values]
    target = f"{path}?{urlencode(query, errors='replace')}" if query else path
    if len(target) > LONGEST_TARGET:
        return (
            f"The address of the call is {len(target)} characters long; at most {LONGEST_TARGET}"
            " are sent."
        )
    headers, body = (
        _headers(given_by_part["header"], given_by_part["cookie"]),
        _body(endpoint, given_by_part["body"]),
    )
    if isinstance(headers, str) or body is None:
        if isinstance(headers, str):
            return headers
        return HttpRequest(endpoint.method, target, tuple(headers))
    return HttpRequest(
        endpoint.method, target, (*headers, ("Content-Type", "application/json")), body
    )


def _mismatch(endpoint: Endpoint, arguments: Arguments) -> str:
    parameter_names = [place.parameter for place in endpoint.places]
    missing = [name for name in endpoint.tool.required if name not in arguments]
    missing += [
        place.parameter
        for place in endpoint.places
        if place.part == "path" and arguments.get(place.parameter) is None
    ]
    if missing:
        return (
            f"The call of {endpoint.tool.name} lacks"
            f" {', '.join(map(repr, dict.fromkeys(missing)))}."
        )
    unknown = [name for name in arguments if name not in parameter_names]
    if unknown:
        names = ", ".join(parameter_names) or "none"
        return (
            f"{endpoint.tool.name} has no parameter {', '.join(map(repr, unknown))}; its parameters"
            f" are {names}."
        )
    return ""


def _headers(given: Sequence[_Given], in_cookie: Sequence[_Given]) -> list[tuple[str, str]] | str:
    headers, cookies = (
        [(place.name, _text(value)) for place, value in one] for one in (given, in_cookie)
    )
    for name, text in (*headers, *cookies):
        if not (text.isascii() and text.isprintable()) or text != text.strip():
            return (
                f"The header {name!r} can't carry {text[:80]!r}; give printable ASCII without"
                " blanks at its ends."
            )
    if cookies:
        headers.append(("Cookie", "; ".join(f"{name}={quote(text)}" for name, text in cookies)))
    return headers


def _body(endpoint: Endpoint, given: Sequence[_Given]) -> bytes | None:
    places = [place for place in endpoint.places if place.part == "body"]
    if not places:
        return None
    members: JsonValue = {place.name: value for place, value in given}
    if places[0].name == "":  # the body is one value, not an object whose members are parameters
        members = given[0][1] if given else None
    for step in reversed(places[0].within):
        members = {step: members}
    return orjson.dumps(members)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def read_answer(response: HttpResponse) -> CallResponse:
    """Return the JSON value of a response, or a problem that says why there is none."""
    status, body = response.status, response.body
    if _REDIRECT <= status < _ERROR:
        place = response.location or "an address that it does not give"
        return _passing(
            f"The server redirects to {place[:LONGEST_PROBLEM]} ({status}); redirects are not"
            " followed."
        )
    if status < _OK:
        return _passing(f"The server answered with status {status}, which is no response.")
    if status >= _ERROR:
        whose = "The server failed with" if status >= _FAULT else "The server refused the call with"
        settled = status in OWN_WORD and _is_json(response)
        return CallResponse(
            problem=f"{whose} status {status}{_rendered(response)}", passing=not settled
        )
    if status == _NO_CONTENT or (not body and not response.content_type):
        return CallResponse()
    if not _is_json(response):
        kind = "an HTML page"
        if "html" not in _kind(response):
            kind = f"{_kind(response)[:LONGEST_PROBLEM]!r}"
        return _passing(f"The server answered {kind} and no JSON{_rendered(response)}")
    try:
        body.decode()
        value: JsonValue = orjson.loads(body)
    except UnicodeDecodeError as error:
        return _passing(
            f"The server's answer of {len(body)} bytes is not UTF-8 (byte {error.start}:"
            f" {error.reason})."
        )
    except orjson.JSONDecodeError as error:
        return _passing(f"The server's answer of {len(body)} bytes is not JSON ({error}).")
    too_deep = f"The server's answer is nested more than {DEEPEST} levels deep."
    return _passing(too_deep) if depth(value) > DEEPEST else CallResponse(value)


def _kind(response: HttpResponse) -> str:
    return response.content_type.split(";")[0].strip().lower()


def _is_json(response: HttpResponse) -> bool:
    kind = _kind(response)
    return kind in ("", "application/json", "text/json") or kind.endswith("+json")


def _rendered(response: HttpResponse) -> str:
    """Return the body for a message, truncated: JSON or text as it is, a web page as its title."""
    text = " ".join(response.body[: 16 * LONGEST_PROBLEM].decode(errors="replace").split())
    if "html" in response.content_type.lower():
        title = _TITLE.search(text)
        text = title.group(1) if title else ""
    if text:
        return f": {text if len(text) <= LONGEST_PROBLEM else text[:LONGEST_PROBLEM] + '…'}"
    return "."
