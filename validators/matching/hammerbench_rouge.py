"""Rouge-L as HammerBench scores values with it: the package rouge 1.0.1 in its own arithmetic (EVALUATORS 1.4).

It differs from the usual Rouge-L: full stops cut sentences, the words that sentences share are collected as one set,
and repeated words count once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warehouse.records import Language

_CACHED = 65_536
_EPSILON = 1e-8
_CHINESE = re.compile(r"([\u4e00-\u9fff])")
_ENDS = {"en": ".?! ", "zh": "。！ "}


@lru_cache(_CACHED)
def hammerbench_rouge_l(reference: str, hypothesis: str, language: Language) -> float:
    """The F value between a label's value and a predicted one; 0 where either has nothing left to compare."""
    if not reference or not hypothesis:
        return float(reference == hypothesis)
    expected, given = _sentences(reference, language), _sentences(hypothesis, language)
    if not expected or not given:
        return 0.0
    expected_words = {word for sentence in expected for word in sentence}
    given_words = {word for sentence in given for word in sentence}
    shared: set[str] = set()
    for wanted in expected:
        for said in given:
            shared.update(_shared_words(wanted, said))
    recall = len(shared) / len(expected_words)
    precision = len(shared) / len(given_words)
    return 2.0 * (precision * recall / (precision + recall + _EPSILON))


def _sentences(text: str, language: Language) -> list[list[str]]:
    bare = text.strip(_ENDS[language])
    spaced = bare.lower() if language == "en" else _CHINESE.sub(r" \1 ", bare)
    if not spaced:
        return []
    return [" ".join(sentence.split()).split(" ") for sentence in spaced.split(".") if sentence]


def _shared_words(wanted: list[str], said: list[str]) -> list[str]:
    """The words of one longest common subsequence; where two are as long, the published walk decides which."""
    if wanted == said:
        return wanted
    lengths = _lengths(wanted, said)
    found: list[str] = []
    row, column = len(wanted), len(said)
    while row and column:
        if wanted[row - 1] == said[column - 1]:
            found.append(wanted[row - 1])
            row, column = row - 1, column - 1
        elif lengths[row - 1][column] > lengths[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return found


def _lengths(wanted: list[str], said: list[str]) -> list[list[int]]:
    table = [[0] * (len(said) + 1)]
    for word in wanted:
        above, here = table[-1], [0]
        for column, other in enumerate(said):
            here.append(above[column] + 1 if word == other else max(here[-1], above[column + 1]))
        table.append(here)
    return table
