"""Requests around values: openers, closers, and where the words of each value stand."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.packs import of
from callwright.language.pages import draw_line, shapes_in, without_greeting
from callwright.language.saying import StatedParameter
from callwright.language.values import locate
from callwright.warehouse.records import Language

# of a word, behind a mark that opens a sentence
_CAPITAL = re.compile(r"^[¿¡]?[^\W\d_](?=[^\W\d_A-Z])")
_CLOSER_SHARE = 0.12


def lowered(text: str, said: Iterable[JsonValue] = ()) -> str:
    """Return a request to follow a colon or comma, in lower case unless "I" or a `said` value.

    A greeting is removed.
    """
    text = without_greeting(text)
    is_name = text.startswith(("I'", *(one for one in said if isinstance(one, str) and one)))
    return text if is_name else _CAPITAL.sub(lambda word: word[0].lower(), text)


def opened(said: str, language: Language, rng: Random, *, closes: bool = True) -> str:
    """Return a request after one of the language's openers; with `closes`, maybe a closer."""
    head = draw_line(language, "requests.openers", rng, request=said)
    # nobody thanks twice
    is_polite = any(map(str.isalpha, head.lower().rpartition(said.lower())[2]))
    is_closed = rng.random() < _CLOSER_SHARE and closes and not is_polite
    return of(language).space.join(
        [head, *([draw_line(language, "requests.closers", rng)] if is_closed else [])]
    )


@lru_cache(4096)
def unopened(text: str, language: Language) -> tuple[str, ...]:
    """Return what a text may ask for without the openers that could surround it."""
    unopened_texts: dict[str, None] = {}
    for begin, end in _openers(language):
        if (
            text.lower().startswith(begin)
            and text.endswith(end)
            and len(text) > len(begin) + len(end)
        ):
            unopened_texts[text[len(begin) : len(text) - len(end)].strip()] = None
    return tuple(sorted(unopened_texts, key=len))


@cache
def _openers(language: Language) -> tuple[tuple[str, str], ...]:
    """Return what each opener puts before and after the request."""
    split = (shape.partition("{request}") for shape in shapes_in(language, "requests.openers"))
    return tuple(dict.fromkeys((begin.lower(), end) for begin, _, end in split))


class Worded(NamedTuple):
    """A request and, by parameter, the words in it that state the value."""

    request: str
    mentions: dict[str, str]

    def reply(self) -> dict[str, JsonValue]:
        """Return the answer in the form of its schema."""
        mentions: list[JsonValue] = [
            {"parameter": parameter, "words": words} for parameter, words in self.mentions.items()
        ]
        return {"request": self.request, "mentions": mentions}


def pointed_at(
    request: str, stated: Sequence[StatedParameter], around: Mapping[str, str] = {}
) -> Worded | None:
    """Return the request with each value's words, or those `around` them if they occur twice.

    None if a value can't be pointed at.
    """
    mentions: dict[str, str] = {}
    for saying in stated:
        name = saying.parameter.name
        located = [
            words
            for words in dict.fromkeys((saying.words, saying.shown, around.get(name, saying.shown)))
            if words in request and locate(saying.value, saying.parameter.schema, words) is not None
        ]
        if not located:
            return None
        mentions[name] = next((words for words in located if request.count(words) == 1), located[0])
    return Worded(request, mentions)
