"""What passes between us and a provider: secrets kept out of sight, and what refusals mean.

A header names the variable that holds its value: `extra_headers: {X-Gateway:
"${GATEWAY_API_KEY}"}`. Settings are kept with the build and published, so they keep the
reference, and the value replaces it only in what is sent. A refusal becomes one sentence and one
kind of error, whichever way it came.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import JsonValue

from callwright.warehouse.errors import (
    CallwrightError,
    ConfigurationError,
    ReplyError,
    TransientError,
    UnavailableError,
)

HEADERS = "extra_headers"
HIDDEN = "***"
_SHORTEST_HIDDEN = 6  # characters; shorter ones would be found in any text
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_HEADER = re.compile(
    r"auth|key|token|secret|password|cookie|credential|signature", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"\s*(?:bearer|basic|token)\s+\S|sk-\w{6}", re.IGNORECASE)
_SECRET_SETTING = re.compile(
    r"(?:^|[_-])(?:secret|password|credentials?|token|api[_-]?key|access_key(?:_id)?|authorization)$|secret_access_key",
    re.IGNORECASE,
)
_FOREIGN_REFERENCE = "os.environ/"  # litellm reads any variable that is written so


def check_address(address: str) -> str:
    """Return the address of a server unchanged.

    Raises ValueError if it holds more than a location.
    """
    parts = urlsplit(address)
    if "@" in parts.netloc:
        problem = "the api_base can't hold a user or a password; a key goes into api_key_variable"
        raise ValueError(problem)
    if parts.query or parts.fragment:
        raise ValueError(
            "the api_base can't hold a query, for it is kept with the build; a key goes into"
            " api_key_variable"
        )
    return address


def check_no_secrets(extra: Mapping[str, JsonValue]) -> None:
    """Raise ValueError if the extra settings hold a secret, or something read as one."""
    for path, value in _texts(extra, ()):
        shown = ".".join(path)
        if value.startswith(_FOREIGN_REFERENCE):
            raise ValueError(
                f"extra.{shown} can't refer to {_FOREIGN_REFERENCE}…; name the variable in"
                " api_key_variable"
            )
        if path[0] == HEADERS:
            is_secret = _SECRET_HEADER.search(path[-1]) or _SECRET_VALUE.match(value)
            if is_secret and not _REFERENCE.search(value):
                raise ValueError(
                    f"extra.{shown} looks like a secret, and would be kept with the build; put it"
                    " into a variable of the environment, and write ${NAME_OF_THE_VARIABLE} in"
                    " its place"
                )
        elif _SECRET_SETTING.search(path[-1]) and value:
            raise ValueError(
                f"extra.{shown} looks like a secret, and would be kept with the build; use"
                " api_key_variable"
            )


def header_variables(extra: Mapping[str, JsonValue]) -> list[str]:
    """Return the variables that the headers refer to."""
    headers = extra.get(HEADERS)
    return [name for _, value in _texts(headers, ()) for name in _REFERENCE.findall(value)]


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return a header with the values of its variables; one without a value stays as written."""
    return _REFERENCE.sub(lambda found: values.get(found[1], found[0]), text)


def without_values(values: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that removes these secrets from a text."""
    found = (one for one in values.values() if len(one) >= _SHORTEST_HIDDEN)
    words = sorted(found, key=len, reverse=True)

    def hidden(text: str) -> str:
        for word in words:
            text = text.replace(word, HIDDEN)
        return text

    return hidden


def _texts(
    value: JsonValue | Mapping[str, JsonValue], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path or ("",), value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from _texts(member, (*path, name))
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, path)


SHOWN = 300
# where no account's own key may go
LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")
_NOT_TRANSIENT = ("insufficient_quota", "exceeded your current quota")

Kind = Literal[
    "too long",
    "policy",
    "key",
    "no model",
    "money",
    "settings",
    "request",
    "unusable",
    "busy",
    "away",
]


_STATED_IN: Mapping[Kind, tuple[type[CallwrightError], str]] = {
    "too long": (ReplyError, "The request is longer than {name} can read: {said}"),
    "policy": (ReplyError, "The provider's content policy refuses the request to {name}: {said}"),
    "request": (ReplyError, "The provider refuses a request to {name}: {said}"),
    "unusable": (ReplyError, "The reply of {name} can't be used: {said}"),
    "key": (
        ConfigurationError,
        "The provider refuses the key for {name}; set {variable} to a valid one: {said}",
    ),
    "no model": (
        ConfigurationError,
        "There is no model {name!r} there; see its name and api_base: {said}",
    ),
    "money": (
        ConfigurationError,
        "The account behind {name} has no money left; see to it, or set {variable}: {said}",
    ),
    "settings": (
        ConfigurationError,
        "The model {name!r} can't be asked like this; see its name and settings: {said}",
    ),
    "busy": (TransientError, "{name} can't answer now: {said}"),
    "away": (UnavailableError, "{name} can't answer now: {said}"),
}


class AskedModel(NamedTuple):
    """The model that was asked: its name, its key (never shown), and the variable for a key."""

    name: str
    key: str
    variable: str


def refusal(
    kind: Kind, asked: AskedModel, text: str, retry_after: float | None = None
) -> CallwrightError:
    """Return the error for a refusal, with advice; `text` is what the provider said."""
    error, words = _STATED_IN[kind]
    message = words.format(name=asked.name, variable=asked.variable, said=shown(text, asked.key))
    return error(message, retry_after) if issubclass(error, TransientError) else error(message)


AWAY = frozenset({429, 502, 503, 529})  # of the server as a whole; 529 is Anthropic's "overloaded"


def is_about_money(text: str) -> bool:
    """Whether the provider reports an account without money, which waiting does not fix."""
    return any(mark in text for mark in _NOT_TRANSIENT)


def shown(text: str, key: str) -> str:
    """Return the provider's message on one line, shortened and without the key."""
    line = " ".join(text.split())
    return (line.replace(key, "***") if key else line)[:SHOWN]


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to be left alone, None if unknown or unreadable."""
    milliseconds, wish = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if wish is None:
            return None
        return max(0.0, float(wish) if wish[:1].isdigit() and "," not in wish else _until(wish))
    except ValueError:
        return None  # neither seconds nor a date


def _until(moment: str) -> float:
    from email.utils import parsedate_to_datetime  # slow to load, and seldom wanted

    return parsedate_to_datetime(moment).timestamp() - time.time()
