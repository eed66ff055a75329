"""What people say for a flag without naming it: "nobody may see it" for private, "no hurry" for not urgent.

Each language may list them in its flags.yaml, by the words of a parameter's name and description.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from callwright.language.cues import DENYING, cue_words
from callwright.language.names import split_name
from callwright.language.packs import of, widened
from callwright.language.text import Found

WORDED = "words for a flag"
_SIGN = re.compile(widened(r"@[,.;!?]"))
_NEGATION_BEFORE = 20  # characters


class FlagWords(NamedTuple):
    """A thing that is so or not: the words of a parameter for it, and what people say for either."""

    names: re.Pattern[str]
    is_true: re.Pattern[str]
    is_false: re.Pattern[str]


class Flags(NamedTuple):
    """The flags that a language has words for, and its words for switching on and off."""

    switch: re.Pattern[str]
    denying: re.Pattern[str]  # what stands in a description before that which shall not be
    concepts: tuple[FlagWords, ...]
    switched: FlagWords


class FlagReading(NamedTuple):
    """The value that words give a flag, and where they stand."""

    value: bool
    places: tuple[Found, ...]


def read_flag(name: str, description: str, text: str, language: str) -> FlagReading | None:
    """The value that `text` gives the flag; None where no word of the language's says it, or its words say both."""
    listed = _flags(language)
    if listed is None:
        return None
    words = " ".join(split_name(name)).lower()
    concepts = [(one, one.names.search(words)) for one in listed.concepts]
    by_name = [(one, match.span()) for one, match in concepts if match]
    described = [(one, match) for one in listed.concepts if (match := one.names.search(description.lower()))]
    by_description = [
        (one, (0, 0)) for one, match in described if not listed.denying.search(description[: match.start()].lower())
    ]
    for one, (start, end) in (*by_name, *by_description):
        reading = _stated(one, text, language)
        if reading is not None:
            is_turned = not DENYING.isdisjoint(f"{words[:start]} {words[end:]}".split()) if end else _is_denied(words)
            return reading._replace(value=reading.value != is_turned)
    if by_name or by_description or not listed.switch.search(description.lower()) or _is_denied(words):
        return None
    return _stated(listed.switched, text, language)


def _is_denied(words: str) -> bool:
    return not DENYING.isdisjoint(words.split())


def _stated(flag: FlagWords, text: str, language: str) -> FlagReading | None:
    """What the words say where they say one thing; words for "not" that hold those for "so" are not both."""
    both = [
        (value, match)
        for value, side in ((True, flag.is_true), (False, flag.is_false))
        for match in side.finditer(text)
    ]
    kept = [(value, match) for value, match in both if not any(_is_within(match, other) for _, other in both)]
    values = {value for value, _ in kept}
    if len(values) != 1 or any(_is_negated(text, match.start(), language) for _, match in kept):
        return None
    places = tuple(Found(value, *match.span(), WORDED) for value, match in kept)
    return FlagReading(values.pop(), places)


def _is_negated(text: str, at: int, language: str) -> bool:
    """Whether a negation stands shortly before, in the same clause, where words are told apart."""
    if not of(language).space:
        return False
    before = _SIGN.split(text[max(0, at - _NEGATION_BEFORE) : at])[-1]
    return cue_words(language).patterns["negation"].search(before) is not None


def _is_within(match: re.Match[str], other: re.Match[str]) -> bool:
    """Whether a longer match has all of this one."""
    (start, end), (first, last) = match.span(), other.span()
    return first <= start and end <= last and last - first > end - start


@lru_cache(16)
def _flags(language: str) -> Flags | None:
    path = files("callwright.language").joinpath(language, "flags.yaml")
    if not path.is_file():
        return None
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    nothing = re.compile("(?!)")
    switched = FlagWords(nothing, re.compile(data["on"], re.IGNORECASE), re.compile(data["off"], re.IGNORECASE))
    switch, denying = (re.compile(data[name], re.IGNORECASE) for name in ("switch", "denying"))
    return Flags(switch, denying, tuple(_concepts(data["concepts"])), switched)


def _concepts(rows: list[dict[str, str]]) -> Iterator[FlagWords]:
    for row in rows:
        yield FlagWords(*(re.compile(row[field], re.IGNORECASE) for field in FlagWords._fields))
