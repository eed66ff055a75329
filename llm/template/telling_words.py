"""The words of a text that tell what it is about, each with its weight; words of one meaning also count as one."""

import re
from functools import cache, lru_cache
from itertools import pairwise

from llm.language.stemming import deep_stem
from llm.template.thesaurus import chinese_groups, english_groups
from llm.template.word_lists import words

_LATIN = re.compile(r"[A-Za-z0-9]+")
_HAN = re.compile("[\u4e00-\u9fff]+")
EMPTY = frozenset(
    words(
        "a an the of to in on for with by and or at from as is are be it its this that my me i you your can could"
        " would please want need like help s use using user given about do does what which any all if whether hi"
        " hey let us am was were will so just so its their his her our there here have has had been im id ive"
        " quick time"
    )
)
_EMPTY_PAIRS = frozenset(
    {
        "的名",
        "名称",
        "用户",
        "进行",
        "一个",
        "我的",
        "帮我",
        "请帮",
        "能帮",
        "我想",
        "想请",
        "请你",
        "麻烦",
        "你帮",
        "小助",
        "助手",
    }
)
_LOOKING = 0  # the first group of both languages: looking something up, which nearly every tool does
_GROUP = 0.8
_PAIR = 0.8
_CHARACTER = 0.12
_PLAIN = 1.0
_FAINT = 0.22


@lru_cache(8192)
def weigh_words(text: str) -> dict[str, float]:
    """English stems, Chinese pairs and characters, and the groups of the thesaurus, by weight. Not to be changed."""
    weights: dict[str, float] = {}
    groups = english_groups()
    for word in _LATIN.findall(text.lower()):
        if word in EMPTY:
            continue
        root = deep_stem(word)
        group = groups.get(root)
        weights[root] = _FAINT if group == _LOOKING else _PLAIN
        if group is not None:
            weights[f"en {group}"] = _FAINT if group == _LOOKING else _GROUP
    for run in _HAN.findall(text):
        _weigh_chinese(run, weights)
    return weights


def _weigh_chinese(run: str, weights: dict[str, float]) -> None:
    groups = chinese_groups()
    for match in chinese_words().finditer(run):
        group = groups[match.group()]
        weights[f"zh {group}"] = _FAINT if group == _LOOKING else _PLAIN
    for pair in map("".join, pairwise(run)):
        if pair not in _EMPTY_PAIRS:
            weights[pair] = _FAINT if groups.get(pair) == _LOOKING else _PAIR
    for character in run:
        weights.setdefault(character, _CHARACTER)


@cache
def chinese_words() -> re.Pattern[str]:
    """Finds the words of the thesaurus in Chinese text, long ones first."""
    return re.compile("|".join(chinese_groups()))
