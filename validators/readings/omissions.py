"""What a request states and the call leaves out: a time beside its day, a member of a list, an option that the tool has."""

import re
from collections.abc import Collection, Iterator, Sequence

from language.cues import find_choice
from language.flags import read_flag
from language.names import split_name
from language.plain_words import vocabulary
from language.readers.mentions import UNKNOWN_NOW, Moment
from language.schemas import choices_of
from language.values import locate_text
from language.vocabulary import find_corrections
from validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    content_words,
    spans_of,
    touches,
)
from warehouse.records import Arguments, JsonSchema, Tool

_SHORTEST_CHOICE = 4  # letters; shorter ones are codes
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
_AND_THE = re.compile(r",? (?:and|&) (?:the|my|our) (\w+)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME_OF_DAY = re.compile(r"\b(?:time|hour|clock|hh:mm|start|hora)\b")


def times_left(
    tool: Tool, text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]
) -> Iterator[str]:
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
            yield f"The time in {words!r} belongs to no argument."
        is_open = (
            has_days and bool(one.days) and not one.last_day and today not in one.days and not _is_in(one.days, values)
        )
        if is_open and _is_in(one.clocks, taken) and not _is_corrected(text, one, values):
            yield f"The day in {words!r} belongs to no argument."


def listed_on(text: RequestText, leaves: Sequence[ArgumentLeaf], readings: Sequence[ArgumentReading]) -> Iterator[str]:
    """Members of a list that the words go on with, and addresses, that the call leaves out."""
    spans = spans_of(readings)
    for match in _ADDRESS.finditer(text.text[: text.own]):
        if not touches(spans, *match.span()):
            yield f"{match.group()!r} belongs to no argument."
    for leaf, reading in zip(leaves, readings, strict=True):
        for span in reading.spans if leaf.parent else ():
            joined = _AND_THE.match(text.text, span.end)
            if joined and joined.end() <= text.own and not touches(spans, *joined.span(1)):
                yield f"{joined[1]!r} is left out of the list."


def unmentioned(
    tool: Tool, arguments: Arguments, text: RequestText, readings: Sequence[ArgumentReading]
) -> Iterator[str]:
    """Parameters that the words name by all of their description, and the call lacks."""
    spans = spans_of(readings)
    own = text.without(spans, 0, text.own)
    stated = content_words(own)
    common = content_words(tool.description).union(*(content_words(_naming(tool, name)) for name in arguments))
    for name in tool.properties:
        named = content_words(_naming(tool, name))
        if name in arguments:
            continue
        if _is_stated_flag(tool, name, own, text.language):
            yield f"The words decide {name!r}, which the call lacks."
        choice = _stated_choice(tool, name, own, text.language)
        if choice or (named and named <= stated and named - common):
            yield f"The words name {name!r}, which the call lacks."


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
    for one in choices:
        found = (
            (locate_text(one, own) or find_choice(one, own, language, name)) if len(one) >= _SHORTEST_CHOICE else None
        )
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
