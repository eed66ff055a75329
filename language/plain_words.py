"""Words of a request that nothing accounts for: neither a value nor the tool's own words nor what people say in any request.

Each language lists in its plain_words.yaml the words that say nothing by which a call is chosen or filled, and the signs of
a clause that only tells why.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from callwright.language.names import split_name
from callwright.language.packs import of, read_as, unspaced
from callwright.language.text import STOP, folded, words_of
from callwright.language.thesaurus import stem_groups, unspaced_groups
from callwright.language.wording import content_keys

_PATTERNS = (
    "joint",
    "context",
    "wish",
    "decisive",
    "listing",
    "telling",
    "narrating",
    "remark",
    "qualifying",
    "determined",
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_RUN = re.compile(f"[{unspaced()}]+")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_LOOKING = 0  # the group of the thesaurus that any request may use
_SHORTEST_RUN = 1  # characters
_SHORTEST_TURNED, _SHORTEST_CUT = 4, 5  # letters of a word that may be misspelt
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class PlainWords(NamedTuple):
    """A language's words that say nothing of their own, and the signs of clauses."""

    words: frozenset[str]
    phrases: tuple[re.Pattern[str], ...]
    joint: re.Pattern[str]
    context: re.Pattern[str]
    wish: re.Pattern[str]
    decisive: re.Pattern[str]
    listing: re.Pattern[str]
    telling: re.Pattern[str]
    narrating: re.Pattern[str]
    remark: re.Pattern[str]
    qualifying: re.Pattern[str]
    determined: re.Pattern[str]
    terms: tuple[tuple[str, str], ...]
    is_spaced: bool


class Clause(NamedTuple):
    """A stretch of text between joints."""

    start: int
    end: int


@lru_cache(16)
def plain_words(language: str) -> PlainWords:
    """The plain words of a language, from its plain_words.yaml."""
    data = yaml.safe_load(
        files("callwright.language").joinpath(read_as(language), "plain_words.yaml").read_text(encoding="utf-8")
    )
    is_spaced = bool(of(language).space)
    listed = data["words"].split()
    patterns = {name: re.compile(data[name], re.IGNORECASE) for name in _PATTERNS}
    return PlainWords(
        words=frozenset(_key(word) for word in listed) | frozenset(listed) if is_spaced else frozenset(listed),
        phrases=tuple(re.compile(pattern, re.IGNORECASE) for pattern in data["phrases"]),
        terms=tuple((word, _key(term)) for term, words in data["terms"].items() for word in words.split()),
        is_spaced=is_spaced,
        **patterns,
    )


def clauses_of(text: str, language: str) -> Iterator[Clause]:
    """The clauses of a text, in order, without what joins them."""
    start = 0
    for match in plain_words(language).joint.finditer(text):
        if match.start() > start:
            yield Clause(start, match.start())
        start = match.end()
    if start < len(text):
        yield Clause(start, len(text))


def is_context(words: str, language: str) -> bool:
    """Whether a clause tells of people and things, and wishes nothing."""
    listed = plain_words(language)
    return bool(listed.context.search(words)) and not listed.wish.search(words)


def is_remark(words: str, language: str) -> bool:
    """Whether a clause without any value tells of something, be it of what no list has: "Black Friday traffic's starting"."""
    listed = plain_words(language)
    return is_context(words, language) or bool(listed.remark.search(words) and not listed.wish.search(words))


def terms_in(words: str, language: str) -> set[str]:
    """What English documents of tools call the things that these words name in another language, as stems compare."""
    return {term for word, term in plain_words(language).terms if word in words}


def find_terms(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """Where a text names what documents of tools name by another word: the term, as stems compare, and the place."""
    plain = text.lower()
    for pattern, term in _term_patterns(language):
        for match in pattern.finditer(plain):
            yield term, *match.span()


@lru_cache(16)
def _term_patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(re.escape(word) if not word.isascii() else rf"\b{re.escape(word)}\b"), term)
        for word, term in plain_words(language).terms
    )


@lru_cache(1024)
def vocabulary(texts: tuple[str, ...]) -> frozenset[str]:
    """The words of a tool's document as they are compared, with those of the same topic."""
    found: set[str] = set()
    for text in texts:
        spoken = f"{text} {' '.join(split_name(text))}" if re.fullmatch(r"[\w.]+", text) else text
        for key in content_keys(spoken):
            found |= {key.light, key.deep, key.sense}
        found |= {word.text for word in words_of(spoken).row if len(word.text) >= _SHORTEST_TURNED}
        for run in _RUN.findall(text):
            found |= {run[at : at + 2] for at in range(len(run) - 1)}
    groups = {group for word, group in stem_groups().items() if word in found}
    groups.discard(_LOOKING)
    found |= {word for word, group in stem_groups().items() if group in groups}
    return frozenset(found - {"", STOP})


def unknown_words(
    text: str, language: str, known: Sequence[tuple[int, int]], spoken: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Where words stand in `text` that are neither within `known` nor plain nor of the vocabulary `spoken`."""
    listed = plain_words(language)
    taken = [*known, *(match.span() for pattern in listed.phrases for match in pattern.finditer(text))]
    if listed.is_spaced:
        yield from _unknown_spaced(text, listed, taken, spoken)
    else:
        yield from _unknown_unspaced(text, language, taken, spoken)


def _unknown_spaced(
    text: str, listed: PlainWords, taken: Sequence[tuple[int, int]], spoken: frozenset[str]
) -> Iterator[tuple[int, int]]:
    for match in _WORD.finditer(text):
        start, end = match.span()
        if any(first < end and start < last for first, last in taken):
            continue
        word = folded(match.group()).text
        parts = [word, *re.split("['’]", word)[:1]]
        if any(part in listed.words or _key(part) in listed.words for part in parts):
            continue
        if match.group().islower() and _is_misspelt(word, listed.words | spoken):  # "Lena" is no "lean"
            continue
        is_term = any(word in parts and term in spoken for word, term in listed.terms)
        if not is_term and not any(_is_spoken(part, spoken) for part in parts):
            yield start, end


def _is_misspelt(word: str, known: frozenset[str]) -> bool:
    """Whether a letter too few or too many, or two letters exchanged, make a word of one that is known."""
    turned = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    if len(word) >= _SHORTEST_TURNED and turned & known:
        return True
    if len(word) < _SHORTEST_CUT:
        return False
    longer = {word[:at] + letter + word[at:] for at in range(1, len(word)) for letter in _LETTERS}
    return not longer.isdisjoint(known)


def _is_spoken(word: str, spoken: frozenset[str]) -> bool:
    keys = [key for key in content_keys(word) if key.light != STOP]
    return all(spoken & {key.light, key.deep, key.sense} for key in keys)


def _unknown_unspaced(
    text: str, language: str, taken: Sequence[tuple[int, int]], spoken: frozenset[str]
) -> Iterator[tuple[int, int]]:
    is_open = [not any(start <= at < end for start, end in taken) for at in range(len(text))]
    words = _words_of_runs(language, spoken)
    at = 0
    while at < len(text):
        size = next(
            (
                size
                for size in range(5, 0, -1)
                if at + size <= len(text) and all(is_open[at : at + size]) and text[at : at + size] in words
            ),
            0,
        )
        for covered in range(at, at + size):
            is_open[covered] = False
        at += size or 1
    for match in (*_RUN.finditer(text), *_LATIN.finditer(text)):
        yield from _open_runs(match, text, is_open, spoken)


def _open_runs(
    match: re.Match[str], text: str, is_open: Sequence[bool], spoken: frozenset[str]
) -> Iterator[tuple[int, int]]:
    if match.group().isascii():
        if is_open[match.start()] and not _is_spoken(match.group().lower(), spoken):
            yield match.span()
        return
    start = match.start()
    for at in range(match.start(), match.end() + 1):
        if at < match.end() and is_open[at]:
            continue
        if at - start >= _SHORTEST_RUN:
            yield start, at
        start = at + 1


@lru_cache(256)
def _words_of_runs(language: str, spoken: frozenset[str]) -> frozenset[str]:
    listed = plain_words(language)
    groups = {group for word, group in unspaced_groups().items() if word in spoken} | {_LOOKING}
    return (
        listed.words
        | {word for word in spoken if _RUN.fullmatch(word)}
        | {word for word, term in listed.terms if term in spoken}
        | {word for word, group in unspaced_groups().items() if group in groups}
    )


def _key(word: str) -> str:
    keys = [key for key in content_keys(folded(word).text) if key.light != STOP]
    return keys[0].light if keys else word
