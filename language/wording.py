"""Where a text states a phrase in other forms, in another order, or shortened to what tells it from others."""

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from callwright.language.numbers import find_numbers
from callwright.language.packs import LanguagePattern, packs_of
from callwright.language.phrases import SPELLING, find_phrase, is_cut
from callwright.language.protocol import LanguagePack
from callwright.language.text import CJK, STOP, VERBATIM, FoldedWord, Found, words_of
from callwright.language.vocabulary import (
    deep_stem,
    empty,
    negations,
    ordered,
    place_suffixes,
    respellings,
    senses,
    stem,
)

INFLECTION = "inflection"
APART = "words apart"
FORMATION = "word form"
ORDER = "word order"
SYNONYM = "synonym"
PLACE = "place spelling"

_CJK = re.compile(f"[{CJK}]")
_MOST_NUMBERS = 2
_LONG_STEM = 6
_SHORTEST_NAME = 2
_MOST_WORDS = 60  # of what may be said in another order or in pieces: no address or title is longer


class Key(NamedTuple):
    """A content word as it is compared, and its place in the original text."""

    light: str
    deep: str
    sense: str
    start: int
    end: int
    suffix: bool = False  # a word such as City that a place may go without


def find_wording(phrase: str, text: str) -> Found | None:
    """Where the content words of `phrase` stand in `text`: inflected, a word apart, formed anew, reordered."""
    packs = packs_of(text)
    wanted = tuple(key for key in content_keys(phrase, packs) if key.light != STOP)
    stated = content_keys(text, packs)
    if not wanted or not stated or (len(wanted) == 1 and wanted[0].light.isdecimal()):
        return None
    for rule, find in (
        (INFLECTION, _in_order),
        (PLACE, _place),
        (APART, _apart),
        (FORMATION, _formed),
        (ORDER, _any),
        (SYNONYM, _synonymous),
    ):
        hit = find(wanted, stated)
        if hit and not is_cut(text, stated[hit[0]].start, stated[hit[1]].end):
            return Found(phrase, stated[hit[0]].start, stated[hit[1]].end, rule)
    return None


def content_keys(text: str, packs: tuple[LanguagePack, ...] | None = None) -> tuple[Key, ...]:
    """The content words of `text` in its own or in these languages, with a `.` for each end of a sentence."""
    return _content_keys(text, packs or packs_of(text))


@lru_cache(2048)
def _content_keys(text: str, packs: tuple[LanguagePack, ...]) -> tuple[Key, ...]:
    keys: list[Key] = []
    before = ""
    row = words_of(text).row
    skipped, respelled = empty(packs), respellings(packs)
    for index, word in enumerate(row):
        # the A of A12345 is no article
        if word.text not in skipped or _is_glued(row, index):
            suffix = word.text in place_suffixes() or _is_place_ending(word.text, before)
            parts = respelled.get(stem(word.text), (_number(word.text),))
            keys.extend(_key(part, word.start, word.end, suffix=suffix) for part in parts)
        before = word.text
    return tuple(_with_pairs(keys))


def _is_glued(row: tuple[FoldedWord, ...], index: int) -> bool:
    """Whether a Latin word touches digits, as in a plate or passport number."""
    word = row[index]
    before, after = row[max(0, index - 1)], row[min(len(row) - 1, index + 1)]
    touches = (before.end == word.start and before.text.isdecimal()) or (
        after.start == word.end and after.text.isdecimal()
    )
    return touches and word.text.isascii()


def _key(word: str, start: int, end: int, *, suffix: bool) -> Key:
    deep = deep_stem(word)
    return Key(stem(word), deep, senses().get(deep, deep), start, end, suffix)


def _with_pairs(keys: list[Key]) -> list[Key]:
    """Give a pair of words that means what one word does the sense of that word; its second half has none."""
    table = senses()
    for index in range(len(keys) - 1):
        pair = table.get(f"{keys[index].deep} {keys[index + 1].deep}")
        if pair:
            keys[index] = keys[index]._replace(sense=pair)
            keys[index + 1] = keys[index + 1]._replace(sense="")
    return keys


def _number(word: str) -> str:
    return word.lstrip("0") or "0" if word.isdecimal() else word


def _is_place_ending(character: str, before: str) -> bool:
    """Whether a character ends the name of a place that is the same without it."""
    return any(pack.rules.is_place_ending(character, before) for pack in packs_of(character))


def _in_order(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    return _subsequence([key.light for key in wanted], [key.light for key in stated], 0)


def _place(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    core = [key.light for key in wanted if not key.suffix]
    kept = [index for index, key in enumerate(stated) if not key.suffix]
    if (len(core) == len(wanted) and len(kept) == len(stated)) or _letters(core) < _SHORTEST_NAME:
        return None
    hit = _subsequence(core, [stated[index].light for index in kept], 0)
    return (kept[hit[0]], kept[hit[1]]) if hit else None


def _apart(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    return _subsequence([key.light for key in wanted], [key.light for key in stated], _slack(wanted))


def _formed(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    if len(wanted) == 1 and len(wanted[0].deep) < _LONG_STEM:
        return None
    return _subsequence([key.deep for key in wanted], [key.deep for key in stated], _slack(wanted))


def _any(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    if not 1 < len(wanted) <= _MOST_WORDS or not _is_free_in_order(wanted):
        return None
    target = Counter(key.deep for key in wanted)
    room = len(wanted) + _slack(wanted)
    for first, key in enumerate(stated):
        if key.deep in target:
            last = _fill(target, stated, first, room)
            if last is not None:
                return first, last
    return None


def _synonymous(wanted: tuple[Key, ...], stated: tuple[Key, ...]) -> tuple[int, int] | None:
    meant = tuple(key._replace(deep=key.sense) for key in wanted if key.sense)
    matched = [index for index, key in enumerate(stated) if key.sense]
    chosen = tuple(stated[index]._replace(deep=stated[index].sense) for index in matched)
    hit = _subsequence([key.deep for key in meant], [key.deep for key in chosen], _slack(meant)) or _any(meant, chosen)
    return (matched[hit[0]], matched[hit[1]]) if hit else None


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


def _is_free_in_order(wanted: tuple[Key, ...]) -> bool:
    """Chinese characters, routes ("A to B") and several numbers mean something else in another order."""
    words = [key.light for key in wanted]
    numbers = sum(word[0].isdigit() for word in words)
    return numbers < _MOST_NUMBERS and not any(word in ordered() or _CJK.match(word) for word in words)


def _slack(wanted: tuple[Key, ...]) -> int:
    """How many content words may stand between: half as many as are wanted, among Chinese characters a quarter."""
    characters = sum(1 for key in wanted if _CJK.match(key.light))
    if characters:
        return len(wanted) // 4
    return len(wanted) // 2


def _letters(words: list[str]) -> int:
    return sum(map(len, words))


def _subsequence(wanted: list[str], stated: list[str], slack: int) -> tuple[int, int] | None:
    """The first and last position of `wanted` in `said` in order, with at most `slack` words skipped, no negation."""
    position = -1
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


SHORT_NAME = "short name"
INITIALS = "initials"
RANGE = "range"
PIECES = "said in pieces"

# nouns that say of what class a named thing is; one of a class may be left out where the parameter names the class
_CLASSES = (
    frozenset({"university", "college", "school", "academy", "institute"}),
    frozenset({"station", "railway", "train", "stop", "terminal", "metro", "subway"}),
    frozenset({"hospital", "clinic"}),
    frozenset({"hotel", "inn"}),
    frozenset({"airport", "international", "terminal"}),
    frozenset({"street", "road", "avenue", "lane"}),
    frozenset({"store", "shop", "market", "mall", "supermarket"}),
    frozenset({"restaurant", "cafe", "bar"}),
    frozenset({"line", "route", "bus"}),
    frozenset({"company", "corporation", "group", "inc", "ltd", "limited", "enterprise", "airline", "airlines"}),
    frozenset({"community", "district", "neighborhood", "estate", "garden"}),
    frozenset({"bank"}),
)
_CLASS_NOUNS = frozenset().union(*_CLASSES)
_JOINED = LanguagePattern(r"\s*(?:[-–—]|@[~]|@{range_joint})\s*\D{0,3}", re.RegexFlag(0))
_RANGE_VALUE = LanguagePattern(
    rf"\s*[$€£¥]?\s*\d[\d,.]*\s*[a-z{CJK}]{{0,6}}\s*(?:[-–—]|@[~]|@{{range_to}})\s*[$€£¥]?\s*\d"
)
_UPPER = re.compile(r"(?<![A-Za-z])[A-Z]{3,6}(?![A-Za-z])")
_SURE = frozenset({VERBATIM, SPELLING, INFLECTION})
_EXAMPLES = LanguagePattern("@[,:;({list}]|@{examples}")
_FEWEST_INITIALS = 3
_SHORTEST_PIECE = 4
_LEAST_LATIN, _LEAST_CJK = 2, 4


def find_shortened(phrase: str, topic: str, text: str) -> Found | None:
    """Where `text` says `phrase` in a shorter way; `topic` is what the parameter's name and description say."""
    return (
        _find_range(phrase, text)
        or _find_initials(phrase, text)
        or _find_name(phrase, topic, text)
        or _find_pieces(phrase, text)
    )


def _find_range(phrase: str, text: str) -> Found | None:
    """300 to 400 is also "between 300 and 400"."""
    if not _RANGE_VALUE.of(text).match(phrase):
        return None
    wanted = [found.value for found in find_numbers(_JOINED.of(text).sub(" to ", phrase))]
    stated = find_numbers(text)
    for low, high in pairwise(stated):
        if [low.value, high.value] == wanted and _JOINED.of(text).fullmatch(text[low.end : high.start]):
            return Found(phrase, low.start, high.end, RANGE)
    return None


def _find_initials(phrase: str, text: str) -> Found | None:
    """VAT is Value Added Tax, and the other way round."""
    words = re.findall(r"[A-Za-z]+", phrase)
    if len(words) >= _FEWEST_INITIALS:
        initials = "".join(word[0] for word in words if word.lower() not in empty(packs_of(text))).upper()
        found = find_phrase(initials, text) if len(initials) >= _FEWEST_INITIALS else None
        return Found(phrase, found.start, found.end, INITIALS) if found and not found.rule else None
    if not _UPPER.fullmatch(phrase):
        return None
    pattern = r"[\s-]+(?:of\s+|the\s+|and\s+)?".join(rf"{letter}[a-z]+" for letter in phrase)
    match = re.search(rf"\b{pattern}\b", text)
    return Found(phrase, *match.span(), INITIALS) if match else None


def _find_name(phrase: str, topic: str, text: str) -> Found | None:
    """Stanford for Stanford University where a school was asked for; 301 for Route 301 where a bus line was."""
    words = words_of(phrase).row
    spare = _spare_words(topic)
    first, last = 0, len(words)
    while last and words[last - 1].text in spare:
        last -= 1
    while first < last and words[first].text in spare & _CLASS_NOUNS:
        first += 1
    if last - first in (0, len(words)):
        return None
    rest = phrase[words[first].start : words[last - 1].end]
    found = find_phrase(rest, text) or find_wording(rest, text)
    if (
        not found
        or found.rule not in _SURE
        or not _is_telling(rest, text[found.start])
        or _is_other_name(words, found.end, text)
    ):
        return None
    return Found(phrase, found.start, found.end, SHORT_NAME)


def _is_telling(rest: str, first_stated: str) -> bool:
    """A proper name, a number or two words say enough by themselves."""
    if re.search(r"\d{2,}|\w\s+\w", rest):
        return True
    return rest[0].isupper() and first_stated.isupper() and len(rest) >= _SHORTEST_PIECE


def _is_other_name(words: tuple[FoldedWord, ...], end: int, text: str) -> bool:
    """Stanford Hospital is not Stanford University."""
    own = {word.text for word in words}
    own = own.union(*(group for group in _CLASSES if group & own))
    following = words_of(text[end : end + 30]).row[:1]
    return any(word.text in _CLASS_NOUNS and word.text not in own for word in following)


@lru_cache(4096)
def _spare_words(topic: str) -> frozenset[str]:
    """The words that go without saying where `topic` was asked for."""
    # what a description gives as examples are values, not the question
    asked = {word.text.removesuffix("s") for word in words_of(_EXAMPLES.of(topic).split(topic, maxsplit=1)[0]).row}
    return frozenset(asked).union(*(group for group in _CLASSES if group & asked))


def _find_pieces(phrase: str, text: str) -> Found | None:
    """A long address or title whose two halves stand apart in the same text."""
    keys = [key for key in content_keys(phrase) if key.light != STOP]
    if len(keys) > _MOST_WORDS:
        return None
    least = _LEAST_CJK if _CJK.search(phrase) else _LEAST_LATIN
    for cut in range(least, len(keys) - least + 1):
        first, second = phrase[: keys[cut - 1].end], phrase[keys[cut].start :]
        if is_cut(phrase, 0, keys[cut - 1].end):
            continue
        head = find_phrase(first, text)
        tail = find_phrase(second, text) if head else None
        if head and tail and (tail.start >= head.end or tail.end <= head.start):
            return Found(phrase, min(head.start, tail.start), max(head.end, tail.end), PIECES)
    return None
