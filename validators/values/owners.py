"""Whose value a place in a text states: this parameter's, a rival's, or that of another name which looks like it."""

from collections.abc import Sequence
from typing import Literal

from callwright.language.packs import puts_spaces
from callwright.language.text import words_of
from callwright.validators.values.heard import Heard, named_words
from callwright.validators.values.parameters import LEADS, Lead, Leaf, Parameter, Role, is_timed, spellings
from callwright.validators.values.places import Place, is_text
from callwright.validators.values.said import Said, Span, mark_words, schema_words

AROUND, _AFTER = 48, 28  # characters around a value in which words may name its parameter
_NEAR, _NEAR_SIGNS = 3, 6  # words, or characters without spaces, that are next to a value


Owner = Literal["own", "rival", ""]


def owner_of(leaf: Leaf, place: Place, heard: Heard) -> Owner:
    """Whose name the words next to a place are: this parameter's, a rival's, or nobody's."""
    return _owner_by_role(leaf, place, heard) or _owner_by_name(leaf, place, heard)


def _owner_by_role(leaf: Leaf, place: Place, heard: Heard) -> Owner:
    """Whom a word tells that leads to a place: from, to, in."""
    role = role_said(leaf, place.span, heard.said)
    roles = {one.role for one in leaf.rivals} - {""}
    if role and leaf.parameter.role and roles and (role != leaf.parameter.role or role not in roles):
        return "own" if role == leaf.parameter.role else "rival"
    edges = {one.edge for one in leaf.rivals} - {"", leaf.parameter.edge}
    if role and edges and leaf.parameter.edge and leaf.sort in ("day", "clock", "moment", "number"):
        return "own" if {"from": "first", "to": "last"}[role] == leaf.parameter.edge else "rival"
    led = any(_is_led_by(lead, leaf, place, heard) for lead in LEADS)
    return "own" if led else ""


def _owner_by_name(leaf: Leaf, place: Place, heard: Heard) -> Owner:
    """Whom the nearest word tells that is in the name or the description of one of them."""
    said, taken = heard.said, heard.taken
    clause, at = said.clause(place.span), place.span
    first = max([clause.start, at.start - AROUND, *(one.end for one in taken if one.end <= at.start)])
    last = min([clause.end, at.end + _AFTER, *(one.start for one in taken if one.start >= at.end)])
    joints = [one.span() for one in mark_words(said.language)["joined"].finditer(said.text, first, last)]
    first = max([first, *(end for _, end in joints if end <= at.start)])
    last = min([last, *(start for start, _ in joints if start >= at.end)])
    before = named_words(said, Span(first, at.start))[::-1]
    if before and _names_other(leaf, before[0], heard):
        return "rival"
    behind = mark_words(said.language)["of"].match(said.text, at.end) if leaf.sort != "number" else None
    after = named_words(said, Span(behind.end() if behind and behind.end() < last else at.end, last))
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
    for words in (*(one for side in nearest for one in side), *(spellings(one.text) for one in asked)):
        if words & own:
            return "own"
        if words & rival:
            return "rival"
    return ""


def role_said(leaf: Leaf, at: Span, said: Said) -> Role:
    """Whether the word before a place, or its first one, says that something goes from it or to it."""
    for one in said.marks:
        if one.kind in {"from", "to"}:
            is_near = one.span.end <= at.start <= one.span.end + AROUND
            between = said.quote(Span(one.span.end, at.start)) if is_near else ""
            is_named = any(schema_words(side).search(between.lower()) for side in ("givers", "takers"))
            is_next = (
                is_near
                and not is_named
                and all(words & leaf.parameter.words for words in named_words(said, Span(one.span.end, at.start)))
            )
            if is_next or one.span.start == at.start < one.span.end < at.end:
                return one.kind
    return ""


def _is_led_by(lead: Lead, leaf: Leaf, place: Place, heard: Heard) -> bool:
    """Whether a word leads to a value that is what follows it, as no other value of the call is."""
    said, own = heard.said, leaf.parameter
    if not own.is_what_follows(lead) or any(
        one.parameter.is_what_follows(lead) for one in heard.leaves if one.parameter != own
    ):
        return False
    clause = said.clause(place.span)
    return mark_words(said.language)[lead].search(said.text, clause.start, place.span.start) is not None


def _names_other(leaf: Leaf, words: frozenset[str], heard: Heard) -> bool:
    """Whether a word before a name or a code names the parameter of another one that the call has."""
    own = leaf.parameter
    if leaf.sort not in ("name", "code") or is_timed(own) or is_text(leaf, heard.said.language) or words & own.subjects:
        return False
    others = (one.parameter for one in heard.leaves if one.sort in ("name", "code"))
    return any(one.subjects and one.subjects <= words for one in others)


def names_another_value(leaf: Leaf, heard: Heard) -> bool:
    """Whether the name of a parameter stands right beside what the call has for another one."""
    if leaf.sort not in ("name", "code") or not leaf.parameter.subjects:
        return False
    said, found = heard.said, heard.of(leaf.parameter)
    own = [one.span for one in found[1]] if found else []
    for span in heard.taken:
        clause = said.clause(span)
        before = named_words(said, Span(max(clause.start, span.start - AROUND), span.start))[-1:]
        after = named_words(said, Span(span.end, min(clause.end, span.end + _AFTER)))[:1]
        is_named = any(leaf.parameter.subjects <= words for words in (*before, *after))
        if is_named and not any(span.touches(one) for one in own):
            return True
    return False


def may_own(rival: Parameter, leaf: Leaf, place: Place, heard: Heard) -> bool:
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


def exchanged(leaf: Leaf, place: Place, heard: Heard) -> str:
    """The parameter of another name that looks like this one, "" for none: where nothing is said of either, each may be meant."""
    said = heard.said
    if leaf.sort not in ("name", "code") or is_text(leaf, said.language) or said.is_time(place.span):
        return ""
    for other, places in zip(heard.leaves, heard.places, strict=True):
        is_settled = (other.parameter.parent, other.parameter.name) in heard.settled
        if is_settled or not places or not _are_alike(leaf, other, heard) or _is_in_turn(leaf, place, other, places):
            continue
        is_told = any(
            said.is_time(one.span) or _is_one_name(leaf, place, other, one, heard) or owner_of(other, one, heard)
            for one in places
        )
        if not is_told:
            return other.parameter.name
    return ""


def _is_one_name(leaf: Leaf, place: Place, other: Leaf, beside: Place, heard: Heard) -> bool:
    """Whether two names are the parts of one, in the order of their parameters: a make and its model."""
    pairs = [(place.span, leaf), (beside.span, other)]
    (first, one), (last, two) = sorted(pairs, key=lambda each: each[0])
    is_joined = not heard.said.text[first.end : last.start].strip()
    return is_joined and heard.leaves.index(one) < heard.leaves.index(two)


def _are_alike(leaf: Leaf, other: Leaf, heard: Heard) -> bool:
    """Whether each could stand for the other by its looks: both with a capital or none, and neither a text or a number."""
    if leaf.parameter.name == other.parameter.name or is_text(other, heard.said.language):
        return False
    values = [str(one.value) for one in (leaf, other)]
    are_words = leaf.sort == other.sort == "name" or all(one.islower() and " " not in one for one in values)
    return are_words and values[0][:1].isupper() == values[1][:1].isupper()
