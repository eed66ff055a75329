"""Messages, and phrases that point at them: the place in my sister's text; written, found again, and put in each other's place."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

import language.en.messages as english
import language.zh.messages as chinese
from language.calls.parameters import CLOCKED, CODED, meaning_by_words
from language.calls.stating import CAREFUL, in_quotes
from language.calls.turns import Turn
from language.dates import find_dates
from language.names import is_chinese, split_name
from language.packs import language_of
from language.phrasebook import requests_in
from language.schemas import kind_of
from language.text import Found
from language.times import find_times
from language.values import locate, write_value
from warehouse.records import JsonSchema, Language

CLOCK, CODE, NAME = "clock", "code", "name"
_POINTER_ATTEMPTS = 12
_MOST_WORDS = 2
_CITY = re.compile(r"\b(?:city|cities|town)\b|城市|taken in")
_ADDRESS = re.compile(r"\baddress\b|地址|住址")
_TYPED = {"date": "date", "time": "time", "date-time": "moment"}
_CLASSES = {"date": CLOCK, "time": CLOCK, "moment": CLOCK, "plate": CODE, "id_number": CODE}
_PEOPLE = "|".join(sorted(map(re.escape, english.PEOPLE), key=lambda one: (-len(one), one)))
_PERSON = rf"(?:{_PEOPLE}|(?:my|our|the|his|her) [a-z]+|[A-Z][\w\-]+(?: [A-Z][\w\-]+)?)"
_WORD = (
    r"(?!(?:the|is|are|as|be|use|to|from|with|and|for|on|at|in|should|that|mentioned)\b)[\w'’\-]+"  # of a noun phrase
)
_NOUN = rf"(?:(?:[a-z]+ )?(?:date|day) and time|{_WORD}(?: {_WORD}){{0,3}}?)"
_APPS = r"(?:text message|text|SMS|e-?mail|message|chat|post|notes?|notebook|notepad|voicemail|calendar|caption)"
_GENERAL = (
    rf"(?:that |which )?(?:was |is )?(?:mentioned |given |stated |listed |written |shared )?(?:in|from|on) "
    rf"(?:the |my |our |an? )?(?:(?:{_PERSON})['’]s )?(?:\w+ )?{_APPS}(?: sent)?(?: (?:from|by) {_PERSON})?(?: to me)?"
    rf"(?: {_PERSON} (?:sent|gave) (?:me|us))?"
)
_GENERAL_ZH = (
    "(?:^|(?<=[，。：:、；是为填用到去给在从 ]))[\u4e00-\u9fffA-Za-z]{0,8}?"
    "(?:短信|邮件|消息|记事本|备忘录|笔记|动态|日历|留言)[里中上]?"
    "(?:提到|说|写|发|记)的"
)


class Pointer(NamedTuple):
    """A phrase that points at a message, and the noun in it."""

    start: int
    end: int
    noun: str


class Pointed(NamedTuple):
    """What is pointed at: the sort of noun, the app that the message is in, and what people call the parameter."""

    key: str
    app: str
    cue: str


class _Pointing(NamedTuple):
    people: tuple[str, ...]
    nouns: Mapping[str, list[str]]
    adjectives: Mapping[str, list[str]]
    own: list[str]
    where: Mapping[str, tuple[str, ...]]
    elsewhere: tuple[str, ...]


_POINTING: Mapping[Language, _Pointing] = {
    "en": _Pointing(
        english.PEOPLE,
        english.NOUNS,
        english.ADJECTIVES,
        english.OWN_NOUNS,
        english.WHERE,
        english.ELSEWHERE,
    ),
    "zh": _Pointing(
        chinese.PEOPLE,
        chinese.NOUNS,
        chinese.ADJECTIVES,
        chinese.OWN_NOUNS,
        chinese.WHERE,
        chinese.ELSEWHERE,
    ),
}


def noun_key(entity: str, name: str, schema: JsonSchema) -> str:
    """What sort of noun goes with an entity: a time is a date, a time of day or a moment, a location may be a city."""
    if entity == "time":
        return _TYPED.get(kind_of(schema), "moment")
    if entity == "location":
        found_text = f"{' '.join(split_name(name))} {schema.get('description') or ''}".lower()
        return "city" if _CITY.search(found_text) else "address" if _ADDRESS.search(found_text) else "location"
    return entity


def noun_class(noun: str) -> str:
    """Whether a noun stands for a date or time, for a code, or for a name."""
    key = _keys().get(noun.lower(), noun)
    if key in _CLASSES:
        return _CLASSES[key]
    found_text = meaning_by_words(noun.lower(), noun)
    if found_text in CLOCKED:
        return CLOCK
    return CODE if found_text in CODED | {"code"} and found_text != "airport" else NAME


def word_pointer(pointed: Pointed, stated: str, avoid: Iterable[str], language: Language, rng: Random) -> str:
    """A phrase that points at a message of the app; nobody is named in it whom the texts to be avoided name.

    The noun that people call the parameter by is taken where the user has not just said it.
    """
    key, app, cue = pointed
    book = _POINTING[language]
    taken = [stated.lower(), *(one.lower() for one in avoid)]
    people = [
        one for one in book.people if not any(_last(one) in text or text in one.lower() for text in taken if text)
    ]
    fresh = [noun for noun in book.nouns[key] if noun not in stated.lower()]  # not "the city is the city"
    nouns = _own_nouns(cue, stated, book) or fresh or book.nouns[key]
    phrase = ""
    for _ in range(_POINTER_ATTEMPTS):
        person = rng.choice(people or list(book.people))
        noun, adjective = rng.choice(nouns), rng.choice(book.adjectives[key])
        where = rng.choice(book.where.get(app, book.elsewhere)).replace("{n}", person)
        phrase = f"{where}{noun}" if language == "zh" else " ".join(filter(None, ("the", adjective, noun, where)))
        if not any(text and text in phrase.lower() for text in taken[1:]):
            break
    return phrase


def find_pointer(text: str) -> Pointer | None:
    """The first phrase in a text that points at a message."""
    for pattern in _pointer_patterns():
        match = pattern.search(text)
        if match:
            return Pointer(match.start(), match.end(), match["noun"])
    return None


def _own_nouns(cue: str, stated: str, book: _Pointing) -> list[str]:
    """What the parameter itself is called, where that is a plain noun that stands nowhere else in what is stated."""
    own = next((noun for noun in book.own if cue.lower().endswith(noun)), "")
    whole = cue if own and cue.isascii() else own
    if not own or len(cue.split()) > _MOST_WORDS or whole.lower() in stated.lower():
        return []
    return [whole]


def _last(person: str) -> str:
    return person.lower().split()[-1]


@lru_cache(1)
def _keys() -> dict[str, str]:
    return {noun: key for book in _POINTING.values() for key, nouns in book.nouns.items() for noun in nouns}


@lru_cache(1)
def _pointer_patterns() -> tuple[re.Pattern[str], ...]:
    """The grammar of each language as expressions, then what other people may say."""
    english, chinese = _POINTING["en"], _POINTING["zh"]
    where = "|".join(_where(english, _PERSON, "{n}"))
    people = "|".join(sorted(map(re.escape, chinese.people), key=len, reverse=True))
    where_zh = "|".join(_where(chinese, f"(?:{people})", "{n}"))
    known = {noun for some in chinese.nouns.values() for noun in some} | set(chinese.own)
    nouns = "|".join(sorted(known, key=lambda noun: (-len(noun), noun)))
    return (
        re.compile(rf"\b[Tt]he (?P<noun>{_NOUN}) (?:that |which )?(?:{where})(?![\w'’])"),
        re.compile(rf"(?:{where_zh})(?P<noun>{nouns})"),
        re.compile(rf"\b[Tt]he (?P<noun>{_NOUN}) {_GENERAL}(?![\w'’])"),
        re.compile(rf"{_GENERAL_ZH}(?P<noun>{nouns})"),
    )


def _where(book: _Pointing, person: str, slot: str) -> list[str]:
    shapes = {shape for app in (*book.where.values(), book.elsewhere) for shape in app}
    ordered = sorted(shapes, key=lambda shape: (-len(shape), shape))
    return [person.join(map(re.escape, shape.split(slot))) for shape in ordered]


_ATTEMPTS = 8
_UNIQUE_TOKEN = re.compile(r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9\u4e00-\u9fff](?:[A-Za-z0-9]|[-_/.](?=\w))+(?![\w-])")
_QUOTED = re.compile(r"[\"“«「『《]([^\"”»」』》\n]{1,80})[\"”»」』》]")
_STATED_IN = re.compile(
    r"(?:\b(?:is|are|called|named)|[:：]|是|叫|为)\s*[\"“「《]?([^\"”」》\n。，,!?！？;；]{1,60}?)[\"”」》]?"
    r"(?=\.(?:\s|$)|[。，,!?！？;；\n]|$)"
)
_TO_ONESELF, _TO_ALL = frozenset({"notebook", "calendar"}), frozenset({"social_media", "photo_caption"})
_ADDRESSED = re.compile(r"\b(?:you|your|please|us)\b|[你您请]", re.IGNORECASE)
_NEAR = 12  # between a date and the time of day that goes with it


class RenderedMessage(NamedTuple):
    """A message, and the words in it that state the value."""

    text: str
    words: str


class _Messages(NamedTuple):
    sentences: Mapping[str, tuple[str, ...]]
    before: Mapping[str, tuple[str, ...]]
    diary: tuple[str, ...]  # what people write for themselves
    public: tuple[str, ...]  # and what for everybody
    after: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]


_MESSAGES: Mapping[Language, _Messages] = {
    "en": _Messages(
        english.SENTENCES,
        english.BEFORE,
        english.DIARY,
        english.PUBLIC,
        english.AFTER,
        english.FORMS,
    ),
    "zh": _Messages(
        chinese.SENTENCES,
        chinese.BEFORE,
        chinese.DIARY,
        chinese.PUBLIC,
        chinese.AFTER,
        chinese.FORMS,
    ),
}


def write_message(
    pointed: Pointed, value: JsonValue, schema: JsonSchema, language: Language, rng: Random
) -> RenderedMessage:
    """A message of the app that says the value so that nobody can mistake it; the last one where all might be."""
    key, app, cue = pointed
    book = _MESSAGES[language]
    message = RenderedMessage("", "")
    for _ in range(_ATTEMPTS):
        words = str(value) if key in ("person", "company") else write_value(value, schema, language, rng)
        text = _fill_form(key, app, book, rng).replace("{c}", cue).replace("{v}", words)
        message = RenderedMessage(_capitalised(text), words)
        found_text = find_message_value(message.text, key)
        if found_text and locate(value, schema, found_text) is not None:
            return message
    return message


def _fill_form(key: str, app: str, book: _Messages, rng: Random) -> str:
    """A form of the app with everything but the value: addressed to somebody, to oneself, or to everybody."""
    sentences, before = book.sentences[key], book.before[key]
    if app in _TO_ONESELF or app in _TO_ALL:
        plain = tuple(sentence for sentence in sentences if not _ADDRESSED.search(sentence))
        sentences, before = plain or sentences, book.diary if app in _TO_ONESELF else book.public
    form = rng.choice(book.forms.get(app, book.forms["sms"]))
    filled = form.replace("{b}", rng.choice(before)).replace("{a}", rng.choice(book.after))
    return filled.replace("{s}", rng.choice(sentences))


def find_message_value(message: str, noun: str) -> str:
    """The words of a message that a phrase with this noun points at, "" where it has none or too many."""
    kind = noun_class(noun)
    if kind == CLOCK:
        return _find_moment(message, noun)
    found_text = _find_sentence(message) or (_find_token(message) if kind == CODE else "")
    return found_text or _find_quoted(message) or _find_stated(message)


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
    stated = _STATED_IN.findall(message)
    return _bare(stated[0]) if len(stated) == 1 else ""


@lru_cache(2)
def _patterns(language: Language) -> tuple[re.Pattern[str], ...]:
    """Every sentence of the grammar as an expression, the longest first."""
    sentences = {sentence for kind in _MESSAGES[language].sentences.values() for sentence in kind}
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


# places stand bare behind these, as in "from the airport to Denver"; elsewhere quotation marks tell where a name ends
_PREPOSITION = re.compile(
    r"(?:\b(?:from|in|near|around)|\bfrom [^.!?]{1,80} to|(?:^|[.,] )(?:to|at))\s+$|[从在往]$|(?:^|从[^，。]{1,30})[到去]$",
    re.IGNORECASE,
)


def resolve_pointers(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with each message read into the user's turn before it; a message that nobody points at stays."""
    resolved: list[Turn] = []
    for turn in turns:
        if turn.speaker == "message" and resolved and resolved[-1].speaker == "user":
            text = resolve(resolved[-1].text, turn.text)
            if text:
                resolved[-1] = Turn("user", text)
                continue
        resolved.append(turn)
    return resolved


def resolve(stated: str, message: str) -> str:
    """What the user would have said without the message, "" where no phrase points at it or it tells nothing."""
    pointer = find_pointer(stated)
    found_text = find_message_value(message, pointer.noun) if pointer else ""
    if not pointer or not found_text:
        return ""
    is_all = not re.search(r"\w", stated[: pointer.start] + stated[pointer.end :])
    is_clear = is_all or (
        _PREPOSITION.search(stated, 0, pointer.start) and not CAREFUL.of(found_text).search(found_text)
    )
    if noun_class(pointer.noun) == NAME and not is_clear:
        found_text = in_quotes(found_text, requests_in(language_of(found_text)))
    return stated[: pointer.start] + found_text + stated[pointer.end :]
