"""What in a call is likeliest wrong, by code alone: values that may be somebody else's place.

That nobody says a value tells little: most choices and flags are implied. A value is suspicious if
the words give it to another parameter or to another call like this one, if it is the one before a
correction, or if another value like it is said and no call uses that.
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
from callwright.language.values import locate
from callwright.validators.evidence import ValueFound, find_in_calls, scene_of, stated_in
from callwright.validators.origins import Claim
from callwright.warehouse.records import (
    CallTurn,
    DoubtedFact,
    GoldCall,
    ResultTurn,
    Sample,
    Snapshot,
    Tool,
    Turn,
    UserTurn,
)

Sort = Literal["exchanged", "corrected", "either", "like_value"]
_ORDER: tuple[Sort, ...] = ("exchanged", "corrected", "either", "like_value")
_DAY, _CLOCK = re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"(?<!\d)\d{2}:\d{2}")
_CODE = re.compile(r"(?<![\w-])(?<!\d )(?=[\w-]*\d)[A-Za-z0-9][\w-]*\w(?! \d)")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_LONG_NUMBER = re.compile(r"(?<!\w)[(+]*\d(?:[ ().\-/]{0,2}\d){5,29}(?!\w)")
_FEWEST_DIGITS, _LONGEST_COUNTRY_CODE = 6, 3
_RIGHT_BEFORE = r"{0}\s{0,2}(?:(?:the|el|la|der|die|das|den)\s)?$"
_CUE = 24  # letters before a value that give it its part
_TELLING = 4  # letters of a word
_NEAR, _FAR = 40, 10**6  # letters between a value and others of its call
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


class _Row(NamedTuple):
    """A call that was made or is made now, and where the user says its values."""

    call: GoldCall
    said: tuple[_Said, ...]


class _Other(NamedTuple):
    value: str
    start: int
    end: int


def find_suspicions(sample: Sample, tools: Sequence[Tool]) -> list[Suspicion]:
    """Return the values of a conversation's calls that are likely wrong, the likeliest first."""
    whole = scene_of(sample, tools)
    suspicions: list[Suspicion] = []
    rows: list[_Row] = []
    found_at = [
        (snapshot, [*find_in_calls(whole._replace(turns=snapshot.prefix, calls=snapshot.calls))])
        for snapshot in sample.snapshots()
    ]
    used: dict[tuple[int, bool], Spans] = {}
    for _, found in found_at:
        for one in filter(None, map(_said_in, found)):
            used.setdefault(one.place, Spans()).add(one.start, one.end)
    for snapshot, found in found_at:
        said = [*filter(None, map(_said_in, found))]
        texts = {(one.turn, one.in_message): one.text for one in stated_in(snapshot.prefix)}
        suspicions += _exchanged(said, texts, snapshot.turn, rows)
        suspicions += _taken_up_again(said, rows, snapshot.turn, sample)
        for call in snapshot.calls:
            row = _Row(call, tuple(one for one in said if one.found.claim.call is call))
            for earlier in rows:
                others = [
                    (one, _others(one, texts.get(one.place, ""), used[one.place], sample.language))
                    for one in _of_both(row, earlier)
                ]
                suspicions += _of_another_call(row, earlier, others, snapshot.turn)
            rows.append(row)
        suspicions += _of_another_row(found, snapshot, sample.all_calls)
        suspicions += _misspelt(found, texts, snapshot.turn)
        for one in said:
            text = texts.get(one.place, "")
            likes = _others(one, text, used[one.place], sample.language)
            suspicions += _like_values(one, text, likes, snapshot.turn)
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
    said: Sequence[_Said], texts: dict[tuple[int, bool], str], turn: int, rows: Sequence[_Row]
) -> Iterator[Suspicion]:
    """Yield pairs of values that the words give to each other's parameter.

    Where another call has them the other way round it is the way back.
    """
    calls = [*(row.call for row in rows), *(one.found.claim.call for one in said)]
    for one, other in combinations(said, 2):
        first, second = one.found.claim, other.found.claim
        is_of_one_call = first.call == second.call and type(first.value) is type(second.value)
        is_way_back = any(
            call.arguments.get(first.name) == second.value
            and call.arguments.get(second.name) == first.value
            for call in calls
        )
        if not is_of_one_call or first.value == second.value or is_way_back:
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


# --- values of other calls and rows


def _of_both(row: _Row, earlier: _Row) -> Iterator[_Said]:
    """Yield the values of a call that an earlier call of its tool has from the same words."""
    if row.call.tool != earlier.call.tool:
        return
    for one in row.said:
        name, value = one.found.claim.name, one.found.claim.value
        if any(
            (each.found.claim.name, each.found.claim.value, each.place) == (name, value, one.place)
            for each in earlier.said
        ):
            yield one


def _of_another_call(
    row: _Row, earlier: _Row, others: Sequence[tuple[_Said, list[_Other]]], turn: int
) -> Iterator[Suspicion]:
    """Yield a value of an earlier call if one like it is said beside what is this call's own.

    "Ann, born on the 3rd, and Ben, born on the 9th": Ben's call has the 3rd, as Ann's had. Of
    several values that may be meant it is the one nearest to what is the earlier call's own.
    """
    meant: dict[_Other, tuple[int, _Said]] = {}
    for one, likes in others:
        theirs, own = _told_apart(earlier, row, one), _told_apart(row, earlier, one)
        for other in likes:
            if _gap(other, own) < min(_gap(other, theirs), _NEAR):
                found = (_gap(one, theirs), one)
                meant[other] = min(meant.get(other, found), found, key=lambda each: each[0])
    for other, (_, one) in meant.items():
        told = f"{one.found.claim.name} = {other.value!r}"
        reason = f"Before turn {turn} the words give {told} to this call."
        yield Suspicion(
            "exchanged", _fact("exchanged", one, turn, other.value, other.value), reason
        )


def _told_apart(row: _Row, other: _Row, beside: _Said) -> list[_Said]:
    """Return where a text says the values that a call does not share with another one."""
    shared = {(each.found.claim.name, str(each.found.claim.value)) for each in other.said}
    return [
        each
        for each in row.said
        if each.place == beside.place
        and (each.found.claim.name, str(each.found.claim.value)) not in shared
    ]


def _gap(one: _Placed, others: Sequence[_Placed]) -> int:
    """Return the letters between a place and the nearest of others."""
    return min((max(one.start - each.end, each.start - one.end) for each in others), default=_FAR)


def _taken_up_again(
    said: Sequence[_Said], rows: Sequence[_Row], turn: int, sample: Sample
) -> Iterator[Suspicion]:
    """Yield a value that a later call replaced, and that nobody has said since."""
    turns_of = {
        id(call): at
        for at, each in enumerate(sample.turns)
        if isinstance(each, CallTurn)
        for call in each.calls
    }
    for one in said:
        claim = one.found.claim
        if isinstance(claim.value, bool) or not isinstance(claim.value, str | int | float):
            continue
        past = [
            (turns_of.get(id(row.call), turn), row.call.arguments[claim.name])
            for row in rows
            if claim.name in row.call.arguments
        ]
        befores = [at for at, value in past if value == claim.value]
        if not past or not befores or past[-1][1] == claim.value:
            continue
        at, latest = past[-1]
        is_between = befores[-1] < at < turn and one.turn < at
        if (
            is_between
            and _is_answer(sample, befores[-1], at)
            and not _is_said(claim.value, sample.turns[at:turn])
        ):
            reason = f"Before turn {turn} {claim.name} = {latest!r} has replaced {claim.value!r}."
            yield Suspicion("corrected", _fact("corrected", one, turn, latest), reason)


def _is_answer(sample: Sample, start: int, end: int) -> bool:
    """Whether the user says something between two turns."""
    return any(isinstance(turn, UserTurn) for turn in sample.turns[start:end])


def _is_said(value: JsonValue, turns: Sequence[Turn]) -> bool:
    """Whether the user says a telling word of a value in some turns."""
    words = {one for one in re.findall(r"\w+", str(value).casefold()) if len(one) >= _TELLING}
    said = " ".join(one.text for one in turns if isinstance(one, UserTurn)).casefold()
    return any(word in said for word in words)


def _of_another_row(
    found: Sequence[ValueFound], snapshot: Snapshot, calls: Sequence[GoldCall]
) -> Iterator[Suspicion]:
    """Yield an identifier of one row of a result if the user then says what another row holds.

    No call must use that row.
    """
    given = {str(one) for call in calls for one in call.arguments.values()}
    for at, turn in enumerate(snapshot.prefix):
        if not isinstance(turn, ResultTurn):
            continue
        words = [one.text for one in snapshot.prefix[at:] if isinstance(one, UserTurn)]
        said = words[-1] if words else ""
        for rows in (one for result in turn.results for one in _lists_of_rows(result)):
            for value in found:
                claim = value.claim
                if isinstance(claim.value, str) and _CODE.fullmatch(claim.value) and said:
                    yield from _row_said(claim, rows, said, given, snapshot.turn)


def _row_said(
    claim: Claim, rows: Sequence[dict[str, JsonValue]], said: str, given: set[str], turn: int
) -> Iterator[Suspicion]:
    own = next((row for row in rows if claim.value in row.values()), None)
    if own is None:
        return
    key = next(name for name, value in own.items() if value == claim.value)
    hits = {at: _says_row(row, rows, said) for at, row in enumerate(rows) if key in row}
    best = [at for at, count in hits.items() if count and count == max(hits.values())]
    is_other = len(best) == 1 and rows[best[0]] is not own and not _says_row(own, rows, said)
    other = rows[best[0]][key] if is_other else None
    if is_other and str(other) not in given:
        fact = DoubtedFact(
            kind="exchanged", turn=turn, argument=claim.name, value=claim.value, other=other
        )
        reason = f"Before turn {turn} the user says what the row of {other!r} holds."
        yield Suspicion("exchanged", fact, reason)


def _says_row(row: dict[str, JsonValue], rows: Sequence[dict[str, JsonValue]], said: str) -> int:
    """Return how many values a text says that no other row has."""
    return sum(
        locate(value, {}, said) is not None
        for name, value in row.items()
        if isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and len(str(value)) >= _TELLING
        and not any(other is not row and other.get(name) == value for other in rows)
    )


def _lists_of_rows(value: JsonValue) -> Iterator[list[dict[str, JsonValue]]]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _lists_of_rows(one)
    elif isinstance(value, list):
        rows = [one for one in value if isinstance(one, dict)]
        if len(rows) > 1:
            yield rows
        for one in value:
            yield from _lists_of_rows(one)


def _misspelt(
    found: Sequence[ValueFound], texts: dict[tuple[int, bool], str], turn: int
) -> Iterator[Suspicion]:
    """Yield a long number that nobody says if one like it is said, with a digit or two changed."""
    for value in found:
        claim = value.claim
        digits = re.sub(r"\D", "", str(claim.value)) if value.evidence is None else ""
        if len(digits) < _FEWEST_DIGITS or isinstance(claim.value, float | bool):
            continue
        for text in texts.values():
            for match in _LONG_NUMBER.finditer(text):
                if _differ_little(digits, re.sub(r"\D", "", match[0]).lstrip("0")):
                    other = match[0]
                    fact = DoubtedFact(
                        kind="like_value",
                        turn=turn,
                        argument=claim.name,
                        value=claim.value,
                        other=other,
                        quote=other,
                    )
                    reason = f"Before turn {turn} {other!r} is said, and not {claim.value!r}."
                    yield Suspicion("like_value", fact, reason)


def _differ_little(digits: str, said: str) -> bool:
    """Whether a number differs from a said one by a digit, or by two beside each other swapped.

    A country's code may stand before it.
    """
    rest = len(digits) - len(said)
    if len(said) < _FEWEST_DIGITS or not 0 <= rest <= _LONGEST_COUNTRY_CODE:
        return False
    apart = [at for at, sign in enumerate(said) if sign != digits[rest + at]]
    is_swapped = len(apart) > 1 and apart[-1] - apart[0] == 1
    return len(apart) == 1 or (is_swapped and sorted(digits[rest:]) == sorted(said))


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
            is_one = not moment.is_range or (is_of_day and bool(moment.clocks))  # "the 3rd after 5"
            if is_alike and is_one and not _touch(moment, one):
                yield _Other(text[moment.start : moment.end], moment.start, moment.end)
    elif isinstance(value, str):
        pattern = next((one for one in (_MAIL, _LONG_NUMBER, _CODE) if one.fullmatch(value)), None)
        for match in pattern.finditer(text) if pattern else ():
            is_alike = pattern is not _CODE or _form_of(match[0]) == _form_of(value)
            if is_alike and not _touch(_Other(match[0], *match.span()), one):
                yield _Other(match[0], match.start(), match.end())


def _touch(one: _Placed, other: _Placed) -> bool:
    return one.start < other.end and other.start < one.end


def _is_code(value: JsonValue) -> bool:
    is_moment = isinstance(value, str) and (_DAY.search(value) or _CLOCK.search(value))
    return isinstance(value, str) and not is_moment and _CODE.fullmatch(value) is not None


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
        is_code = _is_code(claim.value) and _form_of(other.value) == _form_of(str(claim.value))
        is_taken_back = any(other.end <= mark.start + 1 for mark in marks)
        sort: Sort = "corrected" if is_corrected else "either" if is_either else "like_value"
        if sort == "like_value" and (not is_code or is_taken_back):
            continue  # other numbers and days are mostly about something else
        reason = (
            f"Before turn {turn} {other.value!r} is said as well as {claim.name} = {claim.value!r}."
        )
        yield Suspicion(sort, _fact(sort, one, turn, other.value, other.value), reason)
