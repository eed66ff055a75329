"""Naming the tools of a category: one for each goal, then what is missing for the things that people keep."""

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from language.names import deed_of, plural, split_name, with_article, words
from llm.template.sections import Sections
from warehouse.errors import ReplyError
from warehouse.records import Language

_NO_LETTERS = re.compile("[^A-Za-z]+")
_SMALL = frozenset(words("a an the my"))
_AREAS = {
    "list": "Overview", "search": "Search", "look": "Lookup", "make": "Actions", "change": "Settings",
    "switch": "Controls", "drop": "Actions",
}  # fmt: skip
# what can be done with anything that is kept: in English with one or many of them, and in Chinese
_UPKEEP = (
    ("add {one}", "添加{r}"),
    ("list {many}", "查看全部{r}"),
    ("change {one}", "修改{r}"),
    ("delete {one}", "删除{r}"),
)
_FURTHER = (
    ("search {many} by keyword", "按关键词搜索{r}"),
    ("restore a deleted {r}", "恢复已删除的{r}"),
    ("export {many} to a file", "把{r}导出为文件"),
    ("rename {one}", "重命名{r}"),
)


class Wanted(NamedTuple):
    """Something that people want done, in the tool's language and in English."""

    goal: str
    english: str


def name_all(sections: Sections, language: Language, rng: Random) -> list[JsonValue]:
    """As many names as are asked for, or as many as there are reasons for: goals first, in a random selection."""
    category, count = sections.word("category", ""), sections.json("count")
    if not category or not isinstance(count, int):
        raise ReplyError("template/v1 expects a category's name in <category> and a number in <count>.")
    goals = _paired(sections, "goals", language)
    resources = _paired(sections, "resources", language)
    named: dict[str, Wanted] = {}
    for wanted in _first(goals, count, rng):
        named.setdefault(function_name(wanted.english), wanted)
    kept = {_gist(wanted.english) for wanted in goals}
    told = {wanted.goal for wanted in named.values()}
    for wanted in _upkeep(resources, language):
        if len(named) >= count:
            break
        if _gist(wanted.english) not in kept and wanted.goal not in told:
            named.setdefault(function_name(wanted.english), wanted)
            told.add(wanted.goal)
    things = [resource.english for resource in resources]
    return [
        {"name": f"{category}.{_area(wanted.english, things)}.{function}", "goal": wanted.goal}
        for function, wanted in list(named.items())[:count]
    ]


def function_name(goal: str) -> str:
    """A goal as a function's name in camelCase: "set an alarm" is setAlarm."""
    said = [_NO_LETTERS.sub("", word).lower() for word in goal.replace("-", " ").split() if word not in _SMALL]
    first, *rest = [word for word in said if word] or ["run"]
    return first + "".join(word.capitalize() for word in rest)


def _paired(sections: Sections, tag: str, language: Language) -> list[Wanted]:
    """The goals or resources with what they are called in English; ReplyError where names can't be made of them."""
    told = _texts(sections, tag)
    english = told if language == "en" else _texts(sections, f"english{tag}")
    if len(told) != len(english):
        raise ReplyError(
            f"template/v1 makes names of English words, but <english{tag}> has {len(english)} of {len(told)} {tag}."
        )
    return [Wanted(goal, words) for goal, words in zip(told, english, strict=True)]


def _texts(sections: Sections, tag: str) -> list[str]:
    texts = sections.json(tag) if tag in sections.tagged else []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ReplyError(f"template/v1 expects a JSON list of texts in <{tag}>.")
    return [str(text) for text in texts]


def _first(goals: Sequence[Wanted], count: int, rng: Random) -> list[Wanted]:
    """All goals, or `count` of them at random, in the order given."""
    chosen = sorted(rng.sample(range(len(goals)), min(count, len(goals))))
    return [goals[at] for at in chosen]


def _upkeep(resources: Sequence[Wanted], language: Language) -> Iterator[Wanted]:
    """Add, list, change and delete each thing; for those who want still more, search, restore, export and rename."""
    for shapes in (_UPKEEP, _FURTHER):
        for resource in resources:
            one, many = with_article(resource.english), plural(resource.english)
            for english, chinese in shapes:
                said = english.format(one=one, many=many, r=resource.english)
                yield Wanted(said if language == "en" else chinese.format(r=resource.goal), said)


def _gist(goal: str) -> tuple[str, ...]:
    """What is done with what: to set an alarm and to add a new one are the same."""
    verb, *rest = [word for word in goal.split() if word not in _SMALL and word != "new"]
    deed = deed_of(verb)
    return (deed if deed != "other" else verb, *(word.removesuffix("s") for word in rest))


def _area(goal: str, things: Sequence[str]) -> str:
    """The part of the category that a goal belongs to: the thing it is about, else what is done."""
    said = {word.removesuffix("s") for word in split_name(function_name(goal))}
    about = [thing for thing in things if {word.removesuffix("s") for word in thing.split()} <= said]
    if about:
        chosen = plural(max(about, key=len))
        return "".join(_NO_LETTERS.sub("", word).capitalize() for word in chosen.split())
    return _AREAS.get(deed_of(goal.split(maxsplit=1)[0]), "Actions")
