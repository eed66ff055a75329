"""Sentences, clauses and quotations of a text, in any of the languages' punctuation."""

import re
from collections.abc import Iterator

from callwright.language.packs import signs, widened

_SENTENCE_END = re.compile(widened(r"@[.!?\n]+(?:\s|$)|@[{.!?}\n]"))
_CLAUSE_END = re.compile(widened("@[.;!?]"))
_OWN_QUOTES = "".join(
    f"|{left}[^{right}]+{right}" for left, right in zip(signs("{open}"), signs("{close}"), strict=True)
)
_QUOTED = re.compile(rf"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]{_OWN_QUOTES}|(?<!\w)'[^']+'(?!\w)|‘[^’]+’")
_WORD = re.compile(r"[A-Za-zÀ-ɏ0-9']+|[^\W\dA-Za-zÀ-ɏ]")


def sentence_at(text: str, at: int) -> tuple[int, int]:
    """Where the sentence around a place in the text begins and ends, without what ends it."""
    start = max((match.end() for match in _SENTENCE_END.finditer(text, 0, at)), default=0)
    end = _SENTENCE_END.search(text, at)
    return start, end.start() if end else len(text)


def last_clause(text: str) -> str:
    """The clause that a text ends in."""
    return _CLAUSE_END.split(text)[-1]


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """Where quotations begin and end, their marks included."""
    for match in _QUOTED.finditer(text):
        yield match.span()


def count_words(text: str) -> int:
    """How many words a text has; of scripts without spaces, characters."""
    return len(_WORD.findall(text))
