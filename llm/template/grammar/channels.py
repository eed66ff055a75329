"""Whether a message is the one that a phrase points to: by the app that it came by, and by who signed it."""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from callwright.language.packs import of, widened
from callwright.language.text import fold
from callwright.llm.template.grammar.messages import MessageBook, book_of, find_pointer
from callwright.warehouse.records import Language

_MOST_WORDS, _MOST_LETTERS = 4, 32  # of a signature
_SENTENCE = re.compile(widened(r"@[.!?,:;]|\d|#|[^\w\s'’.-]$"))
_SPACED = re.compile(r"\s+")


class Channel(NamedTuple):
    """Where a message is found: the app by its key, and the service where one is named."""

    app: str
    service: str = ""


class MessageDoubt(NamedTuple):
    """Why a message may not be the one that is pointed to; `is_clash`: by the words it can't be."""

    reason: str
    is_clash: bool = False


def message_doubts(stated: str, app: str, message: str, language: Language) -> list[MessageDoubt]:
    """What speaks against a message of an app being the one that a turn points to; nothing without words for it."""
    if not _has_words(language):
        return []
    doubts = [_channel_doubt(stated, app, language), _signature_doubt(stated, message, language)]
    return [doubt for doubt in doubts if doubt is not None]


def channels_in(text: str, language: Language) -> set[Channel]:
    """The apps that a text speaks of, and the services that it names."""
    book = book_of(language)
    named = {Channel(book.services[name], name) for name in _services_in(text, book)}
    return named | {Channel(key) for key, pattern in _patterns(language).items() if pattern.search(text)}


def channel_of(app: str, language: Language) -> Channel | None:
    """The channel that an app is, by its key, what the language calls it, or the name of a service; None where none is known."""
    called: Mapping[str, str] = of(language).data["external"]["apps"]
    key = next((key for key, name in called.items() if fold(app) in (fold(key), fold(name))), "")
    if key:
        return Channel(key)
    found = sorted(channels_in(app, language), key=lambda one: one.service, reverse=True)
    return found[0] if found else None


def signature_of(message: str, language: Language) -> str:
    """Who signed a message: the words of a short last line that is no sentence and no closing; "" where nobody did."""
    lines = [line.strip() for line in message.strip().splitlines()]
    last = lines[-1].lstrip("—–- ") if len(lines) > 1 else ""
    is_short = len(last) <= _MOST_LETTERS and len(_SPACED.split(last)) <= _MOST_WORDS
    if not is_short or _SENTENCE.search(last) or fold(last) in _closings(language):
        return ""
    return last


def _channel_doubt(stated: str, app: str, language: Language) -> MessageDoubt | None:
    channel, pointer = channel_of(app, language), find_pointer(stated)
    named = channels_in(stated[pointer.start : pointer.end] if pointer else stated, language)
    if channel is None or not named:
        return None
    apps, services = {one.app for one in named}, {one.service for one in named if one.service}
    if channel.app not in apps:
        is_clash = pointer is not None
    elif channel.service and services and channel.service not in services:
        is_clash = True
    else:
        return None
    called = of(language).data["external"]["apps"]
    words = ", ".join(sorted(services) or sorted(str(called[one]) for one in apps))
    return MessageDoubt(f"The words speak of {words}, and the message came by {app}.", is_clash)


def _signature_doubt(stated: str, message: str, language: Language) -> MessageDoubt | None:
    signature = signature_of(message, language)
    if not signature or fold(_SPACED.split(signature)[-1]) in fold(stated):
        return None
    return MessageDoubt(f"The message is signed {signature!r}, of whom the user says nothing.")


def _has_words(language: Language) -> bool:
    data = of(language).data
    return "messages" in data and "external" in data


def _services_in(text: str, book: MessageBook) -> list[str]:
    return [
        one for one in book.services if re.search(rf"(?<![A-Za-z]){re.escape(one)}(?![A-Za-z])", text, re.IGNORECASE)
    ]


@cache
def _patterns(language: Language) -> dict[str, re.Pattern[str]]:
    return {key: re.compile(pattern, re.IGNORECASE) for key, pattern in book_of(language).channels.items()}


@cache
def _closings(language: Language) -> frozenset[str]:
    book = book_of(language)
    ends = [form.rstrip().splitlines()[-1] for forms in book.forms.values() for form in forms]
    return frozenset(fold(one) for one in (*book.closings, *ends))
