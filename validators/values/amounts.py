"""Where a text says an amount, whether it is in what a parameter counts in, and which parameters could take it."""

import re
from collections.abc import Iterator, Sequence
from math import isclose

from callwright.language.names import split_name
from callwright.language.numbers import is_ordinal
from callwright.language.packs import puts_spaces
from callwright.language.readers.quantities import Quantity
from callwright.language.readers.segmenter import counts_things
from callwright.language.readers.units import Unit, quantity_words, unit_named
from callwright.language.text import folded
from callwright.validators.values.parameters import Leaf, Parameter, spellings
from callwright.validators.values.said import Place, Said, Span, digit_words, mark_words, measure_words
from callwright.warehouse.records import DEFAULT_LANGUAGE

_AROUND = 24  # characters around an amount that tell what it counts
_LEAST = re.compile(r"(?<![a-z])(?:min|minimum|least|lowest|lower)(?![a-z])")
_MOST = re.compile(r"(?<![a-z])(?:max|maximum|most|highest|upper|budget|limit)(?![a-z])")
_BOUNDS = frozenset({"radius", "threshold", "tolerance", "cutoff"})  # parameters that are a bound of what they count
_DEGREE = 0.51
_TOLD_UNIT = re.compile(r"\bin [a-zA-Z/²³°]+[.)]?$|\([a-zA-Z/²³°]+\)$")
_ROUNDED = 0.004
_FREE = frozenset({"money", "degree", "celsius"})  # units that a schema may leave unsaid
_SCALES = frozenset({"degree", "celsius", "fahrenheit"})
_WORD_BEHIND, _IN_CODE = re.compile(r"\s?([^\W\d_]+)"), re.compile(r"\w-$")
_SHORTEST_CODE = 3


def places_of_number(leaf: Leaf, said: Said) -> Iterator[Place]:
    """Where a text says a number, in whatever unit or digit by digit."""
    value, unit = float(str(leaf.value)), leaf.parameter.unit(said.language)
    for one in said.quantities:
        is_scaled = one.unit is None or one.unit.dimension == "money"
        if _same_amount(one, value * leaf.parameter.scale if is_scaled else value, unit):
            is_typed = one.unit is not None and (unit is not None or leaf.parameter.is_money)
            span = Span(one.start, one.end if unit else one.number_end)
            yield Place(span, _amount_doubt(leaf, one, unit, said), is_typed, is_owned=_is_own_edge(leaf, one))
    if value.is_integer() and value >= 0:
        yield from (Place(span) for span in spelled_digits(f"{value:.0f}", said))


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
    if is_counted and one.unit is None and is_ordinal(quote):
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


def spelled_digits(value: str, said: Said) -> Iterator[Span]:
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
    is_rank = (one.value == 1 and quote.isalpha()) or is_ordinal(quote)
    behind = _WORD_BEHIND.match(said.text, one.end)
    counted = behind[1] if behind and behind[1].islower() and behind[1] not in said.small else ""
    is_other = bool(counted) and not spellings(counted) & own.words
    return is_rank or is_other or _IN_CODE.search(said.text, 0, one.start) is not None


def _counts_things(one: Quantity, said: Said) -> bool:
    return not puts_spaces(said.language) and counts_things(said.text, one.number_end)
