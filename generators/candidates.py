"""Which tools stand beside the gold tool: near ones and far ones, but none that could do the same."""

import re
from collections.abc import Sequence
from functools import lru_cache
from random import Random

from warehouse.records import Tool

REDUNDANT = 0.8
_WORDS = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


def pick_distractors(gold: Tool, tools: Sequence[Tool], count: int, rng: Random) -> list[Tool]:
    """Up to `count` tools of the gold tool's language, each of another name, about half of them from its category."""
    near = _distinct([one for one in tools if one.category == gold.category and not are_redundant(one, gold)], rng)
    far = _distinct([one for one in tools if one.category != gold.category], rng)
    chosen = _sample(near, (count + 1) // 2, rng)
    names = {gold.name, *(tool.name for tool in chosen)}
    for tool in _sample(far, 4 * count, rng) + _sample(near, len(near), rng):
        if len(chosen) == count:
            break
        if tool.name not in names and not are_redundant(tool, gold):
            names.add(tool.name)
            chosen.append(tool)
    return chosen


def are_redundant(one: Tool, other: Tool) -> bool:
    """Whether two tools might both serve one request: the same name, or nearly the same words in the description."""
    if one.name == other.name:
        return True
    words, others = _description_words(one.description), _description_words(other.description)
    union = len(words | others)
    return union > 0 and len(words & others) / union >= REDUNDANT


@lru_cache(8192)
def _description_words(description: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(description.lower()))


def _distinct(tools: list[Tool], rng: Random) -> list[Tool]:
    """One tool of each name; which one, where a catalog has several, is left to chance."""
    named: dict[str, list[Tool]] = {}
    for tool in tools:
        named.setdefault(tool.name, []).append(tool)
    return [same[0] if len(same) == 1 else rng.choice(same) for same in named.values()]


def _sample(tools: list[Tool], count: int, rng: Random) -> list[Tool]:
    return rng.sample(tools, min(count, len(tools)))
