"""What a request states and the call leaves out: a number, a day, a member of a list, an option that the tool has, half a text."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from math import isclose

from callwright.language.cues import cue_words, find_choice
from callwright.language.flags import read_flag
from callwright.language.names import split_name
from callwright.language.packs import of, signs, widened
from callwright.language.plain_words import clauses_of, is_context, is_remark, vocabulary
from callwright.language.readers.glosses import glosses_of
from callwright.language.readers.mentions import UNKNOWN_NOW, Moment
from callwright.language.readers.quantities import Quantity
from callwright.language.readers.units import Unit, quantity_words
from callwright.language.schemas import choices_of
from callwright.language.sentences import count_words, quotations, sentence_at
from callwright.language.text import fold
from callwright.language.values import locate_text
from callwright.language.vocabulary import find_corrections
from callwright.language.wording import content_keys
from callwright.validators.checks.verdicts import Finding, belongs_to_nothing, unproved
from callwright.validators.readings.leftover_words import described, own_phrases, stated_again
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    content_words,
    same_days,
    spans_of,
    touches,
)
from callwright.validators.readings.taken_back import taken_back_in
from callwright.warehouse.records import Arguments, DoubtedFact, JsonSchema, Tool

_SHORTEST_CHOICE = 4  # letters; shorter ones are codes
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_AND_THE = re.compile(r",? (?:and|&) (?:the|my|our) (\w+)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCKS = re.compile(r"\d{1,2}[:.]\d\d|\d{1,2}\s*[ap]\.?m")
_TIME_OF_DAY = re.compile(r"\b(?:time|hour|clock|hh:mm|start|hora)\b")
_MONEY = Unit("money", 1)
_NUMBERED = re.compile("number|amount|count|code|\\bid\\b|digits|price|n[uú]mero|importe")
_DATED = re.compile(r"\b(?:dates?|days?|when|yyyy|weeks?|months?|fecha|d[ií]a|until|since|start|end)\b")
_NAME_AFTER, _PHRASE_END = 20, re.compile(widened(r"@[,.;!?]|\b(?:and|y)\b"))
_FEW_WORDS = 3  # "every", "first one at": what may stand between two values


def amounts_left(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """Numbers and days that no argument accounts for; those of the tool's own description say no value."""
    document = described(tool)
    known = accounted_for(text, leaves, readings)
    for start, end in (*_numbers_to_take(text), *_moments_to_take(text)):
        if not touches(known, start, end) and not _is_described(text.text[start:end], document):
            if _is_narrated(tool, text, leaves, readings, Span(start, end)):
                continue
            yield belongs_to_nothing(text.text[start:end])


def accounted_for(text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]) -> list[Span]:
    """Where values stand, once or again in other words, and what the request takes back."""
    spans = spans_of(readings)
    known = [*spans, *taken_back_in(text, spans), *stated_again(text, leaves, readings)]
    known += [Span(one.start, one.end) for one in find_corrections(text.text)]
    return [*known, *same_days(text, known), *_same_amounts(text, known), *_counts_again(text, leaves, readings)]


def weekdays_amiss(text: RequestText) -> Iterator[Finding]:
    """Days that are stated with another weekday than theirs: somebody must tell which of the two is meant."""
    pattern = quantity_words(text.language).patterns["day_names"]
    for one in text.moments:
        words = text.text[one.start : one.end].lower()
        named = {match.lastindex for match in pattern.finditer(words) if match.lastindex}
        dated = [day for day in one.days if _DAY.fullmatch(day)]
        is_dated = len(named) == len(dated) == 1 and not one.last_day and re.search(r"\d", _CLOCKS.sub("", words))
        if is_dated and date.fromisoformat(dated[0]).isoweekday() not in named and not one.earlier_day:
            fact = DoubtedFact(kind="weekday_amiss", quote=text.text[one.start : one.end])
            yield unproved(f"{words!r} names another weekday than that of the day.", fact)


def times_left(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """Times that stand with a day of the call, where it leaves out the parameter for them, and days with a time of it."""
    filled = {leaf.argument for leaf in leaves}
    is_asked = any(name not in filled and _asks_time(name, schema) for name, schema in tool.properties.items())
    values = [str(leaf.value) for leaf in leaves]
    has_days = any(map(_DAY.search, values)) or any({"date", "day"} & {*split_name(name)} for name in tool.properties)
    today = (text.now or UNKNOWN_NOW).date().isoformat()
    for one in text.moments:
        taken = [
            value for value, reading in zip(values, readings, strict=True)
            if touches(reading.spans, one.start, one.end)
        ]  # fmt: skip
        words = text.text[one.start : one.end]
        if is_asked and len(one.clocks) == 1 and _is_in(one.days, taken) and not _is_in(one.clocks, taken):
            fact = DoubtedFact(kind="words_left", quote=words)
            yield unproved(f"The time in {words!r} belongs to no argument.", fact)
        is_open = (
            has_days and bool(one.days) and not one.last_day and today not in one.days and not _is_in(one.days, values)
        )
        if is_open and _is_in(one.clocks, taken) and not _is_corrected(text, one, values):
            fact = DoubtedFact(kind="words_left", quote=words)
            yield unproved(f"The day in {words!r} belongs to no argument.", fact)


def listed_on(
    text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """Members of a list that the words go on with, and addresses, that the call leaves out."""
    spans = spans_of(readings)
    known = accounted_for(text, leaves, readings)
    for match in _ADDRESS.finditer(text.text[: text.own]):
        if not touches(known, *match.span()):
            yield belongs_to_nothing(match.group())
    for leaf, reading in zip(leaves, readings, strict=True):
        for span in reading.spans if leaf.parent else ():
            joined = _AND_THE.match(text.text, span.end)
            if joined and joined.end() <= text.own and not touches(spans, *joined.span(1)):
                fact = DoubtedFact(kind="words_left", quote=joined[1])
                yield unproved(f"{joined[1]!r} is left out of the list.", fact)


def unmentioned(
    tool: Tool, arguments: Arguments, text: RequestText, readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """Parameters that the words name by all of their description, and the call lacks."""
    spans = spans_of(readings)
    own = text.without([*spans, *own_phrases(tool, text)], 0, text.own)
    stated = content_words(text.without(spans, 0, text.own))
    common = content_words(tool.description).union(*(content_words(_naming(tool, name)) for name in arguments))
    for name in tool.properties:
        named = content_words(_naming(tool, name))
        if name in arguments:
            continue
        fact = DoubtedFact(kind="named_unused", tool=tool.name, argument=name)
        if _is_stated_flag(tool, name, own, text.language):
            yield unproved(f"The words decide {name!r}, which the call lacks.", fact)
        choice = _stated_choice(tool, name, own, text.language)
        if choice or (named and named <= stated and named - common):
            yield unproved(f"The words name {name!r}, which the call lacks.", fact)


def text_cut_short(
    text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Finding]:
    """Free text that stops before what was to be written does."""
    for index, (leaf, reading) in enumerate(zip(leaves, readings, strict=True)):
        if leaf.is_free_text and reading.spans:
            others = [span for at, other in enumerate(readings) if at != index for span in other.spans]
            rest = _rest(text, reading.spans[0], others)
            if re.search(r"\w", rest):
                fact = DoubtedFact(kind="text_cut", argument=leaf.name, quote=rest.strip())
                yield unproved(f"{leaf.name!r} leaves out {rest.strip()!r}.", fact)


def _numbers_to_take(text: RequestText) -> Iterator[Span]:
    for one in text.quantities:
        if one.start < text.own and not _counts_nothing(text, one):
            yield Span(one.start, max(one.start + 1, one.number_end))


def _moments_to_take(text: RequestText) -> Iterator[Span]:
    for one in text.moments:
        if one.start < text.own and not _is_vague(text, one):
            yield Span(one.start, one.end)


def _counts_nothing(text: RequestText, one: Quantity) -> bool:
    """Whether a number word counts nothing, or is part of a name or of a rate: "one", "H2O", $22 an hour."""
    is_beside = any(0 <= one.start - other.end <= 1 for other in text.quantities)
    is_rate = any(other.unit == _MONEY and 0 <= other.start - one.end <= 1 for other in text.quantities)
    if one.value == 1 and one.unit and (is_beside or is_rate):
        return True
    if one.unit is None and text.has_cue("no_count", one.start, one.end):
        after = text.text[one.end : one.end + 1]
        others = (text.text[other.end : other.end + 1] for other in text.quantities if other is not one)
        return of(text.language).space != "" or after not in others  # two cups for me, one for her: both count
    beside = text.text[max(0, one.start - 1) : one.start] + text.text[one.end : one.end + 1]
    return any(character.isascii() and character.isalpha() for character in beside)


def _is_vague(text: RequestText, moment: Moment) -> bool:
    """Whether the words name no day that anybody chooses, "now", "today", or the half of the day of another time."""
    words = text.text[moment.start : moment.end].lower().strip(signs(" ,"))
    patterns = quantity_words(text.language).patterns
    is_half = patterns["part_of_day"].fullmatch(words) and any(one.clocks for one in text.moments if one != moment)
    return bool(is_half or patterns["vague_day"].fullmatch(words))


def _is_described(words: str, described: str) -> bool:
    """Whether words are the tool's own and so say no value: "a day", "the minutes"."""
    if fold(words) in described:
        return True
    keys = content_words(words)
    return not re.search(r"\d", words) and bool(keys) and keys <= {key.deep for key in content_keys(described)}


def _is_narrated(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], span: Span
) -> bool:
    """Whether a number or a time stands in a clause that only tells of things, and no empty parameter could take it."""
    clauses = list(clauses_of(text.text, text.language))
    clause = next((one for one in clauses if one.start <= span.start < one.end), None)
    if (
        clause is None
        or touches(spans_of(readings), *clause)
        or not is_remark(text.quote(Span(*clause)), text.language)
    ):
        return False
    empty = {name: schema for name, schema in tool.properties.items() if name not in {leaf.argument for leaf in leaves}}
    if of(text.language).space:
        beside = content_words(_PHRASE_END.split(text.text[span.end : span.end + _NAME_AFTER])[0])
        if any(beside & leaf.naming for leaf in leaves):
            return False
        is_moment = any(one.start <= span.start < one.end for one in text.moments)
        return not any((_asks_moment if is_moment else _asks_number)(name, schema) for name, schema in empty.items())
    narrated = [one for one in clauses if is_context(text.quote(Span(*one)), text.language)]
    values = [one for one in text.mentions if touches(spans_of(readings), *one)]
    if any(touches(values, *one) for one in narrated) or text.has_cue("asks", *clause):
        return False
    return not any(not choices_of(schema) and schema.get("type") != "boolean" for schema in empty.values())


def _asks_number(name: str, schema: JsonSchema) -> bool:
    if schema.get("type") == "string":
        words = f"{name} {schema.get('description', '')}".lower()
        return not choices_of(schema) and _NUMBERED.search(words) is not None
    return schema.get("type") in ("integer", "number", "object", "array")


def _asks_moment(name: str, schema: JsonSchema) -> bool:
    return _asks_time(name, schema) or schema.get("type") == "object" or (
        _DATED.search(" ".join((*split_name(name), str(schema.get("description", "")))).lower()) is not None
    )  # fmt: skip


def _counts_again(
    text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[Span]:
    """Numbers of the call that are stated again with the name of what they count: "that's two adult tickets"."""
    added = quantity_words(text.language).patterns["added"]
    for leaf, reading in zip(leaves, readings, strict=True):
        is_number = (
            isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool) and reading.grade == "proved"
        )
        for one in text.quantities if is_number else ():
            after = text.text[one.number_end : one.number_end + _NAME_AFTER]
            if added.search(f"{text.text[max(0, one.start - _NAME_AFTER) : one.start]} {after}"):
                continue
            if (
                one.value == leaf.value
                and one.unit is None
                and not one.bound
                and leaf.naming & content_words(_PHRASE_END.split(after)[0])
            ):
                yield Span(one.start, one.number_end)


def _same_amounts(text: RequestText, known: Sequence[Span]) -> list[Span]:
    """Amounts that are stated again in another unit: "two kilos, 2000 grams"."""
    stated = [one for one in text.quantities if one.unit and touches(known, one.start, one.number_end)]
    return [
        Span(one.start, one.end) for one in text.quantities
        if one.unit and any(
            other.unit and other.unit.dimension == one.unit.dimension
            and isclose(one.value * one.unit.factor, other.value * other.unit.factor)
            for other in stated
        )
    ]  # fmt: skip


def _is_corrected(text: RequestText, moment: Moment, values: Sequence[str]) -> bool:
    """Whether a correction follows, and behind it the day that the call has."""
    marks = [one.start for one in find_corrections(text.text) if one.start >= moment.end]
    return any(one.start >= mark and _is_in(one.days, values) for mark in marks for one in text.moments)


def _is_stated_flag(tool: Tool, name: str, own: str, language: str) -> bool:
    """Whether the words say of a flag that the call lacks another value than its default."""
    schema = tool.properties.get(name, {})
    if schema.get("type") != "boolean":
        return False
    flag = read_flag(name, str(schema.get("description", "")), own, language)
    return flag is not None and flag.value is not schema.get("default", False)


def _stated_choice(tool: Tool, name: str, own: str, language: str) -> str:
    """The choice of a parameter that the words state, unless it is the default or a word of the tool's document."""
    schema = tool.properties.get(name, {})
    choices = [one for one in choices_of(schema) if isinstance(one, str) and one != schema.get("default")]
    document = vocabulary((tool.name, tool.description))
    glosses = glosses_of(schema)
    for one in choices:
        gloss = glosses.get(one, "")
        found = (
            (locate_text(one, own) or find_choice(one, own, language, name)) if len(one) >= _SHORTEST_CHOICE else None
        ) or (locate_text(gloss, own) if gloss else None)
        if found and not content_words(own[found.start : found.end]) <= document:
            return one
    return ""


def _naming(tool: Tool, name: str) -> str:
    schema = tool.properties.get(name, {})
    return str(schema.get("description", "") or name)


def _asks_time(name: str, schema: JsonSchema) -> bool:
    words = f"{' '.join(split_name(name))} {schema.get('description', '')} {schema.get('format', '')}".lower()
    return _TIME_OF_DAY.search(words) is not None


def _is_in(stated: Collection[str], values: Sequence[str]) -> bool:
    return any(part in value for part in stated for value in values)


def _rest(text: RequestText, span: Span, others: Sequence[Span]) -> str:
    """What stands behind a value within its quotation marks, or else within its sentence, and belongs to nobody."""
    for start, end in quotations(text.text):
        if start <= span.start and span.end <= end:
            return text.text[span.end : end - 1]
    last = sentence_at(text.text, max(span.start, span.end - 1))[1]
    if last <= span.end:
        return ""
    following = [one for one in others if span.end <= one.start < last]
    rest = cue_words(text.language).patterns["closing"].sub("", text.without(following, span.end, last))
    if following and count_words(rest) <= _FEW_WORDS * len(following):
        return ""
    return rest
