"""Which of a call's arguments a request proves, read strictly: with unit, bound, role and time of day.

Grounding accepts what may mean the value; here a value is proved only where the words can mean nothing else. Two
arguments never share their words, an amount in another unit is converted or does not count, a maximum is no minimum, and
where something is to go from here to there, the words say which is which.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import isclose
from typing import Literal, NamedTuple

from pydantic import JsonValue

from language.booleans import ANSWERED, find_boolean, is_about
from language.cues import cue_words, find_choice
from language.mentions import Moment
from language.packs import widened
from language.quantities import Quantity, find_quantities
from language.schemas import choices_of, kind_of
from language.sentences import last_clause, sentence_at
from language.text import STOP, VERBATIM, Found
from language.units import Unit, quantity_words, unit_of
from language.values import locate
from language.wording import content_keys
from validators.checks.request_text import ArgumentLeaf, RequestText, Span
from warehouse.records import Arguments

Grade = Literal["proved", "unproved", "contradicted"]
Role = Literal["origin", "target"]
GROUPING = "grouping of digits"
_EXACT = frozenset(
    {VERBATIM, "spelling", GROUPING, "inflection", "place spelling", "date", "date and time", "date in figures"}
)
_ROLES: dict[Role, re.Pattern[str]] = {
    "origin": re.compile("from|origin|departure|depart|source|src|sender|old|pickup|base|initial"),
    "target": re.compile("to|target|destination|dest|arrival|recipient|receiver|new|dropoff"),
}
_LEAST, _MOST = (
    re.compile("min|minimum|least|lowest|above|lower"),
    re.compile("max|maximum|most|highest|below|upper|limit|cap"),
)
_LAST, _FIRST = re.compile("end|return|checkout|until|last|out|finish|to"), re.compile("start|begin|checkin|from")
_PAST = re.compile(
    "after|since|accident|violation|incident|purchased?|signing|pay|paid|birth|past|occurred|modified|issued"
)
_PART_OF_DAY = re.compile("year|month|day")
_PEOPLE = re.compile(
    "people|persons?|guests?|passengers?|seats?|travell?ers?|adults?|party|tickets?|attendees?|visitors?|size"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
_DAY_CLOCK = re.compile(r"(\d{4}-\d{2}-\d{2})[ T]([0-2]\d:[0-5]\d)(?::00)?(?:Z|\+00:00)?")
_MONTH = re.compile(r"(0[1-9]|1[0-2])/(20\d{2})|(20\d{2})-(0[1-9]|1[0-2])")
_SHORTEST_CODE = 4
_ROLE_BEFORE, _ROLE_AFTER, _NEGATION_BEFORE, _NAME_AROUND = 40, 30, 20, 40  # characters
_BREAK = re.compile(widened(r"@[,.;!?{list}]|\band\b"))
_DEGREE = 0.51  # of a degree, lost in rounding between scales
# Units that are meant where a schema names none: money, percent, days and weeks, months and years, kilograms, centimetres.
_USUAL = frozenset({
    Unit("money", 1), Unit("percent", 1), Unit("duration", 86400), Unit("duration", 604800), Unit("months", 1),
    Unit("months", 12), Unit("mass", 1000), Unit("distance", 0.01),
})  # fmt: skip


class ArgumentReading(NamedTuple):
    """What the request says about an argument or a part of one: its grade, the words that carry it, why it is doubted."""

    name: str
    grade: Grade
    spans: tuple[Span, ...] = ()
    reason: str = ""


def read_leaves(leaves: Sequence[ArgumentLeaf], text: RequestText) -> list[ArgumentReading]:
    """What the request says of each value, seen beside the others."""
    readings = [_read_leaf(leaf, text) for leaf in leaves]
    readings = _with_single(leaves, readings, text)
    readings = _with_derived(leaves, readings, text)
    readings = _without_shared(leaves, readings, text)
    in_role = [_in_role(leaf, reading, leaves, text) for leaf, reading in zip(leaves, readings, strict=True)]
    return _by_elimination(leaves, readings, in_role)


def merge_readings(
    arguments: Arguments, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> tuple[ArgumentReading, ...]:
    """One reading for each argument: that of its worst part."""
    order: dict[Grade, int] = {"contradicted": 0, "unproved": 1, "proved": 2}
    merged = []
    for name in arguments:
        parts = [reading for leaf, reading in zip(leaves, readings, strict=True) if leaf.argument == name]
        worst = min(parts, key=lambda part: order[part.grade])
        merged.append(worst._replace(spans=tuple(span for part in parts for span in part.spans)))
    return tuple(merged)


def _read_leaf(leaf: ArgumentLeaf, text: RequestText) -> ArgumentReading:
    value = leaf.value
    if isinstance(value, bool):
        return _read_boolean(leaf, text)
    if isinstance(value, int | float):
        return _read_number(leaf, float(value), text)
    if isinstance(value, str) and value.strip():
        return _read_string(leaf, value.strip(), text)
    return _open(leaf, f"{leaf.name!r} holds no value.")


def _proved(leaf: ArgumentLeaf, *spans: Span) -> ArgumentReading:
    return ArgumentReading(leaf.argument, "proved", spans)


def _open(leaf: ArgumentLeaf, reason: str, *spans: Span) -> ArgumentReading:
    """Unproved, unless the schema gives the value by default."""
    given = leaf.schema.get("default", leaf.schema.get("const"))
    if given is not None and given == leaf.value and isinstance(given, bool) == isinstance(leaf.value, bool):
        return _proved(leaf)
    return ArgumentReading(leaf.argument, "unproved", spans, reason)


def _read_number(leaf: ArgumentLeaf, value: float, text: RequestText) -> ArgumentReading:
    company = _company(leaf, text)
    if company is not None:
        count, span = company
        if isclose(count, value):
            return _proved(leaf, span)
        return ArgumentReading(leaf.argument, "contradicted", (), f"{count:g} people are meant, not {value:g}.")
    unit = unit_of(leaf.name, str(leaf.schema.get("description", "")), text.language)
    doubt = ""
    for one in text.quantities:
        if _same_amount(one, value, unit):
            doubt = _bound_doubt(leaf, one)
            if doubt and not one.bound and _names_bound(leaf, one, text):
                doubt = ""
            if not doubt:
                return _proved(leaf, Span(one.start, one.end if unit else one.number_end))
    dates = [one for one in text.moments if leaf.is_named(_PART_OF_DAY) and _holds_part(one, value)]
    if dates and not doubt:
        return _proved(leaf, Span(dates[0].start, dates[0].end))
    return _open(leaf, doubt or f"Nothing says {leaf.name} = {leaf.value!r}.")


def _holds_part(moment: Moment, value: float) -> bool:
    return any(int(part) == value for day in moment.days for part in day.split("-"))


def _same_amount(one: Quantity, value: float, unit: Unit | None) -> bool:
    if one.is_estimate:
        return False
    if unit is None or one.unit is None:
        is_usual = one.unit is None or unit is not None or one.unit in _USUAL
        return is_usual and isclose(one.value, value, rel_tol=1e-9)
    if one.unit.dimension == unit.dimension:
        return isclose(one.value * one.unit.factor, value * unit.factor, rel_tol=1e-6)
    if (one.unit.dimension, unit.dimension) == ("fahrenheit", "celsius"):
        return isclose((one.value - 32) * 5 / 9, value, abs_tol=_DEGREE)
    return False


def _bound_doubt(leaf: ArgumentLeaf, one: Quantity) -> str:
    least, most = leaf.is_named(_LEAST), leaf.is_named(_MOST)
    if least == most:
        return ""
    wanted = "least" if least else "most"
    bound = {1: "least", 2: "most"}.get(one.place, one.bound)
    if not bound:
        return f"Nothing says that {one.value:g} is the {wanted} that is wanted."
    return "" if bound == wanted else f"{leaf.name!r} is the {wanted} that is wanted, and the words say the {bound}."


def _names_bound(leaf: ArgumentLeaf, one: Quantity, text: RequestText) -> bool:
    """Whether the parameter's description, words such as "highest price", stands before the number or behind it."""
    before = _BREAK.split(text.text[max(0, one.start - _NAME_AROUND) : one.start])[-1]
    after = _BREAK.split(text.text[one.end : one.end + _NAME_AROUND])[0]
    described = {key.deep for key in content_keys(str(leaf.schema.get("description", ""))) if key.light != STOP}
    return bool(described) and any(
        described <= {key.deep for key in content_keys(beside)} for beside in (f"{text.question} {before}", after)
    )


def _company(leaf: ArgumentLeaf, text: RequestText) -> tuple[int, Span] | None:
    """How many people "me and two friends" are, where the parameter counts people."""
    if not leaf.is_named(_PEOPLE):
        return None
    match = quantity_words(text.language).patterns["company"].search(text.text.lower())
    inner = [one for one in find_quantities(match[0], text.language) if one.unit is None] if match else []
    return (int(inner[0].value) + 1, Span(*match.span())) if match and len(inner) == 1 else None


def _read_boolean(leaf: ArgumentLeaf, text: RequestText) -> ArgumentReading:
    found = find_boolean(bool(leaf.value), {"title": leaf.name, **leaf.schema}, text.text)
    if found is None:
        return _open(leaf, f"No rule reads {leaf.name} = {leaf.value!r}.")
    if found.rule == ANSWERED and not is_about(leaf.schema, text.question):
        return _open(leaf, f"{text.quote(Span(found.start, found.end))!r} answers no question about {leaf.name!r}.")
    sentence = sentence_at(text.text, found.start)
    if leaf.value and not text.has_cue("true_cue", *sentence):
        return _open(leaf, f"{text.quote(Span(found.start, found.end))!r} may not be a wish.")
    return _proved(leaf, _with_negation(text, found))


def _with_negation(text: RequestText, found: Found) -> Span:
    first = max(0, found.start - _NEGATION_BEFORE)
    match = list(cue_words(text.language).patterns["negation"].finditer(text.text[first : found.start]))
    return Span(first + match[-1].start() if match else found.start, found.end)


def _read_string(leaf: ArgumentLeaf, value: str, text: RequestText) -> ArgumentReading:
    choices = [str(one) for one in choices_of(leaf.schema)]
    if choices:
        return _read_choice(leaf, value, choices, text)
    reading = _read_month(leaf, value, text) or _read_moment(leaf, value, text)
    if reading is not None:
        return reading
    found = _find_string(value, text.text) or find_choice(value, text.text, text.language)
    return (
        _proved(leaf, Span(found.start, found.end)) if found else _open(leaf, f"Nothing says {leaf.name} = {value!r}.")
    )


def _find_string(value: str, text: str) -> Found | None:
    found = locate(value, {}, text)
    if found is not None and found.rule in _EXACT:
        return found
    compact = re.sub(r"[\s\-]", "", value)
    if len(compact) < _SHORTEST_CODE or not re.search(r"\d", compact):
        return None
    grouped = r"[\s\-]*".join(map(re.escape, compact))
    match = re.search(rf"(?<![A-Za-z0-9]){grouped}(?![A-Za-z0-9])", text, re.IGNORECASE)
    return Found(value, *match.span(), GROUPING) if match else None


def _read_choice(leaf: ArgumentLeaf, value: str, choices: Sequence[str], text: RequestText) -> ArgumentReading:
    stated = {
        choice: found
        for choice in choices
        if (found := locate(choice, {}, text.text) or find_choice(choice, text.text, text.language))
    }
    mine = stated.pop(value, None)
    is_only = mine is not None and all(_is_inside(other, mine) for other in stated.values())
    if mine is not None and is_only and not text.is_denied(mine.start):
        return _proved(leaf, Span(mine.start, mine.end))
    return _open(leaf, f"No rule reads {leaf.name} = {value!r}.")


def _is_inside(inner: Found, outer: Found) -> bool:
    return (
        outer.start <= inner.start and inner.end <= outer.end and (inner.start, inner.end) != (outer.start, outer.end)
    )


def _read_month(leaf: ArgumentLeaf, value: str, text: RequestText) -> ArgumentReading | None:
    month = _MONTH.fullmatch(value)
    wanted = f"{month[2] or month[3]}-{month[1] or month[4]}" if month else ""
    named = next((one for one in text.moments if wanted in one.days), None)
    return _proved(leaf, Span(named.start, named.end)) if named else None


def _read_moment(leaf: ArgumentLeaf, value: str, text: RequestText) -> ArgumentReading | None:
    """The reading of a day, a time of day or both; None where the value is none of these."""
    whole = _DAY_CLOCK.fullmatch(value)
    day = whole[1] if whole else value if _DAY.fullmatch(value) else ""
    clock = whole[2] if whole else value if _CLOCK.fullmatch(value) else ""
    if not day and not clock:
        return None
    if value in text.text:
        return _proved(leaf, Span(text.text.index(value), text.text.index(value) + len(value)))
    days = [one for one in text.moments if day and _says_day(leaf, day, one, text)]
    clocks = [one for one in text.moments if clock and (one.clocks == {clock} or one.last_clock == clock)]
    spans = [Span(one.start, one.end) for one in dict.fromkeys([*days[:1], *clocks[:1]])]
    if (day and not days) or (clock and not clocks):
        return _open(leaf, f"No day or time in the text is {value!r}.", *spans)
    if day and text.now is None and not re.search(r"\d{4}", "".join(map(text.quote, spans))):
        return _open(leaf, f"{value!r} depends on the day of the request.", *spans)
    return _proved(leaf, *spans)


def _says_day(leaf: ArgumentLeaf, day: str, moment: Moment, text: RequestText) -> bool:
    if moment.earlier_day == day:
        return leaf.is_named(_PAST) or text.has_cue("since")
    if day == moment.last_day:
        return not leaf.is_named(_FIRST)
    return day in moment.days and not (moment.last_day and leaf.is_named(_LAST))


def _with_single(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Prove a quantity of 1 by the article of what it counts: "a pot of green tea"."""
    kept = list(readings)
    single = cue_words(text.language).patterns["single"]
    for index, leaf in enumerate(leaves):
        is_one = leaf.value == 1 and not isinstance(leaf.value, bool)
        if not is_one or not leaf.parent or kept[index].grade == "proved":
            continue
        beside = [
            reading.spans[0] for other, reading in zip(leaves, readings, strict=True)
            if other.parent == leaf.parent and isinstance(other.value, str) and reading.spans
        ]  # fmt: skip
        place = next((match for span in beside if (match := single.search(text.text[: span.start]))), None)
        if place:
            kept[index] = _proved(leaf, Span(*place.span()))
    return kept


def _with_derived(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Prove an end by its start and the length that is stated: three nights from Friday."""
    kept = list(readings)
    starts = [
        stamp for leaf, reading in zip(leaves, readings, strict=True)
        if reading.grade == "proved" and reading.spans and (stamp := _stamp_of(leaf.value)) is not None
    ]  # fmt: skip
    lengths = [one for one in text.quantities if one.unit and one.unit.dimension == "duration" and not one.is_estimate]
    for index, leaf in enumerate(leaves):
        end = _stamp_of(leaf.value)
        if end is None or kept[index].grade == "proved":
            continue
        for one in lengths:
            length = timedelta(seconds=one.value * one.unit.factor) if one.unit else timedelta()
            if any(start + length == end for start in starts):
                kept[index] = _proved(leaf, Span(one.start, one.end))
    return kept


def _stamp_of(value: JsonValue) -> datetime | None:
    whole = _DAY_CLOCK.fullmatch(value) if isinstance(value, str) else None
    day = _DAY.fullmatch(value) if isinstance(value, str) else None
    stated = f"{whole[1]}T{whole[2]}" if whole else day[0] if day else ""
    try:
        return datetime.fromisoformat(stated).replace(tzinfo=UTC) if stated else None
    except ValueError:  # no day of the calendar
        return None


def _without_shared(
    leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText
) -> list[ArgumentReading]:
    """Doubt the narrower of two arguments that have their value from the same words; a day and its time may share them."""
    kept = list(readings)
    for index, other in ((later, earlier) for later in range(len(leaves)) for earlier in range(later)):
        if _may_share(leaves[index], leaves[other]):
            continue
        spans = ((one, two) for one in readings[index].spans for two in readings[other].spans)
        shared = next((one for one, two in spans if one.start < two.end and two.start < one.end), None)
        if shared is None or _is_moment(shared, text):
            continue
        narrow = index if _width(readings[index]) <= _width(readings[other]) else other
        reason = f"{leaves[narrow].name!r} has its words from another argument."
        kept[narrow] = kept[narrow]._replace(grade="unproved", reason=reason)
    return kept


def _may_share(one: ArgumentLeaf, other: ArgumentLeaf) -> bool:
    if isinstance(one.value, bool) or isinstance(other.value, bool):
        return True
    is_same = one.value == other.value and isinstance(one.value, str)
    return is_same and (one.argument == other.argument or kind_of(one.schema) == "enum")


def _width(reading: ArgumentReading) -> int:
    return sum(span.end - span.start for span in reading.spans)


def _is_moment(span: Span, text: RequestText) -> bool:
    return any(one.start <= span.start and span.end <= one.end for one in text.moments)


def _in_role(
    leaf: ArgumentLeaf, reading: ArgumentReading, leaves: Sequence[ArgumentLeaf], text: RequestText
) -> ArgumentReading:
    """Hold the words around a value against the role that its parameter's name gives it: from here, to there."""
    role = _role_of(leaf)
    if role is None or reading.grade != "proved" or not reading.spans or _stamp_of(leaf.value) or _is_clock(leaf):
        return reading
    if reading.spans[0].start >= text.own:  # in a message: the words that point to it are somewhere else
        return reading
    if not any(other is not leaf and isinstance(other.value, str) and _role_of(other) for other in leaves):
        return reading
    if _is_named(leaf, leaves, reading.spans[0], text):
        return reading
    stated = _roles_stated(text, reading.spans[0])
    if role in stated:
        return reading
    if stated:
        reason = f"{leaf.value!r} is worded as the {next(iter(stated))}, not the {role}."
        return reading._replace(grade="contradicted", reason=reason)
    return reading._replace(grade="unproved", reason=f"Nothing says that {leaf.value!r} is the {role}.")


def _by_elimination(
    leaves: Sequence[ArgumentLeaf], before: Sequence[ArgumentReading], in_role: Sequence[ArgumentReading]
) -> list[ArgumentReading]:
    """Prove the one value of two whose role nothing says, where the other one's is said: "from euros, currency rupees"."""
    kept = list(in_role)
    with_role = [at for at, leaf in enumerate(leaves) if isinstance(leaf.value, str) and _role_of(leaf)]
    is_pair = len(with_role) == 2 and len({_role_of(leaves[at]) for at in with_role}) == 2  # noqa: PLR2004
    for mine, other in (with_role, with_role[::-1]) if is_pair else ():
        lost_role = before[mine].grade == "proved" and in_role[mine].grade == "unproved"
        if lost_role and in_role[other].grade == "proved" and in_role[other].spans:
            kept[mine] = before[mine]
    return kept


def _is_named(leaf: ArgumentLeaf, leaves: Sequence[ArgumentLeaf], span: Span, text: RequestText) -> bool:
    """Whether the words beside a value name its parameter, by a word that no other argument's description has."""
    others = set().union(*(_naming(other) for other in leaves if other is not leaf))
    own = _naming(leaf) - others or _naming(leaf)
    before = text.text[max(0, span.start - _NAME_AROUND) : span.start]
    after = text.text[span.end : span.end + _NAME_AROUND]
    beside = f"{text.question} {_BREAK.split(before)[-1]} {_BREAK.split(after)[0]}"
    return any(key.deep in own for key in content_keys(beside))


def _naming(leaf: ArgumentLeaf) -> set[str]:
    words = f"{' '.join(leaf.words)} {leaf.schema.get('title', '')} {leaf.schema.get('description', '')}"
    return {key.deep for key in content_keys(words) if key.light != STOP}


def _is_clock(leaf: ArgumentLeaf) -> bool:
    return isinstance(leaf.value, str) and bool(_CLOCK.fullmatch(leaf.value))


def _role_of(leaf: ArgumentLeaf) -> Role | None:
    return next(
        (role for role, pattern in _ROLES.items() if isinstance(leaf.value, str) and leaf.is_named(pattern)), None
    )


def _roles_stated(text: RequestText, span: Span) -> set[Role]:
    before = last_clause(text.text[max(0, span.start - _ROLE_BEFORE) : span.start])
    after = text.text[span.end : span.end + _ROLE_AFTER]
    patterns = cue_words(text.language).patterns
    stated: set[Role] = {"target"} if patterns["target"].search(before) else set()
    return stated | (
        {"origin"} if patterns["origin"].search(before) or patterns["origin_after"].search(after) else set()
    )
