"""Where a text says a phrase in other forms or another order of the same content words."""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from llm.language.found import Found
from llm.language.phrases import is_cut
from llm.language.stemming import deep_stem, stem
from llm.language.synonyms import senses
from llm.language.vocabulary import EMPTY, NEGATIONS, ORDERED, PLACE_SUFFIXES, respellings
from llm.language.words import CJK, STOP, Word, words_of

INFLECTION = "inflection"
APART = "words apart"
FORMATION = "word form"
ORDER = "word order"
SYNONYM = "synonym"
PLACE = "place spelling"

_RESPELLED = respellings()
_CJK = re.compile(f"[{CJK}]")
_SHOP_NOT_CITY = frozenset("超城门夜股菜上楼都集")
_MOST_NUMBERS = 2
_LONG_STEM = 6
_SHORTEST_NAME = 2


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
    wanted = tuple(key for key in content_keys(phrase) if key.light != STOP)
    said = content_keys(text)
    if not wanted or not said or (len(wanted) == 1 and wanted[0].light.isdecimal()):
        return None
    for rule, find in (
        (INFLECTION, _in_order),
        (PLACE, _place),
        (APART, _apart),
        (FORMATION, _formed),
        (ORDER, _any),
        (SYNONYM, _synonymous),
    ):
        hit = find(wanted, said)
        if hit and not is_cut(text, said[hit[0]].start, said[hit[1]].end):
            return Found(phrase, said[hit[0]].start, said[hit[1]].end, rule)
    return None


@lru_cache(2048)
def content_keys(text: str) -> tuple[Key, ...]:
    """The content words of `text`, with a `.` for each end of a sentence."""
    keys: list[Key] = []
    before = ""
    row = words_of(text).row
    for index, word in enumerate(row):
        # the A of A12345 is no article
        if word.text not in EMPTY or _is_glued(row, index):
            suffix = word.text in PLACE_SUFFIXES or _is_chinese_suffix(word.text, before)
            parts = _RESPELLED.get(stem(word.text), (_number(word.text),))
            keys.extend(_key(part, word.start, word.end, suffix=suffix) for part in parts)
        before = word.text
    return tuple(_with_pairs(keys))


def _is_glued(row: tuple[Word, ...], index: int) -> bool:
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


def _is_chinese_suffix(character: str, before: str) -> bool:
    return character in ("市", "省") and bool(_CJK.match(before)) and before not in _SHOP_NOT_CITY


def _in_order(wanted: tuple[Key, ...], said: tuple[Key, ...]) -> tuple[int, int] | None:
    return _subsequence([key.light for key in wanted], [key.light for key in said], 0)


def _place(wanted: tuple[Key, ...], said: tuple[Key, ...]) -> tuple[int, int] | None:
    core = [key.light for key in wanted if not key.suffix]
    kept = [index for index, key in enumerate(said) if not key.suffix]
    if (len(core) == len(wanted) and len(kept) == len(said)) or _letters(core) < _SHORTEST_NAME:
        return None
    hit = _subsequence(core, [said[index].light for index in kept], 0)
    return (kept[hit[0]], kept[hit[1]]) if hit else None


def _apart(wanted: tuple[Key, ...], said: tuple[Key, ...]) -> tuple[int, int] | None:
    return _subsequence([key.light for key in wanted], [key.light for key in said], _slack(wanted))


def _formed(wanted: tuple[Key, ...], said: tuple[Key, ...]) -> tuple[int, int] | None:
    if len(wanted) == 1 and len(wanted[0].deep) < _LONG_STEM:
        return None
    return _subsequence([key.deep for key in wanted], [key.deep for key in said], _slack(wanted))


def _any(wanted: tuple[Key, ...], said: tuple[Key, ...]) -> tuple[int, int] | None:
    if len(wanted) == 1 or not _is_free_in_order(wanted):
        return None
    target = Counter(key.deep for key in wanted)
    room = len(wanted) + _slack(wanted)
    for first, key in enumerate(said):
        if key.deep in target:
            last = _fill(target, said, first, room)
            if last is not None:
                return first, last
    return None


def _synonymous(wanted: tuple[Key, ...], said: tuple[Key, ...]) -> tuple[int, int] | None:
    meant = tuple(key._replace(deep=key.sense) for key in wanted if key.sense)
    heard = [index for index, key in enumerate(said) if key.sense]
    told = tuple(said[index]._replace(deep=said[index].sense) for index in heard)
    hit = _subsequence([key.deep for key in meant], [key.deep for key in told], _slack(meant)) or _any(meant, told)
    return (heard[hit[0]], heard[hit[1]]) if hit else None


def _fill(target: Counter[str], said: tuple[Key, ...], first: int, room: int) -> int | None:
    missing = Counter(target)
    for index in range(first, min(len(said), first + room)):
        word = said[index].deep
        if missing[word] > 0:
            missing[word] -= 1
            if not +missing:
                return index
        elif word == STOP or word in NEGATIONS or word[:1].isdigit():
            return None
    return None


def _is_free_in_order(wanted: tuple[Key, ...]) -> bool:
    """Chinese characters, routes ("A to B") and several numbers mean something else in another order."""
    words = [key.light for key in wanted]
    numbers = sum(word[0].isdigit() for word in words)
    return numbers < _MOST_NUMBERS and not any(word in ORDERED or _CJK.match(word) for word in words)


def _slack(wanted: tuple[Key, ...]) -> int:
    """How many content words may stand between: half as many as are wanted, among Chinese characters a quarter."""
    characters = sum(1 for key in wanted if _CJK.match(key.light))
    if characters:
        return len(wanted) // 4
    return len(wanted) // 2


def _letters(words: list[str]) -> int:
    return sum(map(len, words))


def _subsequence(wanted: list[str], said: list[str], slack: int) -> tuple[int, int] | None:
    """The first and last position of `wanted` in `said` in order, with at most `slack` words skipped, no negation."""
    position = -1
    while True:
        try:
            position = said.index(wanted[0], position + 1)
        except ValueError:
            return None
        last = _follow(wanted, said, position, slack)
        if last is not None:
            return position, last


def _follow(wanted: list[str], said: list[str], first: int, slack: int) -> int | None:
    index = first
    for word in wanted[1:]:
        index += 1
        while index < len(said) and said[index] != word:
            if slack == 0 or said[index] in NEGATIONS or said[index][:1].isdigit():
                return None
            slack -= 1
            index += 1
        if index >= len(said):
            return None
    return index
