"""Text as it is compared: folded characters, and words with their places; and what a recogniser finds in it."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.packs import signs, unspaced

_CACHED_TEXTS = 2048
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_SEPARATORS = re.compile(r"[\s_\-‐‑‒–—/]+")
_DROPPED = re.compile(r"['’‘`´]")
_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-", "−": "-", "⁄": "/"})


class Folded(NamedTuple):
    """Folded text. `offsets` holds the original offset of each character, with one more entry for the end."""

    text: str
    offsets: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original text that `start`..`end` of the folded text stands for."""
        if start >= end:
            return self.offsets[start], self.offsets[start]
        last = self.offsets[end - 1]
        # one original character may unfold to several; the span ends where the next original character begins
        return self.offsets[start], next((here for here in self.offsets[end:] if here > last), self.offsets[-1])


def fold(text: str) -> str:
    """One spelling for `round_trip`, `Round-Trip`, `roundTrip` and their full-width letters: to compare, not to show."""
    spaced = _SEPARATORS.sub(" ", _CAMEL.sub(" ", _DROPPED.sub("", text)))
    return _SEPARATORS.sub(" ", folded(spaced).text).strip()


@lru_cache(_CACHED_TEXTS)
def folded(text: str) -> Folded:
    """`text` in lower case, half width and without diacritics; nothing else is moved or dropped."""
    if text.isascii():
        return Folded(text.lower(), range(len(text) + 1))
    characters: list[str] = []
    offsets: list[int] = []
    for index, character in enumerate(text):
        plain = _plain(character)
        characters.append(plain)
        offsets.extend([index] * len(plain))
    offsets.append(len(text))
    return Folded("".join(characters), offsets)


@lru_cache(16384)
def _plain(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    kept = "".join(part for part in decomposed if not unicodedata.combining(part))
    return kept.translate(_MARKS)


CJK = unspaced()
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:,\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)(?:(?:st|nd|rd|th)(?![a-z]))?"
    rf"|(?P<cjk>[{CJK}])"
    rf"|(?P<word>[^\W\d_{CJK}]+(?:'[^\W\d_{CJK}]+)*)"
    rf"|(?P<stop>[!?;{signs('{.}')}\n]|\.(?=\s|$))"
    r"|(?P<mark>[+#&%$€£¥@])"
)
_WORD_MARKS = {"&": "and", "%": "percent"}
_TITLES = frozenset(["dr", "mr", "mrs", "ms", "st", "no", "vs", "jr", "sr", "prof", "e.g", "i.e", "a.m", "p.m"])
STOP = "."


class FoldedWord(NamedTuple):
    """A folded word and its place in the original text."""

    text: str
    start: int
    end: int


class TextWords(NamedTuple):
    """The words of a text; `compact` is all of them run together, `edges` where each begins in it."""

    row: tuple[FoldedWord, ...]
    compact: str
    edges: tuple[int, ...]

    def find(self, compact: str, *, after: int = 0) -> tuple[int, int] | None:
        """The first and last word that `compact` covers, None where it does not stand between word edges."""
        begin = self.compact.find(compact, after)
        while begin >= 0:
            first = bisect_left(self.edges, begin)
            last = bisect_left(self.edges, begin + len(compact))
            if self.edges[first] == begin and self.edges[last] == begin + len(compact):
                return first, last - 1
            begin = self.compact.find(compact, begin + 1)
        return None


@lru_cache(2048)
def words_of(text: str) -> TextWords:
    """The words of `text`, with a `.` for each end of a sentence."""
    plain = folded(text)
    row: list[FoldedWord] = []
    for match in _TOKEN.finditer(plain.text):
        token = _normal(match, row)
        if token:
            row.append(FoldedWord(token, *plain.span(match.start(), match.end())))
    pieces: list[str] = []
    edges = [0]
    length = 0
    for index, word in enumerate(row):
        # a bar keeps "1 2" from reading as "12"
        apart = "|" if index and word.text[0].isdigit() and row[index - 1].text[-1].isdigit() else ""
        edges[-1] += len(apart)
        length += len(apart) + len(word.text)
        pieces += (apart, word.text)
        edges.append(length)
    return TextWords(tuple(row), "".join(pieces), tuple(edges))


def _normal(match: re.Match[str], row: list[FoldedWord]) -> str:
    text = match.group()
    if match["number"]:
        return match["number"].replace(",", "")
    if match.lastgroup == "word":
        return text.replace("'", "")
    if match.lastgroup == "stop":
        abbreviation = text == "." and row and (row[-1].text in _TITLES or len(row[-1].text) == 1)
        return "" if abbreviation else STOP
    return _WORD_MARKS.get(text, text)


VERBATIM = ""


class Found(NamedTuple):
    """A value said at `start`..`end` of the original text; `rule` names the normalisation, "" where it is verbatim."""

    value: JsonValue
    start: int
    end: int
    rule: str


def capitalised(text: str) -> str:
    """The text with a capital at its beginning, and all else as it is."""
    return text[:1].upper() + text[1:]
