"""Find addresses: a street with its number, its flat and its code."""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import regex

from callwright.generators.taken.personal_words import words_of_people
from callwright.language.text import Spans

_BESIDE = 60  # letters behind a street that hold its flat and its code


class Address(NamedTuple):
    """The parts of an address that tell where somebody lives: a street, numbers, a code."""

    core: str
    number: str = ""
    unit: str = ""
    code: str = ""


class FoundAddress(NamedTuple):
    """An address and where it stands in a text."""

    start: int
    end: int
    address: Address


def find_addresses(text: str) -> Iterator[FoundAddress]:
    """Yield the addresses in a text: a street with its number, its flat and its code."""
    taken = Spans()
    if text == text.lower() and text.isascii():  # who writes no capitals lives somewhere, too
        text = regex.sub(r"\b[a-z](?=[a-z]{2})", lambda one: one[0].upper(), text)
    for pattern in _streets():
        for match in pattern.finditer(text):
            start = min(one for one in (match.start("core"), match.start("number")) if one >= 0)
            end = match.end()
            core = match["core"].strip()
            if taken.overlaps(start, end) or not core:
                continue
            taken.add(start, end)
            around = text[max(0, start - _BESIDE // 3) : end + _BESIDE]
            unit = next((one["unit"] for one in _any_of_units().finditer(around)), "")
            behind = regex.split(r"[.!?\n](?:\s|$)", text[end : end + _BESIDE])[0]
            code = next((one for one in _codes().finditer(behind)), None)
            if code is not None:
                end += code.end()
            elif beside := _any_of_units().match(text, end):
                end = beside.end()
            found = Address(core, match["number"].strip(), unit, code[0] if code else "")
            yield FoundAddress(start, end, found)


@cache
def _streets() -> tuple[regex.Pattern[str], ...]:
    return tuple(map(regex.compile, words_of_people("streets")))


@cache
def _any_of_units() -> regex.Pattern[str]:
    return regex.compile(r"[,،]?\s?(?:" + "|".join(words_of_people("units")) + ")")


@cache
def _codes() -> regex.Pattern[str]:
    return regex.compile("|".join(words_of_people("postcodes")))
