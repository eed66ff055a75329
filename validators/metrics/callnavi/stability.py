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
    """How many characters must be put in, taken out or changed to make one text of the other."""
    if one == other:
        return 0
    previous = list(range(len(other) + 1))
    for at, character in enumerate(one, start=1):
        current = [at]
        for place, wanted in enumerate(other):
            changed = previous[place] + (character != wanted)
            current.append(min(previous[place + 1] + 1, current[place] + 1, changed))
        previous = current
    return previous[-1]
