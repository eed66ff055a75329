"""When HammerBench counts arguments as right, and how it counts their names (EVALUATORS 1.4)."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from callwright.language.packs import puts_spaces, sentence_ends, unspaced

if TYPE_CHECKING:  # who scores a log starts without records
    from collections.abc import Collection

    from pydantic import JsonValue

    from callwright.warehouse.records import Arguments, Language

THRESHOLD = 0.7
CATCH_ALL = "kwargs"


def arguments_match(label: Arguments, given: JsonValue, language: Language) -> bool:
    """Whether `given` says what `label` says: no name beyond the label's, each value equal or close by Rouge-L."""
    if not isinstance(given, dict):
        return False
    wanted, stated = _as_texts(label), _as_texts(given)
    if not stated.keys() <= wanted.keys():
        return False
    if wanted == stated:
        return True
    wanted.pop(CATCH_ALL, None)
    stated.pop(CATCH_ALL, None)
    if wanted == stated:
        return True
    return bool(wanted) and all(
        name in stated and hammerbench_rouge_l(value, stated[name], language) >= THRESHOLD
        for name, value in wanted.items()
    )


def arguments_equal(label: Arguments, given: Arguments) -> bool:
    """Whether `given` has the label's names and values and no others: as texts, so that 5 is "5", but without Rouge-L."""
    return _as_texts(label) == _as_texts(given)


def hallucinated_names(label: Collection[str], given: Collection[str]) -> int:
    """How many of the names given are not the label's (PN_HR as published: a valid optional name counts too)."""
    return sum(name not in label for name in given)


def missing_names(label: Collection[str], given: Collection[str]) -> int:
    """How many of the label's names were not given (PN_MR)."""
    return sum(name not in given for name in label)


def _as_texts(arguments: Arguments) -> dict[str, str]:
    return {name: value if isinstance(value, str) else str(value) for name, value in arguments.items() if value != ""}


_CACHED = 65_536
_EPSILON = 1e-8


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
        for stated in given:
            shared.update(_shared_words(wanted, stated))
    recall = len(shared) / len(expected_words)
    precision = len(shared) / len(given_words)
    return 2.0 * (precision * recall / (precision + recall + _EPSILON))


def _sentences(text: str, language: Language) -> list[list[str]]:
    bare = text.strip(f"{sentence_ends(language)} ")
    spaced = bare.lower() if puts_spaces(language) else _unspaced_letter().sub(r" \1 ", bare)
    if not spaced:
        return []
    return [" ".join(sentence.split()).split(" ") for sentence in spaced.split(".") if sentence]


@cache
def _unspaced_letter() -> re.Pattern[str]:
    return re.compile(f"([{unspaced()}])")


def _shared_words(wanted: list[str], stated: list[str]) -> list[str]:
    """The words of one longest common subsequence; where two are as long, the published walk decides which."""
    if wanted == stated:
        return wanted
    lengths = _lengths(wanted, stated)
    found: list[str] = []
    row, column = len(wanted), len(stated)
    while row and column:
        if wanted[row - 1] == stated[column - 1]:
            found.append(wanted[row - 1])
            row, column = row - 1, column - 1
        elif lengths[row - 1][column] > lengths[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return found


def _lengths(wanted: list[str], stated: list[str]) -> list[list[int]]:
    table = [[0] * (len(stated) + 1)]
    for word in wanted:
        above, here = table[-1], [0]
        for column, other in enumerate(stated):
            here.append(above[column] + 1 if word == other else max(here[-1], above[column + 1]))
        table.append(here)
    return table
