"""How a value stands in a sentence: in words, with quotation marks where it would be unclear."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED, CODED, NUMERIC, title_of
from callwright.language.calls.tools import ParameterView
from callwright.language.names import split_name
from callwright.language.packs import LanguagePattern, of, own_letters, widened, writes
from callwright.language.pages import draw_line, shapes_in, without_greeting
from callwright.language.schemas import json_type
from callwright.language.values import locate, write_value
from callwright.warehouse.records import JsonSchema, Language

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


CAREFUL = LanguagePattern(r"@[,.;:!?\"{list}\n]|@{careful}")
QUOTED = re.compile(widened(r'"[^"]*"|@[“«„{open}].*?@[”»“{close}]'))
_MOST_BARE, _LONGEST_BARE = 3, 8  # words and ideographs: what is longer is a sentence
_NUMBERED = re.compile(r"(?:^| )(?:id|ids|number|no|key|page|port|year|iid)$")
# a name as machines have it needs no quotation marks
_TOKEN = re.compile(r"\S*[a-z0-9][-/_.][a-z0-9]\S*")


class StatedParameter(NamedTuple):
    """A parameter with the words of its value; `shown` has quotation marks where needed."""

    parameter: ParameterView
    value: JsonValue
    words: str
    shown: str
    # the words speak for themselves, "with breakfast": no name goes with them
    is_frame: bool = False


def say(
    parameter: ParameterView, value: JsonValue, language: Language, rng: Random, *, plain: bool
) -> StatedParameter:
    """Return a way to say `value` for this parameter; `plain` asks for the clearest way."""
    if isinstance(value, bool):
        words = write_value(value, parameter.schema, language, rng)
        in_language = parameter.topic and writes(language, parameter.topic)
        if in_language and locate(value, parameter.schema, words) is not None:
            return StatedParameter(parameter, value, words, words, is_frame=True)
        answer = of(language).answers[value]
        return StatedParameter(parameter, value, answer, answer)
    if isinstance(value, dict):
        words = _say_members(value, parameter.schema, language, rng)
    elif isinstance(value, list):
        words = _say_items(value, parameter.schema.get("items") or {}, language, rng)
    else:
        words = _say_value(value, parameter, language, rng, plain=plain)
        shown = _shown(words, parameter, language, plain=plain)
        return StatedParameter(parameter, value, words, shown)
    return StatedParameter(parameter, value, words, words)


def _say_value(
    value: JsonValue, parameter: ParameterView, language: Language, rng: Random, *, plain: bool
) -> str:
    if isinstance(value, int) and _NUMBERED.search(" ".join(split_name(parameter.name))):
        return str(value)  # an identifier in digits: nobody says issue thirty-seven, or 95,342
    spoken = parameter.schema if plain and parameter.kind not in CLOCKED else parameter.spoken
    words = write_value(value, spoken, language, rng)
    if spoken is not parameter.schema and locate(value, parameter.schema, words) is None:
        return write_value(value, parameter.schema, language, rng)
    return words


def _say_items(values: list[JsonValue], items: JsonSchema, language: Language, rng: Random) -> str:
    item_texts = []
    for value in values:
        if isinstance(value, dict):
            item_texts.append(f"({_say_members(value, items, language, rng)})")
            continue
        words = write_value(value, items, language, rng)
        item_texts.append(
            in_quotes(words, language)
            if isinstance(value, str) and CAREFUL.of(words).search(words)
            else words
        )
    return of(language).listed(item_texts)


def _say_members(
    members: Mapping[str, JsonValue], schema: JsonSchema, language: Language, rng: Random
) -> str:
    """Return the members of an object, each after its name; nested objects in brackets."""
    declared = schema.get("properties") or {}
    member_texts = []
    for name, value in members.items():
        inner = declared.get(name) or {}
        called = title_of(name, inner, language)
        if isinstance(value, dict):
            words = f"({_say_members(value, inner, language, rng)})"
        elif isinstance(value, list):
            words = _say_items(value, inner.get("items") or {}, language, rng)
        elif isinstance(value, bool):
            words = of(language).answers[value]
        else:
            words = write_value(value, inner, language, rng)
            if isinstance(value, str) and (_is_long(words) or CAREFUL.of(words).search(words)):
                words = in_quotes(words, language)
        member_texts.append(
            f"{called}{of(language).space if writes(language, called) else ' '}{words}"
        )
    return of(language).clause.join(member_texts)


def _shown(words: str, parameter: ParameterView, language: Language, *, plain: bool) -> str:
    if (
        json_type(parameter.schema) != "string"
        or parameter.kind in CLOCKED
        or parameter.schema is not parameter.spoken
    ):
        return words
    if CAREFUL.of(words).search(words):
        return in_quotes(words, language)
    if _TOKEN.fullmatch(words) and not plain:
        return words
    if parameter.kind in CODED | NUMERIC or parameter.kind in ("code", "pattern"):
        return words if " " not in words else in_quotes(words, language)
    is_speech = parameter.kind == "message" or (parameter.kind == "text" and _is_long(words))
    return in_quotes(words, language) if plain or is_speech else words


def _is_long(words: str) -> bool:
    return len(words) > _LONGEST_BARE if own_letters(words) else len(words.split()) > _MOST_BARE


def outside_quotes(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern in a text, outside quotation marks."""
    quoted = [one.span() for one in QUOTED.finditer(text)]
    return [
        found
        for found in pattern.finditer(text)
        if not any(start <= found.start() < end for start, end in quoted)
    ]


def in_quotes(words: str, language: Language) -> str:
    """Return `words` in the first quotation marks that they do not contain, or bare if none fit."""
    for left, right in of(language).quotes:
        if left not in words and right not in words:
            return f"{left}{words}{right}"
    return words


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
