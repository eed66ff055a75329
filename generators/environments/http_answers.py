"""What a server's response means: a JSON value, or why it is none."""

import re
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from generators.catalogs.documents import DEEPEST, depth
from generators.environments.protocol import Answer

OWN_WORD = frozenset(
    {400, 404, 405, 409, 410, 422}
)  # what an API says of the call itself; asked again, it says the same
LONGEST_TOLD = 400
_OK, _NO_CONTENT, _REDIRECT, _ERROR, _FAULT = 200, 204, 300, 400, 500
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)


class HttpResponse(NamedTuple):
    """A response that has come in whole; `location` is where a redirect leads."""

    status: int
    content_type: str
    body: bytes
    location: str = ""


def read_answer(response: HttpResponse) -> Answer:
    """What a response says: its JSON value, or a sentence on why there is none."""
    status = response.status
    if _REDIRECT <= status < _ERROR:
        place = response.location or "an address that it does not give"
        return _failed(f"The server redirects to {place[:LONGEST_TOLD]} ({status}); redirects are not followed.")
    if status >= _ERROR:
        whose = "The server failed with" if status >= _FAULT else "The server refused the call with"
        settled = status in OWN_WORD and _is_json(response)
        return Answer(problem=f"{whose} status {status}{_told(response)}", passing=not settled)
    if status < _OK:
        return _failed(f"The server answered with status {status}, which is no response.")
    return _read_body(response)


def _read_body(response: HttpResponse) -> Answer:
    body = response.body
    if response.status == _NO_CONTENT or (not body and not response.content_type):
        return Answer()
    if not _is_json(response):
        return _failed(f"The server answered {_kind(response)} and no JSON{_told(response)}")
    try:
        value: JsonValue = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return _failed(f"The server's answer of {len(body)} bytes {_fault(body, error)}")
    if depth(value) > DEEPEST:
        return _failed(f"The server's answer is nested more than {DEEPEST} levels deep.")
    return Answer(value)


def _fault(body: bytes, error: orjson.JSONDecodeError) -> str:
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        return f"is not UTF-8 (byte {wrong.start}: {wrong.reason})."
    return f"is not JSON ({error})."


def _is_json(response: HttpResponse) -> bool:
    kind = response.content_type.split(";")[0].strip().lower()
    return kind in ("", "application/json", "text/json") or kind.endswith("+json")


def _kind(response: HttpResponse) -> str:
    kind = response.content_type.split(";")[0].strip().lower()
    return "an HTML page" if "html" in kind else f"{kind[:LONGEST_TOLD]!r}"


def _told(response: HttpResponse) -> str:
    """What the body says, cut: a JSON value as it stands, of a page its title."""
    text = " ".join(response.body[: 16 * LONGEST_TOLD].decode(errors="replace").split())
    if "html" in response.content_type.lower():
        title = _TITLE.search(text)
        text = title.group(1) if title else ""
    return f": {text if len(text) <= LONGEST_TOLD else text[:LONGEST_TOLD] + '…'}" if text else "."


def _failed(problem: str) -> Answer:
    return Answer(problem=problem, passing=True)
