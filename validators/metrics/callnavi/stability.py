"""How steadily a model answers the same question in several runs (CallNavi 5.3, appendix D)."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Stability(NamedTuple):
    """Two scores in 0..1: by election, where a majority counts, and by Levenshtein, where being near counts."""

    election: float
    levenshtein: float


def measure_stability(answers: Sequence[str]) -> Stability:
    """How alike the answers of all runs to one question are; one run is stable, none says nothing and counts 0."""
    if not answers:
        return Stability(0.0, 0.0)
    texts = [settled(answer) for answer in answers]
    return Stability(_elect(texts), _nearness(texts))


def settled(answer: str) -> str:
    """The answer without white space, case and the backticks around it."""
    return "".join(answer.split()).lower().strip("`")


def _elect(texts: Sequence[str]) -> float:
    """(F1 - F2) / (N - F2), F1 and F2 being how often the two most frequent answers came; a tie is 0."""
    ranked = [count for _, count in Counter(texts).most_common(2)]
    first, second = ranked[0], ranked[1] if len(ranked) > 1 else 0
    return (first - second) / (len(texts) - second)


def _nearness(texts: Sequence[str]) -> float:
    """How near the later answers are to the first one, as a mean; nothing to compare is as near as can be."""
    first, later = texts[0], Counter(texts[1:])
    near = sum(count * _likeness(first, text) for text, count in later.items())
    return near / later.total() if later else 1.0


def _likeness(first: str, text: str) -> float:
    longest = max(len(first), len(text))
    return 1 - levenshtein(first, text) / longest if longest else 1.0


def levenshtein(one: str, other: str) -> int:
    """How many characters must be put in, taken out or changed to make one text of the other.

    All rows of the usual table are kept as the bits of two numbers, which say where a row rises and falls (Hyyrö 2001):
    a long answer costs a few operations a character.
    """
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for at, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << at
    whole, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    rises, falls, distance = whole, 0, len(one)
    for character in other:
        same = places.get(character, 0)
        down = same | falls
        along = (((same & rises) + rises) ^ rises) | same
        up = (falls | ~(along | rises)) & whole
        back = rises & along
        distance += bool(up & last) - bool(back & last)
        up, back = (up << 1 | 1) & whole, back << 1 & whole
        rises = (back | ~(down | up)) & whole
        falls = up & down
    return distance
