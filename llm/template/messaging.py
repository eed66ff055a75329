"""Messages that hold a value: writing one for an app, and finding in one the words that state what was pointed at."""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from llm.language.dates import find_dates
from llm.language.found import Found
from llm.language.locating import locate
from llm.language.times import find_times
from llm.language.writing import write_value
from llm.template import messages_en, messages_zh
from llm.template.names import is_chinese
from llm.template.pointing import CLOCK, CODE, Pointed, noun_class
from warehouse.records import JsonSchema, Language

_ATTEMPTS = 8
_UNIQUE_TOKEN = re.compile(r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9\u4e00-\u9fff](?:[A-Za-z0-9]|[-_/.](?=\w))+(?![\w-])")
_QUOTED = re.compile(r"[\"“«「『《]([^\"”»」』》\n]{1,80})[\"”»」』》]")
_TOLD = re.compile(
    r"(?:\b(?:is|are|called|named)|[:：]|是|叫|为)\s*[\"“「《]?([^\"”」》\n。，,!?！？;；]{1,60}?)[\"”」》]?"
    r"(?=\.(?:\s|$)|[。，,!?！？;；\n]|$)"
)
_TO_ONESELF, _TO_ALL = frozenset({"notebook", "calendar"}), frozenset({"social_media", "photo_caption"})
_ADDRESSED = re.compile(r"\b(?:you|your|please|us)\b|[你您请]", re.IGNORECASE)
_NEAR = 12  # between a date and the time of day that goes with it


class Message(NamedTuple):
    """A message, and the words in it that state the value."""

    text: str
    words: str


class _Book(NamedTuple):
    sentences: Mapping[str, tuple[str, ...]]
    before: Mapping[str, tuple[str, ...]]
    diary: tuple[str, ...]  # what people write for themselves
    public: tuple[str, ...]  # and what for everybody
    after: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]


_BOOKS: Mapping[Language, _Book] = {
    "en": _Book(
        messages_en.SENTENCES,
        messages_en.BEFORE,
        messages_en.DIARY,
        messages_en.PUBLIC,
        messages_en.AFTER,
        messages_en.FORMS,
    ),
    "zh": _Book(
        messages_zh.SENTENCES,
        messages_zh.BEFORE,
        messages_zh.DIARY,
        messages_zh.PUBLIC,
        messages_zh.AFTER,
        messages_zh.FORMS,
    ),
}


def write_message(pointed: Pointed, value: JsonValue, schema: JsonSchema, language: Language, rng: Random) -> Message:
    """A message of the app that says the value so that nobody can mistake it; the last one where all might be."""
    key, app, cue = pointed
    book = _BOOKS[language]
    message = Message("", "")
    for _ in range(_ATTEMPTS):
        words = str(value) if key in ("person", "company") else write_value(value, schema, language, rng)
        text = _fill_form(key, app, book, rng).replace("{c}", cue).replace("{v}", words)
        message = Message(_capitalised(text), words)
        told = find_told(message.text, key)
        if told and locate(value, schema, told) is not None:
            return message
    return message


def _fill_form(key: str, app: str, book: _Book, rng: Random) -> str:
    """A form of the app with everything but the value: addressed to somebody, to oneself, or to everybody."""
    sentences, before = book.sentences[key], book.before[key]
    if app in _TO_ONESELF or app in _TO_ALL:
        plain = tuple(sentence for sentence in sentences if not _ADDRESSED.search(sentence))
        sentences, before = plain or sentences, book.diary if app in _TO_ONESELF else book.public
    form = rng.choice(book.forms.get(app, book.forms["sms"]))
    filled = form.replace("{b}", rng.choice(before)).replace("{a}", rng.choice(book.after))
    return filled.replace("{s}", rng.choice(sentences))


def find_told(message: str, noun: str) -> str:
    """The words of a message that a phrase with this noun points at, "" where it has none or too many."""
    kind = noun_class(noun)
    if kind == CLOCK:
        return _find_moment(message, noun)
    told = _find_sentence(message) or (_find_token(message) if kind == CODE else "")
    return told or _find_quoted(message) or _find_stated(message)


def _find_moment(message: str, noun: str) -> str:
    """The date, the time of day, or both where they stand beside each other."""
    dates, times = find_dates(message), find_times(message)
    wanted = [*(dates if _wants(noun, times) else []), *(times if _wants(noun, dates) else [])]
    wanted = sorted(wanted or [*dates, *times], key=lambda found: found.start)
    if not wanted or _is_apart(wanted):
        return ""
    return message[wanted[0].start : max(found.end for found in wanted)]


def _wants(noun: str, others: list[Found]) -> bool:
    """Whether what is pointed at may be of this type: there is nothing else, or the noun does not exclude it."""
    return not others or noun == "moment" or noun.endswith("time") or "时间" in noun


def _is_apart(found: list[Found]) -> bool:
    return any(later.start - earlier.end > _NEAR for earlier, later in pairwise(found))


def _find_sentence(message: str) -> str:
    for pattern in _patterns("zh" if is_chinese(message) else "en"):
        match = pattern.search(message)
        if match:
            return _bare(match["v"])
    return ""


def _find_token(message: str) -> str:
    tokens = set(_UNIQUE_TOKEN.findall(message))
    return tokens.pop() if len(tokens) == 1 else ""


def _find_quoted(message: str) -> str:
    quoted = set(_QUOTED.findall(message))
    return quoted.pop() if len(quoted) == 1 else ""


def _find_stated(message: str) -> str:
    stated = _TOLD.findall(message)
    return _bare(stated[0]) if len(stated) == 1 else ""


@lru_cache(2)
def _patterns(language: Language) -> tuple[re.Pattern[str], ...]:
    """Every sentence of the grammar as an expression, the longest first."""
    sentences = {sentence for kind in _BOOKS[language].sentences.values() for sentence in kind}
    return tuple(re.compile(_expression(sentence)) for sentence in sorted(sentences, key=len, reverse=True))


def _expression(sentence: str) -> str:
    before, _, after = sentence.partition("{v}")
    lead = re.escape(before).replace(re.escape("{c}"), r"[\w'’ ]{1,40}?")
    edge = r"(?<![\w])" if before[:1].isascii() else r"(?:^|(?<=[\n。！？，：👍😊 ]))"
    stop = rf"{re.escape(after)}(?=\s|$)" if after.endswith(".") else re.escape(after)
    return rf"{edge}{lead}(?P<v>[^\n。！？]{{1,120}}?){stop}"


def _bare(words: str) -> str:
    return words.strip(' "“”«»「」『』《》')


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:] if not text.startswith("hey") else text
