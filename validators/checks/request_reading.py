"""Reading one request against one call: which arguments its words prove, and which of its words the call leaves over.

Grounding asks whether all of the call is in the text; coverage, its dual, whether all of the text is in the call. A
word that changes what is wanted (a negation, an alternative, a condition, a correction, another wish) and a number or a
day that no argument takes is a doubt. Rules and readers decide here; what they can't decide is left to a judge.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from math import isclose
from typing import Literal, NamedTuple

import yaml
from pydantic import JsonValue

from language.mentions import (
    UNKNOWN_NOW,
    Moment,
    Quantity,
    Unit,
    find_moments,
    find_quantities,
    unit_of,
    words_of,
)
from language.booleans import find_boolean
from language.text import VERBATIM, Found, fold
from language.schemas import choices_of, kind_of
from language.values import locate
from warehouse.records import Arguments, JsonSchema, Tool

Grade = Literal["proved", "unproved", "contradicted"]
_EXACT_RULES = frozenset({VERBATIM, "spelling", "grouping of digits", "inflection", "place spelling"})
_ROLES = {
    "origin": "from|origin|departure|depart|source|src|sender|old|pickup|base|initial",
    "target": "to|target|destination|dest|arrival|recipient|receiver|new|dropoff",
}
_MIN, _MAX = "min|minimum|least|lowest|above|lower", "max|maximum|most|highest|below|upper|limit|cap"
_FREE_TEXT = re.compile(
    r"content|message|msg|comment|statement|complaint|feedback|note|notes|body|resolution|review|text|caption|description|details|"
    r"内容|留言|评论|评价|备注|正文"
)
_PEOPLE = re.compile(r"people|person|guest|passenger|seat|travell?er|adult|party|ticket|attendee|visitor|size|人数|人|位")
_PAST = "after|since|accident|violation|incident|purchase|purchased|signing|pay|paid|birth|past|occurred|modified|issued"
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|「[^」]+」|《[^》]+》|(?<!\w)'[^']+'(?!\w)|‘[^’]+’")
_CLOSE, _FAR = 12, 30  # characters between a correction and the values after and before it
_FEW_WORDS = 3  # "every", "first one at": what may stand between values
_SENTENCE_END = re.compile(r"[.!?。！？\n]+(?:\s|$)|[。！？\n]")


# Units that are meant where a schema names none: money, percent, days, months and years, kilograms, centimetres.
_USUAL = frozenset({
    Unit("money", 1), Unit("percent", 1), Unit("duration", 86400), Unit("duration", 604800), Unit("months", 1), Unit("months", 12),
    Unit("mass", 1000), Unit("distance", 0.01),
})  # fmt: skip


class Span(NamedTuple):
    """A stretch of the request."""

    start: int
    end: int


class ArgumentReading(NamedTuple):
    """What the request says about one argument: its grade, the words that carry it, and why it is doubted."""

    name: str
    grade: Grade
    spans: tuple[Span, ...] = ()
    reason: str = ""


class RequestReading(NamedTuple):
    """What rules and readers make of a request: each argument's grade, and doubts about the rest of its words."""

    arguments: tuple[ArgumentReading, ...]
    doubts: tuple[str, ...]
    contradictions: tuple[str, ...]

    @property
    def decision(self) -> Grade:
        """Proved where every argument is, and nothing is left over."""
        if self.contradictions or any(one.grade == "contradicted" for one in self.arguments):
            return "contradicted"
        is_open = self.doubts or any(one.grade != "proved" for one in self.arguments)
        return "unproved" if is_open else "proved"


class _Text(NamedTuple):
    """A request with all that the readers found in it."""

    text: str
    language: str
    quantities: tuple[Quantity, ...]
    moments: tuple[Moment, ...]
    cues: "_Cues"
    knows_now: bool


class _Leaf(NamedTuple):
    """A value of the call that stands for itself: an argument, or a member of one. `parent` is the path of what holds it."""

    argument: str
    name: str
    value: JsonValue
    schema: JsonSchema
    parent: str = ""


class _Cues(NamedTuple):
    patterns: Mapping[str, re.Pattern[str]]
    deeds: Mapping[str, re.Pattern[str]]
    tool_deeds: Mapping[str, re.Pattern[str]]
    clashes: tuple[tuple[str, str], ...]


def read_request(tool: Tool, arguments: Arguments, request: str, language: str, now: datetime | None) -> RequestReading:
    """Read `request` against the call of `tool` with `arguments`; without `now` no relative day is proved."""
    text = _Text(
        request, language, find_quantities(request, language), find_moments(request, language, now or UNKNOWN_NOW),
        _cues(language), now is not None,
    )  # fmt: skip
    leaves = [leaf for name, value in arguments.items() for leaf in _leaves(name, name, value, tool.properties.get(name, {}))]
    readings = [_read_leaf(leaf, text) for leaf in leaves]
    readings = _with_derived(leaves, _with_single(leaves, readings, text), text)
    readings = _without_shared(leaves, readings, text)
    readings = [_in_role(leaf, reading, leaves, readings, text) for leaf, reading in zip(leaves, readings, strict=True)]
    merged = tuple(_merge(arguments, leaves, readings))
    spans = [span for reading in readings for span in reading.spans]
    free = [span for leaf, reading in zip(leaves, readings, strict=True) for span in reading.spans if _is_free_text(leaf)]
    doubts = [*_left_over(text, spans, free, _deeds_of(tool, text)), *_cut_text(text, leaves, readings), *_missing(tool, arguments)]
    return RequestReading(merged, tuple(dict.fromkeys([*doubts, *_deed_doubts(tool, text, spans, free)])), ())


@lru_cache(8)
def _cues(language: str) -> _Cues:
    data = yaml.safe_load(files("language").joinpath(language, "cues.yaml").read_text(encoding="utf-8"))
    english = yaml.safe_load(files("language").joinpath("en", "cues.yaml").read_text(encoding="utf-8"))
    deeds = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in data.pop("deeds").items()}
    tool_deeds = {name: re.compile(rf"^(?:{pattern})$") for name, pattern in english["tool_deeds"].items()}
    clashes = tuple((one, other) for one, other in data.pop("clashes"))
    data.pop("tool_deeds")
    return _Cues({name: re.compile(pattern, re.IGNORECASE) for name, pattern in data.items()}, deeds, tool_deeds, clashes)


def _leaves(argument: str, name: str, value: JsonValue, schema: JsonSchema, parent: str = "") -> Iterator[_Leaf]:
    if isinstance(value, dict) and value:
        members = schema.get("properties") or {}
        for key, member in value.items():
            yield from _leaves(argument, key, member, members.get(key, {}), f"{parent}.{name}")
    elif isinstance(value, list) and value:
        for index, member in enumerate(value):
            yield from _leaves(argument, name, member, schema.get("items") or {}, f"{parent}.{index}")
    else:
        yield _Leaf(argument, name, value, schema, parent)


def _words(name: str) -> list[str]:
    return re.sub(r"[_\-.]+|(?<=[a-z])(?=[A-Z])", " ", name).lower().split()


def _has(leaf: _Leaf, pattern: str) -> bool:
    return any(re.fullmatch(pattern, word) for word in _words(leaf.name))


def _read_leaf(leaf: _Leaf, text: _Text) -> ArgumentReading:
    value = leaf.value
    if isinstance(value, bool):
        return _read_boolean(leaf, text)
    if isinstance(value, int | float):
        return _read_number(leaf, float(value), text)
    if isinstance(value, str) and value.strip():
        return _read_string(leaf, value.strip(), text)
    return ArgumentReading(leaf.argument, "unproved", (), f"{leaf.name!r} holds no value.")


def _read_number(leaf: _Leaf, value: float, text: _Text) -> ArgumentReading:
    unit = unit_of(leaf.name, str(leaf.schema.get("description", "")), text.language)
    company = _company(leaf, text)
    if company is not None:
        count, span = company
        if isclose(count, value):
            return ArgumentReading(leaf.argument, "proved", (span,))
        return ArgumentReading(leaf.argument, "contradicted", (), f"{count:g} people are meant, not {value:g}.")
    doubt = ""
    for one in text.quantities:
        if not _same_amount(one, value, unit):
            continue
        doubt = _bound_doubt(leaf, one)
        if not doubt:
            return ArgumentReading(leaf.argument, "proved", (Span(one.start, one.end if unit else one.number_end),))
    for moment in text.moments:
        if not doubt and _is_part_of_day(leaf, value, moment):
            return ArgumentReading(leaf.argument, "proved", (Span(moment.start, moment.end),))
    found = locate(leaf.value, leaf.schema, text.text) if unit is None and not text.quantities else None
    if found and not doubt:
        return ArgumentReading(leaf.argument, "proved", (Span(found.start, found.end),))
    return _default(leaf) or ArgumentReading(leaf.argument, "unproved", (), doubt or f"Nothing says {leaf.name} = {leaf.value!r}.")


def _is_part_of_day(leaf: _Leaf, value: float, moment: Moment) -> bool:
    return bool(moment.days) and _has(leaf, "year|month|day") and any(
        int(part) == value for day in moment.days for part in day.split("-")
    )


def _same_amount(one: Quantity, value: float, unit: Unit | None) -> bool:
    if one.is_estimate:
        return False
    if unit is None or one.unit is None:
        is_usual = one.unit is None or unit is not None or one.unit in _USUAL
        return isclose(one.value, value, rel_tol=1e-9) and is_usual
    if one.unit.dimension == unit.dimension:
        return isclose(one.value * one.unit.factor, value * unit.factor, rel_tol=1e-6)
    if (one.unit.dimension, unit.dimension) == ("fahrenheit", "celsius"):
        return isclose((one.value - 32) * 5 / 9, value, abs_tol=0.51)
    return False


def _bound_doubt(leaf: _Leaf, one: Quantity) -> str:
    least, most = _has(leaf, _MIN), _has(leaf, _MAX)
    wanted = "least" if least and not most else "most" if most and not least else ""
    bound = {1: "least", 2: "most"}.get(one.place, one.bound) if wanted else ""
    if wanted and bound and bound != wanted:
        return f"{leaf.name!r} is the {wanted} wanted, and the words say the {bound}."
    if wanted and not bound:
        return f"Nothing says that {one.value:g} is the {wanted} wanted."
    return ""


def _company(leaf: _Leaf, text: _Text) -> tuple[int, Span] | None:
    """How many people "me and two friends" are, where the parameter counts people."""
    if not _PEOPLE.search(" ".join(_words(leaf.name))):
        return None
    match = words_of(text.language).patterns["company"].search(text.text.lower())
    if not match:
        return None
    inner = [one for one in find_quantities(match[0], text.language) if one.unit is None]
    return (int(inner[0].value) + 1, Span(*match.span())) if len(inner) == 1 else None


def _read_boolean(leaf: _Leaf, text: _Text) -> ArgumentReading:
    found = find_boolean(bool(leaf.value), {"title": leaf.name, **leaf.schema}, text.text)
    if found:
        sentence = _sentence_at(text.text, found.start)
        said = text.text[sentence.start : sentence.end]
        if not leaf.value or text.cues.patterns["true_cue"].search(said):
            return ArgumentReading(leaf.argument, "proved", (_grown(text, found),))
    return _default(leaf) or ArgumentReading(leaf.argument, "unproved", (), f"No rule reads {leaf.name} = {leaf.value!r}.")


def _grown(text: _Text, found: Found) -> Span:
    """The span of a yes or no with the negation before it."""
    before = text.text[max(0, found.start - 20) : found.start]
    match = list(text.cues.patterns["negation"].finditer(before))
    return Span(found.start - len(before) + match[-1].start() if match else found.start, found.end)


def _read_string(leaf: _Leaf, value: str, text: _Text) -> ArgumentReading:
    typed = _read_moment(leaf, value, text)
    if typed is not None:
        return typed
    choices = [str(one) for one in choices_of(leaf.schema)]
    if choices:
        return _read_choice(leaf, value, choices, text)
    found = _find_string(value, text) or _worded(value, text)
    if found is not None:
        return ArgumentReading(leaf.argument, "proved", (Span(found.start, found.end),))
    return _default(leaf) or ArgumentReading(leaf.argument, "unproved", (), f"Nothing says {leaf.name} = {value!r}.")


def _find_string(value: str, text: _Text) -> Found | None:
    found = locate(value, {}, text.text)
    if found and found.rule in _EXACT_RULES:
        return found
    compact = re.sub(r"[\s\-]", "", value)
    if len(compact) > 3 and re.search(r"\d", compact):  # noqa: PLR2004 - a code, grouped otherwise
        pattern = r"[\s\-]*".join(map(re.escape, compact))
        match = re.search(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", text.text, re.IGNORECASE)
        if match:
            return Found(value, *match.span(), "grouping of digits")
    return None


def _read_choice(leaf: _Leaf, value: str, choices: Sequence[str], text: _Text) -> ArgumentReading:
    said = [(choice, found) for choice in choices if (found := locate(choice, {}, text.text) or _worded(choice, text))]
    mine = next((found for choice, found in said if choice == value), None)
    others = [found for choice, found in said if choice != value]
    if mine and all(_is_inside(other, mine) for other in others):
        before = text.text[max(0, mine.start - 14) : mine.start]
        if not text.cues.patterns["negation"].search(before):
            return ArgumentReading(leaf.argument, "proved", (Span(mine.start, mine.end),))
    return _default(leaf) or ArgumentReading(leaf.argument, "unproved", (), f"No rule reads {leaf.name} = {value!r}.")


def _worded(choice: str, text: _Text) -> Found | None:
    """Where the text words a choice as people do: "on foot" for "walking", "euros" for "EUR"."""
    pattern = _choice_words(text.language).get(fold(choice))
    match = pattern.search(text.text) if pattern else None
    return Found(choice, *match.span(), "synonym") if match else None


@lru_cache(8)
def _choice_words(language: str) -> Mapping[str, re.Pattern[str]]:
    data: dict[str, str] = {}
    for one in dict.fromkeys((language, "en")):  # schemas are mostly English, and so are some of the words said
        for choice, words in yaml.safe_load(files("language").joinpath(one, "choices.yaml").read_text(encoding="utf-8")).items():
            data[str(choice)] = f"{data[str(choice)]}|{words}" if str(choice) in data else words
    edge = r"(?![A-Za-z])"
    return {fold(str(choice)): re.compile(rf"(?<![A-Za-z])(?:{words}){edge}", re.IGNORECASE) for choice, words in data.items()}


def _is_inside(inner: Found, outer: Found) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end and (inner.start, inner.end) != (outer.start, outer.end)


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
_MONTH_VALUE = re.compile(r"(0[1-9]|1[0-2])/(20\d{2})|(20\d{2})-(0[1-9]|1[0-2])")
_DAY_CLOCK = re.compile(r"(\d{4}-\d{2}-\d{2})[ T]([0-2]\d:[0-5]\d)(?::00)?(?:Z|\+00:00)?")


def _read_moment(leaf: _Leaf, value: str, text: _Text) -> ArgumentReading | None:
    """The reading of a day, a time of day or both; None where the value is none of these."""
    whole = _DAY_CLOCK.fullmatch(value)
    day = whole[1] if whole else value if _DAY.fullmatch(value) else ""
    clock = whole[2] if whole else value if _CLOCK.fullmatch(value) else ""
    month = _MONTH_VALUE.fullmatch(value)
    if month:
        wanted = f"{month[2] or month[3]}-{month[1] or month[4]}"
        named = [one for one in text.moments if wanted in one.days]
        if named:
            return ArgumentReading(leaf.argument, "proved", (Span(named[0].start, named[0].end),))
    if not day and not clock:
        return None
    if day and value in text.text:
        at = text.text.index(value)
        return ArgumentReading(leaf.argument, "proved", (Span(at, at + len(value)),))
    usable = text.moments
    last = _has(leaf, "end|return|checkout|until|last|out|finish|to")
    is_past = _has(leaf, _PAST) or bool(text.cues.patterns["since"].search(text.text))
    days = [one for one in usable if day and ((is_past and day == one.earlier_day) or day in one.days and not (last and one.last_day and one.last_day != day) or (day == one.last_day and not _has(leaf, "start|begin|checkin|from")))]
    clocks = [one for one in usable if clock and (one.clocks == {clock} or one.last_clock == clock)]
    spans = [Span(one.start, one.end) for one in dict.fromkeys([*days[:1], *clocks[:1]])]
    if (not day or days) and (not clock or clocks):
        if day and not text.knows_now and not re.search(r"\d{4}", "".join(text.text[a:b] for a, b in spans)):
            return ArgumentReading(leaf.argument, "unproved", tuple(spans), f"{value!r} depends on the day of the request.")
        return ArgumentReading(leaf.argument, "proved", tuple(spans))
    return _default(leaf) or ArgumentReading(leaf.argument, "unproved", tuple(spans), f"No day or time in the text is {value!r}.")


def _default(leaf: _Leaf) -> ArgumentReading | None:
    given = leaf.schema.get("default", leaf.schema.get("const"))
    is_same = given == leaf.value and isinstance(given, bool) == isinstance(leaf.value, bool)
    return ArgumentReading(leaf.argument, "proved") if given is not None and is_same else None


def _with_single(leaves: Sequence[_Leaf], readings: Sequence[ArgumentReading], text: _Text) -> list[ArgumentReading]:
    """Prove a quantity of 1 by the article of what it counts: "a pot of green tea"."""
    kept = list(readings)
    for index, leaf in enumerate(leaves):
        if leaf.value != 1 or isinstance(leaf.value, bool) or kept[index].grade == "proved" or not leaf.parent:
            continue
        beside = [
            reading.spans[0] for other, reading in zip(leaves, readings, strict=True)
            if other.parent == leaf.parent and isinstance(other.value, str) and reading.spans
        ]  # fmt: skip
        single = text.cues.patterns["single"]
        place = next((match for span in beside if (match := single.search(text.text[: span.start]))), None)
        if place:
            kept[index] = ArgumentReading(leaf.argument, "proved", (Span(*place.span()),))
    return kept


def _with_derived(leaves: Sequence[_Leaf], readings: Sequence[ArgumentReading], text: _Text) -> list[ArgumentReading]:
    """Prove an end by its start and the length that is said: three nights from Friday."""
    kept = list(readings)
    starts = [
        (stamp, reading) for leaf, reading in zip(leaves, readings, strict=True)
        if reading.grade == "proved" and reading.spans and (stamp := _stamp_of(leaf.value)) is not None
    ]  # fmt: skip
    for index, leaf in enumerate(leaves):
        end = _stamp_of(leaf.value)
        if end is None or kept[index].grade == "proved":
            continue
        for one in text.quantities:
            if one.unit is None or one.unit.dimension != "duration" or one.is_estimate:
                continue
            length = timedelta(seconds=one.value * one.unit.factor)
            if any(start + length == end for start, _ in starts):
                kept[index] = ArgumentReading(leaf.argument, "proved", (Span(one.start, one.end),))
    return kept


def _stamp_of(value: JsonValue) -> datetime | None:
    if not isinstance(value, str):
        return None
    whole = _DAY_CLOCK.fullmatch(value)
    if whole:
        return datetime.fromisoformat(f"{whole[1]}T{whole[2]}").replace(tzinfo=UTC)
    return datetime.fromisoformat(value).replace(tzinfo=UTC) if _DAY.fullmatch(value) else None


def _without_shared(leaves: Sequence[_Leaf], readings: list[ArgumentReading], text: _Text) -> list[ArgumentReading]:
    """Two arguments can't have their value from the same words, unless they are parts of one day or name the same."""
    kept = list(readings)
    for index, (leaf, one) in enumerate(zip(leaves, readings, strict=True)):
        for other_leaf, other in zip(leaves[:index], readings[:index], strict=True):
            if leaf.value == other_leaf.value and isinstance(leaf.value, bool | str):
                if leaf.argument == other_leaf.argument or kind_of(leaf.schema) == "enum":
                    continue
            clash = [a for a in one.spans for b in other.spans if a.start < b.end and b.start < a.end]
            if clash and not _is_moment(clash[0], text) and not isinstance(leaf.value, bool) and not isinstance(other_leaf.value, bool):
                narrow = index if _width(one) <= _width(other) else leaves.index(other_leaf)
                kept[narrow] = kept[narrow]._replace(grade="unproved", reason=f"{leaves[narrow].name!r} shares its words with another argument.")
    return kept


def _width(reading: ArgumentReading) -> int:
    return sum(span.end - span.start for span in reading.spans)


def _is_moment(span: Span, text: _Text) -> bool:
    return any(one.start <= span.start and span.end <= one.end for one in text.moments)


def _in_role(
    leaf: _Leaf, reading: ArgumentReading, leaves: Sequence[_Leaf], readings: Sequence[ArgumentReading], text: _Text
) -> ArgumentReading:
    """Hold the words around a value against the role that its parameter's name gives it: from here, to there."""
    if reading.grade != "proved" or not reading.spans or not isinstance(leaf.value, str) or _read_moment(leaf, leaf.value, text):
        return reading
    role = next((name for name, pattern in _ROLES.items() if _has(leaf, pattern)), "")
    if not role or not _has_rival(leaf, leaves):
        return reading
    origin, target = _role_cues(text, reading.spans[0])
    if (origin if role == "target" else target) and not (target if role == "target" else origin):
        other = "origin" if role == "target" else "target"
        return reading._replace(grade="contradicted", reason=f"{leaf.value!r} is worded as the {other}, not the {role}.")
    if not (origin if role == "origin" else target):
        return reading._replace(grade="unproved", reason=f"Nothing says that {leaf.value!r} is the {role}.")
    return reading


def _has_rival(leaf: _Leaf, leaves: Sequence[_Leaf]) -> bool:
    """Whether another value could be taken for this one: the other end of a way."""
    return any(
        other is not leaf and isinstance(other.value, str) and any(_has(other, pattern) for pattern in _ROLES.values())
        for other in leaves
    )


def _role_cues(text: _Text, span: Span) -> tuple[bool, bool]:
    before, after = text.text[max(0, span.start - 40) : span.start], text.text[span.end : span.end + 30]
    before = re.split(r"[.;!?。！？；]", before)[-1]
    patterns = text.cues.patterns
    origin = bool(patterns["origin"].search(before)) or bool(patterns["origin_after"].search(after))
    target = bool(patterns["target"].search(before))
    return origin, target


def _merge(arguments: Arguments, leaves: Sequence[_Leaf], readings: Sequence[ArgumentReading]) -> Iterator[ArgumentReading]:
    order: dict[Grade, int] = {"contradicted": 0, "unproved": 1, "proved": 2}
    for name in arguments:
        parts = [reading for leaf, reading in zip(leaves, readings, strict=True) if leaf.argument == name]
        worst = min(parts, key=lambda part: order[part.grade])
        yield ArgumentReading(name, worst.grade, tuple(span for part in parts for span in part.spans), worst.reason)


def _is_free_text(leaf: _Leaf) -> bool:
    return isinstance(leaf.value, str) and not choices_of(leaf.schema) and bool(_FREE_TEXT.search(_words(leaf.name)[-1]))


def _left_over(text: _Text, spans: Sequence[Span], free: Sequence[Span], of_tool: set[str]) -> Iterator[str]:
    """Numbers, days and turns of phrase that no argument accounts for."""
    taken_back = _taken_back(text, spans)
    for one in text.quantities:
        words = text.text[one.start : one.end]
        if not _touches([*spans, *taken_back], one.start, max(one.start + 1, one.number_end)) and not _is_no_number(words, text.text, one):
            yield f"{words!r} belongs to no argument."
    for moment in text.moments:
        is_vague = words_of(text.language).patterns["vague_day"].fullmatch(text.text[moment.start : moment.end].lower().strip(" ,，"))
        if not is_vague and not _touches([*spans, *taken_back], moment.start, moment.end):
            yield f"{text.text[moment.start : moment.end]!r} belongs to no argument."
    patterns = text.cues.patterns
    harmless_spans = [
        Span(*match.span())
        for name in ("harmless_negation", "harmless_alternative", "harmless_condition")
        for match in patterns[name].finditer(text.text)
    ]
    for name in ("negation", "alternative", "correction", "condition", "second_wish", "past"):
        for match in patterns[name].finditer(text.text):
            inside = _touches(spans if name == "negation" else free, *match.span()) or _touches(free, *match.span())
            if name in ("correction", "negation") and any(one.start <= match.start() < one.end for one in taken_back):
                continue
            if inside or _touches(harmless_spans, *match.span()) or _qualifies(text, match.start()):
                continue
            if name == "negation" and _is_the_deed(text, match, of_tool):
                continue
            if name == "alternative" and _joins(text, spans, match):
                continue
            yield f"{match.group()!r} ({name.replace('_', ' ')}) belongs to no argument."


def _taken_back(text: _Text, spans: Sequence[Span]) -> list[Span]:
    """What a correction takes back where the value after it is the gold's: from the value before it to the value after."""
    found = []
    for match in text.cues.patterns["correction"].finditer(text.text):
        after = next((one for one in sorted(spans) if one.start >= match.start() and one.start - match.end() <= _CLOSE), None)
        if after is None or any(match.end() <= one.start < after.start for one in (*text.quantities, *text.moments)):
            continue
        before = [
            one for one in (*text.quantities, *text.moments)
            if one.end <= match.start() and match.start() - one.end <= _FAR and not _touches(spans, one.start, one.end)
        ]  # fmt: skip
        found.append(Span(before[-1].start if before else match.start(), after.start))
    return found


def _is_the_deed(text: _Text, match: re.Match[str], of_tool: set[str]) -> bool:
    """Whether a negation words the very deed of a tool that ends something: "don't ring me any more"."""
    return bool(of_tool & {"off", "cancel"}) and bool(text.cues.patterns["no_more"].search(text.text, match.start(), match.end() + 25))


def _qualifies(text: _Text, at: int) -> bool:
    """Whether a word belongs to a quantity's bound: "not more than 20"."""
    return any(one.bound and one.start - 25 <= at <= one.end + 12 for one in text.quantities)


def _joins(text: _Text, spans: Sequence[Span], match: re.Match[str]) -> bool:
    """Whether both sides of an "or" are values of the call."""
    left = [span for span in spans if 0 <= match.start() - span.end <= 2]  # noqa: PLR2004
    right = [span for span in spans if 0 <= span.start - match.end() <= 2]  # noqa: PLR2004
    return bool(left and right) and not (_is_moment(left[0], text) or _is_moment(right[0], text))


def _is_no_number(words: str, text: str, one: Quantity) -> bool:
    """Words such as "one" that count nothing."""
    if words.lower() in ("one", "once", "an", "一", "一下", "a") or words in ("一", "两") and one.unit is None:
        return True
    before, after = text[max(0, one.start - 1) : one.start], text[one.end : one.end + 1]
    return bool(re.match(r"[A-Za-z]", before) or re.match(r"[A-Za-z]", after)) or (one.unit is None and words == "first")


def _touches(spans: Sequence[Span], start: int, end: int) -> bool:
    return any(span.start < end and start < span.end for span in spans)


def _cut_text(text: _Text, leaves: Sequence[_Leaf], readings: Sequence[ArgumentReading]) -> Iterator[str]:
    """Free text that stops before what was to be written does."""
    for leaf, reading in zip(leaves, readings, strict=True):
        if not _is_free_text(leaf) or not reading.spans:
            continue
        span = reading.spans[0]
        others = [one for other in readings if other is not reading for one in other.spans]
        rest = _rest_of_text(text.text, span, others)
        if re.search(r"\w", rest):
            yield f"{leaf.name!r} leaves out {rest.strip()!r}."


def _rest_of_text(text: str, span: Span, others: Sequence[Span]) -> str:
    """What stands behind a value within its quotation marks, or within its sentence where it has none."""
    for match in _QUOTED.finditer(text):
        if match.start() <= span.start and span.end <= match.end():
            return text[span.end : match.end() - 1]
    end = _SENTENCE_END.search(text, span.end - 1)
    last = end.start() if end else len(text)
    rest = text[span.end : last]
    if re.match(r"\s*[.!?。！？]", rest):
        return ""
    following = [one for one in others if span.end <= one.start < last]
    if following and len(re.findall(r"\w+|[\u4e00-\u9fff]", _without(text, span.end, last, following))) <= _FEW_WORDS * len(following):
        return ""
    return re.sub(r"^[,，;；]\s*(?:please|pls|thanks|thank you|谢谢|麻烦了|帮我\w{0,8}|我要\w{0,6}|喊人\w{0,6}|给我\w{0,6}|记一下|谢了)[.!。！\s]*$", "", rest, flags=re.IGNORECASE)


def _without(text: str, start: int, end: int, spans: Sequence[Span]) -> str:
    return "".join(
        " " if any(one.start <= at < one.end for one in spans) else text[at] for at in range(start, end)
    )


def _sentence_at(text: str, at: int) -> Span:
    start = max((match.end() for match in _SENTENCE_END.finditer(text, 0, at)), default=0)
    end = _SENTENCE_END.search(text, at)
    return Span(start, end.start() if end else len(text))


def _missing(tool: Tool, arguments: Arguments) -> Iterator[str]:
    for name in tool.parameters.get("required") or []:
        if name not in arguments:
            yield f"The required parameter {name!r} has no value."


def _deeds_of(tool: Tool, text: _Text) -> set[str]:
    words = _words(tool.name.rsplit(".", 1)[-1])
    return {name for name, pattern in text.cues.tool_deeds.items() if any(pattern.match(word) for word in words)}


def _deed_doubts(tool: Tool, text: _Text, spans: Sequence[Span], free: Sequence[Span]) -> Iterator[str]:
    """Where the words ask for another deed than the tool does."""
    of_tool = _deeds_of(tool, text)
    said = {
        name
        for name, pattern in text.cues.deeds.items()
        for match in pattern.finditer(text.text)
        if not _touches(free, *match.span())
    }
    if "ask" not in of_tool and of_tool and text.cues.patterns["asking"].search(text.text):
        yield "The words ask for something, and the tool does something."
    if of_tool and said and not of_tool & said:
        clashing = sorted(deed for deed in said if any((mine, deed) in text.cues.clashes or (deed, mine) in text.cues.clashes for mine in of_tool))
        if clashing:
            yield f"The words speak of another deed ({', '.join(clashing)})."
