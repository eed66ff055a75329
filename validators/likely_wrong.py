"""What in a call is likeliest wrong, by code alone: values that may be somebody else's place.

That nobody says a value tells little: most choices and flags are implied. A value is suspicious if
the words give it to another parameter, if it is the one before a correction, or if another value
like it is said and no call uses that.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, Protocol

from pydantic import JsonValue

from callwright.language.names import split_name
from callwright.language.readers.mentions import find_amounts, find_moments, words_around
from callwright.language.schemas import choices_of, json_type
from callwright.language.text import Spans, find_corrections
from callwright.validators.evidence import ValueFound, find_in_calls, scene_of, stated_in
from callwright.warehouse.records import DoubtedFact, Sample, Tool

Sort = Literal["exchanged", "corrected", "either", "like_value"]
_ORDER: tuple[Sort, ...] = ("exchanged", "corrected", "either", "like_value")
_DAY, _CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"(?<!\d)\d{2}:\d{2}")
_CODE = re.compile(r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9][\w-]*\w")
_RIGHT_BEFORE = r"{0}\s{0,2}(?:(?:the|el|la|der|die|das|den)\s)?$"
_CUE = 24  # letters before a value that give it its part
_BETWEEN = 16  # letters between two values of which either may be meant
_FROM = frozenset({"from", "origin", "source", "departure", "sender", "old", "min", "minimum"})
_TO = frozenset({"to", "destination", "target", "arrival", "recipient", "new", "max", "maximum"})
_LOW = frozenset({"min", "minimum", "from", "start", "begin", "since", "lower", "earliest"})
_HIGH = frozenset({"max", "maximum", "to", "end", "until", "upper", "latest"})


class Suspicion(NamedTuple):
    """A value that is likely wrong, what speaks against it, and the words of the other value."""

    sort: Sort
    fact: DoubtedFact
    reason: str


class _Said(NamedTuple):
    """A value of a call, and where the user says it."""

    found: ValueFound
    turn: int
    in_message: bool
    start: int
    end: int

    @property
    def place(self) -> tuple[int, bool]:
        """Which of the user's texts it stands in."""
        return self.turn, self.in_message


class _Placed(Protocol):
    """What stands somewhere in a text."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


class _Other(NamedTuple):
    value: str
    start: int
    end: int


def find_suspicions(sample: Sample, tools: Sequence[Tool]) -> list[Suspicion]:
    """Return the values of a conversation's calls that are likely wrong, the likeliest first."""
    whole = scene_of(sample, tools)
    suspicions: list[Suspicion] = []
    used: dict[tuple[int, bool], Spans] = {}
    for snapshot in sample.snapshots():
        scene = whole._replace(turns=snapshot.prefix, calls=snapshot.calls)
        found = [*find_in_calls(scene)]
        said = [one for value in found if (one := _said_in(value)) is not None]
        for one in said:
            used.setdefault(one.place, Spans()).add(one.start, one.end)
        texts = {(one.turn, one.in_message): one.text for one in stated_in(snapshot.prefix)}
        suspicions += _exchanged(said, texts, snapshot.turn)
        for one in said:
            text = texts.get(one.place, "")
            others = _others(one, text, used[one.place], sample.language)
            suspicions += _like_values(one, text, others, snapshot.turn)
    likeliest: dict[tuple[int | None, str], Suspicion] = {}
    for suspicion in _by_weight(suspicions):
        likeliest.setdefault((suspicion.fact.turn, suspicion.fact.argument), suspicion)
    return [*likeliest.values()]


def _by_weight(suspicions: Iterable[Suspicion]) -> list[Suspicion]:
    return sorted(suspicions, key=lambda one: _ORDER.index(one.sort))


def _said_in(found: ValueFound) -> _Said | None:
    one = found.evidence
    if one is None or one.turn is None or one.start is None or one.end is None:
        return None
    return _Said(found, one.turn, one.in_message, one.start, one.end)


def _fact(sort: Sort, one: _Said, turn: int, other: JsonValue, quote: str = "") -> DoubtedFact:
    claim = one.found.claim
    return DoubtedFact(
        kind=sort, turn=turn, argument=claim.name, value=claim.value, other=other, quote=quote
    )


# --- exchanged


def _exchanged(
    said: Sequence[_Said], texts: dict[tuple[int, bool], str], turn: int
) -> Iterator[Suspicion]:
    """Yield pairs of values that the words give to each other's parameter."""
    for one, other in combinations(said, 2):
        first, second = one.found.claim, other.found.claim
        is_of_one_call = first.call == second.call and type(first.value) is type(second.value)
        if not is_of_one_call or first.value == second.value:
            continue
        if _is_out_of_order(one, other) or _have_others_parts(one, other, texts):
            for this, that in ((one, other), (other, one)):
                value, name = that.found.claim.value, this.found.claim.name
                told = f"{name} = {value!r}, and not {this.found.claim.value!r}"
                reason = f"Before turn {turn} the words give {told}."
                yield Suspicion("exchanged", _fact("exchanged", this, turn, value), reason)


def _is_out_of_order(one: _Said, other: _Said) -> bool:
    """Whether one is the low and the other the high end of one range, the wrong way round."""
    ends = [_end_of(said.found.claim.name) for said in (one, other)]
    if {end for end, _ in ends} != {"low", "high"} or ends[0][1] != ends[1][1]:
        return False
    low, high = (one, other) if ends[0][0] == "low" else (other, one)
    values = low.found.claim.value, high.found.claim.value
    if all(isinstance(value, int | float) for value in values):
        return float(str(values[0])) > float(str(values[1]))
    is_dated = all(isinstance(value, str) and _DAY.match(value) for value in values)
    return is_dated and str(values[0]) > str(values[1])


def _end_of(name: str) -> tuple[str, frozenset[str]]:
    words = frozenset(split_name(name))
    if words & _LOW and not words & _HIGH:
        return "low", words - _LOW
    if words & _HIGH and not words & _LOW:
        return "high", words - _HIGH
    return "", words


def _have_others_parts(one: _Said, other: _Said, texts: dict[tuple[int, bool], str]) -> bool:
    """Whether words such as "from" and "to" before two values say the other way round."""
    parts = [_part_of_name(said.found.claim.name) for said in (one, other)]
    if {*parts} != {"from", "to"}:
        return False
    cues = [
        _part_of_words(texts.get(said.place, "")[max(0, said.start - _CUE) : said.start])
        for said in (one, other)
    ]
    against = sum(bool(cue) and cue != part for cue, part in zip(cues, parts, strict=True))
    return against > 0 and not any(cue == part for cue, part in zip(cues, parts, strict=True))


def _part_of_name(name: str) -> str:
    words = frozenset(split_name(name))
    if bool(words & _FROM) == bool(words & _TO):
        return ""
    return "from" if words & _FROM else "to"


def _part_of_words(before: str) -> str:
    """Return which end of a way the words right before a value tell, or ""."""
    for part in ("from", "to"):
        if words_around(f"way_{part}", r"{0}\s{0,2}(?:(?:the|el|la|der|die|das|den)\s)?$").search(
            before
        ):
            return part
    return ""


# --- like values


def _others(one: _Said, text: str, used: Spans, language: str) -> list[_Other]:
    """Return the values of the same form that a text says, and no call uses."""
    claim = one.found.claim
    value, schema = claim.value, claim.schema
    if choices_of(schema) or isinstance(value, bool) or json_type(schema) == "array":
        return []
    found = [*_mentioned(one, value, text, language)]
    return [other for other in found if not used.overlaps(other.start, other.end)]


def _mentioned(one: _Said, value: JsonValue, text: str, language: str) -> Iterator[_Other]:
    """Yield the numbers, days, times or codes of a text that are like a value said there."""
    moments = find_moments(text, language, None)
    if isinstance(value, int | float):
        amounts = find_amounts(text, language)
        own = next((each for each in amounts if _touch(each, one)), None)
        for each in amounts if own else ():
            is_alike = own is not None and each.unit == own.unit and each.value != own.value
            if is_alike and each.is_sure and not any(_touch(each, moment) for moment in moments):
                yield _Other(text[each.start : each.end], each.start, each.end)
    elif isinstance(value, str) and (_DAY.search(value) or _CLOCK.search(value)):
        is_of_day = bool(_DAY.search(value))
        for moment in moments:
            is_alike = bool(moment.days or moment.sort) if is_of_day else bool(moment.clocks)
            if is_alike and not moment.is_range and not _touch(moment, one):
                yield _Other(text[moment.start : moment.end], moment.start, moment.end)
    elif isinstance(value, str) and _CODE.fullmatch(value):
        for match in _CODE.finditer(text):
            if _form_of(match[0]) == _form_of(value) and match[0].casefold() != value.casefold():
                yield _Other(match[0], match.start(), match.end())


def _touch(one: _Placed, other: _Placed) -> bool:
    return one.start < other.end and other.start < one.end


def _form_of(code: str) -> str:
    """Return the form of a code: "AAA-000" of "BIO-101"."""
    return re.sub(r"\d", "0", re.sub(r"[A-Za-z]", "A", code))


def _like_values(one: _Said, text: str, others: Sequence[_Other], turn: int) -> Iterator[Suspicion]:
    """Yield a value that is taken back, one of two that may be meant, or one of two like codes."""
    marks = find_corrections(text)
    claim = one.found.claim
    for other in others:
        low, high = sorted(((one.start, one.end), (other.start, other.end)))
        is_corrected = any(low[1] <= mark.start + 1 and mark.end - 1 <= high[0] for mark in marks)
        if is_corrected and other.start < one.start:
            continue  # the value is the one behind the correction
        between = text[low[1] : high[0]]
        is_either = len(between) <= _BETWEEN and words_around("either").search(between) is not None
        is_code = isinstance(claim.value, str) and _CODE.fullmatch(claim.value) is not None
        is_taken_back = any(other.end <= mark.start + 1 for mark in marks)
        sort: Sort = "corrected" if is_corrected else "either" if is_either else "like_value"
        if sort == "like_value" and (not is_code or is_taken_back):
            continue  # other numbers and days are mostly about something else
        reason = (
            f"Before turn {turn} {other.value!r} is said as well as {claim.name} = {claim.value!r}."
        )
        yield Suspicion(sort, _fact(sort, one, turn, other.value, other.value), reason)
