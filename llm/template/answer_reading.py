"""Understanding what a user says right after a question: the value alone, or in a sentence, or several of them."""

import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from llm.language.corrections import find_corrections
from llm.template.compound_reading import read_items, read_members
from llm.template.fitting import fits
from llm.template.hearing import Hearing
from llm.template.kinds import type_of
from llm.template.value_reading import is_free_text, read_after
from llm.template.views import ParameterView

_LEAD = re.compile(
    r"^\W*(?:(?:(?:ok|okay|sure|well|um|yes|please|oh|so)\b[,.]?\s+)*"
    r"(?:(?:it's|it is|it should be|that's|that is|that would be|it would be|make it|make that|let's say|let's go with|i'd say"
    r"|i'd like|i would like|i'll take|i want|i'd go for|here it is|just write|put down|just|please|say|use|take|it's called)\b"
    r"[:,]?\s*(?=\S))?)",
    re.IGNORECASE,
)
_LEAD_ZH = re.compile(
    r"^[\s，,]*(?:(?:好的?|嗯|那|请|哦)[，,\s]*)?(?:就?写[:：]|就?(?:定在|选|要|写|填|用|叫|是|在|去|到|从)|我要|我选|应该是|就)?"
)
_PREPOSITION = re.compile(r"^\s*(?:on|at|in|to|from|for)\s+", re.IGNORECASE)
_TAIL = re.compile(
    r"(?:[\s,，]*(?:please|thanks|thank you|works for me|would be good|sounds good|is fine|would be great|吧|就行|就好|就够了"
    r"|可以吗|可以|好了|谢谢|出发|走))*[\s.。!！,，?？]*$",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^\W*(?:(?:thanks|thank you|cheers|that is all|that's all|much appreciated|please|ok|okay|sure|谢谢|就这些|辛苦了|麻烦了"
    r"|好的?)\W*)*$",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s*(?:[a-z]+|个人|人|位|晚|天|个小时|小时|分钟|张|间|个|份|件|次|公斤|块|元|度|星|颗星|%)?\s*", re.IGNORECASE
)
_LONGEST_BARE = 200
_QUOTES = " \t\n\"“”「」『』'"
_BEFORE = re.compile(r"[\s\"“”「」『』'$€£¥￥]*(?:(?:the|an?)\s+)?[\s\"“”「」『』'$€£¥￥]*", re.IGNORECASE)


def is_nothing(words: str) -> bool:
    """Whether some words are thanks or a nod, and state nothing."""
    return _NOTHING.match(words) is not None


def split_answer(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, cut also where something is taken back; whether they take something back."""
    heard = Hearing(text)
    corrections = [one for one in find_corrections(text) if not heard.is_quoted(one.start)]
    start = 0
    corrects = False
    cuts = sorted(
        [(stop + 1, stop + 1, False) for stop in heard.stops] + [(one.start, one.end, True) for one in corrections]
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
        free = core.strip(_QUOTES) if core[:1] in _QUOTES and core[-1:] in _QUOTES else core
        return free if free and fits(free, parameter.schema) else None
    for text in dict.fromkeys((core, _PREPOSITION.sub("", core))):
        value = _typed(parameter, text)
        if value is not None:
            return value
    return None


def _core(words: str) -> str:
    tailless = _TAIL.sub("", words)
    lead = _LEAD.match(tailless)
    core = tailless[lead.end() :] if lead and lead.end() < len(tailless) else tailless
    zh = _LEAD_ZH.match(core)
    return core[zh.end() :].strip() if zh and zh.end() < len(core) else core.strip()


def _typed(parameter: ParameterView, text: str) -> JsonValue | None:
    heard = Hearing(text)
    declared = type_of(parameter.schema)
    if declared in ("array", "object"):
        read = read_items if declared == "array" else read_members
        whole = read(parameter, heard, 0, len(text))
        return whole.value if whole else None
    reading = read_after(parameter, heard, 0, len(text), strong=True)
    if (
        reading is None
        or not _BEFORE.fullmatch(text, 0, reading.start)
        or not _is_rest(text[reading.end :].strip(_QUOTES))
    ):
        return None
    return reading.value


def _is_rest(text: str) -> bool:
    """Whether what stands behind a value is nothing but its unit."""
    return _UNIT.fullmatch(text) is not None
