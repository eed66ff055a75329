"""Words: their stems, those that carry no content, those that mean the same, and those that take something back."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from callwright.language.packs import LanguagePattern, known, of, packaged
from callwright.language.protocol import LanguagePack
from callwright.warehouse.records import DEFAULT_LANGUAGE


# all of them negate in texts of any language that holds them
@cache
def negations() -> frozenset[str]:
    """The words that negate what stands near them."""
    return _union("negations")


@cache
def place_suffixes() -> frozenset[str]:
    """Words that the name of a place is the same with and without."""
    return _union("place_suffixes")


@cache
def ordered() -> frozenset[str]:
    """Words with which the order of the other words is the meaning."""
    return _union("ordered")


@lru_cache(64)
def empty(packs: tuple[LanguagePack, ...]) -> frozenset[str]:
    """The words of these languages that carry no content of their own."""
    return frozenset().union(*(pack.words.get("empty", frozenset()) for pack in packs))


def _union(name: str) -> frozenset[str]:
    return frozenset().union(*(of(code).words.get(name, frozenset()) for code in known()))


@lru_cache(64)
def respellings(packs: tuple[LanguagePack, ...]) -> Mapping[str, tuple[str, ...]]:
    """Folded words of these languages, and the words that they stand for."""
    single = {word: meaning for pack in packs for word, meaning in pack.rules.respellings().items()}
    return {stem(word): tuple(meaning.split()) for word, meaning in {**single, **_english()["respellings"]}.items()}


_CORRECTION = LanguagePattern("@{correction}")


class CorrectionMark(NamedTuple):
    """Words that take something back; what holds instead begins at `end`."""

    start: int
    end: int


@lru_cache(4096)
def find_corrections(text: str) -> tuple[CorrectionMark, ...]:
    """The corrections in a text, in its order."""
    return tuple(CorrectionMark(*match.span()) for match in _CORRECTION.of(text).finditer(text))


_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORTEST = 3


@cache
def _english() -> Mapping[str, Any]:
    stems: Mapping[str, Any] = packaged("callwright.language", "stems.yaml")
    return stems


@lru_cache(16384)
def stem(word: str) -> str:
    """The light stem of a folded English word: `books`, `booked` and `booking` are all `book`."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    irregular: str | None = _english()["irregular"].get(word)
    return irregular or _without_final_e(_american(_without_tense(_singular(word))))


@lru_cache(16384)
def deep_stem(word: str) -> str:
    """A stem that also joins `decorate` with `decoration` and `pay` with `payment`; too bold for a single word."""
    light = stem(word)
    if not light.isascii() or not light.isalpha():
        return light
    for ending, instead in _english()["deep_endings"]:
        rest = len(light) - len(ending)
        if light.endswith(ending) and rest > _SHORTEST:
            return f"{light[:rest]}{instead}"
    return light


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ics")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ied", "ed"):
        rest = word[: -len(ending)]
        if not word.endswith(ending) or len(rest) < _SHORTEST or not _VOWEL.search(rest):
            continue
        if ending == "ied":
            return rest + "y"
        return rest[:-1] if _DOUBLED.search(rest) else rest
    return word


def _american(word: str) -> str:
    if word.endswith("our") and len(word) > _SHORTEST + 1:
        return word[:-3] + "or"
    if word.endswith("tre"):
        return word[:-2] + "er"
    return re.sub(r"is(e|ing|ed|er)?$", r"iz\1", word) if word.endswith(("alise", "nise")) else word


def _without_final_e(word: str) -> str:
    if word.endswith("y") and len(word) > _SHORTEST:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word


@lru_cache(1)
def senses() -> dict[str, str]:
    """What each word, or pair of words joined by a space, is compared as."""
    table: dict[str, str] = {}
    for group in of(DEFAULT_LANGUAGE).data["thesaurus"]["senses"]:
        words = group.split()
        for word in words:
            table.setdefault(sense_key(word.split("-")), f"={words[0]}")
    return table


def sense_key(words: list[str]) -> str:
    """The key of a word or a pair of words in the table."""
    return " ".join(deep_stem(stem(word)) for word in words)


@lru_cache(1)
def stem_groups() -> dict[str, int]:
    """The number of the group of words that mean much the same, by stem; a word of two groups counts for the first."""
    groups: dict[str, int] = {}
    for number, group in enumerate(of(DEFAULT_LANGUAGE).data["thesaurus"]["groups"]):
        for word in group.split():
            groups.setdefault(deep_stem(word), number)
    return groups
