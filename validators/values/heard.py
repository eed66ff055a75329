"""A text beside the values of a call: where each stands in it, and whose value a place states.

A place states this parameter's value, a rival's, or that of another name which looks like it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from callwright.language.packs import puts_spaces
from callwright.language.readers.quantities import Quantity
from callwright.language.readers.segmenter import counts_things, leads_to_noun
from callwright.language.text import words_of
from callwright.validators.values.amounts import could_be
from callwright.validators.values.longer_names import is_told_apart
from callwright.validators.values.parameters import LEADS, Lead, Leaf, Parameter, Role, is_timed, spellings
from callwright.validators.values.places import alike, is_time_alike
from callwright.validators.values.said import Mark, Place, Said, Span, mark_words, measure_words, schema_words
from callwright.validators.values.texts import is_text

_NEXT_SIGNS = 4  # from a word that corrects to what it puts right, in a script without spaces
_DIGITS = re.compile(r"\d")
_LABEL = re.compile(r"(?<!\w)(\w+)\s*[=:]\s*$")
AROUND, _AFTER = 48, 28  # characters around a value in which words may name its parameter
_NEAR, _NEAR_SIGNS = 3, 6  # words, or characters without spaces, that are next to a value
Way = Literal["from", "to"]
Owner = Literal["own", "rival", ""]


class Heard(NamedTuple):
    """A text with the values of a call and their places in it; `settled` are the parameters that surely have theirs."""

    said: Said
    leaves: Sequence[Leaf]
    places: Sequence[Sequence[Place]]
    settled: frozenset[tuple[str, str]] = frozenset()
    elsewhere: Sequence[Span] = ()  # where names of other calls stand

    @property
    def rows(self) -> Iterator[tuple[Leaf, Sequence[Place]]]:
        """Each value with its places."""
        return zip(self.leaves, self.places, strict=True)

    @property
    def taken(self) -> list[Span]:
        """Where values of the call stand."""
        return [one.span for each in self.places for one in each]

    def taken_beside(self, leaf: Leaf) -> list[Span]:
        """Where the other values of the call stand."""
        return [one.span for other, each in self.rows if other.path != leaf.path for one in each]

    def at(self, start: int) -> Leaf | None:
        """The value that begins at a place."""
        return next((leaf for leaf, places in self.rows if any(one.span.start == start for one in places)), None)

    def of(self, parameter: Parameter) -> tuple[Leaf, Sequence[Place]] | None:
        """The value of a parameter and its places."""
        return next((row for row in self.rows if row[0].parameter == parameter), None)


def named_words(said: Said, where: Span) -> list[frozenset[str]]:
    """The words of a stretch as names are compared, without articles."""
    article = mark_words(said.language)["article"]
    words, measures = words_of(said.quote(where)).row, measure_words(said.language)
    return [
        spellings(one.text) | {measures.get(one.text, one.text)} for one in words if not article.fullmatch(one.text)
    ]


def owner_of(leaf: Leaf, place: Place, heard: Heard) -> Owner:
    """Whose name the words next to a place are: this parameter's, a rival's, or nobody's."""
    return (
        _owner_by_label(leaf, place, heard) or _owner_by_role(leaf, place, heard) or _owner_by_name(leaf, place, heard)
    )


def _owner_by_label(leaf: Leaf, place: Place, heard: Heard) -> Owner:
    """Whose name stands before a place with a sign of equality: a=2."""
    label = _LABEL.search(heard.said.text, 0, place.span.start)
    if label is None:
        return ""
    if label[1] == leaf.parameter.name:
        return "own"
    return "rival" if any(label[1] == one.parameter.name for one in heard.leaves) else ""


def _owner_by_role(leaf: Leaf, place: Place, heard: Heard) -> Owner:
    """Whom a word tells that leads to a place: from, to, in."""
    role = role_said(leaf, place.span, heard.said)
    is_named = leaf.sort in ("name", "code") and puts_spaces(heard.said.language)
    beside = [one.parameter for one in heard.leaves if is_named and one.sort in ("name", "code") and one != leaf]
    roles = {one.role for one in (*leaf.rivals, *beside)} - {""}
    if role and leaf.parameter.role and roles and (role != leaf.parameter.role or role not in roles):
        return "own" if role == leaf.parameter.role else "rival"
    if role and leaf.sort == "number" and leaf.parameter.role:
        return "own" if role == leaf.parameter.role else "rival"
    edges = {one.edge for one in leaf.rivals} - {"", leaf.parameter.edge}
    if role and edges and leaf.parameter.edge and leaf.sort in ("day", "clock", "moment", "number"):
        return "own" if {"from": "first", "to": "last"}[role] == leaf.parameter.edge else "rival"
    # a word leads to a value that is what follows it, as no other value of the call is
    others = [one.parameter for one in heard.leaves if one.parameter != leaf.parameter]
    start, words = heard.said.clause(place.span).start, mark_words(heard.said.language)
    leads = [lead for lead in LEADS if words[lead].search(heard.said.text, start, place.span.start)]
    told: list[Lead | Way] = [*leads, *([role] if role else [])]
    if any(_is_led_to(leaf, one, place, heard) for one in told):
        return "rival"
    own = leaf.parameter
    led = (own.is_what_follows(one) and not any(each.is_what_follows(one) for each in others) for one in leads)
    rest = [
        one.span for row in heard.rows if row[0].argument != leaf.argument and row[0].sort == "name" for one in row[1]
    ]
    starts = [(heard.said.clause(one).start, one.start) for one in rest if not one.touches(place.span)]
    if any(words[lead].search(heard.said.text, *one) for lead in leads for one in starts):
        return ""  # deer in Washington and their impact in Ohio
    return "own" if any(led) and not (own.role and leads == ["at"]) else ""


def _is_led_to(leaf: Leaf, lead: Lead | Way, place: Place, heard: Heard) -> bool:
    """Whether the word before a place leads to what another parameter is, whose own value has no such word before it."""
    said, words = heard.said, mark_words(heard.said.language)

    def follows(one: Parameter) -> bool:
        match lead:
            case "from" | "to":
                return one.role == lead
            case _:
                return one.is_what_follows(lead)

    def is_led(one: Place) -> bool:
        if lead in {"from", "to"}:
            return role_said(leaf, one.span, said) == lead
        return words[lead].search(said.text, said.clause(one.span).start, one.span.start) is not None

    if leaf.sort not in ("name", "code") or follows(leaf.parameter) or said.question or said.is_time(place.span):
        return False
    others = [row for row in heard.rows if row[0].sort in ("name", "code") and follows(row[0].parameter)]
    apart = [
        [one for one in places if not one.span.touches(place.span)]
        for _, places in others
        if (places or lead in ("from", "to")) and places != [place]
    ]
    return any(not any(map(is_led, places)) for places in apart)


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
    own = leaf.parameter
    if leaf.sort == "number" and before and _is_counted_before(first, heard):
        before = before[:-1]
    is_lone = leaf.sort in ("name", "code") and not is_timed(own) and not is_text(leaf, said.language)
    if is_lone and before and not before[0] & own.subjects:
        others = [one.parameter.subjects for one in heard.leaves if one.sort in ("name", "code")]
        if any(subjects and subjects <= before[0] for subjects in others):
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
    if leaf.sort == "number" and said.text[place.span.start - 1] in measure_words(said.language):
        nearest = sides  # high 40, wide 30
    asked = words_of(said.question).row
    open_ones = [one for one in leaf.rivals if (one.parent, one.name) not in heard.settled]
    rival = frozenset[str]().union(*(one.words for one in open_ones)) - own.words
    naming = leaf.naming
    if any(one.role == own.role for one in leaf.rivals):
        naming -= {"to", "from"}  # it goes to both
    for words in (*(one for side in nearest for one in side), *(spellings(one.text) for one in asked)):
        if words & naming:
            return "own"
        if words & rival:
            return "rival"
    return ""


def _is_counted_before(at: int, heard: Heard) -> bool:
    """Whether the word right behind a place is what the number before it counts: "10 songs of 1999"."""
    said = heard.said
    number = next((one for one in said.quantities if one.end == at), None)
    if number is None or not puts_spaces(said.language) or not said.text[at : at + 2].strip():
        return False
    lead = named_words(said, Span(said.clause(Span(number.start, number.end)).start, number.start))[-1:]
    return not any(words & one.naming for words in lead for one in heard.leaves)


def role_said(leaf: Leaf, at: Span, said: Said) -> Role:
    """Whether the word before a place, or its first one, says that something goes from it or to it."""
    for one in said.marks:
        if one.kind in {"from", "to"}:
            gap = Span(one.span.end, at.start)
            is_near = 0 <= gap.end - gap.start <= AROUND
            sides = [schema_words(side) for side in ("givers", "takers")]
            is_next = is_near and not any(side.search(said.quote(gap).lower()) for side in sides)
            is_next = is_next and all(words & leaf.parameter.words for words in named_words(said, gap))
            if is_next or one.span.start == at.start < one.span.end < at.end:
                return one.kind
    return ""


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
        if any(one.end < span.start and len(said.text[one.end : span.start].split()) == 1 for one in own):
            before = []  # it follows its own
        is_named = any(leaf.parameter.subjects <= words for words in (*before, *after))
        if is_named and not any(span.touches(one) for one in own):
            return True
    return False


def led_elsewhere(leaf: Leaf, place: Place, heard: Heard) -> bool:
    """Whether the word that leads to what a parameter is leads to another value of the call, or to none: "from", "by"."""
    said, words, own = heard.said, mark_words(heard.said.language), leaf.parameter
    if own.role and not puts_spaces(said.language) and not role_said(leaf, place.span, said):
        ends = [one.span.end for one in said.marks if one.kind == own.role]
        ends = [end for end in ends if not 0 <= place.span.start - end <= _NEXT_SIGNS]  # who somebody is, and his name
        if any(
            leads_to_noun(said.text, end) and not any(one.start <= end < one.end for one in heard.taken) for end in ends
        ):
            return True
    leads = [lead for lead in LEADS if own.is_what_follows(lead)]
    for other, places in heard.rows:
        for one in places if other != leaf else ():
            before = said.text[said.clause(one.span).start : one.span.start]
            if one.span.touches(place.span) or other.sort != leaf.sort:
                continue
            is_led = own.role and role_said(leaf, one.span, said) == own.role
            if is_led or any(words[lead].search(before) for lead in leads if not other.parameter.is_what_follows(lead)):
                return True
    return False


def may_own(rival: Parameter, leaf: Leaf, place: Place, heard: Heard) -> bool:
    """Whether another parameter may have its value from a place, as far as units, order and other places tell."""
    if (rival.parent, rival.name) in heard.settled:
        return False
    found, said = heard.of(rival), heard.said
    if found and leaf.sort == "name" and not puts_spaces(said.language) and is_told_apart(leaf, found[0]):
        return False
    if rival.is_money and leaf.sort == "number" and not place.is_typed and not puts_spaces(said.language):
        return not counts_things(said.text, place.span.end)
    others = [one for one in found[1] if not one.span.touches(place.span)] if found else []
    amount, *rest = [_amount_at(one, heard.said) if leaf.sort == "number" else None for one in (place, *others)]
    is_apart = any(one is not None and could_be(rival, one, heard.said) for one in rest)
    if not place.is_typed and (is_apart or any(one.is_typed for one in others)):
        return False  # its own value stands in its own unit somewhere else
    if place.is_typed and leaf.sort == "number":
        suits = rival.is_money if leaf.parameter.is_money else rival.unit(heard.said.language) is not None
        suits = suits and (amount is None or could_be(rival, amount, heard.said))
    elif amount is not None:
        suits = could_be(rival, amount, heard.said)
    else:
        suits = not place.is_typed or leaf.sort == "choice"
    if not suits or not found or not found[1]:
        return suits
    return not (_is_ordered(leaf, found[0]) or is_in_turn(leaf, place, *found))


def _amount_at(place: Place, said: Said) -> Quantity | None:
    """The amount with a unit that stands at a place."""
    return next((one for one in said.quantities if one.unit and one.start == place.span.start), None)


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


def stands_among(leaf: Leaf, heard: Heard) -> str:
    """What another parameter has between the members of a list, "" where nothing stands there."""
    rows = [(one, places[0].span) for one, places in heard.rows if places and one.path.endswith("]")]
    own = [span for one, span in rows if one.argument == leaf.argument and one.parameter == leaf.parameter]
    among = [
        one for one, span in rows
        if one.argument != leaf.argument and own and min(own).end <= span.start and span.end <= max(own).start
    ]  # fmt: skip
    return str(among[0].value) if among else ""


def runs_backwards(leaf: Leaf, heard: Heard) -> str:
    """The other end of what a value begins or ends, where it would end before it begins; "" where it does not."""
    if leaf.sort not in ("number", "day", "moment"):
        return ""  # a night ends at an earlier hour than it begins
    own = leaf.parameter
    for other in (one.parameter for one in heard.leaves if one.sort == leaf.sort):
        is_same = other.parent == own.parent and (leaf.sort != "number" or bool(other.heads & own.heads))
        found = heard.of(other) if is_same and {own.edge, other.edge} == {"first", "last"} else None
        if found and not _is_ordered(leaf, found[0]):
            return other.name
    return ""


def is_in_turn(leaf: Leaf, place: Place, rival: Leaf, others: Sequence[Place]) -> bool:
    """Whether parameters that differ in their number alone, or members of a list, have their values in its order."""
    (name, at), (other_name, other_at) = leaf.parameter.rank, rival.parameter.rank
    first = min(one.span.start for one in others)
    return name == other_name and min(at, other_at) > 0 and (at < other_at) == (place.span.start < first)


def corrects(mark: Mark, leaf: Leaf, at: Span, said: Said) -> bool:
    """Whether a correction may be about a value of this sort: what follows it tells."""
    if mark.span.touches(at):
        return False
    after = Span(mark.span.end, min(said.sentence(mark.span).end, mark.span.end + AROUND))
    values = [*(one.span for one in said.times), *(Span(one.start, one.end) for one in said.quantities)]
    if first := min(
        (one for one in values if one.touches(after)), default=None
    ):  # what comes behind that is said besides
        after = Span(after.start, min(after.end, said.clause(first).end))
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
    if not puts_spaces(said.language):
        return is_free or not any(start < mark.span.end + _NEXT_SIGNS for start in starts)
    # what it puts right stands next: no word with a content of its own before it
    skipped = said.little
    before = [words_of(said.text[mark.span.end : start]).row for start in starts]
    return is_free or not any(all(one.text in skipped or not one.text.isalnum() for one in row) for row in before)
