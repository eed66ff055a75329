"""The standing of each value of a call by the texts said: proved, only stated, unproved, or contradicted.

A value is proved where its words can mean no other parameter and nothing beside them turns it. Where another parameter could
take it, where it stands beside a negation, a correction, a change or another value of its kind, it is stated: who reads the
words decides. What rules can't place is a hint for that reader.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.language.packs import puts_spaces, signs
from callwright.language.text import FoldedWord, words_of
from callwright.language.vocabulary import deep_stem
from callwright.validators.values.marks import mark_words
from callwright.validators.values.parameters import Leaf, Parameter, Role, leaves_of
from callwright.validators.values.places import (
    Place,
    amounts_beside,
    codes_beside,
    is_part,
    is_text,
    places_of,
    times_beside,
)
from callwright.validators.values.said import MARKS, Mark, MarkKind, Said, Span
from callwright.warehouse.records import Arguments, DoubtedFact, Tool

Standing = Literal["proved", "stated", "unproved", "contradicted"]
STANDINGS: tuple[Standing, ...] = ("contradicted", "unproved", "stated", "proved")  # from the weakest on
Source = Literal["", "words", "default"]
_NEAR_LETTERS = 16  # letters next to a value
_NEXT_LETTERS, _NEXT_SIGNS = 12, 4  # from a word that corrects to what it puts right
_DIGITS = re.compile(r"\d")
_BEFORE, _AFTER = 48, 28  # characters around a value in which words may name its parameter
_NEAR, _NEAR_SIGNS = 3, 6  # words, or characters without spaces, that are next to a value
_TURNS: dict[MarkKind, str] = {
    "negation": "beside a negation", "correction": "beside a correction", "change": "beside a change",
    "alternative": "beside an alternative",
}  # fmt: skip


class ValueReading(NamedTuple):
    """What the texts say of one value: its standing, where, why it is no more, and whence it is."""

    path: str
    standing: Standing
    spans: tuple[Span, ...] = ()
    reason: str = ""
    turn: int = -1  # which of the texts has the spans
    source: Source = ""


class CallReading(NamedTuple):
    """What the texts say of a call: each of its values in order, and what rules could not place."""

    leaves: tuple[Leaf, ...]
    readings: tuple[ValueReading, ...]
    hints: tuple[DoubtedFact, ...]

    @property
    def arguments(self) -> dict[str, ValueReading]:
        """For each argument the reading of its weakest part."""
        weakest: dict[str, ValueReading] = {}
        for leaf, one in zip(self.leaves, self.readings, strict=True):
            held = weakest.get(leaf.argument)
            if held is None or STANDINGS.index(one.standing) < STANDINGS.index(held.standing):
                weakest[leaf.argument] = one
        return weakest


def read_call(tool: Tool, arguments: Arguments, texts: Sequence[Said]) -> CallReading:
    """What was said, the texts in their order, tells of each value of a call of `tool`."""
    leaves = leaves_of(tool, arguments)
    hints = find_hints(leaves, texts[-1]) if texts else ()
    return CallReading(tuple(leaves), tuple(read_values(leaves, texts)), tuple(hints))


def read_values(leaves: Sequence[Leaf], texts: Sequence[Said]) -> list[ValueReading]:
    """The standing of each value by all that was said, the latest text before the earlier ones."""
    by_text = [(said, read_leaves(leaves, said)) for said in reversed(texts)]
    return [_over_texts(at, leaf, leaves, by_text) for at, leaf in enumerate(leaves)]


def _over_texts(
    at: int, leaf: Leaf, leaves: Sequence[Leaf], by_text: Sequence[tuple[Said, Sequence[ValueReading]]]
) -> ValueReading:
    readings = [read[at] for _, read in by_text]
    if not readings:
        return _not_said(leaf)
    place = next((index for index, one in enumerate(readings) if one.standing == "proved" and one.spans), None)
    if place is not None:
        later = next((said for said, _ in by_text[:place] if _is_taken_up(leaf, said)), None)
        if later is None:
            return readings[place]
        return readings[place]._replace(
            standing="stated", reason=f"{leaf.path} = {leaf.value!r} is only stated: what is said later may replace it."
        )
    best = next((one for one in readings if one.standing == "stated"), readings[0])
    against = _contradicted(leaf, leaves, [said for said, _ in by_text]) if best.standing == "unproved" else ""
    return best._replace(standing="contradicted", reason=against) if against else best


def _is_taken_up(leaf: Leaf, said: Said) -> bool:
    """Whether a later text puts something right that may be this value."""
    return any(one.kind == "correction" and _corrects(one, leaf, Span(-1, -1), said) for one in said.marks)


def _contradicted(leaf: Leaf, leaves: Sequence[Leaf], texts: Sequence[Said]) -> str:
    """That another value of this type is said outright for this parameter, and no argument takes it; "" where it is not."""
    if any(one.kind in _TURNS for said in texts for one in said.marks) or leaf.rivals:
        return ""
    if leaf.sort == "number":
        unit = leaf.parameter.unit(texts[0].language)
        left = [
            (said, one) for said in texts for one in amounts_beside(leaf, said, _taken(leaves, said))
            if unit and one.unit and not one.bound and not one.is_estimate
        ]  # fmt: skip
        if len(left) == 1:
            quote = left[0][0].quote(Span(left[0][1].start, left[0][1].end))
            return f"{leaf.path} is {leaf.value!r}, but {quote!r} is what is said."
    if leaf.sort in ("day", "clock"):
        times = [(said, one) for said in texts for one in times_beside(leaf, said, _taken(leaves, said))]
        named = [(said, one, one.days if leaf.sort == "day" else one.clocks) for said, one in times]
        if len(named) == 1 and len(named[0][2]) == 1 and not named[0][1].last and not named[0][1].is_bare:
            return f"{leaf.path} is {leaf.value!r}, but {named[0][0].quote(named[0][1].span)!r} is what is said."
    return ""


def _taken(leaves: Sequence[Leaf], said: Said) -> list[Span]:
    return [place.span for leaf in leaves for place in places_of(leaf, said)]


class _Heard(NamedTuple):
    """A text with the values of a call and their places in it; `settled` are the parameters that surely have theirs."""

    said: Said
    leaves: Sequence[Leaf]
    places: Sequence[Sequence[Place]]
    settled: frozenset[tuple[str, str]] = frozenset()

    @property
    def taken(self) -> list[Span]:
        """Where values of the call stand."""
        return [one.span for each in self.places for one in each]

    def of(self, parameter: Parameter) -> tuple[Leaf, Sequence[Place]] | None:
        """The value of a parameter and its places."""
        pairs = zip(self.leaves, self.places, strict=True)
        return next(((leaf, places) for leaf, places in pairs if leaf.parameter == parameter), None)


def read_leaves(leaves: Sequence[Leaf], said: Said) -> list[ValueReading]:
    """The standing of each value by one text, seen beside the others."""
    heard = _Heard(said, leaves, [places_of(leaf, said) for leaf in leaves])
    heard = heard._replace(places=[
        places or list(_derived(leaf, heard)) for leaf, places in zip(leaves, heard.places, strict=True)
    ])  # fmt: skip
    readings = [_read(leaf, places, heard) for leaf, places in zip(leaves, heard.places, strict=True)]
    proved = {
        (leaf.parameter.parent, leaf.parameter.name)
        for leaf, one in zip(leaves, readings, strict=True)
        if one.standing == "proved"
    }
    heard = heard._replace(settled=frozenset(proved))  # what is certain leaves fewer parameters to choose from
    again = [
        one if one.standing == "proved" else _read(leaf, places, heard)
        for leaf, places, one in zip(leaves, heard.places, readings, strict=True)
    ]
    return _without_shared(leaves, again)


def _derived(leaf: Leaf, heard: _Heard) -> Iterator[Place]:
    """Where a text says how long it is from the start that it says to an end that it does not say: three nights."""
    end, starts = _stamp_of(leaf.value), [
        start for other, places in zip(heard.leaves, heard.places, strict=True)
        if places and other.sort == leaf.sort and (other.parameter.edge, leaf.parameter.edge) == ("first", "last")
        and (start := _stamp_of(other.value)) is not None
    ]  # fmt: skip
    for one in heard.said.quantities:
        is_length = one.unit is not None and one.unit.dimension == "duration" and not one.bound and not one.is_estimate
        if end is not None and is_length and one.unit:
            length = timedelta(seconds=float(one.value * one.unit.factor))
            if any(start + length == end for start in starts):
                yield Place(Span(one.start, one.end), is_typed=True, is_owned=True)


def _stamp_of(value: JsonValue) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError:
        return None


def _not_said(leaf: Leaf) -> ValueReading:
    given = leaf.parameter.schema.get("default", leaf.parameter.schema.get("const"))
    if given is not None and given == leaf.value and isinstance(given, bool) == isinstance(leaf.value, bool):
        return ValueReading(leaf.path, "proved", source="default")
    return ValueReading(leaf.path, "unproved", reason=f"Nothing says {leaf.path} = {leaf.value!r}.")


def _read(leaf: Leaf, places: Sequence[Place], heard: _Heard) -> ValueReading:
    if not places:
        return _not_said(leaf)
    doubts = []
    for place in places:
        doubt = place.why or next(filter(None, _doubts(leaf, place, heard)), "")
        if not doubt:
            return ValueReading(leaf.path, "proved", (place.span,), turn=heard.said.turn, source="words")
        doubts.append(doubt)
    reason = f"{leaf.path} = {leaf.value!r} is only stated: {doubts[0]}."
    return ValueReading(leaf.path, "stated", (places[0].span,), reason, heard.said.turn, "words")


def _doubts(leaf: Leaf, place: Place, heard: _Heard) -> Iterator[str]:
    """Why the words at a place need not state this value for this parameter."""
    said = heard.said
    if not said.knows_marks:
        yield f"no rules know the language {said.language!r}"
    yield _turned(leaf, place, heard)
    if leaf.sort == "boolean":
        return
    if any(one.start <= place.span.start < one.end and is_part(place.span, one) for one in said.quotes):
        yield "it is a part of a quotation"
    if place.more and not any(place.more.touches(one) for one in heard.taken):
        yield f"the name may be longer ({said.quote(place.more)!r})"
    owner = "own" if place.is_owned else _owner(leaf, place, heard)
    if owner == "rival":
        yield "the words beside it name another parameter"
    if not owner:
        yield _beside(leaf, heard)
        yield from (f"it may be for {one.name!r} as well" for one in leaf.rivals if _may_own(one, leaf, place, heard))


def _may_own(rival: Parameter, leaf: Leaf, place: Place, heard: _Heard) -> bool:
    """Whether another parameter may have its value from a place, as far as units, order and other places tell."""
    if (rival.parent, rival.name) in heard.settled:
        return False
    found = heard.of(rival)
    if found and not place.is_typed and any(one.is_typed and not one.span.touches(place.span) for one in found[1]):
        return False  # its own value stands in its own unit somewhere else
    if place.is_typed and leaf.sort == "number":
        suits = rival.is_money if leaf.parameter.is_money else rival.unit(heard.said.language) is not None
    else:
        suits = not place.is_typed or leaf.sort == "choice"
    return suits and not (found and found[1] and _is_ordered(leaf, found[0]))


def _turned(leaf: Leaf, place: Place, heard: _Heard) -> str:
    """What word turns a value: a negation before it or right behind it, an alternative next to it, a change, a correction."""
    said, names = heard.said, [*heard.said.quotes, *_names_in(leaf, place, heard.taken)]
    clause = said.clause(place.span)
    near = _NEAR_LETTERS if puts_spaces(said.language) else _NEAR_SIGNS
    before, after = Span(clause.start, place.span.start), Span(place.span.end, clause.end)
    last, first = (
        Span(max(before.start, before.end - near), before.end),
        Span(after.start, min(said.sentence(place.span).end, after.start + near)),
    )
    found = [said.marked(one, "alternative", but=names) for one in (last, first)]
    found = [one for one in found if one and not _is_between_values(one, place, heard.taken)]
    is_unit = leaf.sort == "choice" and any(Span(one.start, one.end).touches(place.span) for one in said.quantities)
    if leaf.sort != "boolean" and not is_unit:
        behind = Span(after.start, min(after.end, after.start + near // 3 + 1))
        found += [said.marked(before, "negation", but=names), said.marked(behind, "negation", but=names)]
    if leaf.sort == "number":
        found.append(said.marked(said.sentence(place.span), "change", but=said.quotes))
    found += [one for one in said.marks if one.kind == "correction" and _corrects(one, leaf, place.span, said)]
    mark = next(filter(None, found), None)
    return f"it stands {_TURNS[mark.kind]} ({said.quote(mark.span)!r})" if mark else ""


def _names_in(leaf: Leaf, place: Place, taken: Sequence[Span]) -> Iterator[Span]:
    """What is the name or the words of a value, in which no word turns anything."""
    if leaf.sort in ("name", "code", "choice"):
        yield place.span
    yield from (one for one in taken if leaf.sort != "number" or one.end - one.start > _NEAR_LETTERS)


def _is_between_values(mark: Mark, place: Place, taken: Sequence[Span]) -> bool:
    """Whether both sides of an alternative are values of the call: which of the two cities is warmer."""
    is_before = mark.span.end <= place.span.start
    gaps = (mark.span.start - one.end if is_before else one.start - mark.span.end for one in taken)
    return any(0 <= gap <= 1 for gap in gaps)


def _corrects(mark: Mark, leaf: Leaf, at: Span, said: Said) -> bool:
    """Whether a correction may be about a value of this sort: what follows it tells."""
    if mark.span.touches(at):
        return False
    after = Span(mark.span.end, min(said.sentence(mark.span).end, mark.span.end + _BEFORE))
    times = [one for one in said.times if one.span.touches(after)]
    amounts = [one for one in said.quantities if Span(one.start, one.end).touches(after)]
    codes = _DIGITS.search(said.quote(after)) is not None
    if leaf.sort in ("day", "clock", "moment"):
        return bool(times) or bool(amounts)
    if leaf.sort == "number":
        return bool(amounts)
    if leaf.sort == "code":
        return codes and not times and not any(one.unit for one in amounts)
    starts = [one.span.start for one in times] + [one.start for one in amounts]
    near = _NEXT_LETTERS if puts_spaces(said.language) else _NEXT_SIGNS
    return is_text(leaf, said.language) or not any(start < mark.span.end + near for start in starts)


def _owner(leaf: Leaf, place: Place, heard: _Heard) -> Literal["own", "rival", ""]:
    """Whose name the words next to a place are: this parameter's, a rival's, or nobody's."""
    said, taken, role = heard.said, heard.taken, _role_said(place.span, heard.said)
    if role and leaf.parameter.role and any(one.role for one in leaf.rivals):
        return "own" if role == leaf.parameter.role else "rival"
    if role and leaf.parameter.edge and leaf.sort in ("day", "clock", "moment", "number"):
        return "own" if {"from": "first", "to": "last"}[role] == leaf.parameter.edge else "rival"
    clause, at = said.clause(place.span), place.span
    first = max([clause.start, at.start - _BEFORE, *(one.end for one in taken if one.end <= at.start)])
    last = min([clause.end, at.end + _AFTER, *(one.start for one in taken if one.start >= at.end)])
    before, after = _named_words(said, Span(first, at.start))[::-1], _named_words(said, Span(at.end, last))
    near = _NEAR if puts_spaces(said.language) else _NEAR_SIGNS
    is_between = leaf.sort in ("name", "code") and any(one.start == last for one in taken)  # whose words are they?
    is_read = leaf.sort == "number" or (puts_spaces(said.language) and not is_between)
    sides = [before[:near], after[:near] if is_read else []]
    nearest = [after[:1], *sides] if leaf.sort == "number" else sides
    asked = words_of(said.question).row
    own, rival = leaf.naming, leaf.rival_naming
    for words in (*(one for side in nearest for one in side), *map(_spellings, asked)):
        if words & own:
            return "own"
        if words & rival:
            return "rival"
    return ""


def _role_said(at: Span, said: Said) -> Role:
    """Whether the word before a place, or its first one, says that something goes from it or to it."""
    for one in said.marks:
        if one.kind in {"from", "to"}:
            between = said.text[one.span.end : at.start].strip(signs(" \"'“”{open}"))
            is_next = one.span.end <= at.start and (
                not between or mark_words(said.language)["articles"].fullmatch(between)
            )
            if is_next or one.span.start == at.start < one.span.end < at.end:
                return one.kind
    return ""


def _spellings(word: FoldedWord) -> frozenset[str]:
    return frozenset({word.text, deep_stem(word.text)})


def _named_words(said: Said, where: Span) -> list[frozenset[str]]:
    """The words of a stretch as names are compared, without articles."""
    article = mark_words(said.language)["article"]
    return [_spellings(one) for one in words_of(said.quote(where)).row if not article.fullmatch(one.text)]


def _beside(leaf: Leaf, heard: _Heard) -> str:
    """Another value of its kind that no argument has."""
    said, taken = heard.said, heard.taken
    left: Iterator[Span] = iter(())
    if leaf.sort == "number":
        left = (Span(one.start, one.end) for one in amounts_beside(leaf, said, taken))
    elif leaf.sort in ("day", "clock", "moment"):
        left = (one.span for one in times_beside(leaf, said, taken))
    elif leaf.sort == "code":
        left = codes_beside(leaf, said, taken)
    other = next(left, None)
    return f"{said.quote(other)!r} is said, too" if other else ""


def _is_ordered(leaf: Leaf, rival: Leaf) -> bool:
    """Whether the order of two values tells which begins and which ends: each is at its own end."""
    edges = (leaf.parameter.edge, rival.parameter.edge)
    if leaf.sort in ("name", "code", "choice") or edges[0] == edges[1] or leaf.sort != rival.sort:
        return False
    is_first = edges[0] == "first" or edges[1] == "last"
    lower, higher = (leaf.value, rival.value) if is_first else (rival.value, leaf.value)
    if isinstance(lower, str) and isinstance(higher, str):
        return lower <= higher
    return isinstance(lower, int | float) and isinstance(higher, int | float) and lower <= higher


def _without_shared(leaves: Sequence[Leaf], readings: Sequence[ValueReading]) -> list[ValueReading]:
    """Of two values that have the same words, only the one with more of them keeps its proof."""
    kept = list(readings)
    for at, leaf in enumerate(leaves):
        for other, rival in enumerate(leaves):
            if at == other or not _clash(leaf, rival, readings[at], readings[other]):
                continue
            reason = f"{leaf.path} = {leaf.value!r} is only stated: {rival.path!r} has the same words."
            kept[at] = kept[at]._replace(standing="stated", reason=reason)
    return kept


def _clash(leaf: Leaf, rival: Leaf, mine: ValueReading, theirs: ValueReading) -> bool:
    if "boolean" in (leaf.sort, rival.sort) or mine.standing != "proved" or not mine.spans or not theirs.spans:
        return False
    widths = [one.spans[0].end - one.spans[0].start for one in (mine, theirs)]
    is_time = {leaf.sort, rival.sort} <= {"day", "clock", "moment"}
    return not is_time and mine.spans[0].touches(theirs.spans[0]) and widths[0] <= widths[1]


def find_hints(leaves: Sequence[Leaf], said: Said) -> Iterator[DoubtedFact]:
    """What rules can't place: words that may turn the request, and amounts and times that no value has."""
    taken = _taken(leaves, said)
    for kind in MARKS:
        mark = next((one for one in said.marks if one.kind == kind and kind not in ("past", "from", "to")), None)
        if mark:
            yield _hint(kind, mark.span, said)
    for one in said.quantities:
        span = Span(one.start, one.end)
        if not any(span.touches(each) for each in taken):
            yield _hint("number_left", span, said)
    for time in said.times:
        if not any(time.span.touches(each) for each in taken):
            yield _hint("time_left", time.span, said)


def _hint(kind: str, span: Span, said: Said) -> DoubtedFact:
    return DoubtedFact(kind=kind, turn=max(said.turn, 0), quote=re.sub(r"\s+", " ", said.quote(span)))
