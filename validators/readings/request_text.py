"""A request as rules read it: its text with what readers find in it, and the values of the call that it shall have said."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.language.cues import cue_words, find_cues
from callwright.language.names import split_name
from callwright.language.packs import of, widened
from callwright.language.plain_words import plain_words
from callwright.language.readers.mentions import UNKNOWN_NOW, Moment, find_moments
from callwright.language.readers.quantities import Quantity, find_quantities
from callwright.language.readers.units import quantity_words, unit_of
from callwright.language.schemas import choices_of
from callwright.language.sentences import last_clause
from callwright.language.text import STOP
from callwright.language.wording import content_keys
from callwright.warehouse.records import Arguments, JsonSchema, Tool

_FREE_TEXT = re.compile(
    "content|message|msg|comment|statement|complaint|feedback|notes?|body|resolution|review|text|caption|description|details"
)
_NEGATION_BEFORE = 20  # characters
_PAUSE = re.compile(widened("@[,.;!?]"))  # what a negation does not reach across in scripts without spaces
_SHORT = re.compile(r"[a-z.]|\d+")  # what names nothing
_LEAST, _MOST = (
    re.compile("min|minimum|least|lowest|above|lower|m[ií]nimo"),
    re.compile("max|maximum|most|highest|below|upper|m[aá]ximo"),
)
Grade = Literal["proved", "unproved", "contradicted"]


class Span(NamedTuple):
    """A stretch of the request."""

    start: int
    end: int


class ArgumentReading(NamedTuple):
    """What the request says about an argument or a part of one: its grade, the words that carry it, why it is doubted."""

    name: str
    grade: Grade
    spans: tuple[Span, ...] = ()
    reason: str = ""


class RequestText(NamedTuple):
    """A request with what the readers found in it; without `now` no relative day can be proved."""

    text: str
    language: str
    quantities: tuple[Quantity, ...]
    moments: tuple[Moment, ...]
    now: datetime | None
    own: int  # where the user's own words end: behind them stands a message handed over, if any
    question: str = ""  # what the user was asked: it names what the answer is for
    is_shifted: bool = False  # whether the user may take values back, or want the same again with another one
    replaced: tuple[Span, ...] = ()  # where such values stand, old ones and new ones

    @property
    def mentions(self) -> tuple[Span, ...]:
        """Where its quantities and its moments stand."""
        amounts = [Span(one.start, one.end) for one in self.quantities]
        return (*amounts, *(Span(one.start, one.end) for one in self.moments))

    def has_cue(self, name: str, start: int = 0, end: int | None = None) -> bool:
        """Whether a pattern of the language's cues is found in this stretch."""
        pattern = cue_words(self.language).patterns[name]
        return bool(pattern.search(self.text[start : len(self.text) if end is None else end]))

    def is_denied(self, at: int) -> bool:
        """Whether a negation stands shortly before a place, in its clause."""
        near = self.text[max(0, at - _NEGATION_BEFORE) : at]
        before = last_clause(near) if of(self.language).space else _PAUSE.split(near)[-1]
        cues = find_cues(self.text[:at], self.language)
        return any(cue.kind == "negation" and cue.end > at - len(before) for cue in cues)

    def tells_why(self, clause: tuple[int, int], spans: Sequence["Span"]) -> bool:
        """Whether a clause, without a sign of who tells it, states why something is wished that a later one words.

        It may begin with the value that it tells of, as long as that value owns nothing there: "the cellar is damp".
        """
        start, end = clause
        if not self.has_cue("circumstance", start, end) or self.has_cue("asks", start, end):
            return False
        inner = [span for span in spans if start <= span.start < end]
        if inner and not self.has_cue("state", start, end):
            return False
        if any(self.has_cue("owning", span.end, end) for span in inner) or any(span.start < start for span in spans):
            return False
        is_wished = plain_words(self.language).wish.search(self.text[start:end]) is not None
        return not is_wished and any(span.start >= end for span in spans)

    def without(self, spans: Sequence[Span], start: int, end: int) -> str:
        """A stretch of the text, with spaces in the place of these spans."""
        return "".join(" " if touches(spans, at, at + 1) else self.text[at] for at in range(start, end))

    def quote(self, span: Span) -> str:
        """The words of a stretch."""
        return self.text[span.start : span.end]


def touches(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether a stretch of the text has a character in common with one of the spans."""
    return any(span.start < end and start < span.end for span in spans)


def spans_of(readings: Sequence[ArgumentReading]) -> list[Span]:
    """Where all of these stand."""
    return [span for reading in readings for span in reading.spans]


def content_words(words: str) -> set[str]:
    """The words with a content of their own, as they are compared."""
    return {key.deep for key in content_keys(words) if key.light != STOP}


def same_days(text: RequestText, known: Sequence[Span]) -> list[Span]:
    """Days that are stated again in other or in wider words: "on New Year's Day, the 1st", "at the weekend, on Sunday"."""
    stated = [one for one in text.moments if touches(known, one.start, one.end)]
    return [
        Span(one.start, one.end) for one in text.moments
        if one.days and not one.clocks and not one.last_day
        and any(one.days == other.days or set() < set(other.days) < set(one.days) for other in stated)
    ]  # fmt: skip


class ArgumentLeaf(NamedTuple):
    """A value of the call that stands for itself: an argument, or a member of one. `parent` is the path of what holds it."""

    argument: str
    name: str
    value: JsonValue
    schema: JsonSchema
    parent: str = ""
    naming: frozenset[str] = frozenset()  # the words that name it and no other parameter of the tool
    rivals: frozenset[str] = frozenset()  # the words that name and describe other parameters of the tool
    rival_names: frozenset[str] = frozenset()  # the words of their names
    others: tuple[tuple[str, str], ...] = ()  # names and descriptions of the other parameters
    siblings: frozenset[str] = frozenset()  # the texts that are the call's other values

    @property
    def description(self) -> str:
        """What its schema says it is."""
        return str(self.schema.get("description", ""))

    def rival_dimensions(self, language: str) -> frozenset[str]:
        """What other parameters measure: months, metres."""
        units = (unit_of(name, description, language) for name, description in self.others)
        return frozenset(unit.dimension for unit in units if unit)

    def bounds(self, language: str) -> tuple[bool, bool]:
        """Whether it is a least and whether it is a most, by its name or its description."""
        patterns = quantity_words(language).patterns
        words = self.description.lower()
        is_minutes = self.words[-1:] == ["min"] and unit_of(self.name, self.description, language) is not None
        least = (self.is_named(_LEAST) and not is_minutes) or bool(patterns["names_least"].search(words))
        most = self.is_named(_MOST) or bool(patterns["names_most"].search(words))
        return least, most

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return list(split_name(self.name))

    def is_named(self, pattern: re.Pattern[str]) -> bool:
        """Whether a word of its name is one of these."""
        return any(pattern.fullmatch(word) for word in self.words)

    @property
    def is_free_text(self) -> bool:
        """Whether the value is text that somebody shall read, which must be whole."""
        return (
            isinstance(self.value, str) and not choices_of(self.schema) and bool(_FREE_TEXT.fullmatch(self.words[-1]))
        )


def places_stated(leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading], text: RequestText) -> list[int]:
    """Which values but truth values the user's own words state, as places in the list."""
    return [
        at for at, reading in enumerate(readings)
        if reading.grade == "proved" and reading.spans and reading.spans[0].start < text.own
        and not isinstance(leaves[at].value, bool)
    ]  # fmt: skip


def parse_request(
    request: str, language: str, now: datetime | None, *, question: str = "", message: str = ""
) -> RequestText:
    """Find the quantities and moments of a request, with the question it answers and the message that it hands over."""
    whole = f"{request}\n{message}" if message else request
    moments = find_moments(whole, language, now or UNKNOWN_NOW)
    return RequestText(whole, language, find_quantities(whole, language), moments, now, len(request), question)


def leaves_of(tool: Tool, arguments: Arguments) -> list[ArgumentLeaf]:
    """The values of a call that stand for themselves, in order."""
    leaves = [
        leaf
        for name, value in arguments.items()
        for leaf in leaves_within(ArgumentLeaf(name, name, value, tool.properties.get(name, {})))
    ]
    return set_beside(leaves, tool)


def set_beside(leaves: Sequence[ArgumentLeaf], tool: Tool) -> list[ArgumentLeaf]:
    """The same values, each knowing what names it and what names the other parameters of the tool."""
    named = {name: str(schema.get("description", "")) for name, schema in tool.properties.items()}
    named |= {leaf.name: leaf.description for leaf in leaves}
    return [_beside_others(leaf, leaves, named) for leaf in leaves]


def _beside_others(leaf: ArgumentLeaf, leaves: Sequence[ArgumentLeaf], named: Mapping[str, str]) -> ArgumentLeaf:
    others = {name: words for name, words in named.items() if name not in (leaf.name, leaf.argument)}
    own = naming_words(leaf.name, leaf.description)
    rivals = frozenset[str]().union(*(naming_words(name, words) for name, words in others.items()))
    texts = frozenset(one.value for one in leaves if one is not leaf and isinstance(one.value, str))
    names = frozenset[str]().union(*(naming_words(name, "") for name in others))
    filled = frozenset[str]().union(
        *(naming_words(one.name, one.description) for one in leaves if one.name != leaf.name)
    )
    return leaf._replace(
        naming=own - filled or own,
        rivals=rivals - own,
        rival_names=names - own,
        others=tuple(others.items()),
        siblings=texts,
    )


def naming_words(name: str, description: str) -> frozenset[str]:
    """The content words of a parameter's name and description, as they are compared."""
    words = f"{' '.join(split_name(name))} {description}"
    return frozenset(key.deep for key in content_keys(words) if not _SHORT.fullmatch(key.deep))


def proved(leaf: ArgumentLeaf, *spans: Span) -> ArgumentReading:
    """The value is said, in these words."""
    return ArgumentReading(leaf.argument, "proved", spans)


def left_open(leaf: ArgumentLeaf, reason: str, *spans: Span) -> ArgumentReading:
    """Unproved, unless the schema gives the value by default."""
    given = leaf.schema.get("default", leaf.schema.get("const"))
    if given is not None and given == leaf.value and isinstance(given, bool) == isinstance(leaf.value, bool):
        return proved(leaf)
    return ArgumentReading(leaf.argument, "unproved", spans, reason)


def leaves_within(whole: ArgumentLeaf) -> Iterator[ArgumentLeaf]:
    """The values of an argument that stand for themselves, in order."""
    if isinstance(whole.value, dict) and whole.value:
        members = whole.schema.get("properties") or {}
        for name, member in whole.value.items():
            inner = ArgumentLeaf(whole.argument, name, member, members.get(name, {}), f"{whole.parent}.{whole.name}")
            yield from leaves_within(inner)
    elif isinstance(whole.value, list) and whole.value:
        for index, member in enumerate(whole.value):
            item = whole._replace(
                value=member, schema=whole.schema.get("items") or {}, parent=f"{whole.parent}.{index}"
            )
            yield from leaves_within(item)
    else:
        yield whole
