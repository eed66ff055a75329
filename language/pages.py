"""Lines said beside a request: sentence templates on the pages of each language.

A place is a page and a name on it ("corrections.mSv"), or a page with all its names. A line is
drawn with exactly the words that are given for its slots, so one list can hold lines that name a
parameter and lines that say the value alone.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import Any

from callwright.language.packs import LanguagePattern, of, widened
from callwright.language.sentences import Sentence
from callwright.language.text import capitalised
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Language

_SLOT = re.compile(r"\{([^{}]+)\}")
_BEGINS = re.compile(widened(r"(?:^|\n|@[.!?]\s+|@[{.!?}])$"))
_GREETING = LanguagePattern(r"^(?:@{salutation})(?:@[,!]\s*|\s+)(?=\S)")
_FIRST = re.compile(r"^\W*\w")
# no code, whose letters are as they are
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[,:]?(?!\S)")


@lru_cache(1024)
def lines(language: Language, place: str) -> tuple[Sentence, ...]:
    """Return the templates at a place, or none if the language has no such place."""
    node: Any = of(language).data
    for part in place.split("."):
        node = node.get(part, {}) if isinstance(node, Mapping) else {}
    return tuple(map(Sentence, _texts(node)))


def _texts(node: Any) -> Iterator[str]:  # noqa: ANN401 - any node of a YAML file
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping | list):
        for member in node.values() if isinstance(node, Mapping) else node:
            yield from _texts(member)


def draw_line(
    language: Language, place: str, rng: Random, *, as_is: Collection[str] = (), **words: str
) -> str:
    """Return a random line at a place that uses exactly these words, by slot.

    The words of the slots in `as_is` get no capital. Raises ConfigurationError if there is none.
    """
    drawn = (one.draw(frozenset(words), rng) for one in lines(language, place))
    ways = [one for one in drawn if one is not None]
    if not ways:
        raise ConfigurationError(f"No line at {place!r} in {language!r} says just {sorted(words)}.")
    return as_sentence(rng.choice(ways), words, as_is)


def has_line(language: Language, place: str, *slots: str) -> bool:
    """Whether a line at a place uses exactly these slots."""
    return any(one.draw(frozenset(slots), Random(0)) is not None for one in lines(language, place))


def read_line(
    language: Language, place: str, text: str, is_value: Callable[[str, str], bool]
) -> Iterator[dict[str, str]]:
    """Yield each matching line's words by slot; `is_value` tells what a slot accepts.

    The lines are those at `place`.
    """
    read = (one.read(text, is_value) for one in lines(language, place))
    yield from (found for found in read if found is not None)


@lru_cache(1024)
def shapes_in(language: Language, place: str) -> tuple[str, ...]:
    """Return every form of every line at a place, with its slots."""
    return tuple(dict.fromkeys(shape for one in lines(language, place) for shape in one.shapes))


def filled(shape: str, words: Mapping[str, str]) -> str:
    """Return a shape with its slots filled."""
    return _SLOT.sub(lambda slot: words[slot[1]], shape)


def as_sentence(shape: str, words: Mapping[str, str], as_is: Collection[str] = ()) -> str:
    """Return a shape with its slots filled; a word that begins a sentence gets a capital.

    The words of the slots in `as_is` keep their letters.
    """

    def fill(slot: re.Match[str]) -> str:
        begins = _BEGINS.search(shape, 0, slot.start()) and _WORD.match(words[slot[1]])
        begins = begins if slot[1] not in as_is else None
        return capitalised(words[slot[1]]) if begins else words[slot[1]]

    return _SLOT.sub(fill, capitalised(shape))


def without_greeting(text: str) -> str:
    """Return a request without its greeting, as it would read in mid-conversation."""
    rest = _GREETING.of(text).sub("", text)
    return text if rest == text else _FIRST.sub(lambda found: found[0].upper(), rest)
