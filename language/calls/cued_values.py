"""The value that stands right behind a cue or right before it; lists and objects up to the end of the sentence."""

import re
from collections.abc import Callable
from functools import lru_cache

from pydantic import JsonValue

from callwright.language.calls.parameters import CODED, NUMERIC
from callwright.language.calls.scanning import Hearing, ParsedValue, find_choice
from callwright.language.calls.tools import CueTable, ParameterView, cue_table, parameter_views
from callwright.language.packs import LanguagePattern, signs, widened
from callwright.language.schemas import fits, json_type
from callwright.language.text import Found
from callwright.language.values import read_value
from callwright.warehouse.records import JsonSchema

_CONNECTOR = LanguagePattern(r"\s*(?:(?:@{connector}|@[:=])\s*)*")
_STRONG = LanguagePattern("@{strong}|@[:=]")
_NEAR = LanguagePattern(r"@[\s\"'“{open}(]*(?:@{near}|@[$€£¥]|USD|EUR)?@[\s\"'“{open}$€£¥]*")
_BEHIND = LanguagePattern(r"@[\s\"'”{close}]*(?:(?:@{behind_as})\b)?\s*(?:@{article})?\s*(?:@{measure_word})?\s*")
_AS_CUE = LanguagePattern(r"\s(?:@{as_cue})$")
_FOR = LanguagePattern("@{as_for}")
_GIVEN = LanguagePattern(r"^.*(?:\b(?:@{giving_verb})\s|@[,.:]\s*)(.+)$", re.IGNORECASE | re.DOTALL)
_TAKEN = LanguagePattern(r"^.*\b(?:@{taking_verb})\s(.+)$", re.IGNORECASE | re.DOTALL)
_COMMA = LanguagePattern(r"@[,{list}](?!\d)|\s(?:@{clause_joint})\s|\s+-\s")
_TAIL = LanguagePattern(r"(?:@[\s,{list}]|(?<=\s)(?:@{tail_word})|@[{,}]?(?:@{tail_glued}))+$")
_CODE = re.compile(widened(r"@[\s\"'“{open}#]*((?:[^\W_]|[#+])[\w\-+./]*[\w+])"), re.UNICODE)
_PHONE = re.compile(widened(r"@[\s\"'“{open}]*(\+?\(?\d[\d\s\-().]{4,18}\d)"))
_EMAIL = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+")
_LINK = re.compile(widened(r"https?://@[^\s\"',{.}]+@[^\s\"',.!?]"))
_STAMP = re.compile(r"(?<!\d)\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_MONTH = re.compile(r"(?<![\d\-])\d{4}-(?:0[1-9]|1[0-2])(?![\d\-])")
_ANSWER = LanguagePattern(r"\s*(@{flag_answer})(?![\w])(?=\W|$)|\s*(@{flag_answer_glued})(?=@[,.\s]|$)")
_NO = LanguagePattern("@{flag_no}")
_WITH = LanguagePattern(r"(?:(?P<no>@{without})|(?P<yes>@{with}))\s*(?:@{with_article})?(?:@{with_glued})?$")
_LONGEST = 120
_FEW = 14


def read_after(parameter: ParameterView, parsed: Hearing, start: int, end: int, *, strong: bool) -> ParsedValue | None:
    """The value that begins behind a cue which ends at `start`, with all of it before `end`."""
    lead = _CONNECTOR.of(parsed.text).match(parsed.text, start, end)
    begin = lead.end() if lead else start
    stated = bool(_STRONG.of(parsed.text).search(parsed.text, start, begin))
    reading = _read_typed(parameter, parsed, begin, end)
    if reading is None and is_free_text(parameter) and (strong or stated):
        reading = free_text(parsed, begin, end, is_stated=stated)
    return _fitting(reading, parameter)


def read_before(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    """The value that ends right before a cue which begins at `end`: "4 guests", "Berlin as the city"."""
    if parameter.kind == "boolean":
        return _fitting(_flag_before(parsed, start, end), parameter)
    for found in reversed(_typed(parameter, parsed)):
        if start <= found.start and found.end <= end and _BEHIND.of(parsed.text).fullmatch(parsed.text, found.end, end):
            return _fitting(_converted(found, parameter, parsed), parameter)
    marked = _AS_CUE.of(parsed.text).search(parsed.text, start, end)
    if parameter.kind == "choice":
        reading = find_choice(parameter, parsed, max(start, end - 40), end)
        near = reading is not None and _BEHIND.of(parsed.text).fullmatch(parsed.text, reading.end, end)
        return reading if near else None
    if not marked or (not is_free_text(parameter) and parameter.kind not in CODED | {"code", "pattern", "array"}):
        return None
    by_verb = _FOR.of(parsed.text).search(marked.group()) is not None
    return _fitting(_given(parameter, parsed, start, marked.start(), by_verb=by_verb), parameter)


def free_text(parsed: Hearing, start: int, end: int, *, is_stated: bool) -> ParsedValue | None:
    """Free words: what stands in quotation marks, else up to a comma or the end of the clause."""
    while start < end and parsed.text[start].isspace():
        start += 1
    quote = next((one for one in parsed.quotes if one.start == start), None)
    if quote:
        return ParsedValue(quote.words, quote.start, quote.end)
    stop = _COMMA.of(parsed.text).search(parsed.text, start, end)
    end = stop.start() if stop else end
    words = _TAIL.of(parsed.text).sub("", parsed.text[start:end]).rstrip(" .")
    telling = is_stated or words[:1].isupper() or words[:1].isdigit() or not words[:1].isascii()
    if not words or len(words) > _LONGEST or not telling:
        return None
    return ParsedValue(words, start, start + len(words))


def read_whole(parameter: ParameterView, text: str) -> JsonValue | None:
    """The value that a short answer states all by itself."""
    parsed = Hearing(text)
    reading = read_after(parameter, parsed, 0, parsed.sentence_end(0), strong=True)
    if reading is None and is_free_text(parameter):
        words = text.strip().rstrip(signs(".!"))
        return words if words and fits(words, parameter.schema) else None
    if reading is None and (typed := _typed(parameter, parsed)):
        reading = _fitting(_converted(typed[0], parameter, parsed), parameter)
    return reading.value if reading else None


def is_free_text(parameter: ParameterView) -> bool:
    """Whether any words can be its value."""
    if json_type(parameter.schema) != "string" or parameter.spoken is not parameter.schema:
        return False
    return not parameter.is_number and parameter.kind not in CODED | {
        "code",
        "pattern",
        "choice",
        "date",
        "time",
        "moment",
    }


def _read_typed(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    reader = _READERS.get(parameter.kind) or (_code if parameter.kind in CODED else None)
    if reader:
        return reader(parameter, parsed, start, end)
    for found in _typed(parameter, parsed):
        if start <= found.start < end and _NEAR.of(parsed.text).fullmatch(parsed.text, start, found.start):
            return _converted(found, parameter, parsed)
    return None


def _typed(parameter: ParameterView, parsed: Hearing) -> list[Found]:
    """What the text holds of the parameter's kind: dates, times or numbers."""
    if parameter.kind in ("date", "birthday"):
        return parsed.dates
    if parameter.kind == "time":
        return parsed.times
    return parsed.numbers if parameter.is_number else []


def _converted(found: Found, parameter: ParameterView, parsed: Hearing) -> ParsedValue | None:
    declared = json_type(parameter.schema)
    words = parsed.text[found.start : found.end]
    value: JsonValue = found.value
    if declared in ("integer", "number"):
        value = read_value(words, parameter.schema)
    elif parameter.is_number:
        value = str(found.value)
    elif parameter.spoken is parameter.schema or len(str(value)) < _SHORT_VALUES[parameter.kind]:
        value = found.value if fits(found.value, parameter.schema) and _is_whole(found, parameter) else None
    if value is None and parameter.spoken is not parameter.schema:
        value = words
    return None if value is None else ParsedValue(value, found.start, found.end)


_SHORT_VALUES = {"date": 10, "birthday": 10, "time": 5}


def _is_whole(found: Found, parameter: ParameterView) -> bool:
    return len(str(found.value)) >= _SHORT_VALUES[parameter.kind] and str(found.value)[0].isdigit()


def _fitting(reading: ParsedValue | None, parameter: ParameterView) -> ParsedValue | None:
    return reading if reading and fits(reading.value, parameter.schema) else None


def _moment(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    written = _STAMP.search(parsed.text, start, end)
    if written and written.start() - start < _FEW:
        return ParsedValue(written.group(), *written.span())
    day = next((one for one in parsed.dates if start <= one.start < end), None)
    clock = next((one for one in parsed.times if start <= one.start < end), None)
    if not day or not clock or min(day.start, clock.start) - start > _FEW:
        return None
    first, last = min(day.start, clock.start), max(day.end, clock.end)
    value = read_value(parsed.text[first:last], parameter.spoken)
    return None if value is None else ParsedValue(value, first, last)


def _month(_: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    match = _MONTH.search(parsed.text, start, end)
    return ParsedValue(match.group(), *match.span()) if match and match.start() - start < _FEW else None


def _email(_: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    match = _EMAIL.search(parsed.text, start, max(end, min(len(parsed.text), start + 60)))
    return ParsedValue(match.group(), *match.span()) if match and match.start() - start < _FEW else None


def _link(_: ParameterView, parsed: Hearing, start: int, __: int) -> ParsedValue | None:
    match = _LINK.search(parsed.text, start)
    return ParsedValue(match.group(), *match.span()) if match and match.start() - start < _FEW else None


def _code(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    quote = next((one for one in parsed.quotes if one.start - start in (0, 1)), None)
    if quote:
        return ParsedValue(quote.words, quote.start, quote.end)
    pattern = _PHONE if parameter.kind == "phone" else _CODE
    match = pattern.match(parsed.text, start, end) or _CODE.match(parsed.text, start, end)
    if not match or not (_looks_coded(match[1]) or parsed.is_quoted(match.start(1))):
        return None
    return ParsedValue(match[1], *match.span(1))


def _looks_coded(word: str) -> bool:
    return (
        any(character.isdigit() for character in word) or (word.isupper() and len(word) > 1) or "." in word.strip(".")
    )


def _patterned(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    match = in_text(str(parameter.schema["pattern"])).search(parsed.text, start, end)
    if match and match.start() - start < _FEW:
        return ParsedValue(match.group(), *match.span())
    return free_text(parsed, start, end, is_stated=True)


@lru_cache(4096)
def in_text(pattern: str) -> re.Pattern[str]:
    """A value's pattern without its anchors, to be found between other words."""
    try:
        return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern.removeprefix('^').removesuffix('$')})(?![A-Za-z0-9])")
    except re.error:
        return re.compile(r"(?!)")


def _flag(_: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    match = _ANSWER.of(parsed.text).match(parsed.text, start, end)
    if not match:
        return None
    return ParsedValue(_NO.of(parsed.text).fullmatch(match[1] or match[2]) is None, *match.span())


def _flag_before(parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    match = _WITH.of(parsed.text).search(parsed.text, start, end)
    if not match:
        return None
    return ParsedValue(not match["no"], *match.span())


def _given(parameter: ParameterView, parsed: Hearing, start: int, end: int, *, by_verb: bool) -> ParsedValue | None:
    """What is given "as the city"; "for the city" needs a verb of giving in front of it."""
    quote = next((one for one in parsed.quotes if one.end == end and one.start >= start), None)
    if quote:
        return ParsedValue(quote.words, quote.start, quote.end)
    match = (_TAKEN if by_verb else _GIVEN).of(parsed.text).match(parsed.text, start, end)
    if by_verb and not match:
        return None
    begin = match.start(1) if match else start
    words = parsed.text[begin:end].strip()
    is_coded = parameter.kind in CODED or parameter.kind == "code"
    if not words or len(words) > _LONGEST or (is_coded and (" " in words or not _looks_coded(words))):
        return None
    begin = parsed.text.index(words, begin)
    return ParsedValue(words, begin, begin + len(words))


_READERS: dict[str, Callable[[ParameterView, Hearing, int, int], ParsedValue | None]] = {
    "moment": _moment, "month": _month, "email": _email, "link": _link, "code": _code, "pattern": _patterned,
    "choice": find_choice, "boolean": _flag,
}  # fmt: skip


_LEAD = LanguagePattern(r"\s*(?:(?:@{list_lead}|@[:=])\s*)*")
_ITEM_END = LanguagePattern(r"\s*(?:@{list_comma_joint}|@[{,}]\s*(?:@{list_glued_joint})|@[,;{list}]|@{list_joint})\s*")
_WORD_BEFORE = re.compile(widened(r"([A-Za-z_]\w*)@[\s:=]*$"))
_DEEPEST = 6


def read_items(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    """A list: the pieces between commas and "and", each one a value of the items' schema."""
    lead = _LEAD.of(parsed.text).match(parsed.text, start, end)
    begin = lead.end() if lead else start
    items = parameter.schema.get("items") or {"type": "string"}
    one = parameter._replace(schema=items, spoken=items, kind=_item_kind(parameter.name, items))
    values: list[JsonValue] = []
    last = begin
    for first, stop in _pieces(parsed, begin, end):
        value = read_whole(one, parsed.text[first:stop].strip())
        if value is None:
            break
        values.append(value)
        last = stop
    return ParsedValue(values, begin, last) if values and fits(values, parameter.schema) else None


def read_members(parameter: ParameterView, parsed: Hearing, start: int, end: int) -> ParsedValue | None:
    """An object: each member behind its own name."""
    declared = parameter.schema.get("properties")
    value = _members(parameter.schema, parsed.text[start:end], 0) if declared else _loose_members(parsed, start, end)
    return ParsedValue(value, start, end) if value and fits(value, parameter.schema) else None


def _loose_members(parsed: Hearing, start: int, end: int) -> dict[str, JsonValue]:
    """Members of an object that declares none: a word, and behind it what stands in quotation marks."""
    found: dict[str, JsonValue] = {}
    for quote in parsed.quotes:
        name = _WORD_BEFORE.search(parsed.text, start, quote.start) if start < quote.start < end else None
        if name:
            found[name[1]] = quote.words
    return found


def _item_kind(name: str, items: JsonSchema) -> str:
    kind = parameter_views({"properties": {name: items}})[0].kind
    # people and guests count something when they are one number, and name somebody when they are many words
    return "text" if kind in NUMERIC and json_type(items) == "string" else kind


def _pieces(parsed: Hearing, start: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    for match in _ITEM_END.of(parsed.text).finditer(parsed.text, start, end):
        if parsed.is_quoted(match.start()) or match.start() == start:
            continue
        pieces.append((start, match.start()))
        start = match.end()
    return [(first, last) for first, last in [*pieces, (start, end)] if parsed.text[first:last].strip()]


def _members(schema: JsonSchema, text: str, depth: int) -> dict[str, JsonValue]:
    parameters = parameter_views(schema)
    cues = cue_table(parameters)
    if cues is None or depth > _DEEPEST:
        return {}
    parsed = Hearing(text)
    return _by_cues(parameters, cues, parsed, depth)


def _by_cues(
    parameters: tuple[ParameterView, ...], cues: CueTable, parsed: Hearing, depth: int
) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    marks = [match for match in cues.pattern.finditer(parsed.text) if not parsed.is_quoted(match.start())]
    for index, match in enumerate(marks):
        parameter = parameters[cues.owner(match.group())[0]]
        if parameter.name in found or not parsed.is_free(*match.span()):
            continue
        end = marks[index + 1].start() if index + 1 < len(marks) else len(parsed.text)
        reading = _member(parameter, parsed, match.end(), end, depth)
        if reading:
            found[parameter.name] = reading.value
            parsed.claim(match.start(), reading.end)
    return {one.name: found[one.name] for one in parameters if one.name in found}


def _member(parameter: ParameterView, parsed: Hearing, start: int, end: int, depth: int) -> ParsedValue | None:
    declared = json_type(parameter.schema)
    if declared == "object":
        opened = parsed.text.find("(", start)
        if opened < 0:
            return None
        closed = _closing(parsed.text, opened)
        value = _members(parameter.schema, parsed.text[opened + 1 : closed], depth + 1)
        return ParsedValue(value, opened, closed) if value else None
    if declared == "array":
        return read_items(parameter, parsed, start, end)
    return read_after(parameter, parsed, start, end, strong=True)


def _closing(text: str, opened: int) -> int:
    depth = 0
    for at in range(opened, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)
