"""What a question or an answer calls a parameter, and which parameters a question is for."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from language.calls.parameters import CODED, NUMERIC
from language.calls.scanning import Hearing
from language.calls.tools import ParameterView, ToolView
from language.names import humanise, is_chinese, split_name, words
from warehouse.records import Language

_MOST_WORDS = 6
_MOST_CHARACTERS = 12
_CLAUSE = re.compile(r"[.,;:(（，。；：!?？、\n]|\b(?:whether|if|e\.g|such as|default)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^?？.。!！]+[?？.。!！]*")
_LISTED = re.compile(r"[:：,，]|有(?=.*[、还])")
_UNITS = frozenset(words("hours minutes days nights weeks months guests people seats tickets points cards bags"))
_COUNTED_ZH = {  # the end of a description: how it is asked for, and what stands behind the number
    "人数": ("几个人", "个人"), "晚数": ("住几晚", "晚"), "天数": ("几天", "天"), "小时数": ("几个小时", "个小时"),
    "分钟数": ("几分钟", "分钟"), "张数": ("几张", "张"), "间数": ("几间", "间"), "公斤数": ("多少公斤", "公斤"),
}  # fmt: skip
_ROUTE_ENDS = frozenset(words("origin destination departure arrival start pickup dropoff"))
_GROUPED = {
    "date": words("date birthday"),
    "code": ["pattern", "code", *CODED - {"email", "file", "airport", "currency"}],
    "message": words("message task reason problem details"),
    "name": words("text title product food music film book company query category job status language currency file"),
    "number": NUMERIC,
    "place": words("country address airport origin destination"),
}
_GROUPS = {kind: group for group, kinds in _GROUPED.items() for kind in kinds}
_PEOPLE = re.compile(
    r"\b(?:guest|visitor|passenger|recipient|payer|person|contact|friend|holder|owner|patient|sender|driver|doctor)$"
    r"|[人客员者方]$|联系人|司机$|医生$",
    re.IGNORECASE,
)
_FACTS = re.compile(
    r"\b(?:problem|damage|reason|symptom|fault|issue|complaint)\b|问题|破损|原因|症状|故障", re.IGNORECASE
)
_NAMES = re.compile(
    r"\b(?:name|title)\b|\w to \w|\b(?:wanted|practiced|spoken|used)$|(?:名|名称|姓名|标题)$", re.IGNORECASE
)
_BY_KIND = (
    (re.compile(r"\bwhen\b.*\btime\b|\bday and\b.*\btime\b|哪天几点|什么时候", re.IGNORECASE), ("moment",)),
    (
        re.compile(r"\b(?:which|what) (?:day|date)\b|^\W*when\b|哪一?天|哪日|什么时候", re.IGNORECASE),
        ("date", "birthday", "moment"),
    ),
    (re.compile(r"\bwhat time\b|几点", re.IGNORECASE), ("time", "moment")),
    (re.compile(r"\bwhere (?:from|do you start)\b|\bfrom where\b|从哪", re.IGNORECASE), ("origin",)),
    (re.compile(r"\bwhere (?:to|would you like to go)\b|去哪|到哪", re.IGNORECASE), ("destination",)),
    (re.compile(r"\bhow much\b|多少钱|金额", re.IGNORECASE), ("money",)),
    (re.compile(r"\bwho\b|哪位|是谁|谁", re.IGNORECASE), ("person",)),
    (re.compile(r"\baddress\b|地址", re.IGNORECASE), ("address",)),
    (re.compile(r"\bwhere\b|\bwhich place\b|哪里|哪儿", re.IGNORECASE), ("place", "address", "destination")),
)  # fmt: skip


class Counting(NamedTuple):
    """What a number counts: as it is asked for, and as it stands behind the number."""

    asked: str
    unit: str


def group_of(parameter: ParameterView) -> str:
    """The kind of question that goes with a parameter, "name" where nothing tells more."""
    group = _GROUPS.get(parameter.kind, parameter.kind)
    told = str(parameter.schema.get("description") or humanise(parameter.name))
    if group in ("choice", "name", "category") and _FACTS.search(told):
        return "fact"
    if group in ("choice", "name", "person", "place") and _NAMES.search(told):
        return "called"
    return "person" if group == "name" and _PEOPLE.search(told) else group


def called(parameter: ParameterView, language: Language) -> str:
    """What to call a parameter: its description where that is a short phrase, else what people call it."""
    cue = parameter.cues.chinese if language == "zh" else parameter.cues.english
    told = str(parameter.schema.get("description") or "").strip().rstrip(".。")
    if not told or is_chinese(told) != (language == "zh") or _CLAUSE.search(told) or parameter.kind == "boolean":
        return cue
    is_short = len(told) <= _MOST_CHARACTERS if language == "zh" else len(told.split()) <= _MOST_WORDS
    if not is_short:
        return cue
    return told if language == "zh" or told[:2].isupper() else told[0].lower() + told[1:]


def counting(parameter: ParameterView, language: Language) -> Counting | None:
    """What a number counts, None where it counts nothing that has a name."""
    if not parameter.is_number:
        return None
    told = called(parameter, language)
    if language == "zh":
        ending = next((one for one in _COUNTED_ZH if told.endswith(one)), "")
        return Counting(*_COUNTED_ZH[ending]) if ending else None
    counted = told.removeprefix("number of ")
    said = counted.split()
    unit = next((word for word in said if word in _UNITS), "")
    if unit and unit in (said[0], said[-1]):
        return Counting(counted, unit)
    if counted != told and counted.endswith("s") and len(said) == 1:
        return Counting(counted, counted)
    last = (humanise(parameter.name).split() or [""])[-1]
    return Counting(last, last) if last in _UNITS else None


def asked_parameters(view: ToolView, question: str, known: Collection[str] = ()) -> tuple[ParameterView, ...]:
    """The parameters that a question is for, in its order; what is known is asked for only where nothing else is."""
    found: list[ParameterView] = []
    for sentence in _SENTENCE.findall(question):
        one = _asked_in(view, sentence, known, found)
        if one is not None:
            found.append(one)
    return tuple(found)


def _asked_in(
    view: ToolView, sentence: str, known: Collection[str], found: Sequence[ParameterView]
) -> ParameterView | None:
    taken = {one.name for one in found}
    fresh = [one for one in view.parameters if one.name not in taken]
    open_ones = [one for one in fresh if one.name not in known]
    head = _LISTED.split(sentence, maxsplit=1)[0]
    for text in dict.fromkeys((head, sentence)):
        named = _named(view, text, {one.name for one in open_ones})
        if named:
            return named
    return (
        _by_kind(open_ones, sentence)
        or _by_count(open_ones, sentence)
        or _named(view, sentence, {one.name for one in fresh})
    )


def _named(view: ToolView, text: str, allowed: Collection[str]) -> ParameterView | None:
    """The parameter that is called by the longest stretch of the text."""
    lower = Hearing(text).lower
    hits: list[tuple[int, bool, int, ParameterView]] = []
    for index, one in enumerate(view.parameters):
        told = str(one.schema.get("description") or "").strip().rstrip(".。").lower()
        if one.name in allowed and told and told in lower:
            hits.append((len(told), True, -index, one))
    for match in view.cues.pattern.finditer(text) if view.cues else ():
        index, strong = view.cues.owner(match.group()) if view.cues else (0, False)
        if view.parameters[index].name in allowed:
            hits.append((len(match.group()), strong, -index, view.parameters[index]))
    strong_hits = [hit for hit in hits if hit[1]] or hits
    return max(strong_hits, key=lambda hit: (hit[0], hit[2]))[3] if strong_hits else None


def _by_kind(parameters: Sequence[ParameterView], sentence: str) -> ParameterView | None:
    for pattern, kinds in _BY_KIND:
        here = [one for one in parameters if one.kind in kinds]
        if len(here) == 1 and pattern.search(sentence):
            return here[0]
    return None


def _by_count(parameters: Sequence[ParameterView], sentence: str) -> ParameterView | None:
    """The parameter that counts what the question asks the number of."""
    for one in parameters:
        for language in ("en", "zh"):
            counted = counting(one, language)
            if counted and counted.asked in sentence:
                return one
    asks_number = re.search(r"\bhow (?:many|long)\b|多少|几", sentence, re.IGNORECASE)
    numbers = [one for one in parameters if one.is_number]
    return numbers[0] if asks_number and len(numbers) == 1 else None


def is_plural(told: str) -> bool:
    """Whether what an English parameter is called stands in the plural: "hours of parking", "workout minutes"."""
    head = told.partition(" of ")[0].split()
    return bool(head) and head[-1] in _UNITS


def is_route_end(parameter: ParameterView) -> bool:
    """Whether "where to" asks for this parameter: it is where a way begins or ends."""
    return bool(_ROUTE_ENDS.intersection(split_name(parameter.name)))
