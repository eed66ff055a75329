"""The shapes in which calls, questions and answers are worded, as a language's YAML has them; and how one argument is stated.

A value is quoted where it could not be distinguished from what stands around it.
"""

import re
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED, CODED, NUMERIC, cues_of, meaning_of
from callwright.language.calls.tools import ParameterView
from callwright.language.names import split_name
from callwright.language.packs import LanguagePattern, of, writes
from callwright.language.schemas import json_type
from callwright.language.values import locate, write_value
from callwright.warehouse.records import JsonSchema, Language

Shapes = tuple[str, ...]


class Phrasebook(NamedTuple):
    """The shapes of one language."""

    openers: tuple[str, ...]  # a whole request without arguments; the mark at its end comes off when more follows
    wishes: tuple[str, ...]  # the same, but the speaker does it: they do not go with "show me the list"
    sentences: tuple[str, ...]  # an argument in a sentence of its own
    coded: tuple[str, ...]  # the same for what identifies a thing: it is named, and nobody sets it
    clauses: tuple[str, ...]  # several arguments in one sentence
    inline: tuple[str, ...]  # arguments that are known by their shape, right behind the action
    listed: tuple[str, ...]  # lists and objects, last
    plain: tuple[str, ...]  # unmistakable, for the last attempts
    frame: str  # words that speak for themselves, "with breakfast", in a sentence of their own
    answers: tuple[str, str]  # no and yes
    joint: str
    last_joint: str
    stop: str
    closers: tuple[str, ...]
    quotes: tuple[tuple[str, str], ...]
    route: tuple[str, ...]
    fillers: tuple[str, ...]  # in front of arguments that stand by themselves
    day_lead: str  # in front of the only day
    time_lead: str  # and of the only time
    moments: dict[str, str]  # and of either by what it is to the call, `{v}`: where it ends, when it is due
    counted: str  # a number with what it counts, `{v}` and `{u}`


class SlotBook(NamedTuple):
    """The shapes of one language."""

    questions: Shapes  # for any parameter, by its name
    named: dict[str, Shapes]  # by its name and its kind
    unnamed: dict[str, Shapes]  # by its kind alone
    counted: Shapes  # for a number of something
    options: Shapes  # for a choice among few
    flags: Shapes  # for a yes or no
    last_option: str  # between the last two options
    next_option: str
    bare: Shapes  # hardly more than the value
    bare_by_kind: dict[str, Shapes]
    bare_count: Shapes
    sentences: Shapes  # the value and what it is for
    sentences_by_kind: dict[str, Shapes]
    yes: Shapes
    no: Shapes
    last_question: str  # where every other could be taken for another question


@cache
def requests_in(language: Language) -> Phrasebook:
    """The shapes of requests."""
    return Phrasebook(**_tuples(of(language).data["requests"]))


@cache
def dialogues_in(language: Language) -> SlotBook:
    """The shapes of questions and answers."""
    return SlotBook(**_tuples(of(language).data["dialogues"]))


def _tuples(node: Any) -> Any:  # noqa: ANN401 - any node of a YAML file
    if isinstance(node, Mapping):
        return {key: _tuples(value) for key, value in node.items()}
    return tuple(map(_tuples, node)) if isinstance(node, list) else node


CAREFUL = LanguagePattern(r"@[,.;:!?\"{list}\n]|@{careful}")
_NAMED = frozenset({"place", "origin", "destination", "country", "person", "choice", "language", "company"})
_QUOTED_SHARE = 0.55
_NUMBERED = re.compile(r"(?:^| )(?:id|ids|number|no|key|page|port|year|iid)$")
_TOKEN = re.compile(r"\S*[a-z0-9][-/_.][a-z0-9]\S*")  # a name as machines have it needs no quotation marks


class StatedParameter(NamedTuple):
    """A parameter with the words of its value; `shown` has quotation marks around them where they are needed."""

    parameter: ParameterView
    value: JsonValue
    cue: str
    words: str
    shown: str
    is_frame: bool = False  # the words speak for themselves, "with breakfast": no cue goes with them


def say(parameter: ParameterView, value: JsonValue, language: Language, rng: Random, *, plain: bool) -> StatedParameter:
    """A way to say `value` for this parameter; `plain` says it the least mistakable way."""
    book = requests_in(language)
    cue = parameter.cues.among(language)
    if isinstance(value, bool):
        words = write_value(value, parameter.schema, language, rng)
        in_language = parameter.topic and writes(language, parameter.topic)
        if in_language and locate(value, parameter.schema, words) is not None:
            return StatedParameter(parameter, value, cue, words, words, is_frame=True)
        return StatedParameter(parameter, value, cue, book.answers[value], book.answers[value])
    if isinstance(value, dict):
        words = _say_members(value, parameter.schema, language, rng)
    elif isinstance(value, list):
        words = _say_items(value, parameter.schema.get("items") or {}, language, rng)
    else:
        words = _say_value(value, parameter, language, rng, plain=plain)
        return StatedParameter(parameter, value, cue, words, _shown(words, parameter, book, rng, plain=plain))
    return StatedParameter(parameter, value, cue, words, words)


def _say_value(value: JsonValue, parameter: ParameterView, language: Language, rng: Random, *, plain: bool) -> str:
    if isinstance(value, int) and _NUMBERED.search(" ".join(split_name(parameter.name))):
        return str(value)  # an identifier in digits: nobody says issue thirty-seven, or 95,342
    spoken = parameter.schema if plain and parameter.kind not in CLOCKED else parameter.spoken
    words = write_value(value, spoken, language, rng)
    if spoken is not parameter.schema and locate(value, parameter.schema, words) is None:
        return write_value(value, parameter.schema, language, rng)
    return words


def _say_items(values: list[JsonValue], items: JsonSchema, language: Language, rng: Random) -> str:
    book = requests_in(language)
    stated = []
    for value in values:
        words = write_value(value, items, language, rng)
        stated.append(in_quotes(words, book) if isinstance(value, str) and CAREFUL.of(words).search(words) else words)
    if len(stated) <= 1:
        return "".join(stated)
    pack = of(language)
    return pack.comma.join(stated[:-1]) + pack.last + stated[-1]


def _say_members(members: Mapping[str, JsonValue], schema: JsonSchema, language: Language, rng: Random) -> str:
    """The members of an object, each behind its name; deeper ones in brackets."""
    book = requests_in(language)
    declared = schema.get("properties") or {}
    stated = []
    for name, value in members.items():
        inner = declared.get(name) or {}
        cues = cues_of(name, str(inner.get("description") or ""))
        cue = cues.among(language)
        if isinstance(value, dict):
            words = f"({_say_members(value, inner, language, rng)})"
        elif isinstance(value, list):
            words = _say_items(value, inner.get("items") or {}, language, rng)
        elif isinstance(value, bool):
            words = book.answers[value]
        else:
            words = write_value(value, inner, language, rng)
            if isinstance(value, str) and meaning_of(name, inner) not in CODED | CLOCKED | NUMERIC | {"code", "choice"}:
                words = in_quotes(words, book)
        stated.append(f"{cue}{of(language).space if writes(language, cue) else ' '}{words}")
    return book.joint.join(stated)


def _shown(words: str, parameter: ParameterView, book: Phrasebook, rng: Random, *, plain: bool) -> str:
    if json_type(parameter.schema) != "string" or parameter.kind in CLOCKED or parameter.schema is not parameter.spoken:
        return words
    if CAREFUL.of(words).search(words):
        return in_quotes(words, book)
    if _TOKEN.fullmatch(words) and not plain:
        return words
    if parameter.kind in CODED | NUMERIC or parameter.kind in ("code", "pattern"):
        return words if " " not in words else in_quotes(words, book)
    if plain or (parameter.kind not in _NAMED and rng.random() < _QUOTED_SHARE):
        return in_quotes(words, book)
    return words


def in_quotes(words: str, book: Phrasebook) -> str:
    """`words` in the first quotation marks that do not occur in them; bare where all do."""
    for left, right in book.quotes:
        if left not in words and right not in words:
            return f"{left}{words}{right}"
    return words
