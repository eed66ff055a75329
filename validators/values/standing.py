"""The standing of each value of a call by the texts said: proved, only stated, unproved, or contradicted.

A value is proved where its words can mean no other parameter and nothing beside them turns it. Where another parameter could
take it, where it stands beside a negation, a correction, a change or another value of its kind, it is stated: who reads the
words decides. What rules can't place is a hint for that reader.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.language.packs import of, puts_spaces, signs
from callwright.language.text import FoldedWord, words_of
from callwright.language.vocabulary import deep_stem, empty
from callwright.validators.values.parameters import Leaf, Parameter, Role, is_timed, leaves_of
from callwright.validators.values.places import (
    Place,
    amounts_beside,
    codes_beside,
    is_announced,
    is_in_longer_name,
    is_part,
    is_spoken,
    is_text,
    is_time_alike,
    places_of,
    times_beside,
)
from callwright.validators.values.said import MARKS, Mark, MarkKind, Said, Span, mark_words, measure_words, schema_words
from callwright.warehouse.records import Arguments, DoubtedFact, Tool

Standing = Literal["proved", "stated", "unproved", "contradicted"]
STANDINGS: tuple[Standing, ...] = ("contradicted", "unproved", "stated", "proved")  # from the weakest on
Source = Literal["", "words", "default"]
_NEAR_LETTERS = 16  # letters next to a value
_NEXT_SIGNS = 4  # from a word that corrects to what it puts right, in a script without spaces
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
        later = next((said for said, _ in by_text[:place] if _is_taken_up(leaf, leaves, said)), None)
        if later is None:
            return readings[place]
        return readings[place]._replace(
            standing="stated", reason=f"{leaf.path} = {leaf.value!r} is only stated: what is said later may replace it."
        )
    best = next((one for one in readings if one.standing == "stated"), readings[0])
    against = _contradicted(leaf, leaves, [said for said, _ in by_text]) if best.standing == "unproved" else ""
    return best._replace(standing="contradicted", reason=against) if against else best


def _is_taken_up(leaf: Leaf, leaves: Sequence[Leaf], said: Said) -> bool:
    """Whether a later text puts something right that may be this value, and not what another argument has."""
    if any(one.kind == "correction" and _corrects(one, leaf, Span(-1, -1), said) for one in said.marks):
        heard = _Heard(said, leaves, [places_of(one, said) for one in leaves])
        pairs = zip(leaves, heard.places, strict=True)
        settled = {_put_right(other, place, heard) for other, places in pairs for place in places if other != leaf}
        return any(one not in settled and _corrects(one, leaf, Span(-1, -1), said) for one in _corrections(heard))
    return False


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

    def at(self, start: int) -> Leaf | None:
        """The value that begins at a place."""
        pairs = zip(self.leaves, self.places, strict=True)
        return next((leaf for leaf, places in pairs if any(one.span.start == start for one in places)), None)

    def of(self, parameter: Parameter) -> tuple[Leaf, Sequence[Place]] | None:
        """The value of a parameter and its places."""
        pairs = zip(self.leaves, self.places, strict=True)
        return next(((leaf, places) for leaf, places in pairs if leaf.parameter == parameter), None)


def read_leaves(leaves: Sequence[Leaf], said: Said) -> list[ValueReading]:
    """The standing of each value by one text, seen beside the others."""
    heard = _Heard(said, leaves, [places_of(leaf, said) for leaf in leaves])
    heard = heard._replace(places=[
        places or [*_derived(leaf, heard), *_single(leaf, heard)] for leaf, places in zip(leaves, heard.places, strict=True)
    ])  # fmt: skip
    readings: list[ValueReading] = []
    settled: frozenset[tuple[str, str]] | None = None
    while settled is None or settled > heard.settled:  # what is certain leaves fewer parameters to choose from
        heard = heard._replace(settled=settled or heard.settled)
        readings = [_read(leaf, places, heard) for leaf, places in zip(leaves, heard.places, strict=True)]
        settled = heard.settled | {
            (leaf.parameter.parent, leaf.parameter.name)
            for leaf, one in zip(leaves, readings, strict=True)
            if one.standing == "proved"
        }
    return _without_shared(leaves, readings)


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


def _single(leaf: Leaf, heard: _Heard) -> Iterator[Place]:
    """Where an article says that there is one of what the same member of a list names: two teas and a scone."""
    if leaf.value != 1 or isinstance(leaf.value, bool) or "]." not in leaf.path or leaf.parameter.is_money:
        return
    within = leaf.path.rpartition(".")[0]
    for other, places in zip(heard.leaves, heard.places, strict=True):
        if other.path.rpartition(".")[0] == within and other.sort == "name":
            for one in places:
                article = mark_words(heard.said.language)["one"].search(heard.said.text, 0, one.span.start)
                if article:
                    yield Place(Span(*article.span()), is_typed=True, is_owned=True)


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
    is_flag = leaf.sort == "boolean"
    if place.is_open and not _is_closed(leaf, place, heard):
        yield f"{said.quote(place.span)!r} may be told of and not wished" if is_flag else "the words may go on"
    if not is_flag:
        yield from _doubts_of_place(leaf, place, heard)


def _doubts_of_place(leaf: Leaf, place: Place, heard: _Heard) -> Iterator[str]:
    said = heard.said
    if any(one.start <= place.span.start < one.end and is_part(place.span, one) for one in said.quotes):
        yield "it is a part of a quotation"
    if leaf.sort in ("name", "code") and is_in_longer_name(place.span, said.text):
        yield "it is a part of a longer name"
    if place.more and not any(place.more.touches(one) for one in heard.taken):
        yield f"the name may be longer ({said.quote(place.more)!r})"
    owner = "own" if place.is_owned else _owner(leaf, place, heard)
    if owner == "rival":
        yield "the words beside it name another parameter"
    yield _beside(leaf, place, heard, owner)
    if not owner and _names_another_value(leaf, heard):
        yield "the word for it stands beside another value"
    if not owner:
        yield from (f"it may be for {one.name!r} as well" for one in leaf.rivals if _may_own(one, leaf, place, heard))


def _is_closed(leaf: Leaf, place: Place, heard: _Heard) -> bool:
    """Whether words that nothing announces are whole: a sentence's end, or the call's other values, follow at once."""
    said, span = heard.said, place.span
    is_flag, rest = leaf.sort == "boolean", said.text[span.end :]
    if not is_flag and (is_announced(span, said) or not _is_begun(span, said)):
        return False
    if not is_flag and not said.text[span.end : said.sentence(span).end].strip(signs(" .!?{.!?}")):
        return not is_spoken(leaf) or not rest.strip(signs(" .!?{.!?}"))
    following = sorted(one for one in heard.taken if span.end <= one.start)
    end = said.clause(span).end
    at = span.end
    for one in following:
        if one.start < end and _is_joint(said.text[at : one.start], said.language):
            at = max(at, one.end)
            end = max(end, said.clause(one).end)
    return at > span.end and not is_spoken(leaf) and not said.text[at:end].strip()


def _is_begun(span: Span, said: Said) -> bool:
    """Whether a text may begin here: at the head of a clause, or behind a word that leads into one."""
    before = said.text[said.clause(span).start : span.start]
    return not before.strip() or mark_words(said.language)["leads"].search(before) is not None


def _is_joint(words: str, language: str) -> bool:
    """Whether there is no more than one word that joins a value to what stands before it."""
    if mark_words(language)["joined"].search(words):
        return False
    return len(words.split()) <= 1 if puts_spaces(language) else len(words.strip()) <= 1


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
    if not suits or not found or not found[1]:
        return suits
    return not (_is_ordered(leaf, found[0]) or _is_in_turn(leaf, place, *found))


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
    new = _put_right(leaf, place, heard)
    later = [one for one in _corrections(heard) if new is None or one.span.start > new.span.start]
    found += [one for one in later if _corrects(one, leaf, place.span, said)]
    mark = next(filter(None, found), None)
    return f"it stands {_TURNS[mark.kind]} ({said.quote(mark.span)!r})" if mark else ""


def _corrections(heard: _Heard) -> list[Mark]:
    """The corrections, of several in a row the last word; what leads to the new value of a change is none."""
    said = heard.said
    marks = [one for one in said.marks if one.kind == "correction"]
    amounts = [Span(one.start, one.end) for one in said.quantities]
    values = [*heard.taken, *amounts, *(one.span for one in said.times)]
    aims = [
        place.span.start
        for leaf, places in zip(heard.leaves, heard.places, strict=True) for place in places
        if leaf.parameter.role == "to" and _role_said(leaf, place.span, said) == "to"
    ]  # fmt: skip
    kept = [
        mark
        for mark, following in zip_longest(marks, marks[1:])
        if following is None or any(mark.span.end <= one.start and one.end <= following.span.start for one in values)
    ]
    return [one for one in kept if not any(_leads_to(one, at, said) for at in aims)]


def _leads_to(mark: Mark, at: int, said: Said) -> bool:
    """Whether nothing but a word that something goes to stands between a correction and a place."""
    words = mark_words(said.language)["to"].sub("", said.text[mark.span.end : at])
    return mark.span.end <= at and not words.strip()


def _put_right(leaf: Leaf, place: Place, heard: _Heard) -> Mark | None:
    """The correction whose new value stands at a place: named again, or the first of its kind where one stands before."""
    said = heard.said
    mark = next((one for one in reversed(_corrections(heard)) if one.span.end <= place.span.start), None)
    if mark is None or not _corrects(mark, leaf, place.span, said):
        return None
    alike = list(_alike(leaf, said, []))
    between = Span(mark.span.end, place.span.start)
    if leaf.sort != "number" and any(words & leaf.naming for words in _named_words(said, between)):
        return mark  # named once more
    if any(one.touches(between) for one in alike) or not any(one.end <= mark.span.start for one in alike):
        return None
    return mark


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
        return any(is_time_alike(leaf, one) for one in times) or any(not one.unit for one in amounts)
    if leaf.sort == "number":
        return any(one.clocks for one in times) or any(one.touches(after) for one in _alike(leaf, said, []))
    if leaf.sort == "code":
        return codes and not times and not any(one.unit for one in amounts)
    starts = [one.span.start for one in times] + [one.start for one in amounts]
    is_free = is_text(leaf, said.language) and not any(at.touches(one) for one in said.quotes)
    return is_free or not any(_is_next(mark, start, said) for start in starts)


def _is_next(mark: Mark, start: int, said: Said) -> bool:
    """Whether what a correction puts right stands here: no word with a content of its own before it."""
    if not puts_spaces(said.language):
        return start < mark.span.end + _NEXT_SIGNS
    words = words_of(said.text[mark.span.end : start]).row
    return all(one.text in empty((of(said.language),)) or not one.text.isalnum() for one in words)


def _owner(leaf: Leaf, place: Place, heard: _Heard) -> Literal["own", "rival", ""]:
    """Whose name the words next to a place are: this parameter's, a rival's, or nobody's."""
    said, taken, role = heard.said, heard.taken, _role_said(leaf, place.span, heard.said)
    if role and leaf.parameter.role and any(one.role for one in leaf.rivals):
        return "own" if role == leaf.parameter.role else "rival"
    edges = {one.edge for one in leaf.rivals} - {"", leaf.parameter.edge}
    if role and edges and leaf.parameter.edge and leaf.sort in ("day", "clock", "moment", "number"):
        return "own" if {"from": "first", "to": "last"}[role] == leaf.parameter.edge else "rival"
    clause, at = said.clause(place.span), place.span
    first = max([clause.start, at.start - _BEFORE, *(one.end for one in taken if one.end <= at.start)])
    last = min([clause.end, at.end + _AFTER, *(one.start for one in taken if one.start >= at.end)])
    joints = [one.span() for one in mark_words(said.language)["joined"].finditer(said.text, first, last)]
    first = max([first, *(end for _, end in joints if end <= at.start)])
    last = min([last, *(start for start, _ in joints if start >= at.end)])
    before = _named_words(said, Span(first, at.start))[::-1]
    if before and _names_other(leaf, before[0], heard):
        return "rival"
    behind = mark_words(said.language)["of"].match(said.text, at.end)
    after = _named_words(said, Span(behind.end() if behind and behind.end() < last else at.end, last))
    near = _NEAR if puts_spaces(said.language) else _NEAR_SIGNS
    follower = heard.at(last) if leaf.sort in ("name", "code") else None
    is_between = follower is not None and not (after and after[-1] & follower.naming)  # whose words are they?
    if follower and not is_between:
        after = after[:-1]
    is_read = leaf.sort == "number" or (puts_spaces(said.language) and not is_between)
    sides = [before[:near], after[:near] if is_read else []]
    nearest = [after[:1], *sides] if leaf.sort == "number" else sides
    asked = words_of(said.question).row
    open_ones = [one for one in leaf.rivals if (one.parent, one.name) not in heard.settled]
    rival = frozenset[str]().union(*(one.words for one in open_ones)) - leaf.parameter.words
    own = leaf.naming
    for words in (*(one for side in nearest for one in side), *map(_spellings, asked)):
        if words & own:
            return "own"
        if words & rival:
            return "rival"
    return ""


def _role_said(leaf: Leaf, at: Span, said: Said) -> Role:
    """Whether the word before a place, or its first one, says that something goes from it or to it."""
    for one in said.marks:
        if one.kind in {"from", "to"}:
            is_near = one.span.end <= at.start <= one.span.end + _BEFORE
            between = said.quote(Span(one.span.end, at.start)) if is_near else ""
            is_named = any(schema_words(side).search(between.lower()) for side in ("givers", "takers"))
            is_next = (
                is_near
                and not is_named
                and all(words & leaf.parameter.words for words in _named_words(said, Span(one.span.end, at.start)))
            )
            if is_next or one.span.start == at.start < one.span.end < at.end:
                return one.kind
    return ""


def _names_other(leaf: Leaf, words: frozenset[str], heard: _Heard) -> bool:
    """Whether a word before a name or a code names the parameter of another one that the call has."""
    own = leaf.parameter
    if leaf.sort not in ("name", "code") or is_timed(own) or is_text(leaf, heard.said.language) or words & own.subjects:
        return False
    others = (one.parameter for one in heard.leaves if one.sort in ("name", "code"))
    return any(one.subjects and one.subjects <= words for one in others)


def _spellings(word: FoldedWord) -> frozenset[str]:
    return frozenset({word.text, deep_stem(word.text)})


def _named_words(said: Said, where: Span) -> list[frozenset[str]]:
    """The words of a stretch as names are compared, without articles."""
    article = mark_words(said.language)["article"]
    words, measures = words_of(said.quote(where)).row, measure_words(said.language)
    return [_spellings(one) | {measures.get(one.text, one.text)} for one in words if not article.fullmatch(one.text)]


def _beside(leaf: Leaf, place: Place, heard: _Heard, owner: str) -> str:
    """Another value of its kind that no argument has; where words name this one, another that they name as well."""
    new = _put_right(leaf, place, heard)  # what stands before it is taken back
    left = (one for one in _alike(leaf, heard.said, heard.taken) if new is None or one.start >= new.span.end)
    other = next((one for one in left if not owner or _is_named(leaf, one, place, heard)), None)
    return f"{heard.said.quote(other)!r} is said, too" if other else ""


def _is_named(leaf: Leaf, at: Span, place: Place, heard: _Heard) -> bool:
    is_other_code = leaf.sort == "code" and at.end - at.start != place.span.end - place.span.start
    return not place.is_owned and not is_other_code and _owner(leaf, Place(at), heard) == "own"


def _names_another_value(leaf: Leaf, heard: _Heard) -> bool:
    """Whether the name of a parameter stands right beside what the call has for another one."""
    if leaf.sort not in ("name", "code") or not leaf.parameter.subjects:
        return False
    said, found = heard.said, heard.of(leaf.parameter)
    own = [one.span for one in found[1]] if found else []
    for span in heard.taken:
        clause = said.clause(span)
        before = _named_words(said, Span(max(clause.start, span.start - _BEFORE), span.start))[-1:]
        after = _named_words(said, Span(span.end, min(clause.end, span.end + _AFTER)))[:1]
        is_named = any(leaf.parameter.subjects <= words for words in (*before, *after))
        if is_named and not any(span.touches(one) for one in own):
            return True
    return False


def _alike(leaf: Leaf, said: Said, taken: Sequence[Span]) -> Iterator[Span]:
    """Values of the kind of this one that stand outside of what is taken."""
    if leaf.sort == "number":
        yield from (Span(one.start, one.end) for one in amounts_beside(leaf, said, taken))
    elif leaf.sort in ("day", "clock", "moment"):
        yield from (one.span for one in times_beside(leaf, said, taken))
    elif leaf.sort == "code":
        yield from codes_beside(leaf, said, taken)


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


def _is_in_turn(leaf: Leaf, place: Place, rival: Leaf, others: Sequence[Place]) -> bool:
    """Whether parameters that differ in their number alone, or members of a list, have their values in its order."""
    (name, at), (other_name, other_at) = leaf.parameter.rank, rival.parameter.rank
    first = min(one.span.start for one in others)
    return name == other_name and min(at, other_at) > 0 and (at < other_at) == (place.span.start < first)


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
