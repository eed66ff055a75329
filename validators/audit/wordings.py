"""Defects in what the user says: other words around an unchanged gold call.

Words come from the language's `injections.yaml`, which no check reads, and from other samples;
the sample's own evidence says where each value is. Nothing here parses a text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from callwright.language.packs import unspaced, widened
from callwright.validators.audit.editing import Replacement, with_words
from callwright.validators.audit.subjects import (
    ArgumentPlace,
    AuditSubject,
    Injection,
    Injector,
    injects,
    pick,
    pick_if_any,
)
from callwright.warehouse.records import Sample, UserTurn

_SENTENCE = re.compile(widened(r"@[^.!?]+@[.!?]+[\"'”’»]?\s*"))
_CLOCK = re.compile(r"(?<!\d)\d\d:\d\d(?!\d)")
_LATIN = re.compile(r"[A-Za-zÀ-ÿ]")


def _text(subject: AuditSubject, at: int) -> str:
    turn = subject.sample.turns[at]
    return turn.text if isinstance(turn, UserTurn) else ""


def _small(text: str) -> str:
    """Return the request with a small first letter, but keep an initial name or "I"."""
    if len(text) > 1 and text[0].isupper() and text[1].islower():
        return text[0].lower() + text[1:]
    return text


def _wrapping(name: str) -> Injection:
    """Return an injection that puts other words around a request."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        frame, at = pick(subject.word_lists.get(name, []), rng), pick(subject.wishes, rng)
        return _framed(subject, at, frame)

    return inject


def _framed(subject: AuditSubject, at: int, frame: str, **more: str) -> Sample:
    """Return the request within a frame, `{r}` or `{R}`, with its evidence kept in place."""
    text = _text(subject, at)
    before, mark, after = re.split(r"(\{r\}|\{R\})", frame, maxsplit=1)
    changes = [
        Replacement(0, 0, before.format(**more)),
        Replacement(len(text), len(text), after.format(**more)),
    ]
    if mark == "{r}":
        changes.append(Replacement(0, 1, _small(text)[:1]))
    return with_words(subject.sample, at, changes)


@injects("opening_negated", "the request begins by asking for the opposite")
def _opening_negated(subject: AuditSubject, _rng: Random) -> Sample | None:
    openings: dict[str, str] = subject.word_lists.get("openings", {})
    options = [
        (at, opening, other)
        for at in subject.wishes
        for opening, other in openings.items()
        if _text(subject, at).startswith(opening)
    ]
    chosen = max(options, key=lambda option: len(option[1]), default=None)
    if chosen is None:
        return None
    at, opening, negation = chosen
    return with_words(subject.sample, at, [Replacement(0, len(opening), negation)])


@injects("second_request", "another sample's request stands behind the request")
def _second_request(subject: AuditSubject, rng: Random) -> Sample | None:
    frame = pick(subject.word_lists.get("joined_wishes", []), rng)
    other, at = pick(_other_requests(subject), rng), pick(subject.wishes, rng)
    return _framed(subject, at, frame, o=_small(other), O=other)


@injects("other_request", "another sample's request stands in its place")
def _other_request(subject: AuditSubject, rng: Random) -> Sample | None:
    return _asking_instead(subject, _other_requests(subject), rng)


@injects("wrong_language", "the request is in another language")
def _wrong_language(subject: AuditSubject, rng: Random) -> Sample | None:
    own, pool = subject.sample.language, subject.pool.requests
    return _asking_instead(
        subject, [text for one, said in pool.items() if one != own for text, _ in said], rng
    )


def _other_requests(subject: AuditSubject) -> list[str]:
    """Return the requests of other samples that ask for other tools."""
    requests = subject.pool.requests.get(subject.sample.language, [])
    return [text for text, tools in requests if not tools & subject.due]


def _asking_instead(subject: AuditSubject, others: Sequence[str], rng: Random) -> Sample:
    other, at = pick(others, rng), pick(subject.wishes, rng)
    return with_words(subject.sample, at, [Replacement(0, len(_text(subject, at)), other)])


def _any(_place: ArgumentPlace) -> bool:
    return True


def _rewording(
    name: str,
    breaks: str,
    frames: str,
    *,
    other: bool = False,
    fits: Callable[[ArgumentPlace], bool] = _any,
    is_of_words: bool = True,
) -> Injector:
    """Return an injector that rewords a value by a frame of the list `frames`.

    The frame may hold the words of another value too.
    """

    @injects(name, breaks, is_of_words=is_of_words)
    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        places = [place for place in subject.stated() if fits(place)]
        rng.shuffle(places)
        for place in places:
            frame, quote = (
                pick_if_any(subject.word_lists.get(frames, []), rng),
                _other_quote(place, subject, rng),
            )
            if frame is not None and (quote or not other):
                return _reworded(subject, place, frame.format(v=place.evidence.quote, o=quote))
        return None

    return inject


def _other_quote(place: ArgumentPlace, subject: AuditSubject, rng: Random) -> str:
    """Return another sample's words for another value, or another choice of the schema."""
    quotes = [one.quote for one in subject.others(place)]
    choices = [
        str(one) for one in place.schema.get("enum", []) if str(one).casefold() not in subject.words
    ]
    return pick_if_any(quotes, rng) or pick_if_any(choices, rng) or ""


def _reworded(subject: AuditSubject, place: ArgumentPlace, words: str) -> Sample | None:
    evidence = place.evidence
    if evidence.turn is None or evidence.start is None or evidence.end is None:
        return None
    return with_words(
        subject.sample, evidence.turn, [Replacement(evidence.start, evidence.end, words)]
    )


@injects("other_value_stated", "the user says another value", is_of_words=True)
def _other_value(subject: AuditSubject, rng: Random) -> Sample | None:
    places = [(place, _other_quote(place, subject, rng)) for place in subject.stated()]
    return _reworded(subject, *pick([(place, quote) for place, quote in places if quote], rng))


@injects("digit_in_words", "the user says another digit", is_of_words=True)
def _digit_in_words(subject: AuditSubject, rng: Random) -> Sample | None:
    places = subject.stated()
    options = [
        (one, at)
        for one in places
        for at, sign in enumerate(one.evidence.quote)
        if sign.isdecimal()
    ]
    place, at = pick(options, rng)
    quote = place.evidence.quote
    return _reworded(
        subject, place, f"{quote[:at]}{(int(quote[at]) + rng.randint(1, 9)) % 10}{quote[at + 1 :]}"
    )


@injects("value_not_stated", "the user does not say a value", is_of_words=True)
def _value_not_stated(subject: AuditSubject, rng: Random) -> Sample | None:
    place = pick(subject.stated(), rng)
    if subject.words.count(place.evidence.quote.casefold()) != 1:
        return None
    return _reworded(subject, place, "")


class _Reach(NamedTuple):
    """How many letters from the words of which values a word may be to be exchanged."""

    before: int = 0
    behind: int = 0
    fits: Callable[[ArgumentPlace], bool] = _any


def _word_exchanged(name: str, reach: _Reach | None) -> Injection:
    """Return an injection that swaps a word for its partner in the list `name`, within reach.

    Without a reach the word may be anywhere.
    """

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        options = [
            (at, change)
            for at, text in _texts(subject)
            for change in _exchanges(text, _pairs(subject, name))
            if reach is None
            or any(_is_near(change, at, place, reach) for place in subject.stated())
        ]
        at, exchanged = pick(options, rng)
        return with_words(subject.sample, at, [exchanged])

    return inject


def _pairs(subject: AuditSubject, name: str) -> list[list[str]]:
    pairs: list[list[str]] = subject.word_lists.get("exchanged", {}).get(name, [])
    return pairs


@injects("other_deed", "book for cancel")
def _other_deed(subject: AuditSubject, rng: Random) -> Sample | None:
    """Replace the first word for an action in a request by a word for another action."""
    at, places = pick(subject.wishes, rng), subject.stated()
    changes = sorted(_exchanges(_text(subject, at), _pairs(subject, "deeds")))
    first = next(
        (one for one in changes if not any(_is_near(one, at, place, _Reach()) for place in places)),
        None,
    )
    return with_words(subject.sample, at, [first]) if first else None


def _is_near(change: Replacement, at: int, place: ArgumentPlace, reach: _Reach) -> bool:
    start, end = place.evidence.start, place.evidence.end
    if place.evidence.turn != at or start is None or end is None or not reach.fits(place):
        return False
    return change.start < end + reach.behind and start - reach.before < change.end


def _is_number(place: ArgumentPlace) -> bool:
    return isinstance(place.value, (int, float)) and not isinstance(place.value, bool)


def _texts(subject: AuditSubject) -> Iterator[tuple[int, str]]:
    """Yield what the user says in turns that ask for calls or that values come from."""
    turns = {
        *subject.wishes,
        *(place.evidence.turn for place in subject.stated() if place.evidence.turn is not None),
    }
    return ((at, _text(subject, at)) for at in sorted(turns))


def _exchanges(text: str, pairs: Sequence[Sequence[str]]) -> Iterator[Replacement]:
    for pair in pairs:
        for word, other in (pair, pair[::-1]):
            for found in _whole(word).finditer(text):
                capital = found.group()[0].isupper() and not word[0].isupper()
                yield Replacement(*found.span(), other[0].upper() + other[1:] if capital else other)


def _whole(word: str) -> re.Pattern[str]:
    """Return a pattern for a whole word; in languages without spaces it matches anywhere."""
    letters = "A-Za-zÀ-ÿ"
    edges = (rf"(?<![{letters}])", rf"(?![{letters}])") if _LATIN.search(word) else ("", "")
    first = f"[{re.escape(word[0].lower())}{re.escape(word[0].upper())}]"
    return re.compile(f"{edges[0]}{first}{re.escape(word[1:])}{edges[1]}")


@injects("route_turned", "the words of two values are exchanged", is_of_words=True)
def _route_turned(subject: AuditSubject, rng: Random) -> Sample | None:
    """Exchange two values of similar type that are stated in one turn."""
    places = subject.stated()
    options = [
        (one, other)
        for at, one in enumerate(places)
        for other in places[at + 1 :]
        if _is_like(one, other) and one.evidence.quote.casefold() != other.evidence.quote.casefold()
    ]
    first, other = (place.evidence for place in pick(options, rng))
    if (
        first.turn is None
        or first.start is None
        or first.end is None
        or other.start is None
        or other.end is None
    ):
        return None
    changes = [
        Replacement(first.start, first.end, other.quote),
        Replacement(other.start, other.end, first.quote),
    ]
    return with_words(subject.sample, first.turn, changes)


def _is_like(one: ArgumentPlace, other: ArgumentPlace) -> bool:
    first, second = one.evidence, other.evidence
    if first.turn != second.turn or None in (first.start, second.start, first.end, second.end):
        return False
    alike = all(
        one.schema.get(key) == other.schema.get(key)
        for key in ("type", "enum", "format", "pattern")
    )
    is_apart = (first.end or 0) <= (second.start or 0) or (second.end or 0) <= (first.start or 0)
    return alike and is_apart and one.value != other.value and one.call == other.call


@injects("cut_off", "the text breaks off within a value", is_of_words=True)
def _cut_off(subject: AuditSubject, _rng: Random) -> Sample | None:
    """Cut the text in the middle of the last value."""
    places = [place for place in subject.stated() if place.evidence.end is not None]
    last = max(
        places, key=lambda place: (place.evidence.turn or 0, place.evidence.end or 0), default=None
    )
    if last is None or last.evidence.turn is None or len(last.evidence.quote) < 4:  # noqa: PLR2004 - two letters stay
        return None
    text = _text(subject, last.evidence.turn)
    cut = (last.evidence.start or 0) + len(last.evidence.quote) // 2
    return with_words(subject.sample, last.evidence.turn, [Replacement(cut, len(text), "")])


@injects("sentence_removed", "a sentence that says a value is gone")
def _sentence_removed(subject: AuditSubject, rng: Random) -> Sample | None:
    """Remove a sentence that states a value from a text of several sentences."""
    options: list[tuple[int, Replacement]] = []
    for at, text in _texts(subject):
        spans = [match.span() for match in _SENTENCE.finditer(text)]
        starts = [one.evidence.start or 0 for one in subject.stated() if one.evidence.turn == at]
        told = [(start, end) for start, end in spans if any(start <= one < end for one in starts)]
        options += (
            [(at, Replacement(start, end, "")) for start, end in told] if len(spans) > 1 else []
        )
    at, removed = pick(options, rng)
    return with_words(subject.sample, at, [removed])


@injects("word_twice", "a word stands twice")
def _word_twice(subject: AuditSubject, rng: Random) -> Sample | None:
    at = pick(subject.wishes, rng)
    word = pick(list(re.finditer(rf"[A-Za-zÀ-ÿ]+|[{unspaced()}]{{2}}", _text(subject, at))), rng)
    joint = " " if _LATIN.search(word.group()) else ""
    return with_words(
        subject.sample, at, [Replacement(word.end(), word.end(), joint + word.group())]
    )


@injects("placeholder", "a placeholder stands for a value", is_of_words=True)
def _placeholder(subject: AuditSubject, rng: Random) -> Sample | None:
    place, mark = pick(subject.stated(), rng), pick(subject.word_lists.get("placeholders", []), rng)
    return _reworded(subject, place, mark)


def _has_clock(place: ArgumentPlace) -> bool:
    return isinstance(place.value, str) and _CLOCK.search(place.value) is not None


_HALF_DAY = _Reach(before=6, behind=16, fits=_has_clock)
_FLAG = _Reach(before=10, fits=lambda place: isinstance(place.value, bool))
_UNIT = _Reach(behind=10, fits=_is_number)

INJECTORS = (
    injects("negated", "the user says that it shall not be done")(_wrapping("negated")),
    _opening_negated,
    injects("cancelled", "the user takes the request back at its end")(_wrapping("cancelled")),
    injects("conditional", "the request depends on a condition")(_wrapping("conditional")),
    injects("hypothetical", "the request is only imagined")(_wrapping("hypothetical")),
    injects("past", "the request was made and carried out before")(_wrapping("past")),
    injects("quoted", "the request is what somebody else said")(_wrapping("quoted")),
    injects("question_instead", "the user asks about it instead of wanting it")(
        _wrapping("questioned")
    ),
    injects("second_wish", "the user wants a thing besides that no call does")(
        _wrapping("second_wishes")
    ),
    _second_request,
    _other_request,
    _wrong_language,
    _rewording("alternative", "the user says one value or another", "alternatives", other=True),
    _rewording(
        "vague_alternative", "the user says a value or something else", "vague_alternatives"
    ),
    _rewording("excepted", "the user wants anything but the value", "excepted"),
    _rewording(
        "hedged", "the user gives the value as a bound or a guess", "hedged", fits=_is_number
    ),
    _rewording("corrected", "the user corrects the value at once", "corrected", other=True),
    _other_value,
    _digit_in_words,
    _value_not_stated,
    injects("unit_exchanged", "the user says another unit")(_word_exchanged("units", _UNIT)),
    injects("superlative_turned", "cheapest for dearest")(_word_exchanged("superlatives", None)),
    injects("bound_turned", "at least for at most")(
        _word_exchanged("bounds", _Reach(before=14, behind=4))
    ),
    injects("direction_turned", "from for to")(_word_exchanged("directions", _Reach(before=6))),
    injects("half_day_in_words", "morning for evening", is_of_words=True)(
        _word_exchanged("half_days", _HALF_DAY)
    ),
    injects("day_in_words", "today for tomorrow, Monday for Tuesday", is_of_words=True)(
        _word_exchanged("days", _Reach())
    ),
    injects("flag_in_words", "with for without", is_of_words=True)(_word_exchanged("flags", _FLAG)),
    _other_deed,
    _route_turned,
    _cut_off,
    _sentence_removed,
    _word_twice,
    _rewording("markup", "a value is marked up", "markup", is_of_words=False),
    _placeholder,
)
