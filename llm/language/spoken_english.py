"""Numbers that English text says in words; the one of "this one" and the second of "a second" are none."""

import re
from collections.abc import Iterator

from llm.language.digits import ORDINAL, PERCENT, WORDS, Number
from llm.language.english_numerals import CARDINAL, ordinal_words, parse_english

_CARDINAL = re.compile(
    rf"(?<![a-z\d-])(?P<sign>minus\s+)?(?P<words>{CARDINAL})(?P<half>\s+and\s+a\s+half)?(?![a-z])"
    r"(?P<percent>\s*per\s?cent(?![a-z])|\s*%)?"
)
_ORDINAL = re.compile(r"(?<![a-z-])(?:" + "|".join(sorted(ordinal_words(), key=len, reverse=True)) + r")(?![a-z])")
_HINT = re.compile(
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twel|teen|ty|hundred|dozen|zero|thous|illion"
)
_ORDINAL_HINT = re.compile("first|second|third|th")
_WORD = re.compile(r"[a-z]+")
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
