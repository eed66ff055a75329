"""What a call looks like on the wire: the path filled in, the query, headers, cookies and JSON body."""

from typing import NamedTuple
from urllib.parse import quote, urlencode

import orjson
from pydantic import JsonValue

from generators.catalogs.openapi import Place
from generators.environments.endpoints import Endpoint
from warehouse.records import Arguments

LONGEST_TARGET = 16_000  # characters; servers refuse longer ones in their own ways
_NO_SEGMENT = ("", ".", "..")  # as a path's segment they would lead to another endpoint


class HttpRequest(NamedTuple):
    """A request: `target` is path and query, `body` None where there is none."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


def request_of(endpoint: Endpoint, arguments: Arguments) -> HttpRequest | str:
    """The request that a call makes, or why it makes none."""
    problem = _mismatch(endpoint, arguments)
    if problem:
        return problem
    given = [(place, arguments[place.parameter]) for place in endpoint.places if place.parameter in arguments]
    path = endpoint.path
    for place, value in given:
        if place.part == "path":
            text = _text(value)
            if text in _NO_SEGMENT:
                return f"The path parameter {place.parameter!r} can't be {text!r}; give a value that names something."
            path = path.replace(f"{{{place.name}}}", quote(text, safe="", errors="replace"))
    query = [pair for place, value in given if place.part == "query" for pair in _pairs(place.name, value)]
    target = f"{path}?{urlencode(query, errors='replace')}" if query else path
    if len(target) > LONGEST_TARGET:
        return f"The address of the call is {len(target)} characters long; at most {LONGEST_TARGET} are sent."
    headers = _headers(given)
    return headers if isinstance(headers, str) else _with_body(endpoint, target, headers, given)


def _mismatch(endpoint: Endpoint, arguments: Arguments) -> str:
    known = [place.parameter for place in endpoint.places]
    missing = [name for name in endpoint.tool.required if name not in arguments]
    missing += [place.parameter for place in endpoint.places if place.part == "path" and _is_absent(place, arguments)]
    if missing:
        return f"The call of {endpoint.tool.name} lacks {', '.join(map(repr, dict.fromkeys(missing)))}."
    unknown = [name for name in arguments if name not in known]
    if unknown:
        names = ", ".join(known) or "none"
        return f"{endpoint.tool.name} has no parameter {', '.join(map(repr, unknown))}; its parameters are {names}."
    return ""


def _is_absent(place: Place, arguments: Arguments) -> bool:
    return arguments.get(place.parameter) is None


def _headers(given: list[tuple[Place, JsonValue]]) -> list[tuple[str, str]] | str:
    headers = [(place.name, _text(value)) for place, value in given if place.part == "header"]
    cookies = [(place.name, _text(value)) for place, value in given if place.part == "cookie"]
    for name, text in (*headers, *cookies):
        if not (text.isascii() and text.isprintable()) or text != text.strip():
            return f"The header {name!r} can't carry {text[:80]!r}; give printable ASCII without blanks at its ends."
    if cookies:
        headers.append(("Cookie", "; ".join(f"{name}={quote(text)}" for name, text in cookies)))
    return headers


def _with_body(
    endpoint: Endpoint, target: str, headers: list[tuple[str, str]], given: list[tuple[Place, JsonValue]]
) -> HttpRequest:
    places = [place for place in endpoint.places if place.part == "body"]
    if not places:
        return HttpRequest(endpoint.method, target, tuple(headers))
    members: JsonValue = {place.name: value for place, value in given if place.part == "body"}
    if places[0].name == "":  # the body is one value, not an object whose members are parameters
        members = next((value for place, value in given if place.part == "body"), None)
    body = orjson.dumps(members)
    return HttpRequest(endpoint.method, target, (*headers, ("Content-Type", "application/json")), body)


def _pairs(name: str, value: JsonValue) -> list[tuple[str, str]]:
    if value is None:
        return []
    return [(name, _text(item)) for item in (value if isinstance(value, list) else [value])]


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
