"""Whether a sample is unlike those before it: one that says the same to the same end measures nothing new.

Two samples are twins where the same calls are due and the texts are alike; requests that differ in a value differ in
their gold, and are none. The same text with another gold is worse: it is ambiguous, and contradicted too.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import orjson

from llm.language.folding import fold
from warehouse.records import Decision, Sample, Verdict

CHECK = "duplicates"
VERSION = "1"
THRESHOLD = 0.9
_TOKENS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_NUMBERS = re.compile(r"\d+")
_NGRAM = 3


class _Entry(NamedTuple):
    key: str
    kind: str
    text: str
    shingles: "array[int]"
    candidates: frozenset[str]
    tools: tuple[str, ...]
    gold: str


class _Decided(NamedTuple):
    decision: Decision
    score: float | None
    reason: str


class DuplicateIndex:
    """The samples seen so far. Verdicts depend on the order in which samples come, and on nothing else.

    Twins are looked for among samples of a kind with the same gold, by shingles (three words, two Chinese characters). Two sets
    with a Jaccard likeness of t have an equal member among the first n - ceil(t n) + 1 of each, in any fixed order; so
    only these few are indexed, and no twin is missed.
    """

    def __init__(self, threshold: float = THRESHOLD) -> None:
        """Call texts alike from a Jaccard likeness of `threshold` on."""
        self._threshold = threshold
        self._entries: list[_Entry] = []
        self._order: dict[str, int] = {}
        self._by_text: dict[str, list[int]] = defaultdict(list)
        self._by_shingle: dict[tuple[str, str, int], list[int]] = defaultdict(list)

    def verdict(self, sample: Sample) -> Verdict:
        """Whether this sample says something new; a sample that was asked about before gets the same answer again."""
        position = self._order.get(sample.key)
        if position is None:
            position = len(self._entries)
            self._keep(_entry(sample), position)
        decided = self._decide(self._entries[position], position)
        return Verdict(subject=sample.key, check=CHECK, version=VERSION, **decided._asdict())

    def _decide(self, entry: _Entry, position: int) -> _Decided:
        for other in self._earlier(self._by_text.get(entry.text, []), position):
            if other.gold == entry.gold:
                return _twin(1.0, f"It says what {other.key} says, word for word, to the same end.")
            if _is_ambiguous(entry, other):
                return _twin(1.0, f"It says what {other.key} says, word for word, but other calls are due.")
        likeness, twin = self._nearest(entry, position)
        if twin is not None and likeness >= self._threshold:
            return _twin(likeness, f"It is {likeness:.0%} like {twin.key}, to the same end.")
        return _Decided("proved", None, f"It is unlike the {position} before it.")

    def _nearest(self, entry: _Entry, position: int) -> tuple[float, _Entry | None]:
        """The likeness of the nearest sample before it among those that may be twins, and that sample."""
        found = {
            at
            for shingle in self._prefix(entry.shingles)
            for at in self._by_shingle.get((entry.kind, entry.gold, shingle), [])
        }
        mine, best, twin = set(entry.shingles), 0.0, None
        for other in self._earlier(sorted(found), position):
            likeness = _jaccard(mine, other.shingles)
            if likeness > best and _NUMBERS.findall(other.text) == _NUMBERS.findall(entry.text):
                best, twin = likeness, other
        return best, twin

    def _earlier(self, positions: list[int], position: int) -> Iterator[_Entry]:
        return (self._entries[at] for at in positions if at < position)

    def _keep(self, entry: _Entry, position: int) -> None:
        self._entries.append(entry)
        self._order[entry.key] = position
        self._by_text[entry.text].append(position)
        for shingle in self._prefix(entry.shingles):
            self._by_shingle[(entry.kind, entry.gold, shingle)].append(position)

    def _prefix(self, shingles: "array[int]") -> "array[int]":
        return shingles[: len(shingles) - ceil(self._threshold * len(shingles)) + 1]


def _twin(likeness: float, reason: str) -> _Decided:
    return _Decided("contradicted", round(likeness, 4), reason)


def _entry(sample: Sample) -> _Entry:
    # what the assistant asks is part of it: the same answers to other questions are another conversation
    words = _tokens(turn.text for turn in sample.turns if turn.kind in ("user", "reply"))
    messages = [turn.external.text for turn in sample.turns if turn.kind == "user" and turn.external]
    return _Entry(
        key=sample.key,
        kind=sample.kind,
        text=" ".join(words + _tokens(messages)),
        # messages are left out: several requests may lean on one, and it is much longer than they are
        shingles=array("q", sorted(_shingles(words))),
        candidates=frozenset(sample.candidates),
        tools=tuple(call.tool for snapshot in sample.snapshots() for call in snapshot.calls),
        gold=_gold_key(sample),
    )


def _tokens(texts: Iterable[str]) -> list[str]:
    return _TOKENS.findall(fold(" ".join(texts)))


def _shingles(tokens: list[str]) -> set[int]:
    """Hashes of three words in a row and of two Chinese characters in a row; of the whole where it is shorter."""
    words = [token for token in tokens if not _CHINESE.match(token)]
    found = {hash(tuple(words[at : at + _NGRAM])) for at in range(len(words) - _NGRAM + 1)}
    found.update(hash(pair) for pair in pairwise(tokens) if _CHINESE.match(pair[0]) or _CHINESE.match(pair[1]))
    return found or {hash(tuple(tokens))}


def _gold_key(sample: Sample) -> str:
    """What is due, in one string; where nothing is, what was withheld stands for it."""
    due = [[(call.tool, call.arguments) for call in snapshot.calls] for snapshot in sample.snapshots()]
    if not any(due):
        due.append([(key, {}) for key in sorted(sample.withheld)])
    return orjson.dumps(due, option=orjson.OPT_SORT_KEYS).decode()


def _jaccard(mine: set[int], others: "array[int]") -> float:
    shared = sum(shingle in mine for shingle in others)
    return shared / (len(mine) + len(others) - shared)


def _is_ambiguous(one: _Entry, other: _Entry) -> bool:
    """Whether the same words ask for two things; with other tools to choose from they may."""
    if one.tools and one.tools == other.tools:
        return True
    return one.candidates <= other.candidates or other.candidates <= one.candidates
