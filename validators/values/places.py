"""Where a text says a value by its own words: an amount, a day, a choice, a name, a code, a text."""

import re
from calendar import day_abbr
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from math import isclose
from typing import NamedTuple

from callwright.language.names import split_name
from callwright.language.numbers import find_numbers
from callwright.language.packs import puts_spaces, widened
from callwright.language.protocol import ORDINAL
from callwright.language.readers.duckling_reader import read
from callwright.language.readers.mentions import UNKNOWN_NOW, find_weekdays
from callwright.language.readers.quantities import Quantity, find_quantities
from callwright.language.readers.segmenter import counts_things
from callwright.language.readers.units import Unit, quantity_words, unit_named
from callwright.language.schemas import choices_of
from callwright.language.text import folded
from callwright.language.values import ANSWERED, NEGATED, find_boolean, is_about, locate
from callwright.language.wording import find_phrase
from callwright.validators.values.longer_names import is_name, more_of_name, stands_inside
from callwright.validators.values.parameters import MOMENT, Leaf, Parameter, spellings
from callwright.validators.values.said import Said, Span, Time, digit_words, mark_words, measure_words
from callwright.validators.values.texts import is_text, is_whole
from callwright.warehouse.records import DEFAULT_LANGUAGE

_EXACT = frozenset({"spelling", "grouping of digits", "inflection", "place spelling", "date in figures"})
_MONTH = re.compile(r"(0[1-9]|1[0-2])/(20\d{2})|(20\d{2})-(0[1-9]|1[0-2])")
_WORD, _WEEK = re.compile(r"[^\W\d_]{3,}"), 7
_CAPITAL = re.compile(widened(r"(?<![\w'’-])[A-ZÀ-Þ](?=[\w'’-]*[a-zà-ÿ])[\w'’-]*(?![\w ]*@[:])"))
_LINE = re.compile(r"\b([A-Z]{2,4})[ -]$")
_SATURDAY = 5
_SHORTEST_CODE = 3
_DIGIT = re.compile(r"\d")
_SHORT = 4  # letters of a word by which a longer one may be meant
_AROUND = 24  # characters around an amount that tell what it counts
_LEAST = re.compile(r"(?<![a-z])(?:min|minimum|least|lowest|lower)(?![a-z])")
_MOST = re.compile(r"(?<![a-z])(?:max|maximum|most|highest|upper|budget|limit)(?![a-z])")
_BOUNDS = frozenset({"radius", "threshold", "tolerance", "cutoff"})  # parameters that are a bound of what they count
_DEGREE = 0.51
_TOLD_UNIT = re.compile(r"\bin [a-zA-Z/²³°]+[.)]?$|\([a-zA-Z/²³°]+\)$")
_WORD_BEHIND, _IN_CODE = re.compile(r"\s?([^\W\d_]+)"), re.compile(r"\w-$")
_ROUNDED = 0.004
_FREE = frozenset({"money", "degree", "celsius"})  # units that a schema may leave unsaid
_SCALES = frozenset({"degree", "celsius", "fahrenheit"})


class Place(NamedTuple):
    """Where a text says a value; `why` tells what keeps it from being proved there, "" where nothing does."""

    span: Span
    why: str = ""
    is_typed: bool = False  # the unit or the form tells whose value it is
    is_owned: bool = False  # the words tell which parameter it is for
    is_open: bool = False  # more words of the text or about the flag may follow
    more: Span | None = None  # a word that may belong to the name
    others: tuple[Span, ...] = ()  # where another of the choices is said


def places_of(leaf: Leaf, said: Said) -> list[Place]:
    """All the places where a text says the value of a leaf."""
    match leaf.sort:
        case "boolean":
            found = _of_boolean(leaf, said)
        case "number":
            found = _of_number(leaf, said)
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


def _of_number(leaf: Leaf, said: Said) -> Iterator[Place]:
    value, unit = float(str(leaf.value)), leaf.parameter.unit(said.language)
    for one in said.quantities:
        is_scaled = one.unit is None or one.unit.dimension == "money"
        if _same_amount(one, value * leaf.parameter.scale if is_scaled else value, unit):
            is_typed = one.unit is not None and (unit is not None or leaf.parameter.is_money)
            span = Span(one.start, one.end if unit else one.number_end)
            yield Place(span, _amount_doubt(leaf, one, unit, said), is_typed, is_owned=_is_own_edge(leaf, one))
    if value.is_integer() and value >= 0:
        yield from (Place(span) for span in _spelled_digits(f"{value:.0f}", said))


def _same_amount(one: Quantity, value: float, unit: Unit | None) -> bool:
    """Whether a quantity is this number of this unit, converted where it is stated in another one."""
    stated = one.unit
    if unit is None or stated is None:
        return isclose(one.value, value, rel_tol=1e-9)
    if stated.dimension == unit.dimension:
        whole = float(max(stated.factor, unit.factor) / min(stated.factor, unit.factor))
        near = 1e-6 if isclose(whole, round(whole), rel_tol=1e-9) else _ROUNDED
        return isclose(one.value * stated.factor, value * unit.factor, rel_tol=near)
    if {stated.dimension, unit.dimension} <= _SCALES and "degree" in (stated.dimension, unit.dimension):
        return isclose(one.value, value)
    converted = {
        ("fahrenheit", "celsius"): (one.value - 32) * 5 / 9, ("celsius", "fahrenheit"): one.value * 9 / 5 + 32,
    }.get((stated.dimension, unit.dimension))  # fmt: skip
    return converted is not None and isclose(converted, value, abs_tol=_DEGREE)


def _amount_doubt(leaf: Leaf, one: Quantity, unit: Unit | None, said: Said) -> str:
    """Why an amount that is said need not be the one that is wanted."""
    quote = said.quote(Span(one.start, one.end))
    words = quantity_words(said.language).patterns
    bound = one.bound if leaf.path.endswith("]") else _bound(one)  # members of a list are no ends of a range
    if one.is_estimate:
        return f"{quote!r} is about how much"
    is_counted = unit is not None or leaf.parameter.is_several
    if is_counted and one.unit is None and any(found.rule == ORDINAL for found in find_numbers(quote)):
        return f"{quote!r} is which of several"
    # which bound a parameter is, "" where it is a value
    named = leaf.parameter.told
    least = bool(_LEAST.search(named) or words["names_least"].search(named))
    most = bool(_MOST.search(named) or words["names_most"].search(named))
    edge = "" if least == most else "least" if least else "most"
    is_bound = bool(_BOUNDS & frozenset(split_name(leaf.parameter.name)))
    is_value = not edge and (not bound or is_bound or (one.is_loose and bound == "most"))
    has_other = any(each.edge and each.edge != leaf.parameter.edge for each in leaf.rivals)
    if not is_value and not _is_own_edge(leaf, one) and bound != edge and (bound or has_other):
        return f"{quote!r} is a bound or a range" if bound else f"nothing says whether {quote!r} is a bound"
    return _unit_doubt(leaf, one, unit, said) or _share_doubt(leaf, one, unit, said)


def _unit_doubt(leaf: Leaf, one: Quantity, unit: Unit | None, said: Said) -> str:
    """Why an amount need not be in what the parameter counts in."""
    quote = said.quote(Span(one.start, one.end))
    if one.unit and unit is None and one.unit.dimension not in _FREE and not _is_named(leaf.parameter, one, said):
        return f"{quote!r} has a unit that the parameter does not name"
    is_count = leaf.parameter.schema.get("type") == "integer" and not leaf.parameter.is_money
    if one.unit is not None and one.unit.dimension == "money" and is_count:
        return f"{quote!r} is money"
    if one.unit is not None and one.unit.dimension == "degree" and unit and _is_other_scale(unit, said):
        return f"{quote!r} may be of another scale"
    has_other = one.unit is None and _has_other_unit(leaf, one, unit, said)
    return f"{quote!r} has a unit that the parameter does not name" if has_other else ""


def _share_doubt(leaf: Leaf, one: Quantity, unit: Unit | None, said: Said) -> str:
    """Why an amount may be a change, or count for each of something where the parameter does not, or the other way round."""
    quote, words = said.quote(Span(one.start, one.end)), quantity_words(said.language).patterns
    before, after = said.text[max(0, one.start - _AROUND) : one.start], said.text[one.end : one.end + _AROUND]
    is_each = words["per_after"].search(after) or words["per_before"].search(before)
    rest = said.text[
        one.end : min(
            [
                said.clause(Span(one.start, one.end)).end,
                *(each.start for each in said.quantities if each.start > one.end),
            ]
        )
    ]
    is_told_each = is_each or any(words["per_after"].search(rest[at.start() :]) for at in re.finditer(r"\s", rest))
    if words["relative_before"].search(before) or (is_each and not leaf.parameter.is_for_each):
        return f"{quote!r} is a change or counts for each"
    if _counts_for_other(leaf, before, said):
        return f"{quote!r} counts for each of another unit"
    is_rate = one.unit is not None and "/" in one.unit.dimension
    sentence = said.sentence(Span(one.start, one.end))
    is_each_before = mark_words(said.language)["each"].search(said.text, sentence.start, one.start) is not None
    is_told_each = bool(is_told_each) or is_each_before
    if unit and one.unit and leaf.parameter.is_told_for_each and not is_told_each and not is_rate:
        return f"nothing says that {quote!r} counts for each"
    return ""


def _counts_for_other(leaf: Leaf, before: str, said: Said) -> bool:
    """Whether an amount counts for each of another unit than the parameter says: a price for each pound, told in kilograms."""
    words = quantity_words(said.language)
    each = words.patterns["each_unit"].search(before)
    told = leaf.parameter.each_unit(said.language)
    return each is not None and told is not None and unit_named(each[1], words) not in (None, told)


def _is_other_scale(unit: Unit, said: Said) -> bool:
    """Whether degrees without a scale need not be of this one: where people say Celsius, or the text names the other."""
    other = {"celsius": "fahrenheit", "fahrenheit": "celsius"}.get(unit.dimension, "")
    is_foreign = unit.dimension == "fahrenheit" and said.language != DEFAULT_LANGUAGE
    return is_foreign or (bool(other) and other in said.text.lower())


def _has_other_unit(leaf: Leaf, one: Quantity, unit: Unit | None, said: Said) -> bool:
    """Whether a word behind a number is none of the parameter's, which is told in a unit that no table has: 30 psi for bar."""
    named = _TOLD_UNIT.search(leaf.parameter.description)
    behind = _WORD_BEHIND.match(said.text, one.end)
    if unit is not None or leaf.parameter.is_money or not named or not behind:
        return False
    if mark_words(said.language)["of"].match(said.text, behind.end()):
        return False  # four out of five
    if not puts_spaces(said.language) and behind[1].startswith(tuple(measure_words(said.language))):
        return False  # 40 long and 30 wide
    word = behind[1].casefold()
    word = measure_words(said.language).get(word, word)
    return not spellings(word) & leaf.parameter.words and word not in said.small


def _bound(one: Quantity) -> str:
    return {1: "least", 2: "most"}.get(one.place, one.bound)


def _is_own_edge(leaf: Leaf, one: Quantity) -> bool:
    own = leaf.parameter
    edge = {"first": "least", "last": "most"}.get(own.edge) or {"from": "least", "to": "most"}.get(own.role, "")
    return bool(edge) and _bound(one) == edge


def _spelled_digits(value: str, said: Said) -> Iterator[Span]:
    """Where the digits of a number or a code are said one by one."""
    digits = re.sub(r"\D", "", value)
    names = digit_words(said.language)
    if len(digits) < _SHORTEST_CODE or re.search(r"[^\W\d]", value):
        return
    plain = folded(said.text).text
    if len(plain) != len(said.text):
        return
    one = "|".join(sorted(names, key=len, reverse=True))
    for match in re.finditer(rf"(?<![a-z\d])(?:(?:{one}|\d)[\s,\-]*)+(?![a-z\d])", plain):
        parts = re.findall(rf"{one}|\d", match.group())
        is_spelled = not re.sub(r"\s", "", match.group()).rstrip(",-").isdecimal()
        if is_spelled and "".join(names.get(part, part) for part in parts) == digits:
            yield Span(match.start(), match.start() + len(match.group().rstrip(" ,-")))


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
        line = _LINE.search(said.text[: span.start]) if value.isdecimal() else None
        before = Span(*line.span(1)) if line and line[1].lower() not in leaf.parameter.words else None
        more = None if is_free and value.islower() else more_of_name(leaf, span, said) or before
        yield Place(span, more=more, is_open=is_free and not is_whole(span, said))


def _occurrences(value: str, said: Said) -> Iterator[Span]:
    """Where a text has these words, in any spelling of their letters."""
    rest, found = said.text, 0
    while (hit := find_phrase(value, rest)) is not None:
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
            yield from _spelled_digits(value, said)


def amounts_beside(leaf: Leaf, said: Said, taken: Sequence[Span]) -> Iterator[Quantity]:
    """Amounts that a leaf could take and that no value of the call has."""
    for one in said.quantities:
        if could_be(leaf.parameter, one, said) and not any(Span(one.start, one.end).touches(each) for each in taken):
            yield one


def could_be(own: Parameter, one: Quantity, said: Said) -> bool:
    """Whether an amount could be one of a parameter: by its unit, and where it has none by what it counts."""
    unit = own.unit(said.language)
    before = [each for each in said.quantities if each.end <= one.start and not said.text[each.end : one.start].strip()]
    if before and mark_words(said.language)["one"].search(said.text, one.start, one.number_end):
        return False  # 38 an hour
    if one.unit is None:
        is_whole = own.is_money or own.schema.get("type") == "integer"
        if (unit is None and is_whole and not float(one.value).is_integer()) or (
            own.is_money and _counts_things(one, said)
        ):
            return False
        return (unit is None and not own.is_money) or not is_told(own, one, said)
    dimension = one.unit.dimension
    if unit is not None:
        return dimension == unit.dimension or {dimension, unit.dimension} <= _SCALES
    if own.is_money or dimension == "money":
        return own.is_money and dimension == "money"
    is_count = own.schema.get("type") == "integer"
    return not (dimension == "percent" and is_count) and (dimension in {*_FREE, "percent"} or _is_named(own, one, said))


def _is_named(own: Parameter, one: Quantity, said: Said) -> bool:
    """Whether the unit of an amount is a word of the parameter."""
    counted = re.findall(r"\w+", folded(said.quote(Span(one.number_end, one.end))).text)
    return any(spellings(word) & own.words for word in counted)


def is_told(own: Parameter, one: Quantity, said: Said) -> bool:
    """Whether a bare number counts something else, by the word behind it, or is an ordinal, a part of a code, or "one"."""
    quote = said.quote(Span(one.start, one.end))
    is_ordinal = (one.value == 1 and quote.isalpha()) or any(found.rule == ORDINAL for found in find_numbers(quote))
    behind = _WORD_BEHIND.match(said.text, one.end)
    counted = behind[1] if behind and behind[1].islower() and behind[1] not in said.small else ""
    is_other = bool(counted) and not spellings(counted) & own.words
    return is_ordinal or is_other or _IN_CODE.search(said.text, 0, one.start) is not None


def _counts_things(one: Quantity, said: Said) -> bool:
    return not puts_spaces(said.language) and counts_things(said.text, one.number_end)


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
