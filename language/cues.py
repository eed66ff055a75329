"""Turns of phrase that decide what a request means: negation, alternatives, conditions, deeds, and words for choices.

Each language lists them in its cues.yaml and choices.yaml. A rule sees a cue; what it means for a call is for checks to say.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

import yaml

from language.names import split_name
from language.text import Found, fold
from warehouse.records import DEFAULT_LANGUAGE

CueKind = Literal["negation", "alternative", "correction", "condition", "second_wish", "past"]
Deed = Literal["on", "off", "create", "cancel", "change", "send", "pay", "ask"]
CUE_KINDS: tuple[CueKind, ...] = get_args(CueKind)
SYNONYM = "word for a choice"
_ENGLISH = DEFAULT_LANGUAGE  # names of tools are English, whatever people speak


class Cue(NamedTuple):
    """A turn of phrase of a kind, and its place in the text."""

    kind: CueKind
    start: int
    end: int


class CueWords(NamedTuple):
    """What a language has of cues, as patterns by name."""

    patterns: Mapping[str, re.Pattern[str]]
    deeds: Mapping[Deed, re.Pattern[str]]
    tool_deeds: Mapping[Deed, re.Pattern[str]]
    clashes: frozenset[frozenset[Deed]]


@lru_cache(16)
def has_cues(language: str) -> bool:
    """Whether the language lists its cues; without them no rule can say what a request means."""
    return files("language").joinpath(language, "cues.yaml").is_file()


@lru_cache(16)
def cue_words(language: str) -> CueWords:
    """The cues of a language that lists them."""
    data = yaml.safe_load(files("language").joinpath(language, "cues.yaml").read_text(encoding="utf-8"))
    deeds = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in data.pop("deeds").items()}
    clashes = frozenset(frozenset(pair) for pair in data.pop("clashes"))
    tool_deeds = data.pop("tool_deeds", {}) or {}
    if language != _ENGLISH:
        tool_deeds = {name: pattern.pattern for name, pattern in cue_words(_ENGLISH).tool_deeds.items()} | tool_deeds
    return CueWords(
        patterns={name: re.compile(pattern, re.IGNORECASE) for name, pattern in data.items()},
        deeds=deeds,
        tool_deeds={name: re.compile(pattern, re.IGNORECASE) for name, pattern in tool_deeds.items()},
        clashes=clashes,
    )


def find_cues(text: str, language: str) -> Iterator[Cue]:
    """The turns of phrase in `text` that may change what is wanted; the harmless uses of their words are left out."""
    patterns = cue_words(language).patterns
    harmless = [
        match.span()
        for name, pattern in patterns.items()
        if name.startswith("harmless_")
        for match in pattern.finditer(text)
    ]
    for kind in CUE_KINDS:
        for match in patterns[kind].finditer(text):
            if not any(start < match.end() and match.start() < end for start, end in harmless):
                yield Cue(kind, *match.span())


def find_choice(choice: str, text: str, language: str) -> Found | None:
    """Where the text words a choice as people do: "on foot" for "walking", "euros" for "EUR"."""
    pattern = _choice_words(language).get(fold(choice))
    match = pattern.search(text) if pattern else None
    return Found(choice, *match.span(), SYNONYM) if match else None


@lru_cache(16)
def _choice_words(language: str) -> Mapping[str, re.Pattern[str]]:
    worded: dict[str, str] = {}
    for one in dict.fromkeys((language, _ENGLISH)):  # people say some English words in any language
        listed = yaml.safe_load(files("language").joinpath(one, "choices.yaml").read_text(encoding="utf-8"))
        for choice, words in listed.items():
            worded[choice] = f"{worded[choice]}|{words}" if choice in worded else words
    return {
        fold(choice): re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.IGNORECASE)
        for choice, words in worded.items()
    }


def deeds_of_tool(name: str, language: str) -> frozenset[Deed]:
    """What sort of thing a tool does, by the words of its name; nothing where they do not tell."""
    words = split_name(name.rsplit(".", 1)[-1])
    patterns = cue_words(language).tool_deeds
    return frozenset(deed for deed, pattern in patterns.items() if any(pattern.fullmatch(word) for word in words))


def deeds_stated(text: str, language: str) -> Iterator[tuple[Deed, int, int]]:
    """What sorts of things the text speaks of doing, with their places."""
    for deed, pattern in cue_words(language).deeds.items():
        for match in pattern.finditer(text):
            yield deed, *match.span()
