"""Coverage, the dual of grounding: whether all of a request is in its call, and whether the call is what it asks for.

Grounding asks whether all of the call is in the text. What is left of the text is a doubt that names its words: a number or
a day that no argument takes, a negation, an alternative, a condition, a correction, a second wish, a past deed, a text cut
short, another deed than the tool's. Rules decide here; what they can't decide, a judge reads.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from math import isclose
from typing import NamedTuple

from generators.kinds import traits_of
from generators.stages import StageContext
from language.calls.actions import own_words
from language.cues import (
    Cue,
    Deed,
    cue_words,
    deeds_of_tool,
    deeds_stated,
    find_choices,
    find_cues,
    harmless_uses,
    has_cues,
)
from language.names import split_name
from language.packs import of, signs
from language.plain_words import clauses_of, is_context, plain_words, unknown_words, vocabulary
from language.readers.mentions import Moment
from language.readers.quantities import Quantity
from language.readers.units import Unit, quantity_words
from language.schemas import choices_of
from language.sentences import count_words, quotations, sentence_at
from language.text import fold
from language.wording import content_keys
from validators.checks.shifted_words import earlier_values, find_stated, is_of_correction, wants_again
from validators.checks.verdicts import weakest
from validators.readings.leftover_words import is_harmless
from validators.readings.omissions import listed_on, times_left, unmentioned
from validators.readings.request_reading import merge_readings, read_leaves
from validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    Grade,
    RequestText,
    Span,
    content_words,
    leaves_of,
    parse_request,
    spans_of,
    touches,
)
from validators.readings.taken_back import taken_back_in
from warehouse.records import (
    DEFAULT_LANGUAGE,
    Arguments,
    GoldCall,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

_CLOSE, _NEAR = 12, 25  # characters between a cue and the values around it, and words of a bound
_TAKEN_DOWN = frozenset({
    "log", "record", "report", "request", "issue", "ticket", "complain", "complaint", "review", "feedback", "rate", "claim",
    "appeal", "block", "dispute", "return", "note", "memo", "submit",
})  # fmt: skip
_LEFT_OUT = re.compile("exclude[ds]?|without|avoid|except|allerg(?:y|ies|ens?)|skip|omit")
_EACH_BEFORE = re.compile(r"\b(?:every|each|all|both|cada)\s+$", re.IGNORECASE)
_MONEY = Unit("money", 1)
_ENDING: frozenset[Deed] = frozenset({"cancel", "off", "pay"})  # what people ask for because something is settled
_QUOTATION_MARKS = 4  # characters by which a quotation may be longer than the value in it
_FEWEST_QUOTED = 4  # words, or characters of a script without spaces
_FEW_WORDS = 3  # "every", "first one at": what may stand between two values


CHECK = "coverage"
VERSION = "4"


class RequestReading(NamedTuple):
    """What rules and readers make of a request: each argument's grade, and doubts about the rest of its words."""

    arguments: tuple[ArgumentReading, ...]
    doubts: tuple[str, ...]

    @property
    def decision(self) -> Grade:
        """Proved where every argument is, and nothing is left over."""
        if any(one.grade == "contradicted" for one in self.arguments):
            return "contradicted"
        is_open = self.doubts or any(one.grade != "proved" for one in self.arguments)
        return "unproved" if is_open else "proved"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not proved, one sentence a fact."""
        return (*(one.reason for one in self.arguments if one.grade != "proved"), *self.doubts)


def read_request(tool: Tool, arguments: Arguments, request: str, language: str, now: datetime | None) -> RequestReading:
    """Read `request` against the call of `tool` with `arguments`; `now` is when it was stated, None where nobody knows."""
    if not has_cues(language):
        unknown = f"No rules know the language {language!r}."
        return RequestReading(tuple(ArgumentReading(name, "unproved", (), unknown) for name in arguments), (unknown,))
    text = parse_request(request, language, now)
    leaves = leaves_of(tool, arguments)
    readings = read_leaves(leaves, text)
    doubts = [
        *_left_over(tool, text, leaves, readings),
        *_unknown(tool, text, leaves, readings),
        *_cut_short(text, leaves, readings),
        *unmentioned(tool, arguments, text, readings),
        *(f"The required parameter {name!r} has no value." for name in tool.required if name not in arguments),
        *_other_deeds(tool, text, leaves, readings),
    ]
    return RequestReading(merge_readings(arguments, leaves, readings), tuple(dict.fromkeys(doubts)))


def applies_to(sample: Sample) -> bool:
    """Whether rules can account for the words: one call a turn at most, and none made yet."""
    traits = traits_of(sample.kind)
    snapshots = [snapshot for snapshot in sample.snapshots() if snapshot.calls]
    is_read = traits.asked == "call" and not traits.is_executed
    return is_read and bool(snapshots) and all(len(snapshot.calls) == 1 for snapshot in snapshots)


async def check_coverage(sample: Sample, context: StageContext) -> list[Verdict]:
    """Account for every word of the user's, snapshot by snapshot; whether the words say the arguments is grounding's to tell."""
    tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
    decision: Grade = "proved"
    reasons: list[str] = []
    tools_due = {call.tool for snapshot in sample.snapshots() for call in snapshot.calls}
    read = False
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            tool = tools.get(call.tool)
            if tool is None:
                decision, reasons = "contradicted", [*reasons, f"The tool {call.tool!r} is not among the candidates."]
                continue
            earlier = earlier_values(sample, snapshot) if traits_of(sample.kind).has_correction else None
            unread = 0 if not read and len(tools_due) == 1 else -1
            read = True
            reading = read_snapshot(tool, call, snapshot.prefix, sample.language, earlier, first=unread)
            reasons += reading.doubts
            decision = weakest((decision, "unproved" if reading.doubts else "proved"))
    reason = " ".join(dict.fromkeys(reasons)) or "Every word of the user's belongs to the call."
    return [Verdict(subject=sample.key, check=CHECK, decision=decision, reason=reason, version=VERSION)]


def read_snapshot(
    tool: Tool,
    call: GoldCall,
    prefix: Sequence[Turn],
    language: str,
    earlier: Sequence[str] | None = None,
    *,
    first: int = -1,
) -> RequestReading:
    """Read all that a user said before a call against it: arguments from any turn, left-over words in the last one.

    `earlier` are the values of calls that were due before, where the conversation may take them back, else None.
    `first` is the first of the texts whose words are to be accounted for: the last alone unless given.
    """
    texts = list(_user_texts(prefix, language))
    if earlier is not None:
        texts = [one._replace(is_shifted=True, replaced=find_stated(tool, call, one, earlier)) for one in texts]
    leaves = leaves_of(tool, call.arguments)
    by_turn = [read_leaves(leaves, text) for text in texts]
    readings = [
        next((readings[at] for readings in reversed(by_turn) if readings[at].grade == "proved"), by_turn[-1][at])
        for at in range(len(leaves))
    ]
    doubts: list[str] = []
    for text, read in [*zip(texts, by_turn, strict=True)][first:]:
        doubts += [
            *_left_over(tool, text, leaves, read),
            *_unknown(tool, text, leaves, read),
            *_cut_short(text, leaves, read),
            *unmentioned(tool, call.arguments, text, read),
        ]
    if len(texts) == 1 or first == 0:
        doubts += _other_deeds(tool, texts[0], leaves, by_turn[0])
    return RequestReading(merge_readings(call.arguments, leaves, readings), tuple(dict.fromkeys(doubts)))


def _user_texts(prefix: Sequence[Turn], language: str) -> Iterator[RequestText]:
    question = ""
    for turn in prefix:
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            message = turn.external.text if turn.external else ""
            yield parse_request(turn.text, language, None, question=question, message=message)
            question = ""


def _free_spans(leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]) -> list[Span]:
    """Where text stands that somebody else shall read: what it says is no wish of its own."""
    return [span for leaf, reading in zip(leaves, readings, strict=True) if leaf.is_free_text for span in reading.spans]


def _left_over(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[str]:
    """Numbers, days and turns of phrase that no argument accounts for; those of the tool's own description say no value."""
    described = _described(tool)
    deeds = deeds_of_tool(tool.name, text.language)
    spans, free = spans_of(readings), _free_spans(leaves, readings)
    taken_back = taken_back_in(text, spans)
    known = [*spans, *taken_back, *_again(text, leaves, readings)]
    known += [*_same_days(text, known), *_same_amounts(text, known)]
    for start, end in (*_numbers_to_take(text), *_moments_to_take(text)):
        if not touches(known, start, end) and not _is_described(text.text[start:end], described):
            if _is_narrated(tool, text, leaves, readings, Span(start, end)):
                continue
            yield f"{text.text[start:end]!r} belongs to no argument."
    yield from times_left(tool, text, leaves, readings)
    yield from listed_on(text, leaves, readings)
    yield from _quoted(text, spans)
    for cue in find_cues(text.text, text.language):
        if (
            _is_own(text, cue.start)
            and not _is_accounted(text, cue, spans, free, taken_back)
            and not _is_the_deed(text, cue, deeds)
            and not (cue.kind == "condition" and _watches(tool, text.language))
            and not _is_left_out(text, cue, leaves, readings)
            and not (cue.kind == "negation" and _gives_reason(text, cue, [*known, *spans], deeds))
            and not (cue.kind == "second_wish" and _is_own_deed_again(tool, text, cue, spans))
            and not (cue.kind == "condition" and "ask" in deeds and text.has_cue("supposed_question"))
        ):
            yield f"{text.text[cue.start : cue.end].strip()!r} ({cue.kind.replace('_', ' ')}) belongs to no argument."


def _quoted(text: RequestText, spans: Sequence[Span]) -> Iterator[str]:
    """A quotation that holds more than a value: then somebody's request is told of, and none is made."""
    for start, end in quotations(text.text):
        inner = [at for at in range(start + 1, end - 1) if text.text[at].isalpha()]
        free = [at for at in inner if not touches(spans, at, at + 1)]
        is_long = count_words(text.without(spans, start, end)) >= _FEWEST_QUOTED
        if end <= text.own and is_long and len(free) * 2 > len(inner) and not touches(text.replaced, start, end):
            yield f"{text.text[start:end]!r} is quoted."


def _unknown(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[str]:
    """Words of a wish that are neither a value nor of the tool's document, nor what people say in any request."""
    if text.own < len(text.text):  # the words that point to a message are nobody's
        return
    spans = spans_of(readings)
    known = [*spans, *(one for one in text.mentions if touches(spans, *one)), *taken_back_in(text, spans)]
    deeds = deeds_of_tool(tool.name, text.language)
    known += [Span(start, end) for deed, start, end in deeds_stated(text.text, text.language) if deed in deeds]
    known += [Span(cue.start, cue.end) for cue in find_cues(text.text, text.language)]
    known += [Span(*one) for one in harmless_uses(text.text, text.language)]
    known += [*_again(text, leaves, readings), *_own_phrases(tool, text)]
    if text.is_shifted:
        known += [Span(*one.span()) for one in cue_words(text.language).patterns["once_more"].finditer(text.text)]
    days = [Span(each.start, each.end) for each in text.moments]
    known += [
        Span(*match.span()) for span in spans if not touches(days, *span)
        if (match := _EACH_BEFORE.search(text.text[: span.start]))
    ]  # fmt: skip
    spoken = vocabulary(_document(tool, leaves))
    own = text.text[: text.own]
    stated = list(zip(leaves, readings, strict=True))
    unknown = list(unknown_words(own, text.language, known, spoken))
    for clause in clauses_of(own, text.language):
        left = [one for one in unknown if clause.start <= one[0] < clause.end]
        if not left or (not touches(spans, *clause) and is_context(own[clause.start : clause.end], text.language)):
            continue
        if is_harmless(tool, text, stated, clause, left):
            continue
        words = " ".join(own[start:end] for start, end in left)
        yield f"{words!r} belongs to no argument."


def _own_phrases(tool: Tool, text: RequestText) -> list[Span]:
    """Where a text has what people say for the tool's deed, as the language lists it."""
    phrases = own_words(tool.name, tool.description)
    found = (match for phrase in phrases for match in re.finditer(re.escape(phrase), text.text, re.IGNORECASE))
    return [Span(*match.span()) for match in found]


def _again(text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]) -> Iterator[Span]:
    """Where a text that is said once is said again."""
    for leaf, reading in zip(leaves, readings, strict=True):
        if isinstance(leaf.value, str) and reading.grade == "proved" and len(leaf.value) > _FEW_WORDS:
            yield from (Span(*match.span()) for match in re.finditer(re.escape(leaf.value), text.text, re.IGNORECASE))
        if isinstance(leaf.value, str) and reading.grade == "proved" and choices_of(leaf.schema):
            yield from (Span(one.start, one.end) for one in find_choices(leaf.value, text.text, text.language))


def _document(tool: Tool, leaves: Sequence[ArgumentLeaf]) -> tuple[str, ...]:
    """What the tool's document says of the tool and of the parameters that the call fills, and what people say for its deed."""
    texts = [tool.name, tool.description, *own_words(tool.name, tool.description)]
    for leaf in leaves:
        schema = tool.properties.get(leaf.argument, {})
        texts += [leaf.argument, leaf.name, str(schema.get("description", "")), str(leaf.schema.get("description", ""))]
    return tuple(texts)


def _watches(tool: Tool, language: str) -> bool:
    """Whether the tool waits for something, so that a condition is its very business: an alert, a reminder."""
    patterns = (cue_words(one).patterns["watching"] for one in (language, DEFAULT_LANGUAGE))
    return any(pattern.search(_described(tool)) for pattern in patterns)


def _is_left_out(
    text: RequestText, cue: Cue, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> bool:
    """Whether a negation stands before a value of a parameter for what shall be left out: "without coriander"."""
    left_out = [
        span
        for leaf, reading in zip(leaves, readings, strict=True)
        if leaf.is_named(_LEFT_OUT)
        for span in reading.spans
    ]
    return cue.kind == "negation" and any(0 <= span.start - cue.end <= _CLOSE for span in left_out)


def _described(tool: Tool) -> str:
    """All that the tool's document says in words, to compare with."""
    schemas = " | ".join(str(schema.get("description", "")) for schema in tool.properties.values())
    return fold(f"{tool.description} | {' | '.join(own_words(tool.name, tool.description))} | {schemas}")


def _is_described(words: str, described: str) -> bool:
    """Whether words are the tool's own and so say no value: "a day", "the minutes"."""
    if fold(words) in described:
        return True
    keys = content_words(words)
    return not re.search(r"\d", words) and bool(keys) and keys <= {key.deep for key in content_keys(described)}


def _numbers_to_take(text: RequestText) -> Iterator[Span]:
    for one in text.quantities:
        if _is_own(text, one.start) and not _counts_nothing(text, one):
            yield Span(one.start, max(one.start + 1, one.number_end))


def _moments_to_take(text: RequestText) -> Iterator[Span]:
    for one in text.moments:
        if _is_own(text, one.start) and not _is_vague(text, one):
            yield Span(one.start, one.end)


def _same_days(text: RequestText, known: Sequence[Span]) -> list[Span]:
    """Days that are stated again in other words: "on New Year's Day, the 1st"."""
    stated = [one for one in text.moments if touches(known, one.start, one.end)]
    return [
        Span(one.start, one.end) for one in text.moments
        if one.days and not one.clocks and not one.last_day and any(one.days == other.days for other in stated)
    ]  # fmt: skip


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


def _is_narrated(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], span: Span
) -> bool:
    """Whether a number or a time stands in a clause that only tells of things, and no empty parameter could take it."""
    if of(text.language).space:  # there the clause tells too little of who wishes what
        return False
    clause = next((one for one in clauses_of(text.text, text.language) if one.start <= span.start < one.end), None)
    narrated = [
        one for one in clauses_of(text.text, text.language) if is_context(text.text[one.start : one.end], text.language)
    ]
    values = [one for one in text.mentions if touches(spans_of(readings), *one)]
    if clause is None or touches(spans_of(readings), *clause) or any(touches(values, *one) for one in narrated):
        return False
    words = text.text[clause.start : clause.end]
    if not is_context(words, text.language) or cue_words(text.language).patterns["asks"].search(words):
        return False
    filled = {leaf.argument for leaf in leaves}
    return not any(
        name not in filled and not choices_of(schema) and schema.get("type") != "boolean"
        for name, schema in tool.properties.items()
    )


def _is_own(text: RequestText, at: int) -> bool:
    return at < text.own


def _is_accounted(
    text: RequestText, cue: Cue, spans: Sequence[Span], free: Sequence[Span], taken_back: Sequence[Span]
) -> bool:
    takes_away = cue.kind == "negation" and any(cue.start < one.start and one.end < cue.end for one in spans)
    if takes_away:  # "leave Carl out"
        return False
    ends = cue.start + 1 if cue.kind == "past" else cue.end  # what is told of may hold the values
    if touches(free if cue.kind == "alternative" else spans, cue.start, ends):
        return True
    if cue.kind == "negation" and any(
        one.bound and one.start - _NEAR <= cue.start <= one.end + _CLOSE for one in text.quantities
    ):
        return True
    if text.is_shifted and wants_again(text, cue):
        return True
    if cue.kind == "second_wish" and any(0 <= one.start - cue.end <= _CLOSE for one in spans):
        return True  # "and tell Ann": what is to be done is done with a value of the call
    if cue.kind in ("correction", "negation") and is_of_correction(text, cue, spans, taken_back):
        return True
    if cue.kind == "past":  # the words that point to a message tell who sent it
        return text.own < len(text.text) or _wishes_elsewhere(text, spans, cue)
    return cue.kind == "alternative" and _joins_values(text, spans, cue)


def _gives_reason(text: RequestText, cue: Cue, known: Sequence[Span], deeds: frozenset[Deed]) -> bool:
    """Whether a negation stands in a clause that only tells why: of no value, no amount, no day and no deed of the tool."""
    clause = next((one for one in clauses_of(text.text, text.language) if one.start <= cue.start < one.end), None)
    if clause is None or not is_context(text.text[clause.start : clause.end], text.language):
        return False
    if touches(known, *clause) or touches(text.mentions, *clause) or text.has_cue("resolve", *clause):
        return False
    if any(deed in deeds for deed, *_ in deeds_stated(text.text[clause.start : clause.end], text.language)):
        return False
    return _wishes_elsewhere(text, known, cue)


def _is_own_deed_again(tool: Tool, text: RequestText, cue: Cue, spans: Sequence[Span]) -> bool:
    """Whether "and play" words the deed of the tool itself, or a value stands right before "while you're at it"."""
    last = text.text[cue.start : cue.end].split(" ")[-1].lower()
    is_aside = text.has_cue("aside", cue.start, cue.end) and any(0 <= cue.start - one.end <= 1 for one in spans)
    return is_aside or last in split_name(tool.name.rsplit(".", 1)[-1])


def _wishes_elsewhere(text: RequestText, spans: Sequence[Span], cue: Cue) -> bool:
    """Whether another clause than the one that tells of the past wishes something: "I bought it in May. Register it"."""
    return any(
        not clause.start <= cue.start < clause.end
        and not is_context(text.text[clause.start : clause.end], text.language)
        and (touches(spans, *clause) or any(deeds_stated(text.text[clause.start : clause.end], text.language)))
        for clause in clauses_of(text.text[: text.own], text.language)
    )


def _joins_values(text: RequestText, spans: Sequence[Span], cue: Cue) -> bool:
    """Whether both sides of an "or" are values of the call, and no days of which one is to be chosen."""
    left = [span for span in spans if 0 <= cue.start - span.end <= 1]
    right = [span for span in spans if 0 <= span.start - cue.end <= 1]
    days = [Span(one.start, one.end) for one in text.moments]
    return bool(left and right) and not any(touches(days, *side[0]) for side in (left, right))


def _is_the_deed(text: RequestText, cue: Cue, deeds: frozenset[Deed]) -> bool:
    """Whether a negation words the very deed of a tool that ends something: "don't let them ring me any more"."""
    ends = cue.kind == "negation" and bool(deeds & {"off", "cancel"})
    return ends and text.has_cue("no_more", cue.start, cue.end + _NEAR)


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


def _cut_short(text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]) -> Iterator[str]:
    """Free text that stops before what was to be written does."""
    for index, (leaf, reading) in enumerate(zip(leaves, readings, strict=True)):
        if leaf.is_free_text and reading.spans:
            others = [span for at, other in enumerate(readings) if at != index for span in other.spans]
            rest = _rest(text, reading.spans[0], others)
            if re.search(r"\w", rest):
                yield f"{leaf.name!r} leaves out {rest.strip()!r}."


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


def _own_deed(text: RequestText, deed: Deed) -> re.Pattern[str]:
    return cue_words(text.language).deeds[deed]


def _other_deeds(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[str]:
    """Where the words ask for another deed than the tool does, or for none that can be determined."""
    spans = [*spans_of(readings), *_own_phrases(tool, text)]
    deeds = deeds_of_tool(tool.name, text.language)
    yield from _wishes_of_nobody(text, spans, deeds)
    stated = {deed for deed, start, end in deeds_stated(text.text, text.language) if not touches(spans, start, end)}
    if "ask" not in deeds and (text.has_cue("howto", 0, text.own) or (deeds and text.has_cue("asking"))):
        yield "The words ask for something, and the tool does something."
    if deeds and not deeds & {"ask"} and not _wishes(tool, text):
        yield "The words tell of something, and wish nothing."
    if _says_opposite(tool, text, leaves, spans):
        yield "The words ask for the opposite of what the tool or its parameter does."
    ends = {deed for deed in stated & {"cancel"} if not re.search(_own_deed(text, deed), _described(tool))}
    if ends - deeds:
        yield "The words call something off, and the tool does not."
    elif deeds and stated and not deeds & stated:
        clashes = cue_words(text.language).clashes
        others = sorted(deed for deed in stated if any(frozenset({mine, deed}) in clashes for mine in deeds))
        if others:
            yield f"The words speak of another deed ({', '.join(others)})."


def _wishes_of_nobody(text: RequestText, spans: Sequence[Span], deeds: frozenset[Deed]) -> Iterator[str]:
    """Where the words only quote what somebody asked for, or tell that it is done."""
    if _is_only_quoted(text, spans, deeds):
        yield "The words only quote a request."
    if not deeds & _ENDING and text.has_cue("settled", 0, text.own):
        yield "The words tell of something that is settled."


def _is_only_quoted(text: RequestText, spans: Sequence[Span], deeds: frozenset[Deed]) -> bool:
    """Whether all that the call takes stands within one quotation, among other words, and nothing around it wishes."""
    own = text.text[: text.own]
    for start, end in quotations(own):
        around = f"{own[:start]} {own[end:]}"
        is_whole = any(one.end - one.start >= end - start - _QUOTATION_MARKS for one in spans)
        is_within = bool(spans) and all(start <= one.start and one.end <= end for one in spans)
        if not is_within or is_whole or not re.search(r"\w", around):
            continue
        is_wished = plain_words(text.language).wish.search(around) is not None
        return not is_wished and not any(deed in deeds for deed, *_ in deeds_stated(around, text.language))
    return False


def _wishes(tool: Tool, text: RequestText) -> bool:
    """Whether a clause wishes something, or the tool takes down what is told."""
    own = text.text[: text.own]
    clauses = [own[clause.start : clause.end] for clause in clauses_of(own, text.language)]
    is_noted = any(word in _TAKEN_DOWN for word in split_name(tool.name))
    is_spaced = bool(of(text.language).space)  # elsewhere no word tells where a clause has its subject
    return is_noted or not is_spaced or not clauses or any(not is_context(one, text.language) for one in clauses)


def _says_opposite(tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], spans: Sequence[Span]) -> bool:
    names = " | ".join(" ".join(split_name(name)) for name in (tool.name, *(leaf.name for leaf in leaves)))
    chosen = [str(leaf.value) for leaf in leaves if choices_of(leaf.schema)]
    names = f"{names} | {' | '.join(one.replace('_', ' ') for one in chosen)}"
    own = text.without(spans, 0, text.own)
    return any(
        words.search(names) and not others.search(names) and others.search(own) and not words.search(own)
        for words, others in cue_words(text.language).opposites
    )
