"""Text prepared for comparison: folded characters, words with their positions, and stems.

Also the spans that recognisers find in it; words without content, synonyms, and words that
negate or take something back.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.packs import LanguagePattern, known, of, packaged, signs, unspaced, widened
from callwright.language.protocol import LanguagePack

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_SEPARATORS = re.compile(r"[\s_\-‐‑‒–—/]+")
_DROPPED = re.compile(r"['’‘`´]")
_MARKS = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-", "−": "-", "⁄": "/"}
)


class Folded(NamedTuple):
    """Folded text.

    `offsets` holds the original offset of each character, with one more entry for the end.
    """

    text: str
    offsets: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original text that `start`..`end` of the folded text covers."""
        if start >= end:
            return self.offsets[start], self.offsets[start]
        last = self.offsets[end - 1]
        # one original character may unfold to several; the span ends where the next original
        # character begins
        later = map(self.offsets.__getitem__, range(end, len(self.offsets)))
        return self.offsets[start], next((one for one in later if one > last), self.offsets[-1])


def fold(text: str) -> str:
    """Fold `round_trip`, `Round-Trip`, `roundTrip` and full-width letters to compare them."""
    spaced = _SEPARATORS.sub(" ", _CAMEL.sub(" ", _DROPPED.sub("", text)))
    return _SEPARATORS.sub(" ", folded(spaced).text).strip()


@lru_cache(2048)
def folded(text: str) -> Folded:
    """Return `text` in lower case, half width and without diacritics; all else stays in place."""
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
_TITLES = frozenset(
    ["dr", "mr", "mrs", "ms", "st", "no", "vs", "jr", "sr", "prof", "e.g", "i.e", "a.m", "p.m"]
)
STOP = "."


class FoldedWord(NamedTuple):
    """A folded word and its place in the original text."""

    text: str
    start: int
    end: int


class Spans:
    """Spans of a text; asking for overlaps takes time that hardly grows with their number."""

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        """Take (start, end) spans in any order; `end` is exclusive."""
        # of what they cover together, in the order of the text
        self._starts, self._ends = (list[int](), list[int]())
        for start, end in sorted(span for span in spans if span[0] < span[1]):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def overlaps(self, start: int, end: int) -> bool:
        """Whether the span shares a character with any of these."""
        at = bisect_right(self._ends, start)
        return at < len(self._starts) and self._starts[at] < end

    def add(self, start: int, end: int) -> None:
        """Add a span that overlaps none of these."""
        at = bisect_left(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)


class TextWords(NamedTuple):
    """The words of a text; `compact` joins them, and `edges` holds where each starts in it."""

    row: tuple[FoldedWord, ...]
    compact: str
    edges: tuple[int, ...]

    def find(self, compact: str, *, after: int = 0) -> tuple[int, int] | None:
        """Return the first and last word that `compact` covers, None if not between word edges."""
        for begin in places_of(compact, self.compact, after):
            first = bisect_left(self.edges, begin)
            last = bisect_left(self.edges, begin + len(compact))
            if self.edges[first] == begin and self.edges[last] == begin + len(compact):
                return first, last - 1
        return None


_SHORT = 64  # letters: what is no longer is compared anew at each place


def places_of(part: str, text: str, after: int = 0) -> Iterator[int]:
    """Yield the positions where `part` starts in `text`, overlapping ones included.

    The time grows with the sum of the two lengths, not their product.
    """
    begin = text.find(part, after)
    while begin >= 0 and (len(part) <= _SHORT or not part):
        yield begin
        begin = text.find(part, begin + 1)
    if begin < 0:
        return
    yield begin
    # of each beginning of the part: how long the longest end of it is that it begins with, too
    borders, overlap = ([0], 0)
    for letter in part[1:]:
        while overlap and letter != part[overlap]:
            overlap = borders[overlap - 1]
        overlap += letter == part[overlap]
        borders.append(overlap)
    overlap = borders[-1]
    for at in range(begin + len(part), len(text)):
        while overlap and text[at] != part[overlap]:
            overlap = borders[overlap - 1]
        overlap += text[at] == part[overlap]
        if overlap == len(part):
            yield at + 1 - overlap
            overlap = borders[-1]


@lru_cache(2048)
def words_of(text: str) -> TextWords:
    """Return the words of `text`, with a `.` for each end of a sentence."""
    plain = folded(text)
    row: list[FoldedWord] = []
    for match in _TOKEN.finditer(plain.text):
        token = match.group()
        if match.lastgroup == "stop":
            before = row[-1].text if row and match.group() == "." else "any"
            token = "" if before in _TITLES or len(before) == 1 else STOP
        elif match["number"]:
            token = match["number"].replace(",", "")
        else:
            token = _WORD_MARKS.get(token, token.replace("'", ""))
        if token:
            row.append(FoldedWord(token, *plain.span(match.start(), match.end())))
    pieces: list[str] = []
    edges = [0]
    length = 0
    for index, word in enumerate(row):
        # a bar keeps "1 2" from reading as "12"
        last = row[index - 1].text[-1] if index else ""
        apart = "|" if last.isdigit() and word.text[0].isdigit() else ""
        edges[-1] += len(apart)
        length += len(apart) + len(word.text)
        pieces += (apart, word.text)
        edges.append(length)
    return TextWords(tuple(row), "".join(pieces), tuple(edges))


VERBATIM = ""


class Found(NamedTuple):
    """A value at `start`..`end` of the original text; `rule`: normalisation, "" if verbatim."""

    value: JsonValue
    start: int
    end: int
    rule: str


def capitalised(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


# all of them negate in texts of any language that holds them
def negations() -> frozenset[str]:
    """Return the words that negate the words near them."""
    return words_named("negations")


@cache
def words_named(name: str) -> frozenset[str]:
    """Return the words listed under this name in the language.yaml of any language."""
    return frozenset().union(*(of(code).words.get(name, frozenset()) for code in known()))


@lru_cache(64)
def empty(packs: tuple[LanguagePack, ...]) -> frozenset[str]:
    """Return the words of these languages that carry no content of their own."""
    return frozenset().union(*(pack.words.get("empty", frozenset()) for pack in packs))


_CORRECTION = LanguagePattern("@{correction}")


class CorrectionMark(NamedTuple):
    """Words that retract something; the replacement begins at `end`."""

    start: int
    end: int


@lru_cache(4096)
def find_corrections(text: str) -> tuple[CorrectionMark, ...]:
    """Return the corrections in a text, in order."""
    return tuple(CorrectionMark(*match.span()) for match in _CORRECTION.of(text).finditer(text))


_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORTEST = 3


@lru_cache(16384)
def stem(word: str) -> str:
    """The light stem of a folded English word: `books`, `booked` and `booking` are all `book`."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    irregular: str | None = packaged("callwright.language", "stems.yaml")["irregular"].get(word)
    return irregular or _stem(word)


@lru_cache(16384)
def deep_stem(word: str) -> str:
    """Return a stem that also joins `decorate` with `decoration` and `pay` with `payment`.

    It joins too much to be used for a single word.
    """
    light = stem(word)
    if not light.isascii() or not light.isalpha():
        return light
    for ending, instead in packaged("callwright.language", "stems.yaml")["deep_endings"]:
        rest = len(light) - len(ending)
        if light.endswith(ending) and rest > _SHORTEST:
            return f"{light[:rest]}{instead}"
    return light


def _stem(word: str) -> str:
    """Return a word in American spelling without plural or tense ending and without its last e."""
    if word.endswith("ies") and len(word) > _SHORTEST + 1:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is", "ics")):
        word = word[:-1]
    for ending in ("ing", "ied", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _SHORTEST and _VOWEL.search(rest):
            word = rest + "y" if ending == "ied" else rest[:-1] if _DOUBLED.search(rest) else rest
            break
    if word.endswith("our") and len(word) > _SHORTEST + 1:
        word = word[:-3] + "or"
    elif word.endswith("tre"):
        word = word[:-2] + "er"
    elif word.endswith(("alise", "nise")):
        word = re.sub(r"is(e|ing|ed|er)?$", r"iz\1", word)
    if len(word) <= _SHORTEST or word[-1] not in "ey":
        return word
    return word[:-1] + "i" if word[-1] == "y" else word[:-1]


QUOTED = re.compile(widened(r'"[^"]*"|@[“«„{open}].*?@[”»“{close}]'))


def outside_quotes(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern in a text, outside quotation marks."""
    quoted = [one.span() for one in QUOTED.finditer(text)]
    return [
        found
        for found in pattern.finditer(text)
        if not any(start <= found.start() < end for start, end in quoted)
    ]
