"""Spanish numbers in words: veintidós, treinta y cinco, doscientas, dos mil quinientos; and how short ones are written."""

import re
from collections.abc import Iterator

from callwright.language.protocol import PERCENT, WORDS, Number

# ruff: noqa: PLR2004 - the powers of ten are what this file is about

_UNITS = (
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce", "trece",
    "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno", "veintidós",
    "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho", "veintinueve",
)  # fmt: skip
_TENS = ("treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS = (
    "doscient", "trescient", "cuatrocient", "quinient", "seiscient", "setecient", "ochocient", "novecient",
)  # fmt: skip
_ACCENTS = str.maketrans("áéíóú", "aeiou")
# in folded text, without accents; both genders
_BELOW_THIRTY: dict[str, int] = {
    **{word.translate(_ACCENTS): number for number, word in enumerate(_UNITS)},
    "un": 1, "una": 1, "veintiun": 21, "veintiuna": 21,
}  # fmt: skip
_BY_TEN = dict(zip(_TENS, range(30, 100, 10), strict=True))
_BY_HUNDRED = {
    "cien": 100, "ciento": 100,
    **{f"{stem}{end}": 100 * number for number, stem in enumerate(_HUNDREDS, 2) for end in ("os", "as")},
}  # fmt: skip
_VALUES = {**_BELOW_THIRTY, **_BY_TEN, **_BY_HUNDRED}
_ALONE = frozenset({"un", "una", "uno"})  # articles and pronouns more often than numbers
_WRITTEN_TO = 30


def _any_of(words: dict[str, int]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_ONES = {word: number for word, number in _BELOW_THIRTY.items() if 0 < number < 10}
_UP_TO_99 = rf"(?:(?:{_any_of(_BY_TEN)})\sy\s(?:{_any_of(_ONES)})|{_any_of(_BY_TEN)}|{_any_of(_BELOW_THIRTY)})"
_UP_TO_999 = rf"(?:(?:{_any_of(_BY_HUNDRED)})(?:\s{_UP_TO_99})?|{_UP_TO_99})"
_BELOW_MILLION = rf"(?:(?:{_UP_TO_999}\s)?mil(?:\s{_UP_TO_999})?|{_UP_TO_999})(?![a-z])"
_NUMBER = re.compile(
    rf"(?<![a-z\d])(?P<sign>(?<!al\s)(?<!lo\s)(?<!\bo\s)menos\s)?(?P<words>{_BELOW_MILLION}(?:\smill(?:on|ones)(?:\s{_BELOW_MILLION})?)?)"
    r"(?P<half>\sy\smedi[oa])?(?P<percent>\s?por\s?ciento)?(?![a-z\d])"
)
_MILLION = re.compile(r"\s?mill(?:on|ones)\b\s?")
_THOUSAND = re.compile(r"\s?\bmil\b\s?")


def spanish_numbers(text: str) -> Iterator[Number]:
    """The numbers that folded `text` has in words."""
    for match in _NUMBER.finditer(text):
        if match["words"] not in _ALONE:
            value = _value(match["words"]) + (0.5 if match["half"] else 0)
            rule = PERCENT if match["percent"] else WORDS
            yield Number(-value if match["sign"] else value, *match.span(), rule)


def _value(words: str) -> int:
    millions, is_million, rest = _parted(words, _MILLION)
    return (_below_million(millions) * 1_000_000 if is_million else 0) + _below_million(rest)


def _below_million(words: str) -> int:
    thousands, is_thousand, rest = _parted(words, _THOUSAND)
    return ((_sum(thousands) or 1) * 1000 if is_thousand else 0) + _sum(rest)


def _parted(words: str, scale: re.Pattern[str]) -> tuple[str, bool, str]:
    """What stands before a scale, whether it is there, and what stands behind it."""
    match = scale.search(words)
    return (words[: match.start()], True, words[match.end() :]) if match else ("", False, words)


def _sum(words: str) -> int:
    return sum(_VALUES[word] for word in words.split() if word != "y")


def number_forms(number: int) -> tuple[str, ...]:
    """The words for short numbers that have one form for both genders and are no other word."""
    if number in (11, 21):
        return ()
    if 2 <= number < _WRITTEN_TO:
        return (_UNITS[number],)
    if number <= 100:
        return {100: ("cien",), **{value: (word,) for word, value in _BY_TEN.items()}}.get(number, ())
    thousands = number // 1000
    if number % 1000 or thousands >= _WRITTEN_TO or thousands in (11, 21):
        return ()
    return ("mil" if thousands == 1 else f"{_UNITS[thousands]} mil",)


def hour_in_words(hour: int) -> str:
    """The hour on a clock with its article: la una, las siete."""
    return "la una" if hour == 1 else f"las {_UNITS[hour]}"


def small_numbers() -> dict[str, int]:
    """Folded words and the numbers below sixty that they are: hours, minutes and days of a month."""
    joined = {f"{tens} y {word}": _BY_TEN[tens] + one for tens in _TENS[:3] for word, one in _ONES.items()}
    return {word: number for word, number in {**_VALUES, **joined}.items() if 0 < number < 60}
