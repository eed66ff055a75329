"""Whether each sentence of an answer accounts for an argument: what is said must not be left over."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from pydantic import JsonValue

from llm.language.corrections import Correction, find_corrections
from llm.language.locating import locate
from llm.template.views import ParameterView, ToolView, squeeze
from validators.checks.evidence import Said
from validators.checks.statements import hear
from warehouse.records import Arguments, Evidence, JsonSchema

_END = re.compile(
    r"(?<=[.!?;])\s+(?=\S)|(?<=[。！？；\n])\s*(?=\S)|(?<=[\u4e00-\u9fff])(?<![是为叫的在到从看和])\s+(?![是为叫应改])(?=[\u4e00-\u9fff])"
    r"|(?<=[a-z\d])(?<!\bthat)(?<!\band)(?<!\bis)\s+(?=(?:The|My|Our)\s[a-z])"
)
_ABBREVIATED = re.compile(r"(?:\b(?:[A-Za-z]|No|Dr|Mr|Mrs|Ms|St|Prof|etc|e\.g|i\.e|a\.m|p\.m))\.\s*$", re.IGNORECASE)
_CHATTER = re.compile(
    r"[\W_]*(?:(?:(?:yes|yeah|yep|sure|ok|okay|right|well|hi|hello|hey|please|thanks?|thank you|great|good|perfect|sorry|no problem"
    r"|of course|certainly|that'?s (?:it|all|right|correct|fine)|here you are|let me (?:think|see|check)|so much|very much|a lot)"
    r"|(?:是的?|好的?|对的?|嗯+|哦|行|可以|没问题|谢谢(?:你|您|啦|了)?|麻烦(?:你|您)?了?|拜托了?|辛苦了?|就这些|就这样|没错|当然|请|不好意思|抱歉))"
    r"[\W_]*)*",
    re.IGNORECASE,
)


_LEADS = re.compile(
    r"[\W_]*(?:(?:oh|no|hmm|wait|hold on|hang on|actually|but|and|now|again|same(?: thing)?|the same|once more|a second time|do|only"
    r"|that|this time|before|first|one correction|something|let me|i|i'?d rather have it|need to correct|could you|can you|repeat"
    r"|等等|等一下|先|再来一次|再办一次|再做一遍|再来一遍|再弄一个|另外再来一个|同样的?|照刚才的?|其他不变|这次|这回|好的|那|再帮我来一次|对了|别急"
    r"|我?(?:先前|之前|刚才|刚刚|前面)|更正一下|哎呀|口误|我改主意了|还要|还想要一个)[\W_]*)*",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"\b(?:wrong|mistake|misspoke|instead|changed? my mind|scratch|correction|not)\b|\btake\b.{1,40}\bback\b"
    r"|有误|[弄搞记写]错|口误|更正|改主意|等等|等一下|不是",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:don'?t (?:know|care|mind|have)|not sure|no preference|no idea|any(?:thing)? (?:will do|is fine|works)|doesn'?t matter"
    r"|skip|up to you|whatever)\b|不知道|不清楚|不确定|随便|都可以|都行|无所谓|没有要求|跳过|你定",
    re.IGNORECASE,
)
_DESCRIBED = 4


class Place(NamedTuple):
    """An argument that is new or changed, where the turn says it, and its value before, None where it had none."""

    parameter: ParameterView
    value: JsonValue
    start: int
    end: int
    old: JsonValue = None


class Segment(NamedTuple):
    """A sentence of a turn; `corrects` tells that it takes back what was said just before."""

    start: int
    end: int
    corrects: bool


def places_of(
    view: ToolView, arguments: Arguments, known: Arguments, spoken: Sequence[Evidence], said: Said
) -> list[Place]:
    """Where `said` itself says these arguments, some of them `known` with another value, in the order of the text."""
    spans = {one.argument: one for one in spoken if (one.turn, one.in_message) == (said.turn, said.in_message)}
    found = [
        Place(one, arguments[one.name], spans[one.name].start or 0, spans[one.name].end or 0, known.get(one.name))
        for one in view.parameters
        if one.name in spans and one.name in arguments
    ]
    return sorted(found, key=lambda place: place.start)


@lru_cache(4096)
def segments_of(text: str) -> tuple[Segment, ...]:
    """The sentences of a turn; words that take something back open a new one, which goes on to the end of the next."""
    corrections = _corrections(text)
    cuts = {match.end() for match in _END.finditer(text) if not _ABBREVIATED.search(text, 0, match.start())}
    cuts = {cut for cut in cuts if not any(one.start < cut <= one.end for one in corrections)}
    opening = {one.start for one in corrections}
    edges = sorted({0, len(text), *cuts, *opening})
    found = [
        Segment(start, end, start in opening or bool(_TAKES_BACK.search(text, start, end)))
        for start, end in pairwise(edges)
    ]
    return tuple(one for one in found if text[one.start : one.end].strip(" .,，。"))


def _corrections(text: str) -> list[Correction]:
    """Where the speaker takes something back; what else is said to that in the same sentence goes with it."""
    found: list[Correction] = []
    for one in find_corrections(text):
        is_bound = (
            one.start > 0 and text[one.start : one.start + 2] == "应该" and text[one.start - 1] not in "，,。.；;！!"
        )
        goes_on = bool(found) and not _END.search(text, found[-1].end, one.start)
        if not is_bound and not goes_on:
            found.append(one)
    return found


def left_over(text: str, places: Sequence[Place], view: ToolView) -> list[str]:
    """The sentences of an answer that no argument comes from, and that nothing takes back."""
    segments = segments_of(text)
    covering = [_covering(text, segment, places, view) for segment in segments]
    return [
        words
        for index, segment in enumerate(segments)
        if not covering[index]
        and not _is_idle(words := text[segment.start : segment.end].strip())
        and not _is_label(words, covering[index + 1 : index + 2], view)
        and not _is_taken_back(words, index, segments, covering, places, view)
    ]


def _is_idle(words: str) -> bool:
    return bool(_CHATTER.fullmatch(words) or _LEADS.fullmatch(words))


def _is_taken_back(
    words: str,
    index: int,
    segments: Sequence[Segment],
    covering: Sequence[set[str]],
    places: Sequence[Place],
    view: ToolView,
) -> bool:
    """Whether a later sentence gives another value for what this one says: the first said here, or the one before.

    What stands between takes something back as well, or says nothing.
    """
    following = next((at for at in range(index + 1, len(segments)) if covering[at]), None)
    if following is None or not any(one.corrects for one in segments[index : following + 1]):
        return False
    given = [one for one in places if one.parameter.name in covering[following]]
    if any(one.old is None for one in given):
        return True
    if any(locate(one.old, titled(one.parameter), words) for one in given):
        return True
    return segments[index].corrects and not any(one.outright for one in hear(view, words).statements)


def _covering(text: str, segment: Segment, places: Sequence[Place], view: ToolView) -> set[str]:
    """The arguments that a sentence gives; one that takes something back gives only what it says anew."""
    words = text[segment.start : segment.end]
    if segment.corrects:
        words = _undescribed(words, view)
    else:
        inside = {one.parameter.name for one in places if one.start < segment.end and segment.start < one.end}
        if inside:
            return inside
    return {one.parameter.name for one in places if locate(one.value, titled(one.parameter), words)}


def _is_label(words: str, following: Sequence[set[str]], view: ToolView) -> bool:
    """Whether the words only call a parameter whose value follows."""
    plain = squeeze(words.strip(" :：,，"))
    return any(
        plain in map(squeeze, (*one.cues.spoken, str(one.schema.get("description") or "")))
        for one in view.parameters
        if any(one.name in names for names in following)
    )


def _undescribed(words: str, view: ToolView) -> str:
    """The words without the examples that come with a parameter's description: "type, e.g. male or female, is male"."""
    lower = words.lower()
    for parameter in view.parameters:
        told = str(parameter.schema.get("description") or "").strip().lower()
        at = lower.find(told) if len(told) >= _DESCRIBED else -1
        if at >= 0 and len(lower) == len(words):
            words, lower = words[:at] + words[at + len(told) :], lower[:at] + lower[at + len(told) :]
    return words


def titled(parameter: ParameterView) -> JsonSchema:
    """The schema of a parameter with its name as the title, by which values are looked for."""
    return {"title": parameter.name, **parameter.schema}


def declines(text: str) -> bool:
    """Whether the user leaves a question open: "I don't know", "any will do"."""
    return bool(_OPEN.search(text))


def not_given(text: str, places: Sequence[Place], view: ToolView, unknown: Sequence[ParameterView]) -> list[str]:
    """What is said outright for parameters that the call does not have."""
    missing = {one.name for one in unknown}
    speech = hear(view, text)
    return [
        text[one.said : one.end]
        for one in speech.statements
        if one.parameter.name in missing
        and one.outright
        and not any(place.start < one.end and one.start < place.end for place in places)
    ]
