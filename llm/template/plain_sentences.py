"""Requests for tools that nobody here knows: the tool's verb and object, then each value beside what its parameter is called.

The same call has the same few wordings each time, so that a request is read by wording each call that may be meant.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import Cues, in_context
from callwright.language.calls.sampling import fill_in, make_plain
from callwright.language.calls.tools import ParameterView, ToolView, name_phrase, own_words
from callwright.language.names import humanise, split_name
from callwright.language.packs import COMMON_SCRIPT, of, writes
from callwright.language.schemas import json_type
from callwright.language.text import capitalised
from callwright.llm.template.stating import StatedParameter, requests_in, say
from callwright.llm.template.wording import ComposedRequest, RequestClause, Worded, choose_names, quote_values
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

_OWN_NAME = re.compile(r"[A-Z]\w*\.[A-Z]\w*\.[a-z]\w*")  # as catalogs that are made here name their tools
_IN_FULL = {"max": "maximum", "min": "minimum", "num": "number", "qty": "quantity", "lang": "language"}
_ID_WORDS = re.compile(r"\b(?:gid|uid|id|Id)$")
_IDENTIFIES = frozenset({"id", "gid", "uid"})
_MOST_WORDS = 9
_SHOWN = frozenset({"enum", "examples", "default", "const", "pattern", "format"})
_SLOT = re.compile(r"\{[cCv]\}")
_OWN = frozenset({"my", "me", "self", "own"})
# "the user" of a description, who calls things by their IDs here
_MY, _OF_ME = re.compile(r"\bmy\b"), re.compile(r"\bme$")
_NESTED = frozenset({"object", "array"})


class _Body(NamedTuple):
    """What is asked for, and the sentences behind it."""

    act: str
    tail: tuple[RequestClause, ...]
    placed: tuple[RequestClause, ...]  # the values that stand within `act`


def is_unknown(view: ToolView) -> bool:
    """Whether nobody here knows the tool, so that nothing but its document tells how people ask for it."""
    return not (own_words(view.name, view.description) or _OWN_NAME.fullmatch(view.name))


def choose_plain(offered: Sequence[str], count: int, view: ToolView, rng: Random) -> list[str]:
    """As many of the offered parameters as asked for; fewer where the rest takes what nobody says in a sentence."""
    flat = [name for name in offered if json_type(view.properties.get(name, {})) not in _NESTED]
    return choose_names(flat or offered, count, view, rng)


def plain_values(
    view: ToolView, names: Sequence[str], language: Language, rng: Random, known: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """A value for each of the parameters named: by example, choice and meaning, else one made up by its schema.

    Raises ReplyError, which names tool and parameter, where a schema takes none that can be made.
    """
    properties = in_context(view.properties, view.name, view.description)
    values: dict[str, JsonValue] = {}
    for name in names:
        schema = properties[name]
        is_id = split_name(name)[-1:] and split_name(name)[-1] in _IDENTIFIES and json_type(schema) == "string"
        if is_id and not _SHOWN.intersection(schema):  # nobody has an ID that reads "cook spicy noodles"
            values[name] = _made_up(name, view, language, rng)
            continue
        try:
            values |= fill_in([name], properties, language, rng, {**known, **values})
        except ReplyError:
            values[name] = _made_up(name, view, language, rng)
    return values


def _made_up(name: str, view: ToolView, language: Language, rng: Random) -> JsonValue:
    try:
        return make_plain(name, view.properties[name], language, rng)
    except ReplyError as error:
        raise ReplyError(f"A call of {view.name!r} can't be filled in: {error}") from error


def word_plainly(view: ToolView, arguments: Mapping[str, JsonValue], language: Language, rng: Random) -> Worded:
    """A request that states exactly these arguments, each in words; ReplyError where the tool has no such parameter."""
    if strange := sorted(set(arguments) - set(view.properties)):
        raise ReplyError(f"The tool {view.name!r} has no parameters {strange} to word.")
    ways = [*_bodies(view, arguments, language)]
    for body, opener in product(ways, rng.sample(_openers(language), len(_openers(language)))):
        worded = quote_values(ComposedRequest(_text(body, opener, language), (*body.placed, *body.tail)))
        if worded:
            return worded
    raise ReplyError(f"template/v1 finds no words for a call of {view.name!r} with {dict(arguments)!r}.")


def says_plainly(request: str, view: ToolView, arguments: Mapping[str, JsonValue], language: Language) -> bool:
    """Whether a request is one of the plain wordings of a call."""
    if set(arguments) - set(view.properties):
        return False
    bodies = _bodies(view, arguments, language)
    return any(_text(body, opener, language) == request for body in bodies for opener in _openers(language))


def _openers(language: Language) -> list[str]:
    return list(dict.fromkeys(requests_in(language).openers))


def _text(body: _Body, opener: str, language: Language) -> str:
    head = opener.replace("{a}", body.act).replace("{A}", capitalised(body.act))
    return of(language).space.join((head, *(piece.text for piece in body.tail)))


def _bodies(view: ToolView, arguments: Mapping[str, JsonValue], language: Language) -> Iterator[_Body]:
    """The request with things called by their IDs, "the team 889205", then with each value in a sentence of its own."""
    act = _act(view, language)
    drawn = Random(f"{view.name}:{sorted(arguments)}")  # the same call is said in the same words
    stated = [_say(one, arguments[one.name], language, drawn) for one in view.parameters if one.name in arguments]
    short, placed = act, list[RequestClause]()
    for one in stated:
        *words, last = split_name(one.parameter.name) or [""]
        thing = " ".join(words) if last in _IDENTIFIES and one.shown == one.words else ""
        if thing and (found := re.search(rf"\b(?:an?|the) {re.escape(thing)}$", short)):
            text = f"{thing} {one.shown}"
            short = f"{short[: found.start()]}{text}"
            placed.append(RequestClause(text, (one,)))
    if placed:
        taken = [one for piece in placed for one in piece.stated]
        yield _Body(short, tuple(_clause(one, language) for one in stated if one not in taken), tuple(placed))
    yield _Body(act, tuple(_clause(one, language) for one in stated), ())


def _say(view: ParameterView, value: JsonValue, language: Language, rng: Random) -> StatedParameter:
    """The value in words; an ID that is one word stands without quotation marks.

    The parameter is called by its name: descriptions of documents call it many things that nobody says.
    """
    if language == DEFAULT_LANGUAGE:  # that names in code are in
        cue = spoken_name(view.name)
        view = view._replace(cues=Cues({COMMON_SCRIPT: cue}, tuple(dict.fromkeys((cue, *view.cues.spoken)))), topic="")
    one = say(view, value, language, rng, plain=True)
    is_code = _IDENTIFIES.intersection(split_name(view.name)) and isinstance(value, str) and value.isalnum()
    return one._replace(shown=one.words) if is_code else one


def _clause(one: StatedParameter, language: Language) -> RequestClause:
    """A value in a sentence; behind a colon where it is no name or number: "Include closed: yes."."""
    book = requests_in(language)
    is_listed = isinstance(one.value, bool | list | dict)
    shape = of(language).rules.in_number(book.plain[0] if is_listed else book.plain[-1], one.cue)
    cue = {"{c}": one.cue, "{C}": capitalised(one.cue), "{v}": one.shown}
    return RequestClause(_SLOT.sub(lambda slot: cue[slot[0]], shape), (one,))


def _act(view: ToolView, language: Language) -> str:
    """What the tool does by its description, by its name where that says nothing short in the language."""
    is_own = not _OWN.isdisjoint(split_name(view.name))
    described = view.actions[0] if is_own else _OF_ME.sub("the user", _MY.sub("the", view.actions[0]))
    is_short = 1 < len(described.split()) <= _MOST_WORDS and writes(language, described)
    if is_short and (view.description or not _is_made_up(described, view)):
        return described
    named = name_phrase(view.name)
    return f"use {humanise(view.name)}" if " " not in named or _is_made_up(named, view) else named


def _is_made_up(phrase: str, view: ToolView) -> bool:
    """Whether the verb of a phrase is none of the tool's name."""
    return phrase.split(maxsplit=1)[0] not in split_name(view.name)


def spoken_name(name: str) -> str:
    """What people call a parameter of a tool that nobody here knows: its name in words, any identifier an ID."""
    return " ".join(_IN_FULL.get(word, word) for word in _ID_WORDS.sub("ID", humanise(name)).split())
