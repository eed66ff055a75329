"""Everyday words that mean much the same, and the words of a text that show what it is about, each with its weight."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from callwright.language.packs import known, of, packs_of, unspaced
from callwright.language.vocabulary import deep_stem
from callwright.warehouse.records import DEFAULT_LANGUAGE

_FILE = "thesaurus"
_NONE: frozenset[str] = frozenset()
_LOOKING = 0  # the first group of every language: looking something up, which nearly every tool does
_GROUP = 0.8
_PAIR = 0.8
_CHARACTER = 0.12
_PLAIN = 1.0
_FAINT = 0.22
_WORD = re.compile(rf"[^\W_{unspaced()}]+")
_RUN = re.compile(f"[{unspaced()}]+")


@cache
def stem_groups() -> dict[str, int]:
    """The group of each stem of the languages that put spaces between words."""
    groups: dict[str, int] = {}
    for number, word in _numbered(spaced=True):
        groups.setdefault(deep_stem(word), number)
    return groups


@cache
def unspaced_groups() -> dict[str, int]:
    """The group of each word of the languages without spaces, long words first."""
    groups: dict[str, int] = {}
    for number, word in _numbered(spaced=False):
        groups.setdefault(word, number)
    return {word: groups[word] for word in sorted(groups, key=len, reverse=True)}


def _numbered(*, spaced: bool) -> Iterator[tuple[int, str]]:
    """The words of the thesauruses with the numbers of their groups; the first group of each language has the same."""
    packs = [pack for pack in map(of, known()) if bool(pack.space) == spaced and _FILE in pack.data]
    number = _LOOKING
    for pack in packs:
        for place, group in enumerate(pack.data[_FILE]["groups"]):
            number += place > 0
            yield from ((number if place else _LOOKING, word) for word in group.split())


@cache
def unspaced_words() -> re.Pattern[str]:
    """Finds the words of the thesaurus in text without spaces, long ones first."""
    return re.compile("|".join(unspaced_groups()))


def is_empty(word: str, text: str) -> bool:
    """Whether a word of `text` tells nothing of what it is about."""
    return any(word in pack.words.get("stop_words", _NONE) for pack in (of(DEFAULT_LANGUAGE), packs_of(text)[0]))


@lru_cache(8192)
def weigh_words(text: str) -> dict[str, float]:
    """Stems, of scripts without spaces pairs and characters, and the groups of the thesaurus, by weight. Not to be changed."""
    weights: dict[str, float] = {}
    groups = stem_groups()
    for word in _WORD.findall(text.lower()):
        if is_empty(word, text):
            continue
        root = deep_stem(word)
        group = groups.get(root)
        weights[root] = _FAINT if group == _LOOKING else _PLAIN
        if group is not None:
            weights[stem_key(group)] = _FAINT if group == _LOOKING else _GROUP
    for run in _RUN.findall(text):
        _weigh_run(run, weights)
    return weights


def stem_key(group: int | None) -> str:
    """How the weights of a text name a group of stems."""
    return f"stem {group}"


def run_key(group: int) -> str:
    """How the weights of a text name a group of words of a script without spaces."""
    return f"run {group}"


def _weigh_run(run: str, weights: dict[str, float]) -> None:
    groups = unspaced_groups()
    for match in unspaced_words().finditer(run):
        group = groups[match.group()]
        weights[run_key(group)] = _FAINT if group == _LOOKING else _PLAIN
    for pair in map("".join, pairwise(run)):
        if pair not in _empty_pairs():
            weights[pair] = _FAINT if groups.get(pair) == _LOOKING else _PAIR
    for character in run:
        weights.setdefault(character, _CHARACTER)


@cache
def _empty_pairs() -> frozenset[str]:
    return frozenset(pair for pack in map(of, known()) for pair in pack.words.get("empty_pairs", _NONE))
