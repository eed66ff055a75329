"""Find where a text states a phrase: literally, or in another spelling, form or order."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from callwright.language.dates import date_spans, find_times
from callwright.language.packs import LanguagePattern, known, of, packaged, packs_of
from callwright.language.protocol import LanguagePack
from callwright.language.spoken import spoken_in
from callwright.language.text import (
    CJK,
    STOP,
    VERBATIM,
    FoldedWord,
    Found,
    deep_stem,
    empty,
    fold,
    negations,
    places_of,
    stem,
    words_named,
    words_of,
)

SPELLING = "spelling"
GROUPING = "grouping of digits"

_IN_A_WORD = re.compile(rf"[^\W_{CJK}]{{2}}")
_SHORT_DIGITS = re.compile(r"\W*\d{1,2}\W*")
_LONG_DIGITS = re.compile(r"\+?\d(?:[\s\-().]{0,2}\d){5,}")
_NUMBER_BEFORE = re.compile(r"\d[.,:/]$")
# "ChengduI'm sorry": two sentences run together
_PRONOUN = re.compile(r"(?<=[a-z])I(?![A-Za-z])|(?<=\d)I(?=['’]m\b)")
_NO_DIGIT = re.compile(r"\D")
_MORE_NUMBER = LanguagePattern(r"[.,:/]\d|@{more_of_number}", re.RegexFlag(0))


def find_phrase(phrase: str, text: str) -> Found | None:
    """Return where `text` says `phrase`: verbatim if possible, else in another spelling.

    A match never starts or ends inside a word. None if there is none.
    """
    wanted = phrase.strip()
    for start in places_of(wanted, text) if wanted else ():
        end = start + len(wanted)
        if not is_cut(text, start, end) and not _in_a_date(wanted, text, start, end):
            return Found(phrase, start, end, VERBATIM)
    found = _respelled(phrase, wanted, text)
    if found or not _LONG_DIGITS.fullmatch(wanted):
        return found
    digits = _NO_DIGIT.sub("", wanted)
    for match in _LONG_DIGITS.finditer(text):
        if _NO_DIGIT.sub("", match.group()) == digits and not is_cut(text, *match.span()):
            return Found(phrase, *match.span(), GROUPING)
    return None


def is_cut(text: str, start: int, end: int) -> bool:
    """Whether `start`..`end` begins or ends inside a word, a number or a sum of money."""
    if start and _IN_A_WORD.match(text, start - 1):
        return True
    if end < len(text) and _IN_A_WORD.match(text, end - 1) and not _PRONOUN.match(text, end):
        return True
    if text[start].isdecimal() and _NUMBER_BEFORE.search(text, max(0, start - 2), start):
        return True
    return text[end - 1].isdecimal() and _MORE_NUMBER.of(text).match(text, end) is not None


def _in_a_date(wanted: str, text: str, start: int, end: int) -> bool:
    """Whether the digits are part of a date or time: the 3 of "March 3" is not that of "3 pens"."""
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


PLACE = "place spelling"
_SHORT_NAME = re.compile(r"[A-Z]{2,3}")


def find_place(place: str, text: str) -> Found | None:
    """Return where `text` says `place` by another of its well-known names."""
    for name in _other_names().get(fold(place), ()):
        found = find_phrase(name, text)
        # "la" and "us" are words; as names of places they are written in capitals
        if found and (not _SHORT_NAME.fullmatch(name) or text[found.start : found.end] == name):
            return Found(place, found.start, found.end, PLACE)
    return None


@lru_cache(1)
def _other_names() -> dict[str, tuple[str, ...]]:
    pages = (of(code).data.get("place_names", {"names": []}) for code in known())
    pairs = ((name, row) for page in pages for row in page["names"] for name in row)
    return {fold(name): tuple(one for one in row if one != name) for name, row in pairs}


_SIGNED = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)*")


def tells_only(text: str, value: str, beside: Iterable[str]) -> bool:
    """Whether `text` says a value whole, its words in order, and no more.

    More is a content word, such as a negation or a number, that stands neither in the value nor in
    one of the texts `beside`.
    """
    found = find_phrase(value, text) or find_wording(value, text)
    if found is None or found.rule == ORDER or not _numbers(value) <= _numbers(text):
        return False
    known_words = {key.light for one in (value, *beside) for key in content_keys(one)} | {STOP}
    return all(key.light in known_words for key in content_keys(text))


def _numbers(text: str) -> set[str]:
    return {*_SIGNED.findall(text)}


INFLECTION = "inflection"
APART = "words apart"
FORMATION = "word form"
ORDER = "word order"

_CJK = re.compile(f"[{CJK}]")
_PLACE_ENDING = LanguagePattern("@{place_ending}")
_MOST_NUMBERS = 2
_LONG_STEM = 6
_SHORTEST_NAME = 2
_MOST_WORDS = 60  # of what may be said in another order or in pieces: no address or title is longer


class Key(NamedTuple):
    """A content word in the form used for comparison, and its place in the original text."""

    light: str
    deep: str
    start: int
    end: int
    suffix: bool = False  # a word such as City that a place may go without


def find_wording(phrase: str, text: str) -> Found | None:
    """Return where the content words of `phrase` stand in `text`, or None.

    They may be inflected, derived, reordered, or have a word between them.
    """
    packs = packs_of(text)
    wanted = tuple(key for key in content_keys(phrase, packs) if key.light != STOP)
    text_keys = content_keys(text, packs)
    if not wanted or not text_keys or (len(wanted) == 1 and wanted[0].light.isdecimal()):
        return None
    for rule, hit in _hits(wanted, text_keys):
        if hit and not is_cut(text, text_keys[hit[0]].start, text_keys[hit[1]].end):
            return Found(phrase, text_keys[hit[0]].start, text_keys[hit[1]].end, rule)
    return None


@lru_cache(4096)
def content_keys(text: str, packs: tuple[LanguagePack, ...] | None = None) -> tuple[Key, ...]:
    """Return the content words of `text`, in `packs` or its own languages, and `.` per sentence."""
    packs = packs or packs_of(text)
    keys: list[Key] = []
    row, before = words_of(text).row, None
    skipped, respelled = empty(packs), _respellings(packs)
    for index, word in enumerate(row):
        after = row[index + 1] if index + 1 < len(row) else None
        # the A of A12345 is no article
        is_glued = word.text.isascii() and (
            (before and before.end == word.start and before.text.isdecimal())
            or (after and after.start == word.end and after.text.isdecimal())
        )
        if word.text not in skipped or is_glued:
            plain = word.text.lstrip("0") or "0" if word.text.isdecimal() else word.text
            is_suffix = word.text in words_named("place_suffixes")
            suffix = is_suffix or _is_place_ending(word.text, before)
            place = (word.start, word.end, suffix)
            parts = respelled.get(stem(word.text), (plain,))
            keys += (Key(stem(part), deep_stem(part), *place) for part in parts)
        before = word
    return tuple(keys)


def _is_place_ending(word: str, before: FoldedWord | None) -> bool:
    """Whether the character ends the name of a place that is the same without it."""
    return bool(
        before and _CJK.match(word) and _PLACE_ENDING.everywhere.fullmatch(before.text + word)
    )


@lru_cache(64)
def _respellings(packs: tuple[LanguagePack, ...]) -> dict[str, tuple[str, ...]]:
    """Return folded words of these languages, and the words that they stand for."""
    meanings: dict[str, str] = {}
    for pack in packs:
        meanings |= spoken_in(pack.code).respellings()
    meanings |= packaged("callwright.language", "stems.yaml")["respellings"]
    return {stem(word): tuple(meaning.split()) for word, meaning in meanings.items()}


def _hits(
    wanted: tuple[Key, ...], stated: tuple[Key, ...]
) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield for each rule the first and last stated word that match the wanted words."""
    light, light_stated = [key.light for key in wanted], [key.light for key in stated]
    yield INFLECTION, _subsequence(light, light_stated, 0)
    core = [key.light for key in wanted if not key.suffix]
    plain_indexes = [index for index, key in enumerate(stated) if not key.suffix]
    has_suffix = len(core) < len(wanted) or len(plain_indexes) < len(stated)
    if has_suffix and sum(map(len, core)) >= _SHORTEST_NAME:
        hit = _subsequence(core, [light_stated[index] for index in plain_indexes], 0)
        yield PLACE, hit and (plain_indexes[hit[0]], plain_indexes[hit[1]])
    yield APART, _subsequence(light, light_stated, _slack(wanted))
    if len(wanted) > 1 or len(wanted[0].deep) >= _LONG_STEM:
        deep = [key.deep for key in wanted]
        yield FORMATION, _subsequence(deep, [key.deep for key in stated], _slack(wanted))
    yield ORDER, _any(wanted, stated)


def _any(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    # Chinese characters, routes ("A to B") and several numbers mean something else in another order
    words = [key.light for key in wanted]
    is_ordered = any(word in words_named("ordered") or _CJK.match(word) for word in words)
    numbers = sum(word[0].isdigit() for word in words)
    if is_ordered or numbers >= _MOST_NUMBERS or not 1 < len(words) <= _MOST_WORDS:
        return None
    target = Counter(key.deep for key in wanted)
    room = len(wanted) + _slack(wanted)
    for first, key in enumerate(stated):
        if key.deep in target:
            last = _fill(target, stated, first, room)
            if last is not None:
                return first, last
    return None


def _fill(target: Counter[str], stated: tuple[Key, ...], first: int, room: int) -> int | None:
    missing, left = Counter(target), target.total()
    for index in range(first, min(len(stated), first + room)):
        word = stated[index].deep
        if missing[word] > 0:
            missing[word] -= 1
            left -= 1
            if not left:
                return index
        elif word == STOP or word in negations() or word[:1].isdigit():
            return None
    return None


def _slack(wanted: tuple[Key, ...]) -> int:
    """Return how many other words may stand between: half of those wanted, a quarter in Chinese."""
    return len(wanted) // (4 if any(_CJK.match(key.light) for key in wanted) else 2)


def _subsequence(wanted: list[str], stated: list[str], slack: int) -> tuple[int, int] | None:
    """Return the first and last position of `wanted` in `stated`, in order.

    At most `slack` words are skipped, and no negation. None if there is no such place.
    """
    position = -1
    if len(wanted) > _MOST_WORDS:  # so long a text is said word for word, or it is not
        return None
    while True:
        try:
            position = stated.index(wanted[0], position + 1)
        except ValueError:
            return None
        last = _follow(wanted, stated, position, slack)
        if last is not None:
            return position, last


def _follow(wanted: list[str], stated: list[str], first: int, slack: int) -> int | None:
    index = first
    for word in wanted[1:]:
        index += 1
        while index < len(stated) and stated[index] != word:
            if slack == 0 or stated[index] in negations() or stated[index][:1].isdigit():
                return None
            slack -= 1
            index += 1
        if index >= len(stated):
            return None
    return index
