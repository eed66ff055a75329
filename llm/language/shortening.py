"""What people leave out: the class noun of a name, the words that the question already holds, all but the initials."""

import re
from functools import lru_cache
from itertools import pairwise

from llm.language.found import VERBATIM, Found
from llm.language.numbers import find_numbers
from llm.language.phrases import SPELLING, find_phrase, is_cut
from llm.language.vocabulary import EMPTY
from llm.language.wording import INFLECTION, content_keys, find_wording
from llm.language.words import CJK, STOP, Word, words_of

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
_JOINED = re.compile(r"\s*(?:to|-|–|—|~|～|至|到|and|和)\s*\D{0,3}")
_RANGE_VALUE = re.compile(
    r"\s*[$€£¥]?\s*\d[\d,.]*\s*[a-z\u4e00-\u9fff]{0,6}\s*(?:to|-|–|—|~|～|至|到)\s*[$€£¥]?\s*\d", re.IGNORECASE
)
_UPPER = re.compile(r"(?<![A-Za-z])[A-Z]{3,6}(?![A-Za-z])")
_CJK = re.compile(f"[{CJK}]")
_SURE = frozenset({VERBATIM, SPELLING, INFLECTION})
_EXAMPLES = re.compile(
    r"[,:;(（，：；、]|\b(?:such\s+as|e\.g|including|includes|like|for\s+example|default)\b|如|例如|默认", re.IGNORECASE
)
_FEWEST_INITIALS = 3
_SHORTEST_NAME = 4
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
    if not _RANGE_VALUE.match(phrase):
        return None
    wanted = [found.value for found in find_numbers(_JOINED.sub(" to ", phrase))]
    said = find_numbers(text)
    for low, high in pairwise(said):
        if [low.value, high.value] == wanted and _JOINED.fullmatch(text[low.end : high.start]):
            return Found(phrase, low.start, high.end, RANGE)
    return None


def _find_initials(phrase: str, text: str) -> Found | None:
    """VAT is Value Added Tax, and the other way round."""
    words = re.findall(r"[A-Za-z]+", phrase)
    if len(words) >= _FEWEST_INITIALS:
        initials = "".join(word[0] for word in words if word.lower() not in EMPTY).upper()
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


def _is_telling(rest: str, first_said: str) -> bool:
    """A proper name, a number or two words say enough by themselves."""
    if re.search(r"\d{2,}|\w\s+\w", rest):
        return True
    return rest[0].isupper() and first_said.isupper() and len(rest) >= _SHORTEST_NAME


def _is_other_name(words: tuple[Word, ...], end: int, text: str) -> bool:
    """Stanford Hospital is not Stanford University."""
    own = {word.text for word in words}
    own = own.union(*(group for group in _CLASSES if group & own))
    following = words_of(text[end : end + 30]).row[:1]
    return any(word.text in _CLASS_NOUNS and word.text not in own for word in following)


@lru_cache(4096)
def _spare_words(topic: str) -> frozenset[str]:
    """The words that go without saying where `topic` was asked for."""
    # what a description gives as examples are values, not the question
    asked = {word.text.removesuffix("s") for word in words_of(_EXAMPLES.split(topic, maxsplit=1)[0]).row}
    return frozenset(asked).union(*(group for group in _CLASSES if group & asked))


def _find_pieces(phrase: str, text: str) -> Found | None:
    """A long address or title whose two halves stand apart in the same text."""
    keys = [key for key in content_keys(phrase) if key.light != STOP]
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
