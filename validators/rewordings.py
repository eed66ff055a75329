"""How much two texts say the same in other words, their values masked: for samples to which the same calls are due.

A sentence embedding alone takes for the same what speaks of the same thing; the characters tell how it is put. The mean of both
decides. What was measured, by language, stands in docs/checks.md.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.text import fold
from callwright.validators.embeddings import likeness

_MASK = "…"
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_DIGITS = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_NOON = 12
_GRAM = 3  # characters in a row, spaces among them
_LEAST_SHARED = 0.1  # of the grams; below it nobody would see the same request, and nothing is embedded


class MaskedText(NamedTuple):
    """The turns of a conversation without the values of the calls due, and the numbers that are none of these."""

    turns: tuple[str, ...]
    other_numbers: frozenset[str]


def mask_values(turns: Sequence[str], arguments: JsonValue) -> MaskedText:
    """Mask the values of the arguments where they are stated as they are, and all figures."""
    values = [str(value) for value in _leaves(arguments)]
    stated = _any_of(values)
    known = {form for value in values for digits in _DIGITS.findall(value) for form in _forms(digits)}
    plain = [_THOUSANDS.sub("", unicodedata.normalize("NFKC", turn)) for turn in turns]
    others = frozenset(digits for turn in plain for digits in _DIGITS.findall(turn)) - known
    masked = tuple(_NUMBER.sub(_MASK, stated.sub(_MASK, turn) if stated else turn) for turn in plain)
    return MaskedText(masked, others)


def may_be_alike(one: MaskedText, other: MaskedText, least: float) -> bool:
    """Whether `likeness_of` may be `least` or more, told without reading: most pairs are told apart by numbers and letters."""
    if one.other_numbers != other.other_numbers:
        return False
    needed = max(_LEAST_SHARED, 2 * least - 1)
    return all(_shared(*pair) >= needed for pair in zip(one.turns, other.turns, strict=True))


def likeness_of(one: MaskedText, other: MaskedText) -> float:
    """How alike the least alike of their turns are, 0 to 1; both have as many turns. What `read_ahead` read takes no time."""
    pairs = zip(one.turns, other.turns, strict=True)
    return min((_shared(*pair) + likeness(pair[:1], pair[1:])[0][0]) / 2 for pair in pairs)


def _shared(one: str, other: str) -> float:
    """The share of their grams that two texts have in common."""
    mine, others = _grams(one), _grams(other)
    return len(mine & others) / len(mine | others)


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    match value:
        case dict():
            for part in value.values():
                yield from _leaves(part)
        case list():
            for part in value:
                yield from _leaves(part)
        case bool() | None:
            return
        case _:
            yield value


def _forms(digits: str) -> Iterator[str]:
    """How a number of a value may be written: 08 as 8, and 20 as 8 where it is the hour in the evening."""
    yield digits
    yield digits.lstrip("0")
    if _NOON < int(digits[:3]) < 2 * _NOON:
        yield str(int(digits) - _NOON)


def _any_of(values: Sequence[str]) -> re.Pattern[str] | None:
    """What finds the values as whole words, the longest first."""
    found = "|".join(re.escape(value) for value in sorted({*values} - {""}, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{found})(?![A-Za-z0-9])", re.IGNORECASE) if found else None


@lru_cache(1024)
def _grams(text: str) -> frozenset[str]:
    spread = fold(text)
    return frozenset(spread[at : at + _GRAM] for at in range(max(1, len(spread) - _GRAM + 1)))
