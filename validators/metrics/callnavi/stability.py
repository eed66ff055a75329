"""How steadily a model answers the same question in several runs (CallNavi 5.3, appendix D)."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from validators.metrics.callnavi.distances import distances


class Stability(NamedTuple):
    """Two scores in 0..1: by election, where a majority counts, and by Levenshtein, where being near counts."""

    election: float
    levenshtein: float


def measure_stability(answers: Sequence[str]) -> Stability:
    """How alike the answers of all runs to one question are; one run is stable, none says nothing and counts 0."""
    return measure_all([answers])[0]


def measure_all(answered: Sequence[Sequence[str]]) -> list[Stability]:
    """The same for many questions, each with the answers of all runs: together they are compared much faster."""
    settled_ones = [[settled(answer) for answer in answers] for answers in answered]
    later = [Counter(texts[1:]) for texts in settled_ones]
    pairs = [(texts[0], text) for texts, others in zip(settled_ones, later, strict=True) for text in others]
    found = iter(distances(pairs))
    return [
        Stability(_elect(texts), _nearness(texts[0], others, [next(found) for _ in others]))
        if texts
        else Stability(0.0, 0.0)
        for texts, others in zip(settled_ones, later, strict=True)
    ]


def settled(answer: str) -> str:
    """The answer without white space, case and the backticks around it."""
    return "".join(answer.split()).lower().strip("`")


def _elect(texts: Sequence[str]) -> float:
    """(F1 - F2) / (N - F2), F1 and F2 being how often the two most frequent answers came; a tie is 0."""
    ranked = [count for _, count in Counter(texts).most_common(2)]
    first, second = ranked[0], ranked[1] if len(ranked) > 1 else 0
    return (first - second) / (len(texts) - second)


def _nearness(first: str, later: Counter[str], distant: Sequence[int]) -> float:
    """How near the later answers are to the first one, as a mean; nothing to compare is as near as can be."""
    near = sum(
        count * _likeness(first, text, distance) for (text, count), distance in zip(later.items(), distant, strict=True)
    )
    return near / later.total() if later else 1.0


def _likeness(first: str, text: str, distance: int) -> float:
    longest = max(len(first), len(text))
    return 1 - distance / longest if longest else 1.0


def levenshtein(one: str, other: str) -> int:
    """How many characters must be put in, taken out or changed to make one text of the other."""
    return distances([(one, other)])[0]
