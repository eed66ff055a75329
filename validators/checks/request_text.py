"""A request as rules read it: its text with what readers find in it, and the values of the call that it shall have said."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from pydantic import JsonValue

from language.cues import cue_words, find_cues
from language.mentions import UNKNOWN_NOW, Moment, find_moments
from language.names import split_name
from language.quantities import Quantity, find_quantities
from language.schemas import choices_of
from language.sentences import last_clause
from warehouse.records import Arguments, JsonSchema, Tool

_FREE_TEXT = re.compile(
    "content|message|msg|comment|statement|complaint|feedback|notes?|body|resolution|review|text|caption|description|details"
)
_NEGATION_BEFORE = 20  # characters


class Span(NamedTuple):
    """A stretch of the request."""

    start: int
    end: int


class RequestText(NamedTuple):
    """A request with what the readers found in it; without `now` no relative day can be proved."""

    text: str
    language: str
    quantities: tuple[Quantity, ...]
    moments: tuple[Moment, ...]
    now: datetime | None
    own: int  # where the user's own words end: behind them stands a message handed over, if any
    question: str = ""  # what the user was asked: it names what the answer is for

    def has_cue(self, name: str, start: int = 0, end: int | None = None) -> bool:
        """Whether a pattern of the language's cues is found in this stretch."""
        pattern = cue_words(self.language).patterns[name]
        return bool(pattern.search(self.text[start : len(self.text) if end is None else end]))

    def is_denied(self, at: int) -> bool:
        """Whether a negation stands shortly before a place, in its clause."""
        before = last_clause(self.text[max(0, at - _NEGATION_BEFORE) : at])
        cues = find_cues(self.text[:at], self.language)
        return any(cue.kind == "negation" and cue.end > at - len(before) for cue in cues)

    def quote(self, span: Span) -> str:
        """The words of a stretch."""
        return self.text[span.start : span.end]


class ArgumentLeaf(NamedTuple):
    """A value of the call that stands for itself: an argument, or a member of one. `parent` is the path of what holds it."""

    argument: str
    name: str
    value: JsonValue
    schema: JsonSchema
    parent: str = ""

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


def parse_request(
    request: str, language: str, now: datetime | None, *, question: str = "", message: str = ""
) -> RequestText:
    """Find the quantities and moments of a request, with the question it answers and the message that it hands over."""
    whole = f"{request}\n{message}" if message else request
    moments = find_moments(whole, language, now or UNKNOWN_NOW)
    return RequestText(whole, language, find_quantities(whole, language), moments, now, len(request), question)


def leaves_of(tool: Tool, arguments: Arguments) -> list[ArgumentLeaf]:
    """The values of a call that stand for themselves, in order."""
    return [
        leaf
        for name, value in arguments.items()
        for leaf in leaves_within(ArgumentLeaf(name, name, value, tool.properties.get(name, {})))
    ]


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
