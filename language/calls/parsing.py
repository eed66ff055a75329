"""Parsing a request: which of a tool's arguments it states, by its name, by its shape, or in answer to a question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.cued_values import (
    is_free_text,
    read_after,
    read_before,
    read_items,
    read_members,
    read_whole,
)
from callwright.language.calls.messages import resolve_pointers
from callwright.language.calls.questions import asked_parameters
from callwright.language.calls.scanning import Hearing, ParsedValue
from callwright.language.calls.tools import CueTable, ParameterView, ToolView
from callwright.language.calls.turns import Turn
from callwright.language.calls.uncued_values import recognise
from callwright.language.packs import LanguagePattern, signs
from callwright.language.schemas import fits, json_type
from callwright.language.vocabulary import find_corrections

_OUTRIGHT = LanguagePattern("@{outright}|@[:=]")
_QUOTES = signs("\"'“{open}«")
_BETWEEN = signs(" ,.;-—…\"'”{close}")
_LONGEST_ANSWER = 80
_LONGEST_TEXT = 8000  # nobody says more at once; text that goes on is cut, not chewed for minutes
_MOST_TURNS = 100


class Mark(NamedTuple):
    """A place where a parameter is called by a cue."""

    start: int
    end: int
    owner: int
    strong: bool


def read_request(view: ToolView, text: str) -> dict[str, JsonValue]:
    """The arguments that one text states for the tool, in the tool's order."""
    parsed = Hearing(text[:_LONGEST_TEXT])
    for key in view.keys:
        at = parsed.lower.find(key)
        if at >= 0:
            parsed.claim(at, at + len(key))
            break
    return _read(view.parameters, view.cues, parsed)


def read_conversation(view: ToolView, turns: Sequence[Turn]) -> dict[str, JsonValue]:
    """The arguments that the user states over all turns; what comes later counts, also the answer to a question."""
    stated: dict[str, JsonValue] = {}
    asked: tuple[ParameterView, ...] = ()
    called: tuple[int, ...] = ()
    for turn in resolve_pointers(turns[-_MOST_TURNS:]):
        if turn.speaker == "assistant":
            asked = asked_parameters(view, turn.text, stated)
            continue
        if turn.speaker == "message":
            missing = {view.parameters[one].name for one in called} - set(stated)
            got = read_request(view, turn.text)
            stated.update({name: value for name, value in got.items() if name in missing})
            continue
        stated.update(_answer(view, asked, turn.text) if asked else read_request(view, turn.text))
        called, asked = _called(view, turn.text), ()
    return {one.name: stated[one.name] for one in view.parameters if one.name in stated}


def read_answers(view: ToolView, asked: Sequence[ParameterView], text: str) -> dict[str, JsonValue]:
    """The arguments that an answer states: named ones, and bare values for what was asked, in the order asked."""
    got: dict[str, JsonValue] = {}
    last: ParameterView | None = None
    for words, corrects in split_answer(text[:_LONGEST_TEXT]):
        if is_nothing(words):
            continue
        named = read_named(view, words)
        if named:
            got |= named
            last = next(one for one in view.parameters if one.name in named)
            continue
        found = first_bare(_waiting(asked, got, last if corrects else None), words)
        if found:
            last, got[found[0].name] = found
    return {one.name: got[one.name] for one in view.parameters if one.name in got}


def _waiting(
    asked: Sequence[ParameterView], got: Mapping[str, JsonValue], corrected: ParameterView | None
) -> list[ParameterView]:
    """What the next bare value may be for: what was asked and not answered yet, or what is taken back."""
    still = [one for one in asked if one.name not in got]
    if corrected is None:
        return still
    # "make it four" takes something back, unless it can only be the number that was asked for as well
    return [corrected] if not is_free_text(corrected) else [*(one for one in still if not is_free_text(one)), corrected]


def read_named(view: ToolView, text: str) -> dict[str, JsonValue]:
    """The arguments that a sentence states outright, by their names: "the city is Rome", "Rome as the city"."""
    parsed = Hearing(text)
    marks = _strong_marks(view, parsed)
    found: dict[str, JsonValue] = {}
    for index, mark in enumerate(marks):
        parameter = view.parameters[mark.owner]
        reading = _at(mark, index, marks, parameter, parsed) if parameter.name not in found else None
        if reading and _is_outright(parameter, mark, reading, parsed):
            found[parameter.name] = reading.value
            parsed.claim(min(mark.start, reading.start), max(mark.end, reading.end))
    return found


def _strong_marks(view: ToolView, parsed: Hearing) -> list[Mark]:
    """Where parameters are called by their names or whole descriptions, the longer of two that overlap."""
    described = [str(one.schema.get("description") or "").strip().rstrip(signs(".")).lower() for one in view.parameters]
    marks = [mark for mark in _marks(view.cues, parsed) if mark.strong]
    for owner, words in enumerate(described):
        at = parsed.lower.find(words) if words and described.count(words) == 1 else -1
        if at >= 0 and not parsed.is_quoted(at):
            marks.append(Mark(at, at + len(words), owner, strong=True))
    kept: list[Mark] = []
    for mark in sorted(marks, key=lambda one: one.start - one.end):
        if not any(mark.start < other.end and other.start < mark.end for other in kept):
            kept.append(mark)
    return sorted(kept)


def _is_outright(parameter: ParameterView, mark: Mark, reading: ParsedValue, parsed: Hearing) -> bool:
    """Whether the name and the value belong together: free words need "is", a colon, or quotation marks between."""
    if not is_free_text(parameter) or reading.start < mark.start:
        return True
    between = parsed.text[mark.end : reading.start]
    return bool(_OUTRIGHT.of(parsed.text).search(between)) or parsed.text[reading.start] in _QUOTES


def _answer(view: ToolView, asked: Sequence[ParameterView], text: str) -> dict[str, JsonValue]:
    """What is stated after a question: answers to it, else whatever the words state by themselves."""
    got = read_answers(view, asked, text) or read_request(view, text)
    if not got and len(text) <= _LONGEST_ANSWER:
        value = read_whole(asked[0], text)
        return {} if value is None else {asked[0].name: value}
    return got


def _called(view: ToolView, text: str) -> tuple[int, ...]:
    """The parameters that a text calls by their cues, in the order of the text."""
    if view.cues is None:
        return ()
    return tuple(dict.fromkeys(view.cues.owner(match.group())[0] for match in view.cues.pattern.finditer(text)))


def _read(parameters: tuple[ParameterView, ...], cues: CueTable | None, parsed: Hearing) -> dict[str, JsonValue]:
    readings: dict[str, ParsedValue] = {}
    marks = _marks(cues, parsed)
    for index, mark in enumerate(marks):
        parameter = parameters[mark.owner]
        known = readings.get(parameter.name)
        if not parsed.is_free(mark.start, mark.end) or (known and not _is_restated(parsed, known, mark)):
            continue
        reading = _at(mark, index, marks, parameter, parsed)
        if reading:
            readings[parameter.name] = reading
            parsed.claim(min(mark.start, reading.start), max(mark.end, reading.end))
    readings |= dict(recognise([one for one in parameters if one.name not in readings], parsed))
    _correct(parameters, readings, parsed)
    return {one.name: readings[one.name].value for one in parameters if one.name in readings}


def _marks(cues: CueTable | None, parsed: Hearing) -> list[Mark]:
    if cues is None:
        return []
    return [
        Mark(match.start(), match.end(), *cues.owner(match.group()))
        for match in cues.pattern.finditer(parsed.text)
        if parsed.is_free(*match.span()) and not parsed.is_quoted(match.start())
    ]


def _at(mark: Mark, index: int, marks: list[Mark], parameter: ParameterView, parsed: Hearing) -> ParsedValue | None:
    """The value that goes with this cue: before it where "as the" says so, else behind it, else before it."""
    sentence = parsed.sentence_end(mark.end)
    if json_type(parameter.schema) in ("array", "object"):
        read = read_items if json_type(parameter.schema) == "array" else read_members
        return read(parameter, parsed, mark.end, sentence)
    following = next((other.start for other in marks[index + 1 :] if other.owner != mark.owner), len(parsed.text))
    floor = max(
        [
            0,
            *(end for _, end in parsed.claims if end <= mark.start),
            *(stop + 1 for stop in parsed.stops if stop < mark.start),
        ]
    )
    before = read_before(parameter, parsed, floor, mark.start)
    if (
        before
        and parsed.is_free(before.start, before.end)
        and (parsed.text[before.end : mark.start].strip() or parameter.is_number or parameter.kind == "boolean")
    ):
        return before
    behind = read_after(parameter, parsed, mark.end, min(following, sentence), strong=mark.strong)
    if behind and parsed.is_free(behind.start, behind.end):
        return behind
    return before if before and parsed.is_free(before.start, before.end) else None


def _is_restated(parsed: Hearing, known: ParsedValue, mark: Mark) -> bool:
    """Whether a parameter that has a value is spoken of again: in another sentence by its name, or as a correction."""
    if any(known.end <= one.start < mark.start for one in find_corrections(parsed.text)):
        return True
    return mark.strong and any(known.end <= stop < mark.start for stop in parsed.stops)


def _correct(parameters: tuple[ParameterView, ...], readings: dict[str, ParsedValue], parsed: Hearing) -> None:
    """Let values said behind "no" or "I mean" take the place of the nearest that they can replace: "for 4, I mean 6"."""
    by_name = {one.name: one for one in parameters}
    for correction in find_corrections(parsed.text):
        if parsed.is_quoted(correction.start):
            continue
        before = [(one.end, name) for name, one in readings.items() if one.end <= correction.start]
        for end, name in sorted(before, reverse=True):
            is_next = not parsed.text[end : correction.start].strip(_BETWEEN)
            stop = parsed.sentence_end(correction.end)
            reading = read_after(by_name[name], parsed, correction.end, stop, strong=is_next)
            if reading and parsed.is_free(reading.start, reading.end):
                readings[name] = reading
                parsed.claim(reading.start, reading.end)
                break


_LEAD = LanguagePattern(r"^\W*(?:@{answer_lead})")
_LEAD_GLUED = LanguagePattern(r"^@[\s,]*(?:@{answer_lead_glued})")
_PREPOSITION = LanguagePattern(r"^\s*(?:@{answer_preposition})\s+")
_TAIL = LanguagePattern(r"(?:@[\s,]*(?:@{answer_tail}))*@[\s.!,?]*$")
_NOTHING = LanguagePattern(r"^\W*(?:(?:@{nod})\W*)*$")
_UNIT = LanguagePattern(r"\s*(?:[a-z]+|%|@{counted_unit})?\s*")
_LONGEST_BARE = 200
_MARKS = signs(" \t\n\"“”{open}{close}'")
_BEFORE = LanguagePattern(r"@[\s\"“”{open}{close}'$€£¥]*(?:(?:@{before_article})\s+)?@[\s\"“”{open}{close}'$€£¥]*")


def is_nothing(words: str) -> bool:
    """Whether some words are thanks or a nod, and state nothing."""
    return _NOTHING.of(words).match(words) is not None


def split_answer(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, cut also where something is taken back; whether they take something back."""
    parsed = Hearing(text)
    corrections = [one for one in find_corrections(text) if not parsed.is_quoted(one.start)]
    start = 0
    corrects = False
    cuts = sorted(
        [(stop + 1, stop + 1, False) for stop in parsed.stops] + [(one.start, one.end, True) for one in corrections]
    )
    for first, behind, is_correction in [*cuts, (len(text), len(text), False)]:
        if first < start:
            continue
        words = text[start:first]
        if words.strip():
            yield words.strip(), corrects
            corrects = False
        start = max(start, behind)
        corrects = corrects or is_correction


def first_bare(waiting: Sequence[ParameterView], words: str) -> tuple[ParameterView, JsonValue] | None:
    """Which of those that wait for a value these words are for, and the value: shapes tell before free words are taken."""
    for one in (*(one for one in waiting if not is_free_text(one)), *(one for one in waiting if is_free_text(one))):
        value = read_bare(one, words)
        if value is not None:
            return one, value
    return None


def read_bare(parameter: ParameterView, words: str) -> JsonValue | None:
    """The value that some words are for a parameter, None where they say more, less or something else."""
    core = _core(words)
    if not core or len(core) > _LONGEST_BARE:
        return None
    if is_free_text(parameter):
        free = core.strip(_MARKS) if core[:1] in _MARKS and core[-1:] in _MARKS else core
        return free if free and fits(free, parameter.schema) else None
    for text in dict.fromkeys((core, _PREPOSITION.of(core).sub("", core))):
        value = _typed(parameter, text)
        if value is not None:
            return value
    return None


def _core(words: str) -> str:
    tailless = _TAIL.of(words).sub("", words)
    lead = _LEAD.of(words).match(tailless)
    core = tailless[lead.end() :] if lead and lead.end() < len(tailless) else tailless
    glued = _LEAD_GLUED.of(words).match(core)
    return core[glued.end() :].strip() if glued and glued.end() < len(core) else core.strip()


def _typed(parameter: ParameterView, text: str) -> JsonValue | None:
    parsed = Hearing(text)
    declared = json_type(parameter.schema)
    if declared in ("array", "object"):
        read = read_items if declared == "array" else read_members
        whole = read(parameter, parsed, 0, len(text))
        return whole.value if whole else None
    reading = read_after(parameter, parsed, 0, len(text), strong=True)
    if (
        reading is None
        or not _BEFORE.of(text).fullmatch(text, 0, reading.start)
        or not _is_rest(text[reading.end :].strip(_MARKS))
    ):
        return None
    return reading.value


def _is_rest(text: str) -> bool:
    """Whether what stands behind a value is nothing but its unit."""
    return _UNIT.of(text).fullmatch(text) is not None
