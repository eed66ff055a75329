"""Whether each sentence of an answer accounts for an argument: what is stated must not be left over."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView, ToolView, squeeze
from callwright.language.dates import find_dates
from callwright.language.numbers import NUMBER, find_numbers
from callwright.language.packs import LanguagePattern, signs
from callwright.language.readers.moments import find_times
from callwright.language.schemas import kind_of
from callwright.language.text import VERBATIM
from callwright.language.values import locate
from callwright.language.vocabulary import CorrectionMark, find_corrections
from callwright.validators.checks.evidence import UserText
from callwright.validators.checks.statements import hear
from callwright.warehouse.records import Arguments, Evidence, JsonSchema

_END = LanguagePattern(r"(?<=[.!?;])\s+(?=\S)|(?<=@[{.!?;}\n])\s*(?=\S)|@{segment_end}", re.RegexFlag(0))
_ABBREVIATED = re.compile(r"(?:\b(?:[A-Za-z]|No|Dr|Mr|Mrs|Ms|St|Prof|etc|e\.g|i\.e|a\.m|p\.m))\.\s*$", re.IGNORECASE)
_CHATTER = LanguagePattern(r"[\W_]*(?:(?:@{chatter})[\W_]*)*")
_LEADS = LanguagePattern(r"[\W_]*(?:(?:@{turn_lead})[\W_]*)*")
_OPENS = LanguagePattern(r"\s*(?:@{takes_back_first})")
_LISTING = LanguagePattern(r"@{listing}|@[,{list}]", re.RegexFlag(0))
_BOUND = LanguagePattern("@{bound_correction}")
_EDGES = signs(" .,")
_TAKES_BACK = LanguagePattern("@{takes_back}")
_NOT_THAT = LanguagePattern(r"(?:@{not_that})@[\s\"“‘'{open}]*$")
_OPEN = LanguagePattern("@{leaves_open}")


class StatedArgument(NamedTuple):
    """An argument that is new or changed, where the turn says it, and its value before, None where it had none."""

    parameter: ParameterView
    value: JsonValue
    start: int
    end: int
    old: JsonValue = None


class Segment(NamedTuple):
    """A sentence of a turn; `corrects` tells that it takes back what was stated just before."""

    start: int
    end: int
    corrects: bool


def places_of(
    view: ToolView, arguments: Arguments, known: Arguments, spoken: Sequence[Evidence], stated: UserText
) -> list[StatedArgument]:
    """Where `said` itself says these arguments, some of them `known` with another value, in the order of the text."""
    spans = {one.argument: one for one in spoken if (one.turn, one.in_message) == (stated.turn, stated.in_message)}
    found = [
        StatedArgument(
            one, arguments[one.name], spans[one.name].start or 0, spans[one.name].end or 0, known.get(one.name)
        )
        for one in view.parameters
        if one.name in spans and one.name in arguments
    ]
    return sorted(found, key=lambda place: place.start)


@lru_cache(4096)
def segments_of(text: str) -> tuple[Segment, ...]:
    """The sentences of a turn; words that take something back open a new one, which goes on to the end of the next."""
    corrections = _corrections(text)
    cuts = {match.end() for match in _END.of(text).finditer(text) if not _is_inside(text, match)}
    cuts = {cut for cut in cuts if not any(one.start < cut <= one.end for one in corrections)}
    opening = {one.start for one in corrections}
    edges = sorted({0, len(text), *cuts, *opening})
    found = [
        Segment(
            start,
            end,
            start in opening
            or bool(_TAKES_BACK.of(text).search(text, start, end) or _OPENS.of(text).match(text, start, end)),
        )
        for start, end in pairwise(edges)
    ]
    return tuple(one for one in found if text[one.start : one.end].strip(_EDGES))


def _is_inside(text: str, end: re.Match[str]) -> bool:
    """Whether a sentence only seems to end: behind an abbreviation, or where "I" goes on after a word of the sentence."""
    if _ABBREVIATED.search(text, 0, end.start()):
        return True
    last = text[: end.start()].rsplit(maxsplit=1)[-1]
    return text.startswith("I ", end.end()) and last[-1].isalnum() and not last[0].isupper()


def _corrections(text: str) -> list[CorrectionMark]:
    """Where the speaker takes something back; what else is stated to that in the same sentence goes with it."""
    found: list[CorrectionMark] = []
    for one in find_corrections(text):
        begins = one.start == 0 or text[one.start - 1] in signs(",.;!")
        is_bound = not begins and _BOUND.of(text).match(text, one.start) is not None
        goes_on = bool(found) and not _END.of(text).search(text, found[-1].end, one.start)
        if not is_bound and not goes_on:
            begin = max([0, *(match.end() for match in _END.of(text).finditer(text, 0, one.start))])
            found.append(one._replace(start=begin) if _LEADS.of(text).fullmatch(text, begin, one.start) else one)
    return found


def beside(text: str, places: Sequence[StatedArgument]) -> str:
    """The sentences of a turn that say none of these values themselves: these point to the message, where one does."""
    others = [
        text[one.start : one.end]
        for one in segments_of(text)
        if not any(place.start < one.end and one.start < place.end for place in places)
    ]
    return " ".join(others) or text


def left_over(
    text: str,
    places: Sequence[StatedArgument],
    view: ToolView,
    pointed: Sequence[StatedArgument] = (),
    *,
    is_first: bool = False,
) -> list[str]:
    """The sentences of an answer that no argument comes from, and that nothing takes back.

    One sentence may point to the message that says the `pointed` ones: one that takes something back before others.
    A first request also says what is to be done: there only sentences that take something back have to give an argument.
    """
    segments = segments_of(text)
    covering = [_covering(text, segment, places, view) for segment in segments]
    open_ones = [at for at, one in enumerate(segments) if not covering[at] and not _is_idle(text[one.start : one.end])]
    if pointed and open_ones:
        at = next((at for at in reversed(open_ones) if segments[at].corrects), open_ones[0])
        covering[at] = {one.parameter.name for one in pointed}
    places = [*places, *pointed]
    return [
        words
        for index, segment in enumerate(segments)
        if not covering[index]
        and (not is_first or _takes_back(text, segment))
        and not _is_idle(words := text[segment.start : segment.end].strip())
        and not _is_label(words, covering[index + 1 : index + 2], view)
        and not _is_taken_back(words, segments[index:], covering[index:], places, view)
    ]


def unused(text: str, places: Sequence[StatedArgument], unknown: Sequence[ParameterView]) -> list[str]:
    """The dates, times and numbers of a turn that no argument has, though the tool has a parameter for them."""
    kinds = {kind_of(one.schema) for one in unknown}
    found = [
        *(find_dates(text) if kinds & {"date", "date-time"} else ()),
        *(find_times(text) if kinds & {"time", "date-time"} else ()),
    ]
    if kinds & {"integer", "number"}:
        taken = [(one.start, one.end) for one in (*find_dates(text), *find_times(text))]
        found += [
            one
            for one in find_numbers(text)
            if one.rule in (VERBATIM, NUMBER) and not any(start < one.end and one.start < end for start, end in taken)
        ]
    spans = [(one.start, one.end) for one in places]
    spans += [(one.start, one.end) for one in segments_of(text) if _is_withdrawn(text, one)]
    return [
        text[one.start : one.end]
        for one in found
        if not any(start < one.end and one.start < end for start, end in spans)
    ]


def _is_withdrawn(text: str, segment: Segment) -> bool:
    """Whether a later sentence takes something back: which of the values before it is not stated here."""
    return any(one.corrects for one in segments_of(text) if one.start >= segment.start)


def _takes_back(text: str, segment: Segment) -> bool:
    """Whether a sentence plainly takes back what a sentence before it says."""
    starts = [one.start for one in _corrections(text)]
    plainly = any(segment.start <= start < segment.end for start in starts)
    return segment.start > 0 and (plainly or _OPENS.of(text).match(text, segment.start) is not None)


def _is_idle(words: str) -> bool:
    return bool(_CHATTER.of(words).fullmatch(words) or _LEADS.of(words).fullmatch(words)) or declines(words)


def _is_taken_back(
    words: str,
    segments: Sequence[Segment],
    covering: Sequence[set[str]],
    places: Sequence[StatedArgument],
    view: ToolView,
) -> bool:
    """Whether a later sentence gives another value for what the first says: the first said here, or the one before.

    What stands between takes something back as well, or says nothing.
    """
    following = next((at for at in range(1, len(segments)) if covering[at]), None)
    if following is None or not any(one.corrects for one in segments[: following + 1]):
        return False
    given = [one for one in places if one.parameter.name in covering[following]]
    if any(one.old is None for one in given):
        return True
    if any(locate(one.old, titled(one.parameter), words) for one in given):
        return True
    return segments[0].corrects and not any(one.outright for one in hear(view, words).statements)


def _covering(text: str, segment: Segment, places: Sequence[StatedArgument], view: ToolView) -> set[str]:
    """The arguments that a sentence gives; one that takes something back gives only what it says anew."""
    words = text[segment.start : segment.end]
    if segment.corrects:
        words = _undescribed(words, view)
        return {one.parameter.name for one in places if _says(words, one)}
    inside = {one.parameter.name for one in places if one.start < segment.end and segment.start < one.end}
    return inside or {one.parameter.name for one in places if locate(one.value, titled(one.parameter), words)}


def _says(words: str, place: StatedArgument) -> bool:
    """Whether the words say the value, and not that it is not meant: "not Rome"."""
    found = locate(place.value, titled(place.parameter), words)
    while found and _NOT_THAT.of(words).search(words, 0, found.start):
        words = words[found.end :]
        found = locate(place.value, titled(place.parameter), words)
    return found is not None


def _is_label(words: str, following: Sequence[set[str]], view: ToolView) -> bool:
    """Whether the words only call a parameter whose value follows."""
    plain = squeeze(words.strip(signs(" :,")))
    return any(
        plain in map(squeeze, (*one.cues.spoken, str(one.schema.get("description") or "")))
        for one in view.parameters
        if any(one.name in names for names in following)
    )


def _undescribed(words: str, view: ToolView) -> str:
    """The words without the examples that come with a parameter's description: "type, e.g. male or female, is male"."""
    lower = words.lower()
    for parameter in view.parameters:
        described = str(parameter.schema.get("description") or "").strip().lower()
        at = lower.find(described) if _LISTING.of(described).search(described) else -1
        if at >= 0 and len(lower) == len(words):
            words, lower = words[:at] + words[at + len(described) :], lower[:at] + lower[at + len(described) :]
    return words


def titled(parameter: ParameterView) -> JsonSchema:
    """The schema of a parameter with its name as the title, by which values are looked for."""
    return {"title": parameter.name, **parameter.schema}


def declines(text: str) -> bool:
    """Whether the user leaves a question open: "I don't know", "any will do"."""
    return bool(_OPEN.of(text).search(text))


def not_given(
    text: str, places: Sequence[StatedArgument], view: ToolView, unknown: Sequence[ParameterView]
) -> list[str]:
    """What is stated outright for parameters that the call does not have."""
    missing = {one.name for one in unknown}
    speech = hear(view, text)
    return [
        text[one.stated : one.end]
        for one in speech.statements
        if one.parameter.name in missing
        and one.outright
        and not any(place.start < one.end and one.start < place.end for place in places)
    ]
