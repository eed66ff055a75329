"""What a text says outright for a tool's parameters: "the city is Rome", "room: kitchen", "I mean 6"."""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.cued_values import free_text, read_after, read_before, read_items
from callwright.language.calls.parameters import CLOCKED, CODED
from callwright.language.calls.scanning import Hearing, ParsedValue
from callwright.language.calls.tools import CueTable, ParameterView, ToolView, view_of
from callwright.language.dates import find_dates
from callwright.language.packs import LanguagePattern, signs, widened
from callwright.language.readers.moments import find_times
from callwright.language.schemas import fits, json_type
from callwright.language.vocabulary import find_corrections
from callwright.warehouse.records import Tool

_QUOTE_NEAR = LanguagePattern(r"@[\s:=]*(?:@{quote_near})?\s*")
_CLAUSE_END = re.compile(widened(r"@[,;!?{.}\n]|\.(?=\s|$)"))
_NO_VALUE = LanguagePattern("@{no_value}")
_OUTRIGHT = LanguagePattern("@{stated_outright}|@[:=]")
_OTHER = LanguagePattern(r"(?:@{other_one})\s*$")
_MARKS = signs(" \"'“”{open}{close}")
_DESCRIBED = 4  # a shorter description is a cue anyhow
_IS = LanguagePattern(r"\s*(?:@{states}|@[:])\s*")
_LEAD = 40  # a correction speaks of what follows at once
_QUOTES = signs("\"'“{open}")
SHAPED = frozenset({"choice", "date", "birthday", "time", "moment", "boolean", "code", "pattern", *CODED})
_LONGEST_CORRECTION = 5
_LONGEST_TEXT = 8000


class Statement(NamedTuple):
    """A value said for a parameter: `start` is where its cue begins, `said` where its own words do."""

    parameter: ParameterView
    value: JsonValue
    start: int
    stated: int
    end: int
    corrects: bool  # "no", "I mean" or the like leads up to it
    outright: bool  # "is" or a colon stands between, or the value can be nothing else


class _Mark(NamedTuple):
    """A place where the parameter at the index `owner` is called."""

    start: int
    end: int
    owner: int
    is_strong: bool


def view_tool(tool: Tool) -> ToolView:
    """What people call a tool and its parameters."""
    return view_of(tool.signature)


@lru_cache(4096)
def hear(view: ToolView, text: str) -> "Speech":
    """What one text says to one tool, parsed once for all checks and snapshots."""
    return Speech(view, text)


class Speech:
    """One text of the user's, parsed for one tool."""

    def __init__(self, view: ToolView, text: str) -> None:
        """Hear `text`, what is longer than anybody speaks left out."""
        self.text = text[:_LONGEST_TEXT]
        self._view = view
        self._parsed = Hearing(self.text)
        self.corrections = [one for one in find_corrections(self.text) if not self._parsed.is_quoted(one.start)]

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The values that are stated right behind what people call the parameter, in the order of the text."""
        return tuple(self._find_statements())

    def _find_statements(self) -> Iterator[Statement]:
        table = self._view.cues
        if table is None:
            return
        action = self._action()
        marks = [mark for mark in self._marks(table) if mark[0] not in action]
        for index, (start, end, owner, strong) in enumerate(marks):
            if not strong:
                continue
            stop = next((other[0] for other in marks[index + 1 :] if other[2] != owner), len(self.text))
            parameter = self._view.parameters[owner]
            reading = self.value_at(parameter, end, min(stop, self._parsed.sentence_end(end)))
            if reading is None:
                reading = read_before(parameter, self._parsed, max(0, start - _LEAD), start)
            if reading is not None:
                yield Statement(
                    parameter,
                    reading.value,
                    start,
                    reading.start,
                    max(reading.end, end),
                    corrects=self._is_corrected(start, reading.start),
                    outright=self._is_outright(parameter, end, reading),
                )

    @cached_property
    def unnamed(self) -> tuple[Statement, ...]:
        """The first date and the first time of day, where only one parameter can take it."""
        kinds = [one.kind for one in self._view.parameters]
        found = {"date": self._parsed.dates[:1], "time": self._parsed.times[:1]} if "moment" not in kinds else {}
        return tuple(
            Statement(one, stated.value, stated.start, stated.start, stated.end, corrects=False, outright=True)
            for one in self._view.parameters
            if kinds.count(one.kind) == 1
            for stated in found.get(one.kind, [])
        )

    def _marks(self, table: CueTable) -> list[_Mark]:
        """Where a parameter is called by a cue, or by all of its description."""
        descriptions = [str(one.schema.get("description") or "").strip().lower() for one in self._view.parameters]
        whole = [
            _Mark(at, at + len(described), owner, is_strong=True)
            for owner, described in enumerate(descriptions)
            if len(described) >= _DESCRIBED and descriptions.count(described) == 1
            if (at := self._parsed.lower.find(described)) >= 0
        ]
        short = [
            _Mark(match.start(), match.end(), *table.owner(match.group()))
            for match in table.pattern.finditer(self.text)
            if not any(one.start <= match.start() < one.end for one in whole)
        ]
        return [
            mark
            for mark in sorted([*whole, *short])
            if not self._parsed.is_quoted(mark.start)
            and not _OTHER.of(self.text).search(self.text, max(0, mark.start - _LEAD), mark.start)
        ]

    def value_at(self, parameter: ParameterView, start: int, end: int = -1) -> ParsedValue | None:
        """The value that the words from `start` on state for the parameter, None where they state none."""
        end = self._parsed.sentence_end(start) if end < 0 else end
        if json_type(parameter.schema) == "array":
            return read_items(parameter, self._parsed, start, end)
        lead = _QUOTE_NEAR.of(self.text).match(self.text, start)
        begin = lead.end() if lead else start
        quote = next((one for one in self._parsed.quotes if one.start == begin), None)
        if quote is not None and fits(quote.words, parameter.schema):
            return ParsedValue(quote.words, quote.start, quote.end)
        return read_after(parameter, self._parsed, start, end, strong=False) or self._loose(parameter, start, end)

    def _loose(self, parameter: ParameterView, start: int, end: int) -> ParsedValue | None:
        """A date, a time or a code as free words, where the schema takes any words."""
        clocked = parameter.kind in CLOCKED
        if parameter.schema.get("pattern") or not (clocked or parameter.kind == "code" or parameter.kind in CODED):
            return None
        lead = _IS.of(self.text).match(self.text, start, end)
        reading = free_text(self._parsed, lead.end(), end, is_stated=True) if lead else None
        if reading is None or not fits(reading.value, parameter.schema):
            return None
        words = str(reading.value)
        is_one = find_dates(words) or find_times(words) if clocked else any(map(str.isdigit, words))
        return reading if is_one else None

    def clause_at(self, start: int) -> ParsedValue | None:
        """The few words from `start` to the end of their clause, None where they are many or go on about something."""
        match = _CLAUSE_END.search(self.text, start)
        end = match.start() if match else len(self.text)
        words = self.text[start:end].strip(_MARKS)
        spoken = len(words.split()) if words.isascii() else len(words) / 2
        is_value = words and not _NO_VALUE.of(self.text).match(words) and spoken <= _LONGEST_CORRECTION
        return ParsedValue(words, start, end) if is_value else None

    def _is_outright(self, parameter: ParameterView, end: int, reading: ParsedValue) -> bool:
        if parameter.is_number or parameter.kind in SHAPED or reading.start < end:
            return True
        return (
            bool(_OUTRIGHT.of(self.text).search(self.text, end, reading.start)) or self.text[reading.start] in _QUOTES
        )

    def _is_corrected(self, start: int, stated: int) -> bool:
        """Whether words that take something back lead up to `start`, or stand between it and what is stated."""
        return any(
            start - _LEAD <= one.end <= stated and self._is_one_breath(one.end, start) for one in self.corrections
        )

    def _is_one_breath(self, start: int, end: int) -> bool:
        return start >= end or not any(start <= stop < end for stop in self._parsed.stops)

    def _action(self) -> range:
        """Where the tool's action is named: "find a free slot on a day" states no day."""
        for key in self._view.keys:
            at = self._parsed.lower.find(key)
            if at >= 0:
                return range(at, at + len(key))
        return range(0)
