"""Pointing at a message: phrases such as "the place in my sister's text", written and found again."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from random import Random
from typing import NamedTuple

from llm.language.kinds import kind_of as typed_kind_of
from llm.template import pointing_en, pointing_zh
from llm.template.kinds import CLOCKED, CODED, kind_by_words
from llm.template.names import split_name
from warehouse.records import JsonSchema, Language

CLOCK, CODE, NAME = "clock", "code", "name"
_ATTEMPTS = 12
_MOST_WORDS = 2
_CITY = re.compile(r"\b(?:city|cities|town)\b|城市|taken in")
_ADDRESS = re.compile(r"\baddress\b|地址|住址")
_TYPED = {"date": "date", "time": "time", "date-time": "moment"}
_CLASSES = {"date": CLOCK, "time": CLOCK, "moment": CLOCK, "plate": CODE, "id_number": CODE}
_PEOPLE = "|".join(sorted(map(re.escape, pointing_en.PEOPLE), key=lambda one: (-len(one), one)))
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


class _Book(NamedTuple):
    people: tuple[str, ...]
    nouns: Mapping[str, list[str]]
    adjectives: Mapping[str, list[str]]
    own: list[str]
    where: Mapping[str, tuple[str, ...]]
    elsewhere: tuple[str, ...]


_BOOKS: Mapping[Language, _Book] = {
    "en": _Book(
        pointing_en.PEOPLE,
        pointing_en.NOUNS,
        pointing_en.ADJECTIVES,
        pointing_en.OWN_NOUNS,
        pointing_en.WHERE,
        pointing_en.ELSEWHERE,
    ),
    "zh": _Book(
        pointing_zh.PEOPLE,
        pointing_zh.NOUNS,
        pointing_zh.ADJECTIVES,
        pointing_zh.OWN_NOUNS,
        pointing_zh.WHERE,
        pointing_zh.ELSEWHERE,
    ),
}


def noun_key(entity: str, name: str, schema: JsonSchema) -> str:
    """What sort of noun goes with an entity: a time is a date, a time of day or a moment, a location may be a city."""
    if entity == "time":
        return _TYPED.get(typed_kind_of(schema), "moment")
    if entity == "location":
        told = f"{' '.join(split_name(name))} {schema.get('description') or ''}".lower()
        return "city" if _CITY.search(told) else "address" if _ADDRESS.search(told) else "location"
    return entity


def noun_class(noun: str) -> str:
    """Whether a noun stands for a date or time, for a code, or for a name."""
    key = _keys().get(noun.lower(), noun)
    if key in _CLASSES:
        return _CLASSES[key]
    told = kind_by_words(noun.lower(), noun)
    if told in CLOCKED:
        return CLOCK
    return CODE if told in CODED | {"code"} and told != "airport" else NAME


def word_pointer(pointed: Pointed, said: str, avoid: Iterable[str], language: Language, rng: Random) -> str:
    """A phrase that points at a message of the app; nobody is named in it whom the texts to be avoided name.

    The noun that people call the parameter by is taken where the user has not just said it.
    """
    key, app, cue = pointed
    book = _BOOKS[language]
    taken = [said.lower(), *(one.lower() for one in avoid)]
    people = [
        one for one in book.people if not any(_last(one) in text or text in one.lower() for text in taken if text)
    ]
    fresh = [noun for noun in book.nouns[key] if noun not in said.lower()]  # not "the city is the city"
    nouns = _own_nouns(cue, said, book) or fresh or book.nouns[key]
    phrase = ""
    for _ in range(_ATTEMPTS):
        person = rng.choice(people or list(book.people))
        noun, adjective = rng.choice(nouns), rng.choice(book.adjectives[key])
        where = rng.choice(book.where.get(app, book.elsewhere)).replace("{n}", person)
        phrase = f"{where}{noun}" if language == "zh" else " ".join(filter(None, ("the", adjective, noun, where)))
        if not any(text and text in phrase.lower() for text in taken[1:]):
            break
    return phrase


def find_pointer(text: str) -> Pointer | None:
    """The first phrase in a text that points at a message."""
    for pattern in _patterns():
        match = pattern.search(text)
        if match:
            return Pointer(match.start(), match.end(), match["noun"])
    return None


def _own_nouns(cue: str, said: str, book: _Book) -> list[str]:
    """What the parameter itself is called, where that is a plain noun that stands nowhere else in what is said."""
    own = next((noun for noun in book.own if cue.lower().endswith(noun)), "")
    whole = cue if own and cue.isascii() else own
    if not own or len(cue.split()) > _MOST_WORDS or whole.lower() in said.lower():
        return []
    return [whole]


def _last(person: str) -> str:
    return person.lower().split()[-1]


@lru_cache(1)
def _keys() -> dict[str, str]:
    return {noun: key for book in _BOOKS.values() for key, nouns in book.nouns.items() for noun in nouns}


@lru_cache(1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    """The grammar of each language as expressions, then what other people may say."""
    english, chinese = _BOOKS["en"], _BOOKS["zh"]
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


def _where(book: _Book, person: str, slot: str) -> list[str]:
    shapes = {shape for app in (*book.where.values(), book.elsewhere) for shape in app}
    ordered = sorted(shapes, key=lambda shape: (-len(shape), shape))
    return [person.join(map(re.escape, shape.split(slot))) for shape in ordered]
