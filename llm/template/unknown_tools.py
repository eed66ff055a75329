"""Requests for tools that nobody here knows: a verb and its object, values at their place behind it, the rest one by one."""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from callwright.language.calls.parameters import PLACES, Cues
from callwright.language.calls.parsing import read_request
from callwright.language.calls.stating import StatedParameter, say
from callwright.language.calls.tools import ParameterView
from callwright.language.calls.unknown_tools import Unknown, spoken_name
from callwright.language.names import split_name
from callwright.language.packs import COMMON_SCRIPT, of
from callwright.language.phrasebook import requests_in
from callwright.language.protocol import PlainPlace
from callwright.llm.template.moments import moment_clause, role_of
from callwright.llm.template.wording import ComposedRequest, RequestClause, Worded, quote_values, shape_clause
from callwright.warehouse.errors import ReplyError

_SPEECH = "speech"
_ATTEMPTS = 9
_PLACED, _FREE = 3, 6  # attempts with values behind the object; without; then with quotation marks
_CODES = frozenset({"id", "ids", "gid", "code", "number", "no"})


def choose_spoken(tool: Unknown, offered: Sequence[str], count: int, rng: Random) -> list[str]:
    """As many of the offered parameters as asked for, required ones first, fewer where people say fewer; ReplyError where none."""
    required = [name for name in offered if name in tool.view.required]
    spoken = [name for name in offered if name not in required and not tool.gaps[name]]
    if tool.action.gap or not required + spoken:
        gap = tool.action.gap or "it has no parameter that people say"
        raise ReplyError(f"template/v1 can't word requests for the tool {tool.view.name!r}: {gap}.")
    chosen = {*required[:count], *rng.sample(spoken, min(len(spoken), max(0, count - len(required))))}
    return [name for name in offered if name in chosen]


def word_unknown(tool: Unknown, arguments: dict[str, JsonValue], rng: Random) -> Worded:
    """A request that states exactly these arguments; ReplyError where nobody would ask for the tool with them."""
    if gap := tool.gap(tuple(arguments)):
        raise ReplyError(f"template/v1 can't word requests for the tool {tool.view.name!r}: {gap}.")
    for attempt in range(_ATTEMPTS):
        composed = _compose(tool, arguments, rng, is_placed=attempt < _PLACED, plain=attempt >= _FREE)
        worded = quote_values(composed)
        if worded and read_request(tool.view, composed.request) == arguments:
            return worded
    raise ReplyError(
        f"template/v1 finds no words for a call of {tool.view.name!r} with {arguments!r} that can mean nothing else."
    )


def _compose(
    tool: Unknown, arguments: dict[str, JsonValue], rng: Random, *, is_placed: bool, plain: bool
) -> ComposedRequest:
    language = tool.language
    stated = {
        view.name: say(_by_name(view), arguments[view.name], language, rng, plain=plain)
        for view in tool.view.parameters
        if view.name in arguments
    }
    stated = {name: one._replace(shown=one.words) if _is_coded(one) else one for name, one in stated.items()}
    pieces: list[RequestClause] = []
    places = [shown for place in tool.action.places if (shown := _place(place, stated, pieces, is_placed=is_placed))]
    if is_placed:
        places += _natural(tool, stated, pieces)
    placed = {one.parameter.name for piece in pieces for one in piece.stated}
    rest = [one for name, one in stated.items() if name not in placed]
    act = " ".join((rng.choice(_verbs(tool)), tool.action.thing, *places))
    head = (
        rng.choice(of(language).data[_SPEECH]["openers"]).replace("{a}", act).replace("{A}", act[:1].upper() + act[1:])
    )
    tail = _sentences(rest, tool, rng)
    return ComposedRequest(" ".join((head, *(piece.text for piece in tail))), (*pieces, *tail))


def _verbs(tool: Unknown) -> Sequence[str]:
    spoken: Sequence[str] = of(tool.language).data[_SPEECH]["said"].get(tool.action.kind, [tool.action.kind])
    return spoken


def _by_name(view: ParameterView) -> ParameterView:
    """The parameter, called by its name: descriptions of documents call it many things that nobody says."""
    cue = spoken_name(view.name)
    return view._replace(cues=Cues({COMMON_SCRIPT: cue}, tuple(dict.fromkeys((cue, *view.cues.spoken)))))


def _place(
    place: PlainPlace, stated: dict[str, StatedParameter], pieces: list[RequestClause], *, is_placed: bool
) -> str:
    """What stands behind the object: the value itself where the thing is called by it, else the thing; "" where it is left out."""
    one = stated.get(place.parameter)
    if one is None:
        return "" if place.parameter else f"{place.preposition} {place.thing}"
    if _is_coded(one):
        return f"{place.preposition} {place.thing}"
    if is_placed and _is_name(one):
        is_city = one.parameter.kind in PLACES and place.preposition == "for"
        text = f"{'in' if is_city else place.preposition} {one.shown}"
        pieces.append(RequestClause(text, (one,)))
        return text
    return ""


def _is_coded(one: StatedParameter) -> bool:
    return not _CODES.isdisjoint(split_name(one.parameter.name))


def _is_name(one: StatedParameter) -> bool:
    return isinstance(one.value, str) and one.shown == one.words and one.words[:1].isupper()


def _natural(tool: Unknown, stated: dict[str, StatedParameter], pieces: list[RequestClause]) -> list[str]:
    """The only day behind "on", a route from here to there."""
    book, shown = requests_in(tool.language), []
    taken = {one.parameter.name for piece in pieces for one in piece.stated}
    free = [one for name, one in stated.items() if name not in taken]
    starts, ends = (
        [one for one in free if one.parameter.kind == kind and _is_name(one)] for kind in ("origin", "destination")
    )
    if len(starts) == len(ends) == 1 and not taken:
        shown.append(book.route[0].format(o=starts[0].shown, d=ends[0].shown))
        pieces.append(RequestClause(shown[-1], (starts[0], ends[0])))
    days = [one for one in free if one.parameter.kind == "date"]
    if len(days) == 1 and (days[0].parameter.name.lower() in ("date", "day") or role_of(days[0].parameter.name)):
        shown.append(moment_clause(days[0], book))
        pieces.append(RequestClause(shown[-1], (days[0],)))
    return shown


def _sentences(stated: list[StatedParameter], tool: Unknown, rng: Random) -> list[RequestClause]:
    """What is left, in one sentence or one each."""
    book = requests_in(tool.language)
    if not stated:
        return []
    rng.shuffle(stated)
    clauses = [shape_clause("the {c} is {v}", one) for one in stated]
    text = clauses[0] if len(clauses) == 1 else book.joint.join(clauses[:-1]) + book.last_joint + clauses[-1]
    return [RequestClause(text[:1].upper() + text[1:] + book.stop, tuple(stated))]
