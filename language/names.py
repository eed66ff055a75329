"""Names of tools and parameters in words: how they split, their script, what words mean."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Literal

from callwright.language.packs import packaged

_PACKAGE, _FILE = "callwright.language", "names.yaml"


def words(text: str) -> list[str]:
    """Split a list into words, or at its bars if it contains any."""
    return text.split("|") if "|" in text else text.split()


_EDGES = re.compile(
    r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d+$)|[_\-.\s/:$@\[\]]+"
)
_SPELLED = words(
    "id ids pin cvv url uri ip vip gps sms usb tv isbn vin sku otp iban bmi eta sim atm pdf api"
    " uuid iata dob faq"
)
_PLURALS = {"ids": "IDs"}
ID_ENDINGS = frozenset({"id", "uid", "uuid", "guid", "gid", "oid", "sid"})
_GLUED = re.compile(r"^(\w{3,})(id|name|code|date|time|number|type)$")
_SHORTEST_GLUED = 6
_GLUED_WHOLE = frozenset(
    {"candidate", "update", "validate", "mandate", "lifetime", "overtime", "prototype", "barcode"}
)


@lru_cache(65536)
def split_name(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `fromAccountID` gives from, account, id.

    A name without words is returned as one word.
    """
    words: list[str] = []
    for word in _EDGES.split(name):
        lower = word.lower()
        glued = (
            None if lower in _GLUED_WHOLE or len(lower) < _SHORTEST_GLUED else _GLUED.match(lower)
        )
        if glued and glued[2] != "id":
            words += glued.groups()
        elif lower:
            words.append(lower)
    return tuple(words) or (name.strip().lower(),)


def names_one(name: str) -> bool:
    """Whether a parameter's name ends as those of identifiers do."""
    return split_name(name)[-1].removesuffix("s") in ID_ENDINGS


def has_words(name: str) -> bool:
    """Whether a name contains any letters; "_" and "$" do not."""
    return any(map(str.isalpha, name))


@lru_cache(65536)
def humanise(name: str) -> str:
    """Return a name as a person would say it, with abbreviations in capitals."""
    return " ".join(
        _PLURALS.get(word, word.upper() if word in _SPELLED else word) for word in split_name(name)
    )


Deed = Literal[
    "list", "search", "make", "change", "drop", "switch", "restore", "export", "look", "other"
]

CHANGES: frozenset[Deed] = frozenset({"make", "change", "drop", "switch", "restore"})
_IRREGULAR = {"bookshelf": "bookshelves", "person": "people", "child": "children"}
_HISSING_PLURALS = ("sses", "xes", "ches", "shes", "zes")
_HISSING = ("s", "x", "z", "ch", "sh")
_YOU = ("uni", "usu", "use", "eu", "one")


def function_words(name: str) -> tuple[str, ...]:
    """Return the words of the function name: `Clock.Alarms.setAlarm` gives set, alarm."""
    return split_name(name.rpartition(".")[2])


def deed_of(verb: str) -> Deed:
    """Return the kind of action that a verb names, or "other" if it is not listed."""
    return _deeds().get(verb, "other")


def plural(noun: str) -> str:
    """Return the plural of an English noun or noun phrase."""
    head, _, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        many = _IRREGULAR[last]
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}es" if last.endswith(_HISSING) else f"{last}s"
    return f"{head} {many}".strip()


def singular(word: str) -> str:
    """Return the singular of an English noun, by its ending."""
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "series" is rare, "ties" rarer
        return f"{word[:-3]}y"
    if word.endswith(_HISSING_PLURALS):
        return word[:-2]
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2  # noqa: PLR2004
    return word[:-1] if is_plural else word


def with_article(noun: str) -> str:
    """Return the noun phrase with "a" or "an"."""
    spelled = noun.lower()
    is_open = spelled[:1] in tuple("aeiou") and not spelled.startswith(_YOU)
    return f"an {noun}" if is_open else f"a {noun}"


def participle(verb: str, irregular: Mapping[str, str]) -> str:
    """Return the participle of an English verb: "cancelled"; `irregular` are those of no rule."""
    if verb in irregular:
        return irregular[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}ed"


@cache
def _deeds() -> dict[str, Deed]:
    """Return the action of each verb; a verb listed under several actions gets the first."""
    stated = packaged(_PACKAGE, _FILE)["deeds"].items()
    return {verb: deed for deed, verbs in reversed(stated) for verb in words(verbs)}


@cache
def _topics() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """Return by kind of parameter the patterns of topics in its name; the first match decides."""
    rules = packaged(_PACKAGE, _FILE)["topics"].items()
    return {
        kind: [(re.compile(rf"\b(?:{stated})\b"), topic) for stated, topic in rows]
        for kind, rows in rules
    }


@lru_cache(8192)
def topic_of(name: str, kind: str) -> str:
    """Return the kind with the name's topic: `claimDetails` of "details" is "details claim"."""
    stated = " ".join(split_name(name))
    found = (topic for pattern, topic in _topics().get(kind, ()) if pattern.search(stated))
    topic = next(found, "")
    return f"{kind} {topic}".strip()
