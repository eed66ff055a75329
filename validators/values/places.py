"""Where a text says a value by its own words: an amount, a day, a choice, a name, a code, a text."""

import re
from calendar import day_abbr
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from callwright.language.packs import widened
from callwright.language.readers.duckling_reader import read
from callwright.language.readers.mentions import UNKNOWN_NOW, find_weekdays
from callwright.language.readers.quantities import find_quantities
from callwright.language.readers.units import quantity_words, unit_named
from callwright.language.schemas import choices_of
from callwright.language.values import ANSWERED, NEGATED, find_boolean, is_about, locate
from callwright.language.wording import find_phrase
from callwright.validators.values.amounts import amounts_beside, places_of_number, spelled_digits
from callwright.validators.values.longer_names import is_name, more_of_name, stands_inside
from callwright.validators.values.parameters import MOMENT, Leaf, spellings
from callwright.validators.values.said import Place, Said, Span, Time, mark_words
from callwright.validators.values.texts import is_text, is_whole

_EXACT = frozenset({"spelling", "grouping of digits", "inflection", "place spelling", "date in figures"})
_MONTH = re.compile(r"(0[1-9]|1[0-2])/(20\d{2})|(20\d{2})-(0[1-9]|1[0-2])")
_WORD, _WEEK = re.compile(r"[^\W\d_]{3,}"), 7
_CAPITAL = re.compile(widened(r"(?<![\w'’-])[A-ZÀ-Þ](?=[\w'’-]*[a-zà-ÿ])[\w'’-]*(?![\w ]{0,80}@[:])"))
_LINE = re.compile(r"\b([A-Z]{2,4})[ -]$")
_SATURDAY = 5
_SHORTEST_CODE = 3
_DIGIT = re.compile(r"\d")
_MOST_PLACES = 100  # of one value in one text
_BEFORE = 10  # letters in which those before a number are looked for
_SHORT = 4  # letters of a word by which a longer one may be meant


def places_of(leaf: Leaf, said: Said) -> list[Place]:
    """All the places where a text says the value of a leaf."""
    match leaf.sort:
        case "boolean":
            found = _of_boolean(leaf, said)
        case "number":
            found = places_of_number(leaf, said)
        case "day" | "clock" | "moment":
            found = _of_moment(leaf, said)
        case "choice":
            found = _of_choice(leaf, said)
        case _:
            found = _of_text(leaf, said)
    return sorted(dict.fromkeys(found), key=lambda one: (bool(one.why), one.span))


def _of_boolean(leaf: Leaf, said: Said) -> Iterator[Place]:
    schema = {"title": leaf.parameter.name, **leaf.parameter.schema}
    found = find_boolean(bool(leaf.value), schema, said.text)
    if found is None or (found.rule == ANSWERED and not is_about(schema, said.question)):
        return
    span = Span(found.start, found.end)
    if found.rule == ANSWERED:
        yield Place(span)
        return
    is_denied = not leaf.value and (found.rule == NEGATED or said.marked(said.clause(span), "negation") is not None)
    is_last = bool(leaf.value) and span.end == said.clause(span).end  # what a clause ends with, it tells of no more
    is_turned = said.marked(said.sentence(span), "negation", "alternative", "condition", "change", "past") is not None
    is_wished = is_denied or (bool(leaf.value) and not is_turned)
    is_wished &= found.rule != NEGATED or said.marked(said.clause(Span(span.end - 1, span.end)), "negation") is not None
    why = "" if is_wished else f"{said.quote(span)!r} may be told of and not wished"
    yield Place(span, why, is_open=is_wished and not is_denied and not is_last)


def _of_moment(leaf: Leaf, said: Said) -> Iterator[Place]:
    text = str(leaf.value)
    whole = MOMENT.fullmatch(text)
    day = whole[1] if whole else text if leaf.sort == "day" else ""
    clock = whole[2] if whole else text[:5] if leaf.sort == "clock" else ""
    if (at := said.text.find(text)) >= 0:
        span = Span(at, at + len(text))
        read = [one for one in said.times if one.clocks and one.span.touches(span)]
        if not clock or not read or any(clock in one.clocks or clock == one.last_clock for one in read):
            yield Place(span)
            return  # 12:30 of 12:30 am is another time
    days = [(one, _day_doubt(leaf, day, one, said)) for one in said.times if day in one.days | one.last] if day else []
    timed = [one for one in said.times if clock and (clock in one.clocks or clock == one.last_clock)]
    # the other half of the day, or the other end of a period, may be meant as well
    clocks: list[tuple[Time, str]] = []
    for one in timed:
        fitting = {"first": one.clocks, "last": frozenset({one.last_clock})}.get(leaf.parameter.edge, frozenset[str]())
        doubt = "" if one.clocks == {clock} or one.last_clock == clock else "the half of the day is open"
        words = quantity_words(said.language).patterns
        if words["about_after"].search(said.text[one.span.end :]):
            doubt = f"{said.quote(one.span)!r} is about when"
        if one.last_clock and one.last_clock not in one.clocks and clock not in fitting:
            doubt = f"{said.quote(one.span)!r} has a time of beginning and one of ending"
        clocks.append((one, doubt))
    if not day or not clock:
        yield from (Place(one.span, why, is_owned=bool(one.last) and not why) for one, why in (*days, *clocks))
    elif days and clocks:
        spans = (days[0][0].span, clocks[0][0].span)
        both = Span(min(spans).start, max(spans[0].end, spans[1].end))
        others = [one for one in said.times if one.days and day not in one.days | one.last and one.span.touches(both)]
        why = days[0][1] or clocks[0][1] or ("another day is said beside it" if others else "")
        yield Place(both, why)


def _day_doubt(leaf: Leaf, day: str, one: Time, said: Said) -> str:
    """Why a day that may be meant need not be: another one may be as well."""
    quote = said.quote(one.span)
    if one.last and one.last != one.days:
        edge = leaf.parameter.edge
        fitting = one.days if edge == "first" else one.last if edge == "last" else frozenset[str]()
        return "" if day in fitting else f"{quote!r} has a first day and a last one"
    if len(one.days) > 1:
        return f"{quote!r} may be one of several days"
    if quantity_words(said.language).patterns["open_date"].search(quote):
        return f"{quote!r} may begin with its day or with its month"
    if _names_other_weekday(day, quote, said):
        return f"{quote!r} names another day of the week"
    clause = said.clause(one.span)
    # the clause begins with, or its subject is followed by, a verb in the form of what is past
    is_told = mark_words(said.language)["tells"].match(said.text, clause.start, clause.end)
    is_past = is_told or said.marked(clause, "past", but=[one.span])
    if one.is_bare and not re.search(r"\d", quote) and is_past:
        return f"{quote!r} may be the one before or the one after"
    return ""


def _names_other_weekday(day: str, quote: str, said: Said) -> bool:
    """Whether a word of what is said is a day of the week that the day does not fall on."""
    for word in _WORD.findall(quote):
        for one in read(word, said.language, said.now or UNKNOWN_NOW):
            found = [each.get("value") for each in one.value.get("values", ()) if each.get("grain") == "day"]
            days = [date.fromisoformat(str(each)[:10]) for each in found]
            is_weekday = len(days) > 1 and all((other - first).days == _WEEK for first, other in pairwise(days))
            if is_weekday and days[0].weekday() != date.fromisoformat(day).weekday():
                return True
    return False


def _of_choice(leaf: Leaf, said: Said) -> Iterator[Place]:
    choices = [str(one) for one in choices_of(leaf.parameter.schema)]
    found = {choice: places for choice in choices if (places := list(_occurrences(choice, said)))}
    mine = found.pop(str(leaf.value), [])
    mine = mine or [span for day, span in weekdays_of_choice(leaf, said) if day == leaf.value]
    if not mine and not found:
        mine = list(_amounts_of_choice(str(leaf.value), choices, said))
    unit = unit_named(str(leaf.value).lower(), quantity_words(said.language))
    if not mine and unit and unit.dimension != "money":
        counted = [one for one in said.quantities if one.unit == unit and one.end > one.number_end]
        mine = [Span(one.number_end, one.end) for one in counted]
    rest = [each for places in found.values() for each in places]
    rest += _shortened(str(leaf.value), choices, said) if mine else []
    rest += _coins(said) if mine and unit and unit.dimension == "money" else []
    for span in mine:
        others = tuple(each for each in rest if not _lies_in(each, span))
        inside = any(_lies_in(span, each) and each != span for places in found.values() for each in places)
        if not inside:
            yield Place(span, is_typed=True, others=others)


def _coins(said: Said) -> Iterator[Span]:
    """Where a text names a coin, with an amount or without."""
    for word in _WORD.finditer(said.text):
        unit = unit_named(word.group().lower(), quantity_words(said.language))
        if unit is not None and unit.dimension == "money":
            yield Span(*word.span())


def _shortened(value: str, choices: Sequence[str], said: Said) -> Iterator[Span]:
    """Words by which another choice may be meant that is not said whole: prod for production."""
    others = {word for one in choices if one != value for word in _WORD.findall(one.casefold())}
    begun = others - {*_WORD.findall(value.casefold())}
    for word in _WORD.finditer(said.text):
        short = word.group().casefold()
        if len(short) >= _SHORT and any(one.startswith(short) and len(one) > len(short) for one in begun):
            yield Span(*word.span())


def weekdays_of_choice(leaf: Leaf, said: Said) -> Iterator[tuple[str, Span]]:
    """Where a text names days of the week, where a choice is one of them, in languages that have signs for them."""
    choices = {str(one).lower()[:_SHORTEST_CODE]: str(one) for one in choices_of(leaf.parameter.schema)}
    names = [one.lower() for one in day_abbr]
    if {*names} <= {*choices}:
        for start, end, day, _ in find_weekdays(said.text, said.language):
            yield choices[names[day]], Span(start, end)
            if day == _SATURDAY and said.text[end - 1] in quantity_words(said.language).weekday_spellings:
                yield choices[names[day + 1]], Span(start, end)  # a weekend


def _amounts_of_choice(value: str, choices: Sequence[str], said: Said) -> Iterator[Span]:
    """Where a text says the one amount that a choice is, with the same bound: "1000 and more"."""
    wanted = {choice: find_quantities(choice, said.language) for choice in choices}
    for one in said.quantities:
        alike = [
            choice for choice, amounts in wanted.items()
            if len(amounts) == 1 and not one.is_estimate
            and (amounts[0].value, amounts[0].bound) == (one.value, one.bound)
            and (amounts[0].unit == one.unit or None in (amounts[0].unit, one.unit))
        ]  # fmt: skip
        if alike == [value]:
            yield Span(one.start, one.end)


def _lies_in(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _of_text(leaf: Leaf, said: Said) -> Iterator[Place]:
    value = str(leaf.value).strip()
    if not value:
        return
    if month := _MONTH.fullmatch(value):
        wanted = f"{month[2] or month[3]}-{month[1] or month[4]}"
        yield from (Place(one.span) for one in said.times if any(day[:7] == wanted for day in one.days))
    spans = [*_occurrences(value, said)]
    to_the_letter = [span for span in spans if said.quote(span).casefold() == value.casefold()]
    for span in to_the_letter or spans:  # beside AA00, AA-00 is another code
        is_free = is_text(leaf, said.language)
        # the letters before a number may be a part of it: ICE 512
        line = _LINE.search(said.text, max(0, span.start - _BEFORE), span.start) if value.isdecimal() else None
        before = Span(*line.span(1)) if line and line[1].lower() not in leaf.parameter.words else None
        more = None if is_free and value.islower() else more_of_name(leaf, span, said) or before
        yield Place(span, more=more, is_open=is_free and not is_whole(span, said))


def _occurrences(value: str, said: Said) -> Iterator[Span]:
    """Where a text has these words, in any spelling of their letters."""
    rest, found = said.text, 0
    while found < _MOST_PLACES and (hit := find_phrase(value, rest)) is not None:
        yield Span(hit.start, hit.end)
        found += 1
        rest = f"{rest[: hit.start]}{' ' * (hit.end - hit.start)}{rest[hit.end :]}"
    if not found:
        other = locate(value, {}, said.text)
        # a code has no endings: AB1 is not AB1E
        is_code = other is not None and bool(_DIGIT.search(said.text[other.start : other.end]))
        if other is not None and other.rule in (_EXACT - {"inflection"} if is_code else _EXACT):
            yield Span(other.start, other.end)
        else:
            yield from spelled_digits(value, said)


_GROUPED = re.compile(r"(?<![\w-])\+?\(?\d(?:[ ().-]{0,2}\d){6,}(?![\w-])", re.ASCII)
_CODE = re.compile(r"(?<![\w-])(?=[\w.-]*\d)[\w-]+(?:\.[\w-]+)*(?![\w-])", re.ASCII)


def _codes_beside(leaf: Leaf, said: Said, taken: Sequence[Span]) -> Iterator[Span]:
    """Codes in the form of this one that no value of the call has; of numbers in groups, such as a phone's, all others."""
    form = _form(str(leaf.value))
    is_grouped = _GROUPED.fullmatch(str(leaf.value)) is not None
    for match in (_GROUPED if is_grouped else _CODE).finditer(said.text):
        span = Span(*match.span())
        if (is_grouped or _form(match.group()) == form) and not any(span.touches(each) for each in taken):
            yield span


def _names_beside(leaf: Leaf, said: Said, taken: Sequence[Span]) -> Iterator[Span]:
    """Other names, words with a capital within a sentence, that no value of the call has; for a person's name no place's."""
    own = leaf.parameter.words.union(*(one.words for one in leaf.rivals))
    known = [*taken, *said.quotes, *(Span(one.start, one.end) for one in said.quantities)]
    for match in _CAPITAL.finditer(said.text):
        span = Span(*match.span())
        is_called = is_name(match.group(), said) and stands_inside(span.start, said)
        is_called = is_called and not any(span.touches(one.span) for one in said.times)
        is_label = not own.isdisjoint(spellings(match.group().lower()))
        # a word before it says that something goes from it or to it, or is in it
        led = mark_words(said.language)["at"].search(said.text, said.clause(span).start, span.start) is not None
        led |= any(one.kind in ("from", "to") and 0 <= span.start - one.span.end <= 1 for one in said.marks)
        is_place = led and not leaf.parameter.is_what_follows("at") and not leaf.parameter.role
        if is_called and not is_label and not is_place and not any(span.touches(each) for each in known):
            yield span


def _form(code: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d]+", "a", code))


def times_beside(leaf: Leaf, said: Said, taken: Sequence[Span]) -> Iterator[Time]:
    """Days, or times of day, that a leaf could take and that no value of the call has."""
    for one in said.times:
        known = [each for each in (*taken, *said.quotes) if one.span.touches(each)]
        # of a time with two ends one alone may be what a value has
        is_half = bool(one.last_clock) and len({*known}) == 1 and not _lies_in(one.span, known[0])
        if is_time_alike(leaf, one) and (is_half or not known):
            yield one


def is_time_alike(leaf: Leaf, one: Time) -> bool:
    """Whether what is said is of the sort of a leaf: a day for a day, a time of day for a time of day."""
    return (
        bool(one.days)
        if leaf.sort == "day"
        else bool(one.clocks) and not one.is_vague
        if leaf.sort == "clock"
        else True
    )


def alike(leaf: Leaf, said: Said, taken: Sequence[Span]) -> Iterator[Span]:
    """Values of the kind of this one that stand outside of what is taken."""
    if leaf.sort == "number":
        has_unit = leaf.parameter.unit(said.language) is not None  # as places of numbers are
        for one in amounts_beside(leaf, said, taken):
            yield Span(one.start, one.end if has_unit else one.number_end)
    elif leaf.sort in ("day", "clock", "moment"):
        yield from (one.span for one in times_beside(leaf, said, taken))
    elif leaf.sort == "code":
        yield from _codes_beside(leaf, said, taken)
    elif leaf.sort == "name":
        if any(str(leaf.value) == said.quote(one)[1:-1] for one in said.quotes):  # other quotations, where it is one
            yield from (one for one in said.quotes if not any(one.touches(each) for each in taken))
        yield from _names_beside(leaf, said, taken) if str(leaf.value)[:1].isupper() else ()
