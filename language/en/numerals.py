"""English numbers: twenty-five, half a dozen, three point five, fifth; and the ones that are none, as in this one."""

import re
from collections.abc import Iterator
from functools import lru_cache

from callwright.language.names import words
from callwright.language.protocol import ORDINAL, PERCENT, WORDS, Number

# ruff: noqa: PLR2004 - the powers of ten are what this file is about


_UNITS = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS = dict(zip(_TENS_WORDS, range(20, 100, 10), strict=True))
_SMALL = {word: number for number, word in enumerate(_UNITS)} | _TENS
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINAL_STEMS = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
    "twelfth": "twelve",
}  # fmt: skip
_TINY = "|".join(sorted(_SMALL, key=len, reverse=True))
_SCALE = "|".join(_SCALES)
_AFTER_SCALE = "(?:" + "|".join(f"(?<={word})" for word in _SCALES) + ")"
# only a scale may be followed by "and" or a comma: "twenty and two" are two numbers
_MORE = rf"(?:(?:\s*-\s*|\s+|{_AFTER_SCALE}(?:,?\s+and\s+|,\s+))(?:{_TINY}|{_SCALE}))*"
CARDINAL = (
    rf"(?:half\s+a\s+dozen|(?:(?:{_TINY})\s+|a\s+)dozen|an?\s+(?:{_SCALE}){_MORE}|(?:{_TINY}){_MORE})"
    rf"(?:\s+point(?:\s+(?:{_TINY}))+)?"
)
_WORD = re.compile(r"[a-z]+")


@lru_cache(4096)
def parse_english(words: str) -> int | float | None:
    """The number that folded `words` say, None where they are no one number ("nineteen thirty", "one two")."""
    if re.fullmatch(r"half\s+a\s+dozen", words):
        return 6
    whole, point, fraction = words.partition(" point ")
    number = _cardinal(_WORD.findall(whole))
    if number is None or not point:
        return number
    digits = [_SMALL.get(word, 10) for word in fraction.split()]
    return None if max(digits) > 9 else float(f"{number}.{''.join(map(str, digits))}")


class _Sum:
    """A number under way: what is complete, the hundreds and units still open, and how large the next word may be."""

    def __init__(self) -> None:
        self.total = 0
        self.open = 0
        self.room = 1_000_000_000_000

    def takes(self, word: str) -> bool:
        """Add `word`; False where it can't follow what was stated."""
        if word in _SMALL:
            return self._take_small(_SMALL[word])
        if word == "hundred":
            fits = 0 < self.open < 100
            self.open, self.room = self.open * 100, 100
            return fits
        scale = _SCALES[word]
        fits = self.open > 0 and self.total % (scale * 1000) == 0
        self.total, self.open, self.room = self.total + self.open * scale, 0, scale
        return fits

    def _take_small(self, number: int) -> bool:
        fits = number < self.room
        self.open += number
        self.room = 10 if number >= 20 else 1
        return fits


def _cardinal(words: list[str]) -> int | None:
    if words and words[0] in ("a", "an"):
        words = ["one", *words[1:]]
    if len(words) == 2 and words[1] == "dozen":
        return 12 * _SMALL[words[0]]
    if words == ["zero"]:
        return 0
    if not words or words[0] == "and" or "zero" in words:
        return None
    number = _Sum()
    if not all(number.takes(word) for word in words if word != "and"):
        return None
    return number.total + number.open


@lru_cache(1)
def ordinal_words() -> dict[str, int]:
    """Ordinals from first to thirty-first, hyphenated and not, with their numbers."""
    ordinals: dict[str, int] = {}
    for number in range(1, 32):
        tens, unit = divmod(number, 10)
        if number < 20:
            ordinals[_ordinal(_UNITS[number])] = number
        elif unit == 0:
            ordinals[{2: "twentieth", 3: "thirtieth"}[tens]] = number
        else:
            head = {2: "twenty", 3: "thirty"}[tens]
            ordinals[f"{head}-{_ordinal(_UNITS[unit])}"] = number
            ordinals[f"{head} {_ordinal(_UNITS[unit])}"] = number
    return ordinals


def _ordinal(cardinal: str) -> str:
    special = {stem: word for word, stem in _ORDINAL_STEMS.items()}
    return special.get(cardinal, cardinal + "th")


@lru_cache(1)
def unit_words() -> dict[str, int]:
    """The number words from zero to nineteen and the tens."""
    return dict(_SMALL)


_CARDINAL = re.compile(
    rf"(?<![a-z\d-])(?P<sign>minus\s+)?(?P<words>{CARDINAL})(?P<half>\s+and\s+a\s+half)?(?![a-z])"
    r"(?P<percent>\s*per\s?cent(?![a-z])|\s*%)?"
)
_ORDINAL = re.compile(r"(?<![a-z-])(?:" + "|".join(sorted(ordinal_words(), key=len, reverse=True)) + r")(?![a-z])")
_HINT = re.compile(
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twel|teen|ty|hundred|dozen|zero|thous|illion"
)
_ORDINAL_HINT = re.compile("first|second|third|th")
_NO_NUMBER_BEFORE = re.compile(
    r"(?:\b(?:this|that|which|the|another|any|each|every|no|next|good|new|right|only|best|\w+er)|\ban?\s\w+)\s+$"
)
_NO_NUMBER_AFTER = re.compile(r"\s+(?:of|day|another|that|which|with|near|moment|who)\b")
_NOT_SECOND_BEFORE = re.compile(r"(?:\b(?:a|per|one|every|split|each)|\d|-)\s*$")


def english_numbers(text: str) -> Iterator[Number]:
    """The number words in folded `text`: cardinals, then ordinals."""
    if _HINT.search(text):
        for match in _CARDINAL.finditer(text):
            yield from _cardinals(text, match)
    if _ORDINAL_HINT.search(text):
        for match in _ORDINAL.finditer(text):
            if match.group() != "second" or not _NOT_SECOND_BEFORE.search(text, 0, match.start()):
                yield Number(ordinal_words()[" ".join(match.group().split())], *match.span(), ORDINAL)


def _cardinals(text: str, match: re.Match[str]) -> Iterator[Number]:
    words, start = match["words"], match.start()
    value = parse_english(words)
    if value is None:
        yield from _several(words, match.start("words"))
        return
    if words == "one" and not match["half"] and _is_pronoun(text, match):
        return
    value += 0.5 if match["half"] else 0
    yield Number(-value if match["sign"] else value, start, match.end(), PERCENT if match["percent"] else WORDS)


def _is_pronoun(text: str, match: re.Match[str]) -> bool:
    before = _NO_NUMBER_BEFORE.search(text[max(0, match.start() - 24) : match.start()])
    return bool(before or _NO_NUMBER_AFTER.match(text, match.end()))


def _several(words: str, offset: int) -> Iterator[Number]:
    """Words that are no one number, such as "two, three and twenty": the longest numbers from the left."""
    tokens = list(_WORD.finditer(words))
    first = 0
    while first < len(tokens):
        for last in range(len(tokens) - 1, first - 1, -1):
            start, end = tokens[first].start(), tokens[last].end()
            value = None if tokens[first].group() == "and" else parse_english(words[start:end])
            if value is not None and tokens[last].group() != "and":
                yield Number(value, offset + start, offset + end, WORDS)
                first = last
                break
        first += 1
