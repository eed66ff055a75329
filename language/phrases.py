"""Where a text states a phrase: by its very letters, in another spelling of them, or by another name of the place."""

import re
from functools import lru_cache

from callwright.language.dates import date_spans
from callwright.language.packs import LanguagePattern, known, of
from callwright.language.readers.moments import find_times
from callwright.language.text import CJK, STOP, VERBATIM, Found, fold, words_of

SPELLING = "spelling"
GROUPING = "grouping of digits"

_WORD_CHARACTER = re.compile(rf"[^\W_{CJK}]")
_SHORT_DIGITS = re.compile(r"\W*\d{1,2}\W*")
_LONG_DIGITS = re.compile(r"\+?\d(?:[\s\-().]{0,2}\d){5,}")
_NUMBER_BEFORE = re.compile(r"\d[.,:/]$")
_PRONOUN = re.compile(r"(?<=[a-z])I(?![A-Za-z])|(?<=\d)I(?=['’]m\b)")  # "ChengduI'm sorry": two sentences run together
_NO_DIGIT = re.compile(r"\D")
_MORE_NUMBER = LanguagePattern(r"[.,:/]\d|@{more_of_number}", re.RegexFlag(0))


def find_phrase(phrase: str, text: str) -> Found | None:
    """Where `text` says `phrase`, verbatim where it does, else in another spelling; never in the midst of a word."""
    wanted = phrase.strip()
    if not wanted:
        return None
    return _verbatim(phrase, wanted, text) or _respelled(phrase, wanted, text) or _regrouped(phrase, wanted, text)


def is_cut(text: str, start: int, end: int) -> bool:
    """Whether `start`..`end` begins or ends inside a word, a number or a sum of money."""
    if start and _joined(text[start - 1], text[start]):
        return True
    if end < len(text) and _joined(text[end - 1], text[end]) and not _PRONOUN.match(text, end):
        return True
    if text[start].isdecimal() and _NUMBER_BEFORE.search(text, max(0, start - 2), start):
        return True
    if not text[end - 1].isdecimal():
        return False
    return bool(_MORE_NUMBER.of(text).match(text, end))


def _joined(left: str, right: str) -> bool:
    return bool(_WORD_CHARACTER.match(left) and _WORD_CHARACTER.match(right))


def _verbatim(value: str, wanted: str, text: str) -> Found | None:
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if not is_cut(text, start, end) and not _in_a_date(wanted, text, start, end):
            return Found(value, start, end, VERBATIM)
        start = text.find(wanted, start + 1)
    return None


def _in_a_date(wanted: str, text: str, start: int, end: int) -> bool:
    """The 3 of "March 3" is not the 3 of "3 people"."""
    if not _SHORT_DIGITS.fullmatch(wanted):
        return False
    taken = [*date_spans(text), *((time.start, time.end) for time in find_times(text))]
    return any(first <= start and end <= last for first, last in taken)


def _respelled(value: str, wanted: str, text: str) -> Found | None:
    compact = words_of(wanted).compact.strip(STOP)
    if not compact or re.fullmatch(r"[a-z]", compact):
        return None
    words = words_of(text)
    after = 0
    while (hit := words.find(compact, after=after)) is not None:
        start, end = words.row[hit[0]].start, words.row[hit[1]].end
        if not is_cut(text, start, end) and not _in_a_date(wanted, text, start, end):
            return Found(value, start, end, SPELLING)
        after = words.edges[hit[0]] + 1
    return None


def _regrouped(value: str, wanted: str, text: str) -> Found | None:
    if not _LONG_DIGITS.fullmatch(wanted):
        return None
    digits = _NO_DIGIT.sub("", wanted)
    for match in _LONG_DIGITS.finditer(text):
        if _NO_DIGIT.sub("", match.group()) == digits and not is_cut(text, *match.span()):
            return Found(value, *match.span(), GROUPING)
    return None


PLACE = "place spelling"
_UPPER = re.compile(r"[A-Z]{2,3}")


def find_place(place: str, text: str) -> Found | None:
    """Where `text` says `place` by another of its well-known names."""
    for name in _other_names().get(fold(place), ()):
        found = find_phrase(name, text)
        # "la" and "us" are words; as names of places they are written in capitals
        if found and (not _UPPER.fullmatch(name) or text[found.start : found.end] == name):
            return Found(place, found.start, found.end, PLACE)
    return None


@lru_cache(1)
def _other_names() -> dict[str, tuple[str, ...]]:
    rows = [row for code in known() for row in of(code).data.get("place_names", {"names": []})["names"]]
    return {fold(name): tuple(other for other in row if other != name) for row in rows for name in row}
