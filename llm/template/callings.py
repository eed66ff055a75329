"""Where words call the parameters of a tool, by the shapes that template/v1 words with."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from callwright.language.calls.frames import shapes_in
from callwright.language.calls.parameters import short_forms
from callwright.language.calls.tools import ParameterView, ToolView, squeeze
from callwright.language.packs import known, of, widened
from callwright.llm.template.grammar.stating import requests_in
from callwright.warehouse.records import Language

SECTIONS = (
    "requests", "dialogues", "corrections", "external", "routing", "parallel", "conversations", "assistant.openers",
)  # fmt: skip
_OPENED, _CLOSED = widened(r"@[\s\"“«'{open}]*"), widened(r"@[\"”»'{close}]*")


@lru_cache(4096)
def _cues_of(name: str, spoken: tuple[str, ...], topic: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (*spoken, topic, *short_forms(name)))))


def cues(parameter: ParameterView) -> tuple[str, ...]:
    """All that a parameter is called."""
    spoken = (*parameter.cues.spoken, *parameter.cues.by_script.values())
    return _cues_of(parameter.name, spoken, parameter.topic)


_SLOT = re.compile(r"\{\w\}")


class Links(NamedTuple):
    """What stands between what a parameter is called and its value, by which of them comes first; and routes."""

    behind: tuple[str, ...]
    before: tuple[str, ...]
    route: Mapping[str, tuple[str, ...]]


@lru_cache(16)
def links_of(language: Language) -> Links:
    """The links of all shapes of a language."""
    behind, before = dict[str, None](), dict[str, None]()
    for section in SECTIONS:
        for stated in shapes_in(language, section):
            for shape in (stated, of(language).rules.in_number(stated, "items")):
                cue, value = shape.lower().find("{c}"), shape.find("{v}")
                if 0 <= cue < value:
                    behind[shape[cue + 3 : value]] = None
                elif 0 <= value < cue and re.search(r"[^\W_]", shape[value + 3 : cue]):
                    before[shape[value + 3 : cue]] = None
    routes = requests_in(language).route
    starts = tuple(shape[: shape.find("{o}")] for shape in routes)
    ends = tuple(shape[shape.find("{o}") + 3 : shape.find("{d}")] for shape in routes)
    return Links(tuple(behind), tuple(before), {"origin": starts, "destination": ends})


class Calling(NamedTuple):
    """A place where a parameter is called, from `start` on: its value begins or ends `at` a place; surely where words tell so."""

    parameter: str
    start: int
    at: int
    is_behind: bool
    is_sure: bool


@lru_cache(4096)
def calls_in(view: ToolView, text: str, language: Language) -> tuple[Calling, ...]:
    """Where a text calls the parameters of a tool, in its order."""
    if view.cues is None:
        return ()
    behind, before = _link_patterns(language)
    found = list[Calling]()
    for called in view.cues.pattern.finditer(text):
        name = view.parameters[view.cues.owner(called[0])[0]].name
        after, ahead = behind.match(text, called.end()), before.search(text, 0, called.start())
        if ahead:
            found.append(Calling(name, called.start(), ahead.start(), is_behind=False, is_sure=True))
        elif after:
            found.append(Calling(name, called.start(), after.end(), is_behind=True, is_sure=bool(after[0].strip())))
    return tuple(found)


@lru_cache(16)
def _link_patterns(language: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    links = links_of(language)
    behind, before = ("|".join(_either(one)) or "(?!)" for one in (links.behind, links.before))
    return re.compile(rf"(?:{behind}){_OPENED}", re.IGNORECASE), re.compile(rf"{_CLOSED}(?:{before})$", re.IGNORECASE)


def _either(links: Sequence[str]) -> list[str]:
    return [
        r"\s*".join(map(re.escape, one.split())).join((r"\s*", r"\s*")) for one in sorted(links, key=len, reverse=True)
    ]


def is_called(parameter: ParameterView, text: str) -> bool:
    """Whether a text calls a parameter."""
    whole = squeeze(text)
    return any(squeeze(cue) in whole for cue in cues(parameter))


@lru_cache(16)
def taken_back(language: Language) -> re.Pattern[str]:
    """A value that is named only to say that it is not meant."""
    shapes = [one for one in shapes_in(language, "corrections") if "{o}" in one]
    asides = [one.replace("{v}", "{o}") for one in shapes_in(language, "conversations.asides")]
    spelled = [re.split(r"\{o\}", one) for one in (*shapes, *(one for one in asides if "{c}" not in one))]
    pieces = [(loosely(before), loosely(re.split(r"\{[cCv]\}", after)[0])) for before, after in spelled]
    return re.compile("|".join(rf"{before}(.{{1,80}}?){after}" for before, after in pieces), re.IGNORECASE)


def loosely(words: str) -> str:
    """An expression for these words, whatever space is between them."""
    return r"\s*".join(map(re.escape, words.split()))


@cache
def openers() -> tuple[str, ...]:
    """What people say before they ask for something else."""
    shapes = [
        one
        for code in known()
        for name in ("assistant.openers", "conversations.switches")
        for one in shapes_in(code, name)
    ]
    return tuple(_SLOT.split(shape)[0].strip() for shape in shapes)


def without_thanks(text: str) -> str:
    """What is said before somebody thanks and says no more."""
    said = text.rstrip()
    thanked = next((one for one in _thanks() if said.endswith(one)), "")
    return said.removesuffix(thanked).rstrip() or text


@cache
def _thanks() -> tuple[str, ...]:
    return tuple(shape for code in known() for shape in shapes_in(code, "conversations.thanks"))
