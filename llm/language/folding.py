"""Text with the accidents of writing taken away: case, width, diacritics, hyphens; each character knows its origin."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

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
    """One spelling for `round_trip`, `Round-Trip`, `roundTrip` and `ｒｏｕｎｄ　ｔｒｉｐ`:  to compare, not to show."""
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
