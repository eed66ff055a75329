"""Find people's names in Chinese, where no gap shows where a name begins and ends.

A name is a family name with one or two more characters, if words before or after it indicate a
name, or if it has a common given name (both by Faker's lists).
"""

import re
from collections.abc import Iterator
from functools import cache

from callwright.language.calls.parameters import chinese_names
from callwright.language.packs import known, packaged, puts_spaces, unspaced


@cache
def _around(name: str) -> re.Pattern[str]:
    """Return the pattern of what surrounds a name, for a class of people.yaml."""
    code = next(one for one in known() if not puts_spaces(one))
    return re.compile(packaged(f"callwright.language.{code}", "people.yaml")[name])


@cache
def _characters() -> frozenset[str]:
    """Return the characters of known given names."""
    return frozenset("".join(chinese_names()[1]))


@cache
def _pattern() -> re.Pattern[str]:
    introduction, maybe = _around("told").pattern, _around("maybe").pattern
    family = "|".join(sorted(chinese_names()[0], key=lambda one: (-len(one), one)))
    return re.compile(
        rf"(?:(?P<told>{introduction})|(?P<maybe>{maybe}|(?<![{unspaced()}])))(?P<name>(?:{family})(?=[{unspaced()}]))(?P<rest>[{unspaced()}]{{1,2}})"
    )


def is_chinese(value: str) -> bool:
    """Whether a value consists of Chinese characters only."""
    return bool(re.fullmatch(f"[{unspaced()}]+", value))


def find_chinese_names(text: str) -> Iterator[tuple[int, int]]:
    """Yield where people's names stand in a text, from start to end."""
    at = 0
    while match := _pattern().search(text, at):
        length = _length_of_given(match, text)
        yield from [(match.start("name"), match.start("rest") + length)] if length else []
        at = match.start("rest") + length


def _length_of_given(match: re.Match[str], text: str) -> int:
    """Return the length of the given name after a family name, or 0 if it is not a name."""
    start = match.start("rest")
    lengths = [
        one
        for one in range(len(match["rest"]), 0, -1)
        if not any(_around("goes_on").match(text, start + at) for at in range(one))
    ]
    for length in lengths:
        given_name = text[start : start + length]
        is_like = bool(set(given_name) & _characters())
        is_followed = bool(_around("title").match(text, start + length)) and (
            is_like or bool(match["maybe"])
        )
        is_known = length > 1 and given_name in chinese_names()[1]
        if match["told"] or is_followed or is_known or (match["maybe"] and is_like):
            return length
    return 0
