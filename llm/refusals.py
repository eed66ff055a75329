"""What a provider's refusal means for us: one sentence and one kind of error for each, whichever way it came."""

import time
from collections.abc import Mapping
from typing import Literal, NamedTuple

from callwright.warehouse.errors import CallwrightError, ConfigurationError, ReplyError, TransientError

SHOWN = 300
LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")  # where no account's own key may go
_NOT_TRANSIENT = ("insufficient_quota", "exceeded your current quota")

Kind = Literal["too long", "policy", "key", "no model", "money", "settings", "request", "busy"]


_STATED_IN: Mapping[Kind, tuple[type[CallwrightError], str]] = {
    "too long": (ReplyError, "The request is longer than {name} can read: {said}"),
    "policy": (ReplyError, "The provider's content policy refuses the request to {name}: {said}"),
    "request": (ReplyError, "The provider refuses a request to {name}: {said}"),
    "key": (ConfigurationError, "The provider refuses the key for {name}; set {variable} to a valid one: {said}"),
    "no model": (ConfigurationError, "There is no model {name!r} there; see its name and api_base: {said}"),
    "money": (
        ConfigurationError,
        "The account behind {name} has no money left; see to it, or set {variable}: {said}",
    ),
    "settings": (ConfigurationError, "The model {name!r} can't be asked like this; see its name and settings: {said}"),
    "busy": (TransientError, "{name} can't answer now: {said}"),
}


class AskedModel(NamedTuple):
    """Who was asked: the model's name, its key (never shown), and the variable that should hold one."""

    name: str
    key: str
    variable: str


def refusal(kind: Kind, asked: AskedModel, text: str, retry_after: float | None = None) -> CallwrightError:
    """The error for a refusal of this kind, with what to do about it; `said` are the provider's words."""
    error, words = _STATED_IN[kind]
    message = words.format(name=asked.name, variable=asked.variable, said=shown(text, asked.key))
    return TransientError(message, retry_after) if error is TransientError else error(message)


def is_about_money(text: str) -> bool:
    """Whether the provider speaks of an empty account, which waiting does not fill."""
    return any(mark in text for mark in _NOT_TRANSIENT)


def shown(text: str, key: str) -> str:
    """The provider's words in one line, not too long, without the key."""
    line = " ".join(text.split())
    return (line.replace(key, "***") if key else line)[:SHOWN]


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server wants to be left alone, None where it does not say or says nonsense."""
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
