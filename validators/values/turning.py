"""Words that turn a value said into one that is not wanted: a negation, an alternative, a change, a correction."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from callwright.language.packs import of, puts_spaces
from callwright.language.text import empty, words_of
from callwright.validators.values.heard import Heard, named_words
from callwright.validators.values.owners import AROUND, role_said
from callwright.validators.values.parameters import Leaf
from callwright.validators.values.places import Place, alike, is_text, is_time_alike
from callwright.validators.values.said import Mark, MarkKind, Said, Span, mark_words

_NEAR_LETTERS = 16  # letters next to a value
_NEXT_SIGNS = 4  # from a word that corrects to what it puts right, in a script without spaces
_NEAR_SIGNS = 6  # characters without spaces that are next to a value
_DIGITS = re.compile(r"\d")
TURNS: dict[MarkKind, str] = {
    "negation": "beside a negation", "correction": "beside a correction", "change": "beside a change",
    "alternative": "beside an alternative",
}  # fmt: skip


def turned(leaf: Leaf, place: Place, heard: Heard) -> str:
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
    new = put_right(leaf, place, heard)
    later = [one for one in corrections(heard) if new is None or one.span.start > new.span.start]
    found += [one for one in later if corrects(one, leaf, place.span, said)]
    mark = next(filter(None, found), None)
    return f"it stands {TURNS[mark.kind]} ({said.quote(mark.span)!r})" if mark else ""


def corrections(heard: Heard) -> list[Mark]:
    """The corrections, of several in a row the last word; what leads to the new value of a change is none."""
    said = heard.said
    marks = [one for one in said.marks if one.kind == "correction"]
    amounts = [Span(one.start, one.end) for one in said.quantities]
    values = [*heard.taken, *amounts, *(one.span for one in said.times)]
    aims = [
        place.span.start
        for leaf, places in zip(heard.leaves, heard.places, strict=True) for place in places
        if leaf.parameter.role == "to" and role_said(leaf, place.span, said) == "to"
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


def put_right(leaf: Leaf, place: Place, heard: Heard) -> Mark | None:
    """The correction whose new value stands at a place: named again, or the first of its kind where one stands before."""
    said = heard.said
    mark = next((one for one in reversed(corrections(heard)) if one.span.end <= place.span.start), None)
    if mark is None or not corrects(mark, leaf, place.span, said):
        return None
    rest = list(alike(leaf, said, []))
    between = Span(mark.span.end, place.span.start)
    if leaf.sort != "number" and any(words & leaf.naming for words in named_words(said, between)):
        return mark  # named once more
    if any(one.touches(between) for one in rest) or not any(one.end <= mark.span.start for one in rest):
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


def corrects(mark: Mark, leaf: Leaf, at: Span, said: Said) -> bool:
    """Whether a correction may be about a value of this sort: what follows it tells."""
    if mark.span.touches(at):
        return False
    after = Span(mark.span.end, min(said.sentence(mark.span).end, mark.span.end + AROUND))
    times = [one for one in said.times if one.span.touches(after)]
    amounts = [one for one in said.quantities if Span(one.start, one.end).touches(after)]
    codes = _DIGITS.search(said.quote(after)) is not None
    if leaf.sort in ("day", "clock", "moment"):
        return any(is_time_alike(leaf, one) for one in times) or any(not one.unit for one in amounts)
    if leaf.sort == "number":
        return any(one.clocks for one in times) or any(one.touches(after) for one in alike(leaf, said, []))
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
