"""What turns a value that is said into what is not wanted: a negation, an alternative, a change, a correction, somebody else's."""

from collections.abc import Sequence
from itertools import zip_longest

from callwright.language.names import split_name
from callwright.language.packs import puts_spaces
from callwright.language.readers.units import quantity_words
from callwright.validators.values.amounts import could_be
from callwright.validators.values.heard import Heard, corrects, named_words, role_said
from callwright.validators.values.parameters import Leaf
from callwright.validators.values.places import alike
from callwright.validators.values.said import Mark, MarkKind, Place, Said, Span, mark_words

_NEAR_LETTERS = 16  # letters next to a value
_NEAR_SIGNS = 6  # characters without spaces that are next to a value
TURNS: dict[MarkKind, str] = {
    "negation": "beside a negation", "correction": "beside a correction", "change": "beside a change",
    "alternative": "beside an alternative",
}  # fmt: skip


def turned(leaf: Leaf, place: Place, heard: Heard) -> str:
    """What word turns a value: a negation before it or right behind it, an alternative next to it, a change, a correction."""
    said = heard.said
    # in the name or the words of a value no word turns anything
    names = [*said.quotes, *([place.span] if leaf.sort in ("name", "code", "choice") else ())]
    taken = [place.span for other, places in heard.rows if other.sort != "boolean" for place in places]
    names += [one for one in taken if leaf.sort != "number" or one.end - one.start > _NEAR_LETTERS]
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
        words = mark_words(said.language)
        end = min(after.end, after.start + near // 3 + 1)
        joint = words["joined"].search(said.text, after.start, end)
        behind = Span(after.start, joint.start() if joint else end)
        apart = (
            Span(*one.span()) for one in words["opposed"].finditer(said.text, *before)
        )  # not the 12th but the 21st
        starts = [one.end for one in apart if not said.marked(one, "negation")]
        ahead = Span(max([before.start, *starts]), before.end)
        is_until = role_said(leaf, place.span, said) == "to" and leaf.sort in ("day", "clock", "moment")
        if not leaf.parameter.is_denying and not is_until:
            denied = [said.marked(one, "negation", but=names) for one in (ahead, behind)]
            # "radio, not buzzer"
            found += [
                one for one in denied if one and not any(0 <= at.start - one.span.end <= near for at in place.others)
            ]
    if leaf.sort == "number":
        where = said.sentence(place.span)
        changes = [one for one in said.marks if one.kind == "change" and one.span.touches(where)]
        found += [
            one for one in changes if _changes(one, leaf, place, said) and not any(map(one.span.touches, said.quotes))
        ]
    elif leaf.path.endswith("]") and not puts_spaces(said.language):
        found.append(said.marked(said.sentence(place.span), "change", but=said.quotes))
    new = put_right(leaf, place, heard)
    later = [one for one in corrections(heard) if new is None or one.span.start > new.span.start]
    found += [
        one for one in later
        if corrects(one, leaf, place.span, said)
        and not (_begins_with(one, leaf, place, heard) or _is_about_rival(one, leaf, heard))
    ]  # fmt: skip
    mark = next(filter(None, found), None)
    return f"it stands {TURNS[mark.kind]} ({said.quote(mark.span)!r})" if mark else ""


def _changes(mark: Mark, leaf: Leaf, place: Place, said: Said) -> bool:
    """Whether a change, or a word that something counts for each, is not one of another amount, which stands next to it."""
    words, little = quantity_words(said.language).patterns, mark_words(said.language)["of"]
    if said.quote(mark.span) in split_name(leaf.parameter.name):
        return False  # older than
    for one in said.quantities:
        gap = said.text[min(one.end, mark.span.end) : max(one.start, mark.span.start)]
        is_next = not gap.strip() or little.fullmatch(gap)
        span = Span(one.start, one.end)
        if is_next and not mark.span.touches(span):
            is_each = words["per_after"].match(said.quote(mark.span)) and leaf.parameter.is_for_each
            return (could_be(leaf.parameter, one, said) or span.touches(place.span)) and not is_each
    return True


def told_of_another(leaf: Leaf, place: Place, heard: Heard) -> str:
    """Who or what has a value by the subject of its clause, where neither schema nor call speaks of that; "" for nobody."""
    said = heard.said
    if leaf.sort in ("name", "code", "boolean", "moment"):
        return ""
    words, clause = mark_words(said.language), said.clause(place.span)
    starts = (one.end() for one in words["joined"].finditer(said.text, clause.start, place.span.start))
    subject = words["of_another"].match(said.text, max([clause.start, *starts]), place.span.start)
    if subject is None:
        return ""
    noun = Span(*subject.span("thing" if subject["thing"] else "name"))
    if subject["thing"] and subject["thing"].split()[-1] in said.little:  # the number of nights is
        return ""
    is_known = any(noun.touches(one) for one in heard.taken) or said.is_time(noun)
    is_known |= said.quote(noun).casefold() in said.small or any(
        words & leaf.schema_words for words in named_words(said, noun)
    )
    return "" if is_known else subject.group().strip()


def is_denied(span: Span, said: Said) -> bool:
    """Whether a negation stands right before a place: what is said there is not what is wanted."""
    near = _NEAR_LETTERS if puts_spaces(said.language) else _NEAR_SIGNS
    before = Span(max(said.clause(span).start, span.start - near), span.start)
    return said.marked(before, "negation") is not None


def is_left(leaf: Leaf, span: Span, place: Place, said: Said) -> bool:
    """Whether a place is led by the word with which something new comes, and another value stands before that: to the 31st."""
    return leaf.parameter.role == "to" and span.end <= place.span.start and role_said(leaf, place.span, said) == "to"


def _is_about_rival(mark: Mark, leaf: Leaf, heard: Heard) -> bool:
    """Whether what a correction leads to is named as another parameter's: made 800 wide, and made 600 high."""
    said = heard.said
    clause = said.clause(mark.span)
    named = said.quote(Span(clause.start, mark.span.start))
    rivals = frozenset[str]().union(*(one.words for one in leaf.rivals)) - leaf.parameter.words
    words = named_words(said, Span(clause.start, mark.span.start))
    return leaf.sort == "number" and bool(named) and bool(words) and bool(words[-1] & rivals)


def _begins_with(mark: Mark, leaf: Leaf, place: Place, heard: Heard) -> bool:
    """Whether nothing that a correction puts right stands before it."""
    said = heard.said
    if leaf.sort != "number" or mark.span.end > place.span.start:
        return False
    return not any(one.end <= mark.span.start for one in alike(leaf, said, []))


def corrections(heard: Heard) -> list[Mark]:
    """The corrections, of several in a row the last word; what leads to the new value of a change is none."""
    said = heard.said
    marks = [one for one in said.marks if one.kind == "correction"]
    if not marks:  # as in most texts: to find amounts and days takes long
        return []
    amounts = [Span(one.start, one.end) for one in said.quantities]
    values = [*heard.taken, *amounts, *(one.span for one in said.times)]
    aims = [
        place.span.start
        for leaf, places in heard.rows for place in places
        if leaf.parameter.role == "to" and role_said(leaf, place.span, said) == "to"
    ]  # fmt: skip
    kept = [
        mark
        for mark, following in zip_longest(marks, marks[1:])
        if following is None or any(mark.span.end <= one.start and one.end <= following.span.start for one in values)
    ]
    # nothing but a word that something goes to stands between it and a place
    gaps = {mark: [said.text[mark.span.end : at] for at in aims if mark.span.end <= at] for mark in kept}
    led = mark_words(said.language)["to"]
    return [mark for mark, gap in gaps.items() if all(led.sub("", one).strip() for one in gap)]


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


def _is_between_values(mark: Mark, place: Place, taken: Sequence[Span]) -> bool:
    """Whether both sides of an alternative are values of the call: which of the two cities is warmer."""
    is_before = mark.span.end <= place.span.start
    gaps = (mark.span.start - one.end if is_before else one.start - mark.span.end for one in taken)
    return any(0 <= gap <= 1 for gap in gaps)
