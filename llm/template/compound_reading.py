"""Lists and objects behind a cue: items up to the end of the sentence, members by their own names."""

import re

from pydantic import JsonValue

from llm.template.fitting import fits
from llm.template.hearing import Hearing, Reading
from llm.template.kinds import NUMERIC, type_of
from llm.template.value_reading import read_after, read_whole
from llm.template.views import CueTable, ParameterView, cue_table, parameter_views
from warehouse.records import JsonSchema

_LEAD = re.compile(
    r"\s*(?:(?:(?:is|are|should be|of|to|as|with)\b|[:：=是为]|有[:：]|包括|设为|填)\s*)*", re.IGNORECASE
)
_COMMA = re.compile(r"\s*(?:,\s*and\b|，\s*和|[,，、;；]|\band\b|和|以及)\s*", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"([A-Za-z_]\w*)[\s:：=]*$")
_DEEPEST = 6


def read_items(parameter: ParameterView, heard: Hearing, start: int, end: int) -> Reading | None:
    """A list: the pieces between commas and "and", each one a value of the items' schema."""
    lead = _LEAD.match(heard.text, start, end)
    begin = lead.end() if lead else start
    items = parameter.schema.get("items") or {"type": "string"}
    one = parameter._replace(schema=items, spoken=items, kind=_item_kind(parameter.name, items))
    values: list[JsonValue] = []
    last = begin
    for first, stop in _pieces(heard, begin, end):
        value = read_whole(one, heard.text[first:stop].strip())
        if value is None:
            break
        values.append(value)
        last = stop
    return Reading(values, begin, last) if values and fits(values, parameter.schema) else None


def read_members(parameter: ParameterView, heard: Hearing, start: int, end: int) -> Reading | None:
    """An object: each member behind its own name."""
    declared = parameter.schema.get("properties")
    value = _members(parameter.schema, heard.text[start:end], 0) if declared else _loose_members(heard, start, end)
    return Reading(value, start, end) if value and fits(value, parameter.schema) else None


def _loose_members(heard: Hearing, start: int, end: int) -> dict[str, JsonValue]:
    """Members of an object that declares none: a word, and behind it what stands in quotation marks."""
    found: dict[str, JsonValue] = {}
    for quote in heard.quotes:
        name = _WORD_BEFORE.search(heard.text, start, quote.start) if start < quote.start < end else None
        if name:
            found[name[1]] = quote.words
    return found


def _item_kind(name: str, items: JsonSchema) -> str:
    kind = parameter_views({"properties": {name: items}})[0].kind
    # people and guests count something when they are one number, and name somebody when they are many words
    return "text" if kind in NUMERIC and type_of(items) == "string" else kind


def _pieces(heard: Hearing, start: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    for match in _COMMA.finditer(heard.text, start, end):
        if heard.is_quoted(match.start()) or match.start() == start:
            continue
        pieces.append((start, match.start()))
        start = match.end()
    return [(first, last) for first, last in [*pieces, (start, end)] if heard.text[first:last].strip()]


def _members(schema: JsonSchema, text: str, depth: int) -> dict[str, JsonValue]:
    parameters = parameter_views(schema)
    cues = cue_table(parameters)
    if cues is None or depth > _DEEPEST:
        return {}
    heard = Hearing(text)
    return _by_cues(parameters, cues, heard, depth)


def _by_cues(parameters: tuple[ParameterView, ...], cues: CueTable, heard: Hearing, depth: int) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    marks = [match for match in cues.pattern.finditer(heard.text) if not heard.is_quoted(match.start())]
    for index, match in enumerate(marks):
        parameter = parameters[cues.owner(match.group())[0]]
        if parameter.name in found or not heard.is_free(*match.span()):
            continue
        end = marks[index + 1].start() if index + 1 < len(marks) else len(heard.text)
        reading = _member(parameter, heard, match.end(), end, depth)
        if reading:
            found[parameter.name] = reading.value
            heard.claim(match.start(), reading.end)
    return {one.name: found[one.name] for one in parameters if one.name in found}


def _member(parameter: ParameterView, heard: Hearing, start: int, end: int, depth: int) -> Reading | None:
    declared = type_of(parameter.schema)
    if declared == "object":
        opened = heard.text.find("(", start)
        if opened < 0:
            return None
        closed = _closing(heard.text, opened)
        value = _members(parameter.schema, heard.text[opened + 1 : closed], depth + 1)
        return Reading(value, opened, closed) if value else None
    if declared == "array":
        return read_items(parameter, heard, start, end)
    return read_after(parameter, heard, start, end, strong=True)


def _closing(text: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)
