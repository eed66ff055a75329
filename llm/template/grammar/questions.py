"""What a question or an answer calls a parameter, and which parameters a question is for."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from callwright.language.calls.parameters import CODED, NUMERIC
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.names import humanise, split_name, words
from callwright.language.packs import LanguagePattern, of, packs_of, signs, widened, writes
from callwright.warehouse.records import Language

_MOST_WORDS = 6
_MOST_CHARACTERS = 12
_CLAUSE = LanguagePattern(r"@[.,;:(?{list}\n]|!|@{description_end}")
_ARTICLE = LanguagePattern("^(?:@{with_article})", re.RegexFlag(0))
_SENTENCE = re.compile(widened("@[^?.!]+@[?.!]*"))
_LISTED = LanguagePattern("@[:,]|@{options_follow}", re.RegexFlag(0))
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
_PEOPLE, _FACTS = LanguagePattern("@{people}"), LanguagePattern("@{facts}")
_NAMES, _ASKS_NUMBER = LanguagePattern("@{names}"), LanguagePattern("@{asks_number}")
_BY_KIND = (
    (LanguagePattern("@{asks_moment}"), ("moment",)),
    (LanguagePattern("@{asks_day}"), ("date", "birthday", "moment")),
    (LanguagePattern("@{asks_time}"), ("time", "moment")),
    (LanguagePattern("@{asks_origin}"), ("origin",)),
    (LanguagePattern("@{asks_destination}"), ("destination",)),
    (LanguagePattern("@{asks_money}"), ("money",)),
    (LanguagePattern("@{asks_person}"), ("person",)),
    (LanguagePattern("@{asks_address}"), ("address",)),
    (LanguagePattern("@{asks_place}"), ("place", "address", "destination")),
)


class Counting(NamedTuple):
    """What a number counts: as it is asked for, and as it stands behind the number."""

    asked: str
    unit: str


def group_of(parameter: ParameterView) -> str:
    """The kind of question that goes with a parameter, "name" where nothing tells more."""
    group = _GROUPS.get(parameter.kind, parameter.kind)
    described = str(parameter.schema.get("description") or humanise(parameter.name))
    if group in ("choice", "name", "category") and _FACTS.of(described).search(described):
        return "fact"
    if group in ("choice", "name", "person", "place") and _NAMES.of(described).search(described):
        return "called"
    return "person" if group == "name" and _PEOPLE.of(described).search(described) else group


def called(parameter: ParameterView, language: Language) -> str:
    """What to call a parameter: its description where that is a short phrase, else what people call it."""
    cue = parameter.cues.among(language)
    described = str(parameter.schema.get("description") or "").strip().rstrip(signs("."))
    if (
        not described
        or not writes(language, described)
        or _CLAUSE.of(described).search(described)
        or parameter.kind == "boolean"
    ):
        return cue
    glued = not of(language).space
    is_short = len(described) <= _MOST_CHARACTERS if glued else len(described.split()) <= _MOST_WORDS
    if not is_short:
        return cue
    if glued or described[:2].isupper():
        return described
    lowered = described[0].lower() + described[1:]
    return _ARTICLE.of(lowered).sub("", lowered) or lowered


def counting(parameter: ParameterView, language: Language) -> Counting | None:
    """What a number counts, None where it counts nothing that has a name."""
    if not parameter.is_number:
        return None
    counted = of(language).rules.counted(called(parameter, language), parameter.name)
    return None if counted is None else Counting(*counted)


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
    head = _LISTED.of(sentence).split(sentence, maxsplit=1)[0]
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
    lower = text.lower()
    hits: list[tuple[int, bool, int, ParameterView]] = []
    for index, one in enumerate(view.parameters):
        described = str(one.schema.get("description") or "").strip().rstrip(signs(".")).lower()
        if one.name in allowed and described and described in lower:
            hits.append((len(described), True, -index, one))
    for match in view.cues.pattern.finditer(text) if view.cues else ():
        index, strong = view.cues.owner(match.group()) if view.cues else (0, False)
        if view.parameters[index].name in allowed:
            hits.append((len(match.group()), strong, -index, view.parameters[index]))
    strong_hits = [hit for hit in hits if hit[1]] or hits
    return max(strong_hits, key=lambda hit: (hit[0], hit[2]))[3] if strong_hits else None


def _by_kind(parameters: Sequence[ParameterView], sentence: str) -> ParameterView | None:
    for pattern, kinds in _BY_KIND:
        here = [one for one in parameters if one.kind in kinds]
        if len(here) == 1 and pattern.of(sentence).search(sentence):
            return here[0]
    return None


def _by_count(parameters: Sequence[ParameterView], sentence: str) -> ParameterView | None:
    """The parameter that counts what the question asks the number of."""
    for one in parameters:
        for pack in packs_of(sentence):
            counted = counting(one, pack.code)
            if counted and counted.asked in sentence:
                return one
    asks_number = _ASKS_NUMBER.of(sentence).search(sentence)
    numbers = [one for one in parameters if one.is_number]
    return numbers[0] if asks_number and len(numbers) == 1 else None


def is_route_end(parameter: ParameterView) -> bool:
    """Whether "where to" asks for this parameter: it is where a way begins or ends."""
    return bool(_ROUTE_ENDS.intersection(split_name(parameter.name)))
