"""Addresses and numbers as people say them letter by letter: jo at acme dot org, five five five double eight."""

import re
from functools import lru_cache

from callwright.language.cues import cue_words
from callwright.language.text import Found, folded

SPELLED = "spelled out"
_FEWEST_DIGITS = 3
_MARK = re.compile(r"([@.\-_/+])")


def find_spelled(value: str, text: str, language: str) -> Found | None:
    """Where the text spells `value` out: an address by the names of its marks, digits one by one."""
    plain = folded(text).text
    if len(plain) != len(text):
        plain = text.lower()
    pattern = _spelled_pattern(value.lower(), language)
    match = pattern.search(plain) if pattern else None
    if match:
        return Found(value, *match.span(), SPELLED)
    digits = re.sub(r"\D", "", value)
    return _find_digits(value, digits, plain, language) if len(digits) >= _FEWEST_DIGITS and digits else None


@lru_cache(1024)
def _spelled_pattern(value: str, language: str) -> re.Pattern[str] | None:
    marks = cue_words(language).marks
    pieces = [piece for piece in _MARK.split(value) if piece]
    if "@" not in value and not re.fullmatch(r"[\w\-]+(?:\.[\w\-]+)+", value):
        return None
    spelled = [
        rf"\s*(?:{re.escape(piece)}|{marks[piece]})\s*" if piece in marks else re.escape(piece) for piece in pieces
    ]
    return re.compile(rf"(?<![\w@]){''.join(spelled)}(?![\w@])")


def _find_digits(value: str, digits: str, text: str, language: str) -> Found | None:
    """Digits said one by one, alone or as doubles, with whatever stands between groups."""
    if re.search(r"[^\d\s()+\-.]", value):
        return None
    names, repeats = cue_words(language).digits, cue_words(language).repeats
    word = "|".join(sorted((*names, *repeats), key=len, reverse=True))
    gap = r"[\s,\-]*"
    for match in re.finditer(rf"(?<![a-z\d])(?:(?:{word}|\d){gap})+", text):
        stated, times = "", 1
        for part in re.findall(rf"{word}|\d", match.group()):
            if part in repeats:
                times = repeats[part]
                continue
            stated, times = stated + str(names.get(part, part)) * times, 1
        if stated == digits:
            return Found(value, match.start(), match.start() + len(match.group().rstrip(" ,-")), SPELLED)
    return None
