"""The standing of each value of a call by the texts said: proved, only stated, unproved, or contradicted.

A value is proved where its words can mean no other parameter and nothing beside them turns it. Where another parameter could
take it, where it stands beside a negation, a correction, a change or another value of its kind, it is stated: who reads the
words decides. What rules can't place is a hint for that reader.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple
from unicodedata import numeric

from pydantic import JsonValue

from callwright.language.packs import puts_spaces, signs
from callwright.language.readers.segmenter import counts_things
from callwright.language.wording import find_phrase
from callwright.validators.values.amounts import amounts_beside, is_told
from callwright.validators.values.exchanges import exchanged, is_joined
from callwright.validators.values.heard import (
    Heard,
    corrects,
    led_elsewhere,
    may_own,
    names_another_value,
    owner_of,
    role_said,
    runs_backwards,
    stands_among,
)
from callwright.validators.values.longer_names import has_open_edge, is_in_longer_name, suit_each_other
from callwright.validators.values.parameters import Leaf, Sort, leaves_of
from callwright.validators.values.places import alike, places_of, times_beside, weekdays_of_choice
from callwright.validators.values.said import MARKS, Place, Said, Span, digit_words, mark_words
from callwright.validators.values.texts import (
    goes_on,
    is_announced,
    is_begun,
    is_part,
    is_spoken,
    is_text,
    item_before,
    joined_before,
    next_item,
)
from callwright.validators.values.turning import (
    TURNS,
    corrections,
    is_denied,
    is_left,
    put_right,
    told_of_another,
    turned,
)
from callwright.validators.values.unowned import no_name, noun_before, unowned_doubts
from callwright.warehouse.records import Arguments, DoubtedFact, Tool

Standing = Literal["proved", "stated", "unproved", "contradicted"]
STANDINGS: tuple[Standing, ...] = ("contradicted", "unproved", "stated", "proved")  # from the weakest on
_TIMES: frozenset[Sort] = frozenset({"day", "clock", "moment"})
Source = Literal["", "words", "default"]


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
    hints = _hints(leaves, texts[-1]) if texts else ()
    return CallReading(tuple(leaves), tuple(read_values(leaves, texts)), tuple(hints))


def read_values(leaves: Sequence[Leaf], texts: Sequence[Said], elsewhere: Collection[str] = ()) -> list[ValueReading]:
    """The standing of each value by all that was said, the latest text before the earlier ones.

    `elsewhere` are the names that other calls of the conversation have: who says them means those.
    """
    by_text = [(said, _read_leaves(leaves, said, elsewhere)) for said in reversed(texts)]
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
    if any(one.kind == "correction" and corrects(one, leaf, Span(-1, -1), said) for one in said.marks):
        heard = Heard(said, leaves, [places_of(one, said) for one in leaves])
        settled = {put_right(other, place, heard) for other, places in heard.rows for place in places if other != leaf}
        return any(one not in settled and corrects(one, leaf, Span(-1, -1), said) for one in corrections(heard))
    return False


def _contradicted(leaf: Leaf, leaves: Sequence[Leaf], texts: Sequence[Said]) -> str:
    """That another value of this type is said outright for this parameter, and no argument takes it; "" where it is not."""
    if any(one.kind in TURNS for said in texts for one in said.marks) or leaf.rivals:
        return ""
    heard = [(said, _taken(leaves, said)) for said in texts]
    if not all(_is_read(said, taken) for said, taken in heard):
        return ""
    if leaf.sort == "number":
        if any(
            mark_words(said.language)["each"].search(said.text) or _counts_more(said, taken) for said, taken in heard
        ):
            return ""
        unit = leaf.parameter.unit(texts[0].language)
        left = [
            (said, one) for said, taken in heard for one in amounts_beside(leaf, said, taken)
            if unit and one.unit and one.unit.dimension == unit.dimension and not one.bound and not one.is_estimate
            and not mark_words(said.language)["one"].search(said.text, one.start, one.number_end)  # a month: each
        ]  # fmt: skip
        if len(left) == 1:
            quote = left[0][0].quote(Span(left[0][1].start, left[0][1].end))
            return f"{leaf.path} is {leaf.value!r}, but {quote!r} is what is said."
    if leaf.sort in ("day", "clock"):
        times = [(said, one) for said, taken in heard for one in times_beside(leaf, said, taken)]
        named = [(said, one, one.days if leaf.sort == "day" else one.clocks) for said, one in times]
        if len(named) == 1 and len(named[0][2]) == 1 and not named[0][1].last and not named[0][1].is_bare:
            return f"{leaf.path} is {leaf.value!r}, but {named[0][0].quote(named[0][1].span)!r} is what is said."
    return ""


def _is_read(said: Said, taken: Sequence[Span]) -> bool:
    """Whether each figure of a text is within a time, an amount or a value: what is not read may be what is meant."""
    known = [*taken, *(one.span for one in said.times), *(Span(one.start, one.end) for one in said.quantities)]
    figures = (at for at, sign in enumerate(said.text) if numeric(sign, None) is not None)
    return all(any(one.start <= at < one.end for one in known) for at in figures)


def _counts_more(said: Said, taken: Sequence[Span]) -> bool:
    """Whether a number without a unit stands there that no value has: twelve rounds of 400 m, 2 kilos 300."""
    bare = (Span(one.start, one.end) for one in said.quantities if one.unit is None)
    return any(not any(map(one.touches, taken)) for one in bare)


def _taken(leaves: Sequence[Leaf], said: Said) -> list[Span]:
    return [place.span for leaf in leaves for place in places_of(leaf, said)]


def _read_leaves(leaves: Sequence[Leaf], said: Said, elsewhere: Collection[str]) -> list[ValueReading]:
    """The standing of each value by one text, seen beside the others."""
    sought = elsewhere if any(leaf.sort == "name" for leaf in leaves) else ()
    others = [Span(hit.start, hit.end) for one in sought if (hit := find_phrase(one, said.text))]
    heard = Heard(said, leaves, [places_of(leaf, said) for leaf in leaves], elsewhere=others)
    heard = heard._replace(places=[
        places or [*_derived(leaf, heard), *_single(leaf, heard)] for leaf, places in heard.rows
    ])  # fmt: skip
    while True:  # what is certain leaves fewer parameters to choose from
        readings = [_read(leaf, places, heard) for leaf, places in heard.rows]
        proved = [leaf for leaf, one in zip(leaves, readings, strict=True) if one.standing == "proved"]
        settled = heard.settled | {(leaf.parameter.parent, leaf.parameter.name) for leaf in proved}
        if settled == heard.settled:
            return _without_shared(leaves, readings)
        heard = heard._replace(settled=settled)


def _derived(leaf: Leaf, heard: Heard) -> Iterator[Place]:
    """Where a text says how long it is from the start that it says to an end that it does not say: three nights."""
    end, starts = _stamp_of(leaf.value), [
        start for other, places in heard.rows
        if places and other.sort == leaf.sort and (other.parameter.edge, leaf.parameter.edge) == ("first", "last")
        and (start := _stamp_of(other.value)) is not None
    ]  # fmt: skip
    for one in heard.said.quantities:
        is_length = one.unit is not None and one.unit.dimension == "duration" and not one.bound and not one.is_estimate
        if end is not None and is_length and one.unit:
            length = timedelta(seconds=float(one.value * one.unit.factor))
            if any(start + length == end for start in starts):
                yield Place(Span(one.start, one.end), is_typed=True, is_owned=True)


def _single(leaf: Leaf, heard: Heard) -> Iterator[Place]:
    """Where an article says that there is one of what the same member of a list names: two teas and a scone."""
    if leaf.value != 1 or isinstance(leaf.value, bool) or "]." not in leaf.path or leaf.parameter.is_money:
        return
    within = leaf.path.rpartition(".")[0]
    for other, places in heard.rows:
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


def _read(leaf: Leaf, places: Sequence[Place], heard: Heard) -> ValueReading:
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


def _doubts(leaf: Leaf, place: Place, heard: Heard) -> Iterator[str]:
    """Why the words at a place need not state this value for this parameter."""
    said = heard.said
    if not said.knows_marks:
        yield f"no rules know the language {said.language!r}"
    yield turned(leaf, place, heard)
    if backwards := runs_backwards(leaf, heard):
        yield f"it would begin after {backwards!r} ends, or end before that begins"
    is_flag = leaf.sort == "boolean"
    if place.is_open and not _is_closed(leaf, place, heard):
        yield f"{said.quote(place.span)!r} may be told of and not wished" if is_flag else "the words may go on"
    if not is_flag:
        yield from _doubts_of_place(leaf, place, heard)


def _doubts_of_place(leaf: Leaf, place: Place, heard: Heard) -> Iterator[str]:
    said = heard.said
    if any(one.start <= place.span.start < one.end and is_part(place.span, one, said) for one in said.quotes):
        yield "it is a part of a quotation"
    if leaf.sort in ("name", "code"):
        yield from _doubts_of_edges(leaf, place, heard)
    if leaf.path.endswith("]"):
        yield from _doubts_of_list(leaf, place, heard)
    yield from _doubts_of_others(leaf, place, heard)
    if place.more and not any(place.more.touches(one) for one in heard.taken):
        yield f"the name may be longer ({said.quote(place.more)!r})"
    owner = "own" if place.is_owned else owner_of(leaf, place, heard)
    if owner == "rival":
        yield "the words beside it name another parameter"
    yield no_name(leaf, place.span, heard)
    yield _beside(leaf, place, heard, owner)
    if owner:
        return
    yield from unowned_doubts(leaf, place.span, heard)
    if led_elsewhere(leaf, place, heard):
        yield "the word that leads to it leads to another value"
    if names_another_value(leaf, heard):
        yield "the word for it stands beside another value"
    others = [exchanged(leaf, place, heard), *(one.name for one in leaf.rivals if may_own(one, leaf, place, heard))]
    yield from (f"it may be for {one!r} as well" for one in others if one)


def _doubts_of_others(leaf: Leaf, place: Place, heard: Heard) -> Iterator[str]:
    """Why a value may be what somebody else has, or had, or one of several choices that are said."""
    said, known = heard.said, heard.taken_beside(leaf)
    if other := told_of_another(leaf, place, heard):
        yield f"it is told of {other!r}"
    others = [one for one in place.others if not is_denied(one, said) and not any(map(one.touches, known))]
    if choice := next(iter(others), None):
        yield f"{said.quote(choice)!r} is another of the choices"
    is_member = leaf.sort == "choice" and leaf.path.endswith("]")
    if is_member and said.marked(said.clause(place.span), "past", but=[place.span]):
        yield "it may be told of and not wished"


def _doubts_of_edges(leaf: Leaf, place: Place, heard: Heard) -> Iterator[str]:
    """Why the words of a name may be a part of what is said, or a name of another kind."""
    said = heard.said
    if is_in_longer_name(place.span, said.text):
        yield "it is a part of a longer name"
    if goes_on(place.span, said, heard.taken):
        yield "the words may go on"
    if time := _is_part_of_time(place, heard):
        yield f"it is a part of {said.quote(time)!r}"
    has_gaps = puts_spaces(said.language) or is_text(leaf, said.language)
    if not has_gaps and has_open_edge(leaf, place.span, said, heard.taken_beside(leaf)):
        yield f"{said.quote(place.span)!r} may be a part of a longer name"
    if not puts_spaces(said.language) and leaf.sort == "name":
        others = [one for one in heard.leaves if one.sort == "name" and one.argument != leaf.argument]
        if other := next((one for one in others if suit_each_other(leaf, one)), None):
            yield f"it looks like what {other.parameter.name!r} takes"


def _doubts_of_list(leaf: Leaf, place: Place, heard: Heard) -> Iterator[str]:
    """Why a list need not be whole, or be of these."""
    said = heard.said
    if (item := next_item(place.span, said)) and not any(map(item.touches, heard.taken)):
        yield f"the list may go on ({said.quote(item)!r})"
    if item := item_before(place.span, said, heard.taken):
        yield f"the list begins earlier ({said.quote(item).strip()!r})"
    if joined_before(place.span, said, heard.taken):
        yield "the list begins earlier"
    if not puts_spaces(said.language) and said.quote(place.span) == str(leaf.value) and not is_joined(leaf, heard):
        rest = [one for one in heard.leaves if one.argument == leaf.argument]
        if len(rest) > 1 and leaf.sort == "name":
            yield "it stands apart from the rest of its list"
    sentence = said.sentence(place.span)
    if more := mark_words(said.language)["more_of_list"].search(said.text, place.span.end, sentence.end):
        yield f"the list may go on ({more[0]!r})"
    if among := stands_among(leaf, heard):
        yield f"{among!r} stands between it and the rest of its list"


def _is_part_of_time(place: Place, heard: Heard) -> Span | None:
    """A day or a time that says more than what stands at a place and than the other values of the call."""
    said, known = heard.said, [place.span, *heard.taken]
    little, before = said.little, mark_words(said.language)["before_time"]
    for around in (one.span for one in said.times):
        if around.start <= place.span.start and place.span.end <= around.end:
            rest = "".join(
                " " if any(one.start <= at < one.end for one in known) else said.text[at] for at in range(*around)
            )
            words = [one for one in re.findall(r"\w+", rest.lower()) if one not in little and not before.fullmatch(one)]
            if words:
                return around
    return None


def _is_closed(leaf: Leaf, place: Place, heard: Heard) -> bool:
    """Whether words that nothing announces are whole: a sentence's end, or the call's other values, follow at once."""
    said, span = heard.said, place.span
    is_flag, rest = leaf.sort == "boolean", said.text[span.end :]
    is_next = any(one.end <= span.start and not said.text[one.end : span.start].strip() for one in heard.taken)
    if not is_flag and (is_announced(span, said) or not (is_next or is_begun(span, said))):
        return False
    if not is_flag and not said.text[span.end : said.sentence(span).end].strip(signs(" .!?{.!?}")):
        return not is_spoken(leaf) or not rest.strip(signs(" .!?{.!?}"))
    following = sorted(one for one in heard.taken if span.end <= one.start)
    at, end = span.end, said.clause(span).end
    for one in following:
        # no more than one word joins a value to what stands before it
        joint = said.text[at : one.start]
        is_short = (len(joint.split()) if puts_spaces(said.language) else len(joint.strip())) <= 1
        if one.start < end and is_short and not mark_words(said.language)["joined"].search(joint):
            at = max(at, one.end)
            end = max(end, said.clause(one).end)
    return at > span.end and not is_spoken(leaf) and not said.text[at:end].strip()


def _beside(leaf: Leaf, place: Place, heard: Heard, owner: str) -> str:
    """Another value of its kind that no argument has; where words name this one, another that they name as well."""
    if leaf.sort == "name" and heard.said.is_time(place.span):
        return ""
    said = heard.said
    new = put_right(leaf, place, heard)  # what stands before it is taken back
    taken = [*heard.taken, *(heard.elsewhere if leaf.sort == "name" else ())]
    if leaf.sort == "choice":
        has = {one.value for one in heard.leaves if one.argument == leaf.argument}
        return next(
            (f"{said.quote(at)!r} is said, too" for day, at in weekdays_of_choice(leaf, said) if day not in has), ""
        )
    left = [one for one in alike(leaf, heard.said, taken) if new is None or one.start >= new.span.end]
    left = [one for one in left if not is_denied(one, heard.said) and not is_left(leaf, one, place, heard.said)]
    if leaf.sort == "number" and not puts_spaces(heard.said.language):
        left = [one for one in left if not _is_article(one, place, heard.said)]
        if counts_things(heard.said.text, place.span.end):
            measured = [Span(one.start, one.end) for one in heard.said.quantities if one.unit]
            left = [one for one in left if one not in measured]
    if owner:
        left = [] if place.is_owned else left
        left = [
            one for one in left if owner_of(leaf, Place(one), heard) == "own" or not _is_labelled(leaf, one, heard.said)
        ]
    other = left[0] if left else None
    return f"{heard.said.quote(other)!r} is said, too" if other else ""


def _is_labelled(leaf: Leaf, span: Span, said: Said) -> bool:
    """Whether something beside another value of a kind says that it is for something else: its unit, what it counts, a noun."""
    if leaf.sort == "number":
        amounts = [one for one in said.quantities if one.start == span.start]
        return any(one.unit is not None or is_told(leaf.parameter, one, said) for one in amounts)
    role, own, is_other = (
        role_said(leaf, span, said),
        leaf.parameter.role,
        len(said.quote(span)) != len(str(leaf.value)),
    )
    is_told_apart = (role != own and bool(role and own)) or (is_other and said.quote(span).isdecimal())
    return leaf.sort != "code" or is_told_apart or bool(noun_before(span, said))


def _is_article(one: Span, place: Place, said: Said) -> bool:
    """Whether the word for one says no amount beside a number of other things."""
    is_one = digit_words(said.language).get(said.text[one.start]) == "1"
    if is_one and any(each.start == one.end for each in said.quantities):
        return True  # what another amount counts for
    is_one = is_one and one.end == one.start + 1
    return is_one and (
        place.is_typed
        or any(each.start == one.end + 1 for each in said.quantities)  # 80 for each
        or (counts_things(said.text, place.span.end) and said.text[one.end] != said.text[place.span.end])
    )


def _without_shared(leaves: Sequence[Leaf], readings: Sequence[ValueReading]) -> list[ValueReading]:
    """Of two values that have the same words, only the one with more of them keeps its proof.

    A moment that is said once is where something begins; that it ends at once nobody said.
    """
    kept = list(readings)
    for at, leaf in enumerate(leaves):
        for other, rival in enumerate(leaves):
            mine, theirs, sorts = readings[at], readings[other], {leaf.sort, rival.sort}
            if at == other or mine.standing != "proved" or not mine.spans or not theirs.spans:
                continue
            widths = [one.spans[0].end - one.spans[0].start for one in (mine, theirs)]
            is_end = (leaf.parameter.edge, rival.parameter.edge) == ("last", "first") and leaf.value == rival.value
            is_shared = sorts <= _TIMES and (not is_end or leaf.sort == "day")
            is_shared = is_shared and not (leaf.parameter.is_return and leaf.value == rival.value)
            is_shared |= "choice" in sorts and (leaf.argument == rival.argument or bool(sorts & _TIMES))
            may_share = "boolean" in sorts or is_shared or widths[0] > widths[1]
            if not may_share and mine.spans[0].touches(theirs.spans[0]):
                reason = f"{leaf.path} = {leaf.value!r} is only stated: {rival.path!r} has the same words."
                kept[at] = kept[at]._replace(standing="stated", reason=reason)
    return kept


def _hints(leaves: Sequence[Leaf], said: Said) -> Iterator[DoubtedFact]:
    """What rules can't place: words that may turn the request, and amounts and times that no value has."""
    taken = _taken(leaves, said)
    first = {one.kind: one.span for one in reversed(said.marks) if one.kind not in ("past", "from", "to")}
    found = [(kind, first[kind]) for kind in MARKS if kind in first]
    amounts = [("number_left", Span(one.start, one.end)) for one in said.quantities]
    left = [*amounts, *(("time_left", one.span) for one in said.times)]
    for kind, span in (*found, *(one for one in left if not any(one[1].touches(each) for each in taken))):
        yield DoubtedFact(kind=kind, turn=max(said.turn, 0), quote=re.sub(r"\s+", " ", said.quote(span)))
