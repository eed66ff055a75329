"""How people say a value: in words, with quotation marks where it would be unclear."""

import re
from collections.abc import Mapping
from random import Random
from typing import Literal, NamedTuple, get_args

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED, CODED, NUMERIC, title_of
from callwright.language.calls.tools import ParameterView
from callwright.language.dates import write_utc_moment
from callwright.language.names import split_name
from callwright.language.numbers import in_digits
from callwright.language.packs import LanguagePattern, of, own_letters, writes
from callwright.language.schemas import json_type
from callwright.language.values import is_in_utc, locate, write_value
from callwright.warehouse.records import JsonSchema, Language

CAREFUL = LanguagePattern(r"@[,.;:!?\"{list}\n]|@{careful}")
_MOST_BARE, _LONGEST_BARE = 3, 8  # words and ideographs: what is longer is a sentence
_NUMBERED = re.compile(r"(?:^| )(?:id|ids|number|no|key|page|port|year|iid)$")
# a name as machines have it needs no quotation marks
_TOKEN = re.compile(r"\S*[a-z0-9][-/_.][a-z0-9]\S*")
# an address or a dotted name: no sign at its ends or within could be the sentence's own
_ADDRESS = re.compile(r"\w[^\s,;!?\"'“”«»()]*[\w/]")


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


# As it is written in a form, as people type it, or as they speak.
Manner = Literal["bare", "written", "spoken"]
MANNERS: tuple[Manner, ...] = get_args(Manner)
_TRIES = 6


def say_as(
    manner: Manner, parameter: ParameterView, value: JsonValue, language: Language, rng: Random
) -> StatedParameter:
    """Return a way to say `value` in this manner from which it can be read back.

    Typed days, times and numbers have digits, spoken ones have none, as far as the language has
    such forms. What would be read as another value is said bare.
    """
    if isinstance(value, bool | list | dict):
        return say(parameter, value, language, rng, plain=False)
    words = str(value) if isinstance(value, str) else in_digits(value or 0)
    shown = _shown(words, parameter, language, plain=False)
    if shown != words and _ADDRESS.fullmatch(words):
        return StatedParameter(parameter, value, words, words)
    bare = StatedParameter(parameter, value, words, shown)
    is_moment = isinstance(value, str) and is_in_utc(value)
    if manner == "bare" and not is_moment:
        return bare

    def said() -> StatedParameter:
        if not is_moment:
            return say(parameter, value, language, rng, plain=False)
        in_words = write_utc_moment(str(value), language, rng)  # nobody says 08:30:00Z
        return StatedParameter(parameter, value, in_words, in_words)

    readable = [
        saying
        for saying in (said() for _ in range(_TRIES))
        if locate(value, parameter.schema, saying.words) is not None
    ]
    wants_digits = manner == "written"
    alike = (one for one in readable if any(map(str.isdecimal, one.words)) == wants_digits)
    return next(alike, readable[0] if readable else bare)


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


def in_quotes(words: str, language: Language) -> str:
    """Return `words` in the first quotation marks that they do not contain, or bare if none fit."""
    for left, right in of(language).quotes:
        if left not in words and right not in words:
            return f"{left}{words}{right}"
    return words
