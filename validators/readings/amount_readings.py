"""Whether a request says a number: with its unit, its bound, what it counts, and its exactness."""

import re
from collections.abc import Collection, Iterator
from datetime import date
from itertools import pairwise
from math import isclose

from callwright.language.cues import cue_words, find_choice
from callwright.language.packs import of, widened
from callwright.language.plain_words import terms_in
from callwright.language.readers.glosses import glosses_of
from callwright.language.readers.mentions import Moment
from callwright.language.readers.people import find_people
from callwright.language.readers.quantities import Quantity
from callwright.language.readers.units import Unit, quantity_words, unit_named, unit_of
from callwright.language.spelling_out import find_spelled
from callwright.language.text import STOP
from callwright.language.values import locate
from callwright.language.wording import content_keys
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    content_words,
    left_open,
    proved,
    touches,
)

_PEOPLE = re.compile(
    "people|persons?|guests?|passengers?|seats?|travell?ers?|adults?|party|tickets?|attendees?|visitors?|size|children|kids"
    "|applicants?|diners?|covers|pax|heads|players?|riders?|occupants?|participants?|members?|students?|delegates?"
)
_KINDS = re.compile("adults?|children|child|kids|infants?")
_SPLIT = frozenset({"child", "children", "kid", "infant"})
_CHILDREN = re.compile("children|child|kids|infants?")
_COUNTS = re.compile(
    "quantity|qty|count|number|shares?|copies|stems?|pieces?|units?|items?|tickets?|guests?|people|passengers?|adults?"
    "|children|seats?|nights?|rooms?|passes|lines?|rating|stars?|level|floor|age|zone|cantidad|n[uú]mero|pasajeros"
)
_MONEY = re.compile("price|cost|amount|fee|budget|pay|salary|rate|deposit|value|spend|sum|importe|precio")
_BOUNDED = re.compile("target|radius|distance|budget|limit|cap|range|within|threshold|timeout|spend|goal")
_TOTAL, _EACH = (
    re.compile("total|overall|sum|altogether"),
    re.compile("per|each|hourly|daily|nightly|weekly|monthly|unit|rate"),
)
_RESULTS = re.compile("results?|items?|rows?|entries|hits|number|records?|options?|resultados")
_COMPARED = re.compile("direction|operator|comparison|condition|bound|when")
_PART_OF_DAY = re.compile("year|month|day")
_HOUR = re.compile("hour")
_FIRST, _LAST = re.compile("from|start|begin|first"), re.compile("to|end|until|last")
_SECOND, _SHARE, _COIN = Unit("duration", 1), Unit("percent", 1), Unit("money", 1)
_KILOMETRE, _NIGHTS, _THREE_DIGITS = Unit("distance", 1000), re.compile("nights?"), 100
_PLACE_IN_TIME = re.compile(r"(?<![\d:])(\d{1,3}):([0-5]\d)(?![\d:]|\s*[ap]\.?m)")
_DIRECTED = re.compile("open|opened|closed?|close|min|minimum|lowest")
_NAME_AROUND, _COUNTED = 40, 24  # characters
_HEAD = 3  # characters before a number in which a script without spaces names what it counts
_SHORTEST_UNIT = 2  # letters
_BREAK = re.compile(widened(r"@[,.;!?{list}]|\band\b"))
_WHOLE = 100  # percent
_DEGREE = 0.51  # of a degree, lost in rounding between scales
_ROUNDED = 0.004  # of a converted amount
# Units that are meant where a schema names none: money, percent, degrees, days and weeks, months and years, kilograms,
# centimetres.
_USUAL = frozenset({
    Unit("money", 1), Unit("percent", 1), Unit("degree", 1), Unit("celsius", 1), Unit("duration", 86400),
    Unit("duration", 604800), Unit("months", 1), Unit("months", 12), Unit("mass", 1000), Unit("distance", 0.01),
})  # fmt: skip
_WEIGHT, _KILOGRAM = re.compile("weight"), Unit("mass", 1000)
_POUND = Unit("mass", 453.592)
_SCALES = frozenset({"celsius", "fahrenheit"})


def read_number(leaf: ArgumentLeaf, value: float, text: RequestText) -> ArgumentReading:
    """The reading of a number: proved by a quantity of that amount, in a unit and a bound that suit the parameter."""
    special = _read_people(leaf, value, text) or _made_of(leaf, value, text)
    if special is not None:
        return special
    unit = unit_of(leaf.name, leaf.description, text.language) or (_KILOGRAM if leaf.is_named(_WEIGHT) else None)
    given = {
        measured for name in leaf.siblings if (measured := unit_named(name.lower(), quantity_words(text.language)))
    }
    doubt = ""
    for each in text.quantities:
        if unit == _KILOMETRE and _is_in_thousands(each, text):
            continue
        one = _as_asked(leaf, _weighed(each, unit, text), unit, text)
        if _same_amount(one, value, unit, given):
            found = next(filter(None, _doubts(leaf, one, unit, text)), "")
            if not found:
                return proved(leaf, Span(one.start, one.end if unit else one.number_end))
            doubt = doubt or found
    other = None if doubt else next(_otherwise(leaf, value, unit, text), None)
    if other is not None:
        return proved(leaf, other)
    return left_open(leaf, doubt or f"Nothing says {leaf.name} = {leaf.value!r}.")


def _made_of(leaf: ArgumentLeaf, value: float, text: RequestText) -> ArgumentReading | None:
    """The reading where the words count what the parameter's own unit is made of: 300 shares are 3 lots of a hundred."""
    made_of = quantity_words(text.language).patterns["made_of"].search(leaf.description)
    counted = [one for one in text.quantities if made_of and text.text.startswith(made_of[2], one.number_end)]
    if not made_of or not counted:
        return None
    if isclose(counted[0].value, value * float(made_of[1])):
        return proved(leaf, Span(counted[0].start, counted[0].number_end))
    return left_open(leaf, f"{counted[0].value:g} counts parts of what {leaf.name!r} is for.")


def _otherwise(leaf: ArgumentLeaf, value: float, unit: Unit | None, text: RequestText) -> Iterator[Span]:
    """Where the words state a number in another way than as a quantity."""
    patterns = quantity_words(text.language).patterns
    yield from (Span(one.start, one.end) for one in text.moments if _holds_part(leaf, one, value))
    yield from _positions(leaf, value, unit, text)
    yield from _decimals(leaf, value, text)
    yield from _elapsed(leaf, value, unit, text)
    yield from _kilometres(value, unit, text)
    spelled = find_spelled(f"{value:.0f}", text.text, text.language) if value >= _THREE_DIGITS else None
    if spelled and not re.search(r"\d", text.text[spelled.start : spelled.end]):
        yield Span(spelled.start, spelled.end)
    yield from _coded(leaf, value, text)
    yield from _utmost(leaf, value, text)
    yield from _at_an_end(leaf, value, text)
    yield from _glossed(leaf, value, text)
    if value == 1 and (leaf.is_named(_COUNTS) or leaf.is_named(_PEOPLE)):
        yield from (Span(*match.span()) for match in patterns["omitted_one"].finditer(text.text))


def _positions(leaf: ArgumentLeaf, value: float, unit: Unit | None, text: RequestText) -> Iterator[Span]:
    """Where a place in a recording is written as minutes and seconds, 1:20, and the parameter counts seconds."""
    places = list(_PLACE_IN_TIME.finditer(text.text)) if unit == _SECOND else []
    for index, match in enumerate(places):
        is_turned = len(places) > 1 and (
            (index == 0 and leaf.is_named(_LAST)) or (index == len(places) - 1 and leaf.is_named(_FIRST))
        )
        if not is_turned and int(match[1]) * 60 + int(match[2]) == value:
            yield Span(*match.span())


def _decimals(leaf: ArgumentLeaf, value: float, text: RequestText) -> Iterator[Span]:
    """Where a decimal is worded like a time of day, and no time is asked for."""
    digits = cue_words(text.language).digits
    for match in quantity_words(text.language).patterns["decimal_clock"].finditer(text.text):
        is_value = isclose(digits[match[1]] + digits[match[2]] / 10, value)
        if is_value and not leaf.is_named(_HOUR) and not text.quantities:
            yield Span(*match.span())


def _elapsed(leaf: ArgumentLeaf, value: float, unit: Unit | None, text: RequestText) -> Iterator[Span]:
    """Where a time of day or a day is stated with the one at which it ends, and the parameter is how long that is."""
    if unit is None or unit.dimension != _SECOND.dimension:
        return
    until = quantity_words(text.language).patterns["until"]
    for first, last in pairwise(text.moments):
        is_span = len(first.clocks) == len(last.clocks) == 1 and until.fullmatch(text.text[first.end : last.start])
        if is_span and _lasts(min(first.clocks), min(last.clocks), value * unit.factor):
            yield Span(last.start, last.end)
    for one in text.moments:
        if len(one.clocks) == 1 and one.last_clock and _lasts(min(one.clocks), one.last_clock, value * unit.factor):
            yield Span(one.start, one.end)
        if leaf.is_named(_NIGHTS) and one.last_day and len(one.days) == 1 and not one.clocks:
            nights = date.fromisoformat(one.last_day) - date.fromisoformat(min(one.days))
            if nights.days == value:
                yield Span(one.start, one.end)


def _lasts(first: str, last: str, seconds: float) -> bool:
    """Whether so much time goes by from one time of a day to a later one."""
    hours = [int(clock[:2]) + int(clock[3:]) / 60 for clock in (first, last)]
    return isclose((hours[1] - hours[0]) * 3600, seconds)


def _kilometres(value: float, unit: Unit | None, text: RequestText) -> Iterator[Span]:
    """Where a distance is worded in thousands: "a 10k", "ten and a half K"."""
    if unit == _KILOMETRE:
        yield from (
            Span(one.start, one.end) for one in text.quantities
            if _is_in_thousands(one, text) and isclose(one.value, value * unit.factor)
        )  # fmt: skip


def _is_in_thousands(one: Quantity, text: RequestText) -> bool:
    return one.unit is None and text.text[one.start : one.end].lower().endswith("k")


def _coded(leaf: ArgumentLeaf, value: float, text: RequestText) -> Iterator[Span]:
    """Where a number is written with the short unit that ends the parameter's name: 3000K for `colour_k`."""
    unit = leaf.words[-1] if leaf.words else ""
    if len(unit) <= _SHORTEST_UNIT and unit.isalpha():
        pattern = rf"(?<![\w.]){re.escape(f'{value:g}')}\s?{re.escape(unit)}(?![a-z\d])"
        begun = [Span(one.start + 1, one.end) for one in text.quantities]
        found = re.finditer(pattern, text.text, re.IGNORECASE | re.ASCII)
        yield from (  # none that is the end of a longer number: minus 3
            Span(*match.span()) for match in found if not touches(begun, match.start(), match.start() + 1)
        )


def _utmost(leaf: ArgumentLeaf, value: float, text: RequestText) -> Iterator[Span]:
    """Where the words ask for the end of a scale, and the schema says where that is."""
    patterns = quantity_words(text.language).patterns
    words = leaf.description.lower()
    ends = patterns["scale_ends"].search(words)
    stated = leaf.schema.get(
        "maximum", float(ends[1]) if ends else 100 if patterns["names_percent"].search(words) else None
    )
    if stated == value and not leaf.is_named(_DIRECTED):
        for match in patterns["utmost"].finditer(text.text.lower()):
            yield Span(*match.span())


def _at_an_end(leaf: ArgumentLeaf, value: float, text: RequestText) -> Iterator[Span]:
    """Where the words ask for all of an opening or for none, or switch off what a level of 0 is the end of."""
    patterns, words = quantity_words(text.language).patterns, leaf.description.lower()
    if _is_opening(leaf, text) and value in (0, _WHOLE):
        yield from (
            Span(*one.span()) for one in patterns["fully_closed" if value == 0 else "fully_open"].finditer(text.text)
        )
    elif value == 0 and patterns["names_off_at_zero"].search(words):
        yield from (Span(*one.span()) for one in patterns["switched_off"].finditer(text.text))


def _glossed(leaf: ArgumentLeaf, value: float, text: RequestText) -> Iterator[Span]:
    """Where the words say what the description says that this number means, and none of what others mean."""
    stated = {
        code: found
        for code, gloss in glosses_of(leaf.schema).items()
        if (found := locate(gloss, {}, text.text) or find_choice(gloss, text.text, text.language, leaf.name))
    }
    if set(stated) == {f"{value:g}"}:
        found = stated[f"{value:g}"]
        if not text.is_denied(found.start):
            yield Span(found.start, found.end)


def _is_opening(leaf: ArgumentLeaf, text: RequestText) -> bool:
    """Whether a parameter tells how far something is open."""
    named = f"{' '.join(leaf.words)} {leaf.description.lower()}"
    return bool(quantity_words(text.language).patterns["names_opening"].search(named))


def _weighed(one: Quantity, unit: Unit | None, text: RequestText) -> Quantity:
    """A pound is money, but not where a weight is asked for; tenths are percent."""
    if (
        one.unit is None
        and unit_named(text.text[one.start : one.end].split(" ")[-1].lower(), quantity_words(text.language)) == _SHARE
    ):
        return one._replace(unit=_SHARE)
    if one.unit is not None and one.unit.dimension == "percent":
        return one._replace(value=one.value * one.unit.factor, unit=_SHARE)
    is_pound = (
        quantity_words(text.language).patterns["pound_of_weight"].search(text.quote(Span(one.start, one.end)).lower())
    )
    return one._replace(unit=_POUND) if is_pound and unit and unit.dimension == _POUND.dimension else one


def _as_asked(leaf: ArgumentLeaf, one: Quantity, unit: Unit | None, text: RequestText) -> Quantity:
    """An estimate is what is wanted where the parameter is one, and points are no minutes."""
    patterns, words = quantity_words(text.language).patterns, leaf.description.lower()
    if patterns["names_estimate"].search(words):
        one = one._replace(is_estimate=False)
    is_scored = unit is None and one.unit is not None and one.unit.dimension == _SECOND.dimension
    return one._replace(unit=None) if is_scored and patterns["names_points"].search(words) else one


def _doubts(leaf: ArgumentLeaf, one: Quantity, unit: Unit | None, text: RequestText) -> Iterator[str]:
    yield _unit_doubt(one, unit, text)
    yield _bound_doubt(leaf, one, text)
    yield _count_doubt(leaf, one, unit, text)
    before, after = text.text[max(0, one.start - _COUNTED) : one.start], text.text[one.end : one.end + _COUNTED]
    patterns = quantity_words(text.language).patterns
    is_each = patterns["per_after"].search(after) or patterns["per_before"].search(before)
    if leaf.is_named(_TOTAL) and is_each:
        yield f"{one.value:g} is stated for each, and {leaf.name!r} is for all."
    if leaf.is_named(_EACH) and (patterns["total_around"].search(after) or patterns["total_around"].search(before)):
        yield f"{one.value:g} is stated for all, and {leaf.name!r} is for each."
    if patterns["names_opening"].search(f"{' '.join(leaf.words)} {leaf.description.lower()}") and patterns[
        "shutting"
    ].search(before):
        yield f"{one.value:g} is how far to close, and {leaf.name!r} is how far it is open."
    is_relative = patterns["relative_before"].search(before) or patterns["relative_after"].search(after)
    if is_relative and not leaf.is_named(_DELTA):
        yield f"{one.value:g} is a change, and {leaf.name!r} is a value."


_DELTA = re.compile(
    "delta|change|by|increment|offset|adjust(?:ment)?|extra|additional|extend|step|raise|increase|decrease|acceleration"
)


def _unit_doubt(one: Quantity, unit: Unit | None, text: RequestText) -> str:
    """Whether another unit than the parameter's stands before a number without one: "the hours should be 5"."""
    words = quantity_words(text.language)
    before = words.patterns["unit_before"].search(text.text[max(0, one.start - _COUNTED) : one.start].lower())
    named = unit_named(before[1], words) if before and unit and one.unit is None else None
    return f"{one.value:g} is stated in another unit." if named and named != unit else ""


def _holds_part(leaf: ArgumentLeaf, moment: Moment, value: float) -> bool:
    if leaf.is_named(_PART_OF_DAY):
        return any(int(part) == value for day in moment.days for part in day.split("-"))
    if leaf.is_named(_HOUR) and float(value).is_integer():
        clock = f"{int(value):02}:00"
        if moment.last_clock:
            return (clock == moment.last_clock) if leaf.is_named(_LAST) else moment.clocks == {clock}
        return moment.clocks == {clock}
    return False


def _same_amount(one: Quantity, value: float, unit: Unit | None, given: Collection[Unit] = ()) -> bool:
    if one.is_estimate:
        return False
    stated = one.unit
    if unit is not None and unit.dimension == _COIN.dimension and stated is None:
        return isclose(one.value, value * unit.factor)  # who names no coin means the whole one
    others = [each for each in given if stated and each.dimension == stated.dimension and each != stated]
    if unit is None and stated not in given and stated and others:
        return any(isclose(one.value * stated.factor, value * each.factor) for each in others)
    return _is_amount(one, value, unit, given)


def _is_amount(one: Quantity, value: float, unit: Unit | None, given: Collection[Unit]) -> bool:
    if unit is None or one.unit is None:
        is_usual = one.unit is None or unit is not None or one.unit in _USUAL or one.unit in given
        return is_usual and isclose(one.value, value, rel_tol=1e-9)
    dimensions = (one.unit.dimension, unit.dimension)
    if dimensions[0] == dimensions[1]:
        is_converted = one.unit.factor != unit.factor and not float(one.unit.factor / unit.factor).is_integer()
        tolerance = _ROUNDED if is_converted else 1e-6
        return isclose(one.value * one.unit.factor, value * unit.factor, rel_tol=tolerance)
    if "degree" in dimensions and _SCALES & set(dimensions):
        return isclose(one.value, value)
    if dimensions == ("fahrenheit", "celsius"):
        return isclose((one.value - 32) * 5 / 9, value, abs_tol=_DEGREE)
    if dimensions == ("celsius", "fahrenheit"):
        return isclose(one.value * 9 / 5 + 32, value, abs_tol=_DEGREE)
    return dimensions == ("months", "duration") and _in_days(one, value, unit)


def _in_days(one: Quantity, value: float, unit: Unit) -> bool:
    """A year is 365 days and 52 weeks; a month is no number of days."""
    months = one.value * one.unit.factor if one.unit else 0
    return months % 12 == 0 and (value * unit.factor / 86400) in (months / 12 * 365, months / 12 * 364)


def _bound_doubt(leaf: ArgumentLeaf, one: Quantity, text: RequestText) -> str:
    bound = {1: "least", 2: "most"}.get(one.place, one.bound)
    least, most = leaf.bounds(text.language)
    if least == most:
        is_compared = any(_COMPARED.search(name) for name, _ in leaf.others)
        is_loose = not one.bound or one.place or one.is_loose or leaf.is_named(_BOUNDED) or is_compared
        return "" if is_loose else f"{one.value:g} is stated as a bound, and {leaf.name!r} is a value."
    wanted = "least" if least else "most"
    if most and not bound and leaf.is_named(_RESULTS):
        return ""
    if not bound:
        is_named = _names_bound(leaf, one, text) or (most and leaf.is_named(_BOUNDED))
        return "" if is_named else f"Nothing says that {one.value:g} is the {wanted} that is wanted."
    return "" if bound == wanted else f"{leaf.name!r} is the {wanted} that is wanted, and the words say the {bound}."


def _names_bound(leaf: ArgumentLeaf, one: Quantity, text: RequestText) -> bool:
    """Whether the parameter's description, words such as "highest price", stands before the number or behind it."""
    before = _BREAK.split(text.text[max(0, one.start - _NAME_AROUND) : one.start])[-1]
    after = _BREAK.split(text.text[one.end : one.end + _NAME_AROUND])[0]
    described = {key.deep for key in content_keys(leaf.description) if key.light != STOP}
    return bool(described) and any(
        described <= {key.deep for key in content_keys(beside)} for beside in (f"{text.question} {before}", after)
    )


def _count_doubt(leaf: ArgumentLeaf, one: Quantity, unit: Unit | None, text: RequestText) -> str:
    """Whether the number counts what another parameter is for: money, months, children."""
    if one.unit is not None and unit is None:
        is_money = one.unit.dimension == "money" and leaf.is_named(_COUNTS) and not leaf.is_named(_MONEY)
        is_share = one.unit.dimension == "percent" and "percent" in leaf.rivals
        if is_money or is_share or one.unit.dimension in leaf.rival_dimensions(text.language):
            return f"{text.quote(Span(one.start, one.end))!r} is no {leaf.name!r}."
    if text.quote(Span(one.start, one.end)).isdigit() and len(text.quote(Span(one.start, one.end))) > len("2026"):
        return ""
    before = _BREAK.split(text.text[max(0, one.start - _COUNTED) : one.start])[-1]
    if leaf.naming & {key.deep for key in content_keys(before)}:
        return ""
    headed = _heading(leaf, one, before, text)
    if headed & leaf.rivals and not headed & leaf.naming:
        return f"{one.value:g} counts something else than {leaf.name!r}."
    counted = _counted(text, one.end) if one.unit is None else set[str]()
    following = content_words(_BREAK.split(text.text[one.end : one.end + _COUNTED])[0])
    if counted and counted & leaf.rivals and not (counted | following) & leaf.naming:
        return f"{one.value:g} counts something else than {leaf.name!r}."
    return ""


def _heading(leaf: ArgumentLeaf, one: Quantity, before: str, text: RequestText) -> set[str]:
    """The thing that stands right before its number, where a script without spaces may put it and no number precedes it."""
    is_count = one.unit is None and (leaf.is_named(_COUNTS) or leaf.is_named(_KINDS)) and not of(text.language).space
    is_counted = any(one.start - len(before) <= other.start < one.start for other in text.quantities)
    return terms_in(before[-_HEAD:], text.language) if is_count and not is_counted else set()


def _counted(text: RequestText, at: int) -> set[str]:
    """The word that follows a number, as it is compared; in English too, where the language is another."""
    match = quantity_words(text.language).patterns["counted"].match(text.text, at)
    if match is None:
        return set()
    if not match[1].isascii() and terms_in(match[1], text.language):
        return terms_in(match[1], text.language)
    return {key.deep for key in content_keys(match[1]) if key.light != STOP} | terms_in(match[1], text.language)


def _read_people(leaf: ArgumentLeaf, value: float, text: RequestText) -> ArgumentReading | None:
    """The reading of a count of people whom the words name together; None where they name none, or another thing is counted."""
    if not leaf.is_named(_PEOPLE) and not quantity_words(text.language).patterns["names_people"].search(
        leaf.description
    ):
        return None
    people = find_people(text.text[: text.own], text.language)
    if people is None:
        return None
    count = people.total
    spans: tuple[tuple[int, int], ...] = ((people.start, people.end),)
    if leaf.is_named(_KINDS) or leaf.rivals & _SPLIT:
        if people.children is None:
            return None
        is_young = leaf.is_named(_CHILDREN)
        count = count if count is None else people.children if is_young else count - people.children
        spans = people.young if is_young else people.grown
    where = tuple(Span(*one) for one in spans)
    if count is None:
        whole = text.quote(Span(people.start, people.end))
        return left_open(leaf, f"Nothing says how many {whole!r} are.")
    if isclose(count, value):
        return proved(leaf, *where)
    if any(one.value == value and not touches(where, one.start, one.end) for one in text.quantities):
        return left_open(leaf, f"{count:g} people are named, and {value:g} are stated.")
    return ArgumentReading(leaf.argument, "contradicted", (), f"{count:g} people are meant, not {value:g}.")
