"""What of a text is left when all that it is known to say is taken out: the dual of finding a value in it.

A text is laid out in pieces: the words between the slots of a language's shapes ("I was hoping you could", "as the"), phrases that
the asker gives (what a tool does, what a parameter is called), and stretches that say a value. What no piece covers is left over.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from callwright.language.packs import COMMON_SCRIPT, of, script_of, signs
from callwright.warehouse.records import Language

_SLOT = re.compile(r"\{\w+\}")
_EDGE = re.compile(r"^[\W_]+|[\W_]+$")
_WORD = re.compile(r"[A-Za-z0-9À-ɏ]+(?:['’][A-Za-z]+)*")
_MARKS = signs(" ,.;:!?{list}")
_UNKNOWN_WORD = 1
_MANY = "items"  # of what is called so there are several


class Stretch(NamedTuple):
    """A part of a text."""

    start: int
    end: int


@lru_cache(256)
def glue_of(language: Language, *sections: str) -> tuple[str, ...]:
    """The words between the slots of the shapes in these sections of a language: "requests", "conversations.again"."""
    single = [shape for section in sections for shape in shapes_in(language, section)]
    shapes = [*single, *(of(language).rules.in_number(shape, _MANY) for shape in single)]
    pieces = (_EDGE.sub("", piece) for shape in shapes for piece in _SLOT.split(shape))
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


@lru_cache(256)
def shapes_in(language: Language, section: str) -> tuple[str, ...]:
    """All shapes in a section of a language, "conversations.again"; none where the language has no such section."""
    node: Any = of(language).data
    for part in section.split("."):
        node = node.get(part, {}) if isinstance(node, Mapping) else {}
    return tuple(_shapes(node))


def _shapes(node: Any) -> Iterator[str]:  # noqa: ANN401 - any node of a YAML file
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping | list | tuple):
        for member in node.values() if isinstance(node, Mapping) else node:
            yield from _shapes(member)


@dataclass(frozen=True, eq=False)
class PhraseIndex:
    """Phrases by their first characters; what is found by one is kept for texts that are asked about again."""

    begun_by: Mapping[str, tuple[str, ...]]


def left_over(text: str, phrases: Iterable[str], stretches: Sequence[Stretch]) -> list[str]:
    """The words of `text` that neither one of the phrases nor a stretch covers, as few as can be."""
    return left_over_of(text, [phrase_index(tuple(phrases))], stretches)


def left_over_of(text: str, known: Sequence[PhraseIndex], stretches: Sequence[Stretch]) -> list[str]:
    """As `left_over`, with phrases that are looked up again and again."""
    covered = bytearray(len(text))
    for start, end in stretches:
        covered[start:end] = b"\x01" * len(range(start, min(end, len(text))))
    lower = text.lower()
    steps: dict[int, dict[int, int]] = {0: {}}  # of each place that can be come to: the words left over on the way on
    for at in range(len(text)):
        if at in steps:
            steps[at] = dict(_steps(lower, at, covered, known))
            steps |= {end: {} for end in steps[at]}
    costs = {len(text): (0, len(text))}  # what is left from a place on, and where to go next
    for at in sorted(steps, reverse=True):
        for end, left in steps[at].items():
            cost = (costs[end][0] + left, end)
            if at not in costs or (cost[0], -end) < (costs[at][0], -costs[at][1]):
                costs[at] = cost
    return list(_skipped(text, covered, costs))


_BEGINNING = 3  # characters by which phrases are looked up


@lru_cache(1024)
def phrase_index(phrases: tuple[str, ...]) -> PhraseIndex:
    """Phrases as `left_over_of` looks them up: without the marks around them, small or large."""
    known: dict[str, list[str]] = {}
    for phrase in dict.fromkeys(_EDGE.sub("", one.lower()) for one in phrases):
        if phrase:
            known.setdefault(phrase[:_BEGINNING], []).append(phrase)
    return PhraseIndex({beginning: tuple(begun) for beginning, begun in known.items()})


def _steps(lower: str, at: int, covered: bytearray, known: Sequence[PhraseIndex]) -> Iterator[tuple[int, int]]:
    """The places that one step leads to, each with the words that it leaves over."""
    if covered[at] or not lower[at].isalnum():
        yield at + 1, 0
        return
    word = _WORD.match(lower, at)
    yield word.end() if word else at + 1, _UNKNOWN_WORD
    for index in known:
        for end in _phrases_in(lower, index).get(at, ()):
            yield end, 0


@lru_cache(1024)
def _phrases_in(lower: str, index: PhraseIndex) -> Mapping[int, tuple[int, ...]]:
    """Where phrases begin in a text, and where each ends: readings of a text that differ in its values share them."""
    found: dict[int, tuple[int, ...]] = {}
    for at in range(len(lower)):
        if not _cuts_word(lower, at):
            beginnings = {lower[at : at + length] for length in range(1, _BEGINNING + 1)}
            begun = chain.from_iterable(index.begun_by.get(beginning, ()) for beginning in beginnings)
            ends = (at + len(phrase) for phrase in begun if lower.startswith(phrase, at))
            if whole := tuple(end for end in ends if not _cuts_word(lower, end)):
                found[at] = whole
    return found


def _cuts_word(text: str, at: int) -> bool:
    return _is_latin(text, at - 1) and _is_latin(text, at)


def _is_latin(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isalnum() and script_of(text[at]) == COMMON_SCRIPT


def _skipped(text: str, covered: bytearray, costs: Mapping[int, tuple[int, int]]) -> Iterator[str]:
    at, begun = 0, -1
    while at < len(text):
        cost, following = costs[at]
        is_skip = costs[following][0] < cost
        if is_skip and begun < 0:
            begun = at
        if not is_skip and begun >= 0 and (covered[at] or text[at].isalnum()):
            yield text[begun:at].strip(_MARKS)
            begun = -1
        at = following
    if begun >= 0:
        yield text[begun:].strip(_MARKS)
