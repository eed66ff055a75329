"""Wording a call as a request: opener, action, every argument in one of many shapes, a day or a time behind the words that fit."""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import in_context, meaning_of, value_gap
from callwright.language.calls.tools import ToolView, name_phrase, own_words
from callwright.language.dates import find_times
from callwright.language.names import split_name, words
from callwright.language.packs import COMMON_SCRIPT, LanguagePattern, language_of, of, packs_of, signs, writes
from callwright.language.schemas import json_type
from callwright.language.text import capitalised
from callwright.language.values import locate
from callwright.llm.template.stating import Phrasebook, StatedParameter, requests_in, say
from callwright.warehouse.batches import grouped
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language

# By a word of the parameter's name, the last that tells: what the moment is to the call. Names are English in every language.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("until", "till", "end", "ends", "ending", "through", "thru", "to", "latest"), "until"),
    **dict.fromkeys(("expires", "expiry", "expiration", "expire"), "until"),
    **dict.fromkeys(("from", "since", "earliest", "effective"), "from"),
    **dict.fromkeys(("start", "starts", "starting", "begin", "begins", "beginning"), "start"),
    **dict.fromkeys(("due", "deadline", "by"), "by"),
    "before": "before",
    "after": "after",
}
_CHANGED = "new"  # what the moment is moved to, whatever it is the moment of
_DESCRIBED = {role: LanguagePattern(f"@{{moment_{role}}}") for role in ("until", "by", "from")}


def role_of(name: str, description: str = "") -> str:
    """What a moment is to the call, by its parameter's name, then by its description; "" where neither tells."""
    words = split_name(name)
    if _CHANGED in words:
        return "to"
    found = next((_ROLES[word] for word in reversed(words) if word in _ROLES), "")
    return found or next((role for role, one in _DESCRIBED.items() if one.of(description).search(description)), "")


def moment_clause(stated: StatedParameter, book: Phrasebook) -> str:
    """A day or a time behind the words that fit what it is to the call."""
    named = " ".join(split_name(stated.parameter.name))
    if " " in named and stands_before(named, book):  # "due before", "valid until"
        return f"{named} {stated.shown}"
    role = role_of(stated.parameter.name, str(stated.parameter.schema.get("description") or ""))
    if role:
        return book.moments[role].format(v=stated.shown)
    is_clock = any(found.start == 0 for found in find_times(stated.shown))
    return (book.time_lead if is_clock else book.day_lead) + stated.shown


def stands_before(cue: str, book: Phrasebook) -> bool:
    """Whether what a parameter is called stands right before its value: "valid until", "due by"."""
    leads = {shape.partition(" {v}")[0] for shape in book.moments.values()}
    return cue.rpartition(" ")[2].lower() in leads


_EVERYDAY = frozenset(
    words(
        "date time moment origin destination place person quantity money choice title task product food music"
        " film book query message duration address"
    )
)
_HOPELESS = 9.0
_SELDOM = frozenset({"boolean", "link", "uuid", "object", "pin", "file", "details"})
_TECHNICAL = re.compile(
    r"page|limit|offset|cursor|sort|order_?by|token|format|locale|lang|verbose|debug|version", re.IGNORECASE
)


def choose_names(offered: Sequence[str], count: int, view: ToolView, rng: Random) -> list[str]:
    """As many of the offered names as asked for, in the order offered; the likeliest to be stated, with some chance."""
    properties, required = view.properties, view.required
    language = language_of(f"{view.description}")
    known = in_context(properties, view.name, view.actions[0])
    unsayable = {one.name for one in view.parameters if one.gap or value_gap(one.name, known[one.name], language)}
    weights = {
        name: _weight(name, properties.get(name, {}), required=name in required) + rng.random() for name in offered
    }
    weights = {name: weight - (_HOPELESS if name in unsayable else 0.0) for name, weight in weights.items()}
    chosen = set(sorted(offered, key=lambda name: -weights[name])[:count])
    return [name for name in offered if name in chosen]


def _weight(name: str, schema: JsonSchema, *, required: bool) -> float:
    kind = meaning_of(name, schema)
    weight = (2.0 if required else 0.0) + (kind in _EVERYDAY) - 0.5 * (kind in _SELDOM)
    if schema.get("format") == "date-time":
        weight -= _HOPELESS  # nobody speaks of seconds and zones
    return weight - 1.5 if _TECHNICAL.search(name) else weight


_NATURAL_SHARE = 0.65
_WISH_SHARE = 0.15
_CLOSER_SHARE = 0.12
_INLINE_SHARE = 0.35
_OWN_VERB_SHARE = 0.6
_OWN_WORDS_SHARE = 0.94
_JOINED_SHARE = 0.5
_SAME_SHAPE_SHARE = 0.7
_FEW = 2
_MARKS = signs(".?!")
_DAYS = frozenset({"date", "moment", "birthday", "month"})


class RequestClause(NamedTuple):
    """A clause with the arguments that it says."""

    text: str
    stated: tuple[StatedParameter, ...]


class ComposedRequest(NamedTuple):
    """A request and the clauses in it."""

    request: str
    pieces: tuple[RequestClause, ...]


def compose(
    view: ToolView,
    arguments: dict[str, JsonValue],
    language: Language,
    rng: Random,
    *,
    action: str = "",
    plain: bool = False,
) -> ComposedRequest:
    """A request for the tool's action (or another one given) that states these arguments; `plain` takes no chances."""
    book = requests_in(language)
    chosen = action or _action(view, language, rng)
    stated = [
        say(one, arguments[one.name], language, rng, plain=plain) for one in view.parameters if one.name in arguments
    ]
    rng.shuffle(stated)
    inline = [] if plain else _natural(view, stated, language, book, rng)
    taken = {one.parameter.name for piece in inline for one in piece.stated}
    frames = [one for one in stated if one.is_frame and one.parameter.name not in taken]
    long = [one for one in stated if json_type(one.parameter.schema) in ("array", "object")]
    rest = [one for one in stated if one.parameter.name not in taken and one not in frames and one not in long]
    if plain:
        rest = rest + frames
    else:
        inline += [RequestClause(one.shown, (one,)) for one in frames]
    tail = _rest(rest, book, rng, plain=plain)
    if not plain and tail and isinstance(tail[0], RequestClause) and len(rest) <= _FEW and rng.random() < _INLINE_SHARE:
        shape = rng.choice(book.inline)
        tail, inline = [], [*inline, *(RequestClause(shape_clause(shape, one), (one,)) for one in rest)]
    tail += [RequestClause(shape_clause(rng.choice(book.listed), one), (one,)) for one in long]
    return _assemble(chosen, inline, tail, language, rng)


def _action(view: ToolView, language: Language, rng: Random) -> str:
    if not writes(language, view.actions[0]) and of(language).script == COMMON_SCRIPT:
        return name_phrase(view.name)
    own = own_words(view.name, view.description)
    if own and rng.random() < _OWN_WORDS_SHARE:
        return rng.choice(own)
    return view.actions[0] if rng.random() < _OWN_VERB_SHARE else rng.choice(view.actions)


def _natural(
    view: ToolView, stated: list[StatedParameter], language: Language, book: Phrasebook, rng: Random
) -> list[RequestClause]:
    """Arguments that need no cue: a route, the only day, the only time, a counted thing."""
    by_kind = grouped(stated, lambda one: one.parameter.kind)
    pieces = []
    starts, ends = by_kind.get("origin", []), by_kind.get("destination", [])
    if len(starts) == len(ends) == 1 and starts[0].shown == starts[0].words and ends[0].shown == ends[0].words:
        text = rng.choice(book.route).format(o=starts[0].shown, d=ends[0].shown)
        pieces.append(RequestClause(text, (starts[0], ends[0])))
    for kinds in (_DAYS, frozenset({"time"})):
        here = [one for kind in kinds for one in by_kind.get(kind, [])]
        declared = [one for one in view.parameters if one.kind in kinds or one.kind == "moment"]
        if len(here) == len(declared) == 1 and here[0].parameter.kind in ("date", "moment", "time"):
            pieces.append(RequestClause(moment_clause(here[0], book), (here[0],)))
    for one in stated:  # what a number counts, by its cue: guests for "number of guests"
        is_many = one.parameter.is_number and one.value not in (1, "1")
        if is_many and (unit := of(language).rules.counted_argument(one.cue)):
            pieces.append(RequestClause(book.counted.format(v=one.shown, u=unit), (one,)))
    kept = [piece for piece in pieces if rng.random() < _NATURAL_SHARE]
    rng.shuffle(kept)
    return kept


def _rest(stated: list[StatedParameter], book: Phrasebook, rng: Random, *, plain: bool) -> list[RequestClause]:
    if not plain and len(stated) > 1 and rng.random() < _JOINED_SHARE:
        common = rng.choice(book.clauses)
        shapes = (common if rng.random() < _SAME_SHAPE_SHARE else rng.choice(book.clauses) for _ in stated)
        *clauses, last = [shape_clause(shape, one) for shape, one in zip(shapes, stated, strict=True)]
        text = book.joint.join(clauses) + book.last_joint + last
        return [RequestClause(capitalised(text) + book.stop, tuple(stated))]
    found = []
    for one in stated:
        own = book.plain if plain else book.coded if one.parameter.is_identifier else book.sentences
        shape = book.frame if plain and one.is_frame else rng.choice(own)
        found.append(RequestClause(shape_clause(shape, one), (one,)))
    return found


def _assemble(
    action: str, inline: list[RequestClause], tail: list[RequestClause], language: Language, rng: Random
) -> ComposedRequest:
    book = requests_in(language)
    space = of(language).space
    # some clauses begin with their cue rather than with a preposition
    cues = [(piece, piece.stated[0].cue) for piece in inline if len(piece.stated) == 1]
    is_bare = any(cue and piece.text.startswith(cue) and role_of(cue) != cue for piece, cue in cues)
    joint = book.joint if is_bare or not space else space
    act = of(language).rules.smooth(joint.join([action, *(piece.text for piece in inline)]))
    is_wish = bool(book.wishes) and rng.random() < _WISH_SHARE and not of(language).rules.is_for_speaker(action)
    opener = rng.choice(book.wishes if is_wish else book.openers)
    head = opener.replace("{a}", act).replace("{A}", capitalised(act))
    filler = rng.choice(book.fillers) if len(tail) > 1 and not inline else ""
    parts = [head, *(piece.text for piece in tail)]
    if filler:
        parts[1] = filler + parts[1]
    if rng.random() < _CLOSER_SHARE:
        parts.append(rng.choice(book.closers))
    return ComposedRequest(space.join(parts), (*inline, *tail))


def shape_clause(shape: str, stated: StatedParameter) -> str:
    """A shape with what its parameter is called and its value in words."""
    pack = packs_of(shape)[0]
    if stands_before(stated.cue, requests_in(pack.code)):
        begin, end = ("{C}" if shape.startswith("{C}") or shape[:1].isupper() else "{c}"), shape[len(tidy(shape)) :]
        shape = f"{begin} {{v}}{end}"
    shape = pack.rules.in_number(shape, stated.cue)
    return shape.replace("{c}", stated.cue).replace("{C}", capitalised(stated.cue)).replace("{v}", stated.shown)


def tidy(text: str) -> str:
    """A clause without the mark at its end."""
    return text.rstrip(_MARKS)


_ATTEMPTS = 6
_BOLD_ATTEMPTS = 3


class Worded(NamedTuple):
    """A request and, by parameter, the words in it that state the value."""

    request: str
    mentions: dict[str, str]

    def reply(self) -> dict[str, JsonValue]:
        """The answer as the schema wants it."""
        mentions: list[JsonValue] = [
            {"parameter": parameter, "words": words} for parameter, words in self.mentions.items()
        ]
        return {"request": self.request, "mentions": mentions}


def word_call(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded:
    """A request that states exactly these arguments, more plainly where words can't be pointed at; ReplyError where none does."""
    unknown = sorted(set(arguments) - set(view.properties))
    if unknown:
        raise ReplyError(f"The tool {view.name!r} has no parameters {unknown} to word.")
    refuse_gaps(view, tuple(arguments))
    for attempt in range(_ATTEMPTS):
        composed = compose(view, arguments, language, rng, plain=attempt >= _BOLD_ATTEMPTS)
        worded = quote_values(composed)
        if worded and writes(language, composed.request):
            return worded
    raise ReplyError(
        f"template/v1 finds no words in the language {language!r} for a call of {view.name!r} with {arguments!r}."
    )


def refuse_gaps(view: ToolView, names: Sequence[str] = ()) -> None:
    """ReplyError where template/v1 has no words for the tool, or for one of the parameters named, that people would use."""
    gap = view.gap or next((one.gap for one in view.parameters if one.name in names and one.gap), "")
    if gap:
        raise ReplyError(f"template/v1 can't word requests for the tool {view.name!r}: {gap}.")


def quote_values(composed: ComposedRequest) -> Worded | None:
    """The request with its mentions, None where a value can't be pointed at."""
    mentions: dict[str, str] = {}
    for piece in composed.pieces:
        for stated in piece.stated:
            words = _mention(stated, piece, composed.request)
            if not words:
                return None
            mentions[stated.parameter.name] = words
    return Worded(composed.request, mentions)


def _mention(stated: StatedParameter, piece: RequestClause, request: str) -> str:
    """The words that state the value: the value's own, with those around them where they occur twice."""
    around = tidy(piece.text) if len(piece.stated) == 1 else _around(stated, piece)
    located = [
        words
        for words in (stated.words, stated.shown, around)
        if words in request and locate(stated.value, stated.parameter.schema, words) is not None
    ]
    return next((words for words in located if request.count(words) == 1), located[0] if located else "")


def _around(stated: StatedParameter, piece: RequestClause) -> str:
    """The stretch of a clause with several arguments from this one's cue to its value, or the other way round."""
    value = piece.text.find(stated.shown)
    cue = piece.text.lower().find(stated.cue.lower())
    while cue >= 0 and piece.text.lower().find(stated.cue.lower(), cue + 1) in range(cue + 1, value):
        cue = piece.text.lower().find(stated.cue.lower(), cue + 1)
    if value < 0 or cue < 0:
        return stated.words
    return piece.text[min(value, cue) : max(value + len(stated.shown), cue + len(stated.cue))]
