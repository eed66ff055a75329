"""Whose value it is that a turn says: known by the words around it, else by the questions that were asked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.shifts.intents import is_question
from callwright.language.calls.parameters import CLOCKED, NUMERIC, PLACES
from callwright.language.calls.tools import ParameterView, ToolView, cue_table
from callwright.language.dates import find_dates
from callwright.language.names import humanise, split_name
from callwright.language.numbers import find_numbers
from callwright.language.packs import LanguagePattern, known, of
from callwright.language.readers.moments import find_times, moment_parts
from callwright.language.schemas import DATE_TIME_VALUE, DATE_VALUE, TIME_VALUE, choices_of, kind_of, type_of
from callwright.language.thesaurus import weigh_words
from callwright.language.values import locate_text
from callwright.validators.checks.dialogue_answers import Segment, StatedArgument, segments_of
from callwright.validators.checks.evidence import UserText
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.warehouse.records import DoubtedFact

_FROM = LanguagePattern(r"(?:@{from_lead})\s*$")
_CLAUSE = LanguagePattern("@[,;{list}]|@{clause_and}", re.RegexFlag(0))
_GOES_ON = LanguagePattern(r"@[,;](?!\s*(?:@{goes_on}))")
_LEADS_UP = LanguagePattern(r"(?:@{leads_up})@[\s:]*$")
_TO = LanguagePattern(r"(?:@{to_lead})\s*$")
_ASKED = 1.0  # what the first question counts for the first answer
_CLEAR = 0.8
_NEAR = 12


class AnswerText(NamedTuple):
    """A text, what the user says himself where that text is a message, the question before it, and what it gives."""

    stated: UserText
    pointing: str
    question: str
    places: tuple[StatedArgument, ...]

    def context(self, place: StatedArgument) -> str:
        """The words around a value; what surrounds it in a message is about something else."""
        return self.pointing if self.stated.in_message else _context(self.stated.text, place, self.places)


def misplaced(answer: AnswerText, view: ToolView, unknown: Sequence[ParameterView]) -> Iterator[Finding]:
    """Why an argument's value seems to be another parameter's, of `unknown` ones or of those that the turn gives too."""
    for place in answer.places:
        name, context = place.parameter.name, answer.context(place)
        words = answer.stated.text[place.start : place.end]
        rival = _rival_of(place, answer, view, unknown)
        if rival:
            fact = DoubtedFact(kind="misplaced", argument=name, value=place.value, other=rival, quote=words)
            yield unproved(f"{place.value!r} is taken for {name!r}, but it is said for {rival!r}.", fact)
        if (
            not answer.stated.in_message
            and _is_reversed(answer.stated.text, place)
            and not _named(context, (place.parameter,))
        ):
            fact = DoubtedFact(kind="unsure", argument=name, value=place.value, quote=words)
            yield unproved(f"{place.value!r} is taken for {name!r}, but it is said the other way round.", fact)
    for one, other in combinations(answer.places, 2):
        if one.start < other.end and other.start < one.end:
            fact = DoubtedFact(kind="same_words", argument=one.parameter.name, other=other.parameter.name)
            yield unproved(f"{one.parameter.name!r} and {other.parameter.name!r} are taken from the same words.", fact)
        elif not answer.stated.in_message and _are_exchanged(one, other, answer, unknown):
            fact = DoubtedFact(kind="exchanged", argument=one.parameter.name, other=other.parameter.name)
            reason = f"The values of {one.parameter.name!r} and {other.parameter.name!r} seem to be exchanged."
            yield unproved(reason, fact)


def _rival_of(place: StatedArgument, answer: AnswerText, view: ToolView, unknown: Sequence[ParameterView]) -> str:
    """Another parameter that the value is stated for, "" where there is none."""
    context = answer.context(place)
    if place.old is not None:
        return _rival_by_name(place, context, view.parameters)
    if not answer.question:
        # a first request also says what is to be done, in the words of other parameters: only names count
        return _rival_by_name(place, context, (place.parameter, *unknown)) or _rival_by_look(place, unknown)
    return _rival_by_name(place, context, view.parameters) or _rival(place, context, answer, unknown)


def _rival_by_look(place: StatedArgument, unknown: Sequence[ParameterView]) -> str:
    """Another parameter that a date or a time is for, where the own one holds nothing of the kind, or the other way."""
    own = place.parameter
    if isinstance(place.value, str) and (own.kind in CLOCKED) != is_moment(place.value) and own.kind not in NUMERIC:
        wanted = [one for one in unknown if (one.kind in CLOCKED) == is_moment(place.value) and suits(one, place.value)]
        if wanted and not (own.kind in CLOCKED and suits(own, place.value)):
            return wanted[0].name
    return ""


def _context(text: str, place: StatedArgument, places: Sequence[StatedArgument]) -> str:
    """The words around a value: what leads up to it in its sentence, and what follows in its clause.

    Where the sentence holds other values too, only its own clause counts, and up to these.
    """
    whole = Segment(0, len(text), corrects=False)
    segment = next((one for one in segments_of(text) if one.start <= place.start < one.end), whole)
    others = [one for one in places if one is not place and one.start < segment.end and segment.start < one.end]
    begin = max([segment.start, *(one.end for one in others if one.end <= place.start)])
    end = min([segment.end, *(one.start for one in others if one.start >= place.end)])
    lead = text[begin : place.start]
    is_led = end < segment.end and _LEADS_UP.of(text).search(text, place.end, end) is not None
    tail = "" if is_led else _GOES_ON.of(text).split(text[place.end : end])[0]
    return f"{_CLAUSE.of(text).split(lead)[-1]} {_CLAUSE.of(text).split(tail)[0]}" if others else f"{lead} {tail}"


def _rival(place: StatedArgument, context: str, answer: AnswerText, unknown: Sequence[ParameterView]) -> str:
    """Another parameter that the value is stated for; "" where words or question are about this one, or tell nothing."""
    own, given = place.parameter, [one.parameter for one in answer.places]
    others = [one for one in unknown if one.name != own.name and accepts(one, place.value)]
    listed = next((one.name for one in others if lists(one, place.value)), "")
    if listed and not lists(own, place.value):
        return listed
    if not others or _is_offered(place, answer.question, (*given, *others)):
        return ""
    named = _rival_by_name(place, context, (own, *others))
    named = named or _namesake(place, others, (context, *parts_of(answer.question)))
    if named:
        return named
    scores = about(context, (own, *others), place.value)
    best = max(others, key=lambda one: scores[one.name]).name
    if scores[own.name] >= max(_CLEAR, scores[best]):
        return ""
    asked = [about(part, (*given, *others)) for part in parts_of(answer.question)]
    asked = [part for part in asked if max(part.values()) >= _CLEAR]
    return (
        _rival_asked(place, given, others, asked)
        if scores[best] < _CLEAR
        else _unasked(own, given, others, asked, best)
    )


def _rival_asked(
    place: StatedArgument,
    given: Sequence[ParameterView],
    others: Sequence[ParameterView],
    asked: Sequence[Mapping[str, float]],
) -> str:
    """Another parameter that the questions are about, or that the value suits better, where its words tell nothing."""
    own = place.parameter
    shown = suits(own, place.value) and not _is_better_at(place, others)
    fitting = [
        one.name for one in others if suits(one, place.value) and any(part[one.name] >= _CLEAR for part in asked)
    ]
    if not shown and (fitting or not asked):
        return (*fitting, others[0].name)[0]
    rival = _unasked(own, given, others, asked, others[0].name) if asked else ""
    is_answered = all(max(part[one.name] for one in given) > max(part[one.name] for one in others) for part in asked)
    return "" if is_answered and shown else rival


def _unasked(
    own: ParameterView,
    given: Sequence[ParameterView],
    others: Sequence[ParameterView],
    asked: Sequence[Mapping[str, float]],
    best: str,
) -> str:
    """The parameter `best`, "" where one of the questions is about the own one."""
    rivals = [one for one in (*given, *others) if one.name != own.name]
    return "" if any(_is_about(own, index, asked, rivals) for index in range(len(asked))) else best


def _namesake(place: StatedArgument, others: Sequence[ParameterView], texts: Sequence[str]) -> str:
    """Another parameter whose name stands in one of the texts, where all that speaks of this one speaks of it too."""
    own = place.parameter
    if own.kind in CLOCKED and suits(own, place.value):
        return ""
    return next((one.name for one in others if suits(one, place.value) and _is_namesake(one, own, texts)), "")


def _is_better_at(place: StatedArgument, others: Sequence[ParameterView]) -> bool:
    """Whether the value itself tells of another parameter: a day where one has no day, a hospital for its name."""
    own, value = place.parameter, str(place.value)
    if is_moment(value) and own.kind not in CLOCKED:
        return any(one.kind in CLOCKED for one in others)
    described = about(value, (own, *others))
    return max(described[one.name] for one in others) >= described[own.name] + _CLEAR


def _rival_by_name(place: StatedArgument, context: str, parameters: Sequence[ParameterView]) -> str:
    """Another parameter that is called by its name where the value is stated, and this one is not."""
    own = place.parameter.name
    named = _named(context, tuple(one for one in parameters if one.name == own or accepts(one, place.value)))
    if not named or own in named:
        return ""
    scores = about(context, parameters, place.value)
    return named[0] if scores[named[0]] > scores[own] else ""


def _is_about(
    own: ParameterView, index: int, asked: Sequence[Mapping[str, float]], others: Sequence[ParameterView]
) -> bool:
    """Whether one of several questions is about a parameter; others that another question is about rather don't count."""
    part, rest = asked[index], [*asked[:index], *asked[index + 1 :]]
    rivals = [one.name for one in others if all(part[one.name] >= other[one.name] for other in rest)]
    return part[own.name] > 0 and part[own.name] >= max((part[name] for name in rivals), default=0.0)


def _is_namesake(one: ParameterView, own: ParameterView, texts: Sequence[str]) -> bool:
    """Whether all that speaks of a parameter speaks of another too, whose name is there: "the name of the graduate".

    The name of a school would be more than that.
    """
    is_called = any(is_named(one, text) and says_of(own, text) for text in texts)
    return is_called and not any(is_named(own, text) or says_of(own, text) - says_of(one, text) for text in texts)


def _is_offered(place: StatedArgument, question: str, parameters: Sequence[ParameterView]) -> bool:
    """Whether a question about the parameter itself names what was answered: "economy or business class?"."""
    words = {key for key in weigh_words(str(place.value)) if len(key) > 1}
    return any(
        about(part, parameters)[place.parameter.name] >= _CLEAR and words & set(weigh_words(part))
        for part in parts_of(question)
    )


def _named(context: str, parameters: tuple[ParameterView, ...]) -> list[str]:
    """The parameters that the words call by what people call them."""
    table = cue_table(parameters)
    found = [table.owner(match.group()) for match in table.pattern.finditer(context)] if table else []
    return list(dict.fromkeys(parameters[index].name for index, is_strong in found if is_strong))


def _is_reversed(text: str, place: StatedArgument) -> bool:
    """A value behind "from" for a destination, or behind "to" for a departure."""
    before = text[max(0, place.start - _NEAR) : place.start]
    if place.parameter.kind == "destination":
        return bool(_FROM.of(text).search(before))
    return place.parameter.kind == "origin" and bool(_TO.of(text).search(before))


def _are_exchanged(
    one: StatedArgument, other: StatedArgument, answer: AnswerText, unknown: Sequence[ParameterView]
) -> bool:
    """Whether two values rather belong to each other's parameter; `one` is stated first."""
    parameters = (*(place.parameter for place in answer.places), *unknown)
    pair = (one.parameter, other.parameter)
    first, second = (about(answer.context(place), pair, place.value) for place in (one, other))
    asked = [_asked_at(answer.question, parameter, parameters) for parameter in pair]
    direct_fit, crossed_fit = (
        sum(
            suits(parameter, place.value) + accepts(parameter, place.value) + lists(parameter, place.value)
            for parameter, place in zip(pair, values, strict=True)
        )
        for values in ((one, other), (other, one))
    )
    if direct_fit != crossed_fit:
        return crossed_fit > direct_fit
    direct = first[one.parameter.name] + second[other.parameter.name] + (_ASKED if asked[0] == 0 else 0)
    crossed = first[other.parameter.name] + second[one.parameter.name] + (_ASKED if asked[1] == 0 else 0)
    if max(direct, crossed) >= _CLEAR and direct != crossed:
        return crossed > direct
    return asked[0] > asked[1] if min(asked) >= 0 else asked[1] == 0


def _asked_at(question: str, parameter: ParameterView, parameters: Sequence[ParameterView]) -> int:
    """Which of several questions is clearly about a parameter, -1 where none is."""
    for index, part in enumerate(parts_of(question)):
        scores = about(part, parameters)
        own = scores.pop(parameter.name)
        if own >= _CLEAR and own > max(scores.values(), default=0.0):
            return index
    return -1


_NUMBERED = frozenset({"id", "number", "no", "phone", "card", "plate"})
_TIME_WORD = LanguagePattern("@{time_word}")
_DIGIT = LanguagePattern(r"\d|^(?:@{numeral})+$")
_CALLED = frozenset({"name", "person", "people", "list", "airline", "brand", "receivers", "recipient", "recipients"})
_NOT_CLOCKED = PLACES | {"person", "phone", "email"}
_LISTING = LanguagePattern(r"(?:@{listing})\.?|@[(,:]", re.RegexFlag(0))
_DAY = LanguagePattern("@{day_end}")
_CODE = re.compile(r"[A-Za-z]+\d{2,}|\d{5,}")


def accepts(parameter: ParameterView, value: JsonValue) -> bool:
    """Whether a value is of the type that the parameter's schema asks for."""
    kind = kind_of(parameter.schema)
    match kind:
        case "enum":
            return value in choices_of(parameter.schema)
        case "integer" | "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array" | "object":
            return isinstance(value, list if kind == "array" else dict)
        case _:
            formats = {"date": DATE_VALUE, "time": TIME_VALUE, "date-time": DATE_TIME_VALUE}
            return isinstance(value, str) and (kind not in formats or formats[kind].fullmatch(value) is not None)


def is_moment(value: str) -> bool:
    """Whether the value is nothing but a date or a time, or ends as a day or a season does: "Christmas Day"."""
    return bool(moment_parts(value)) or _DAY.of(value).search(value) is not None


def lists(parameter: ParameterView, value: JsonValue) -> bool:
    """Whether the description gives the value as one of those to choose from: "flight type, domestic or international"."""
    described = str(parameter.schema.get("description") or "")
    listing = _LISTING.of(described).search(described)
    if listing is None or not isinstance(value, str):
        return False
    return locate_text(value, described[listing.end() :]) is not None


def suits(parameter: ParameterView, value: JsonValue) -> bool:
    """Whether the value looks like one of the parameter: a date where one is asked for, digits in a number."""
    if not isinstance(value, str):
        return accepts(parameter, value) or type_of(parameter.schema) == "string"
    if parameter.kind in CLOCKED:
        is_time = (
            find_dates(value)
            or find_times(value)
            or _DIGIT.of(value).search(value)
            or _TIME_WORD.of(value).search(value)
        )
        return bool(is_time) and not _CODE.search(value)
    if parameter.kind in _NOT_CLOCKED and moment_parts(value):
        return False
    if parameter.is_number:
        return bool(find_numbers(value) or _DIGIT.of(value).search(value))
    last = split_name(parameter.name)[-1]
    if last in _NUMBERED:
        return bool(find_numbers(value) or _DIGIT.of(value).search(value))
    return last not in _CALLED or not (value.strip().isdigit() or moment_parts(value))


_WHEN = LanguagePattern("@{question_when}")
_WHERE = LanguagePattern("@{question_where}")
_NEXT_QUESTION = LanguagePattern(r"(?<=@[?.!;\n])\s*|@{next_question}", re.RegexFlag(0))
_WORD = re.compile(r"[A-Za-z]+")
_EXAMPLES = re.compile(r",?\s*\b(?:such as|e\.g)\b", re.IGNORECASE)
_HAS_NUMBER = LanguagePattern("@{numbered}", re.RegexFlag(0))
_HINT = 1.5  # what a question word or the shape of a value counts, beside the words of a description
_PLAIN, _MARGIN = 1.0, 1.5
_WHITHER = LanguagePattern("@{question_whither}")
_WHENCE = LanguagePattern("@{question_whence}")


def asked_for(question: str, parameters: Sequence[ParameterView]) -> list[str]:
    """The parameters that a question, or one of several at once, is clearly about."""
    asked: list[str] = []
    for part in parts_of(question):
        if not is_question(part) and "provide" not in part.lower():
            continue  # "Taken care of." asks nothing
        scores = sorted(((score, name) for name, score in about(part, parameters).items()), reverse=True)
        best, name = scores[0] if scores else (0.0, "")
        rest = scores[1][0] if len(scores) > 1 else 0.0
        if best >= _PLAIN and best >= _MARGIN * rest:
            asked.append(name)
    return asked


def about(text: str, parameters: Sequence[ParameterView], value: JsonValue = None) -> dict[str, float]:
    """How much a text speaks of each of these parameters; a word that several are called by tells little."""
    words = {one.name: _words(one) for one in parameters}
    scores = dict.fromkeys(words, 0.0)
    for word, weight, meaning in _stated(text):
        shares = {name: max(own.get(word, 0.0), own.get(meaning, 0.0)) for name, own in words.items()}
        callers = sum(share > 0 for share in shares.values())
        for name, share in shares.items():
            scores[name] += min(weight, share) / callers if share else 0.0
    is_clock = isinstance(value, str) and bool(moment_parts(value))
    asks_when, asks_where = bool(_WHEN.of(text).search(text)), bool(_WHERE.of(text).search(text))
    ways = {"destination": _WHITHER, "origin": _WHENCE}
    for one in parameters:
        if one.kind in ways and ways[one.kind].of(text).search(text):
            scores[one.name] += _HINT
        if one.kind in CLOCKED:
            scores[one.name] += _HINT * (asks_when + is_clock)
        elif one.kind in PLACES:
            scores[one.name] += _HINT * asks_where
    return scores


@lru_cache(8192)
def _stated(text: str) -> tuple[tuple[str, float, str], ...]:
    """The telling words of a text with their weights; with an English word comes what it means, and counts once."""
    stated: list[tuple[str, float, str]] = []
    english: set[str] = set()
    for word in _WORD.findall(text):
        keys = weigh_words(word)
        root = next(iter(keys), "")
        if root and root not in english:
            english.update(keys)
            stated.append((root, keys[root], next((key for key in keys if key != root), "")))
    return (*stated, *((key, weight, "") for key, weight in weigh_words(text).items() if key not in english))


def parts_of(question: str) -> list[str]:
    """The single questions of what the assistant asked at once."""
    return [part for part in _NEXT_QUESTION.of(question).split(question) if part and part.strip()]


def is_named(parameter: ParameterView, text: str) -> bool:
    """Whether a text has all the words of a parameter's name."""
    words = weigh_words(humanise(parameter.name))
    return bool(words) and words.keys() <= weigh_words(text).keys()


def says_of(parameter: ParameterView, text: str) -> set[str]:
    """The words of a text that a parameter is called by."""
    return weigh_words(text).keys() & _words(parameter).keys()


def _words(parameter: ParameterView) -> dict[str, float]:
    return _words_of(parameter.name, str(parameter.schema.get("description") or ""))


@cache
def _name_words() -> Mapping[str, str]:
    """What words of names stand for: names are in the common script also where descriptions and users are not."""
    return {word: stated for code in known() for word, stated in of(code).data.get("names", {}).items()}


@lru_cache(8192)
def _words_of(name: str, description: str) -> dict[str, float]:
    description = _EXAMPLES.split(description, maxsplit=1)[0]
    called = split_name(name)
    meant = " ".join(_name_words().get(word, "") for word in called)
    numbered = "number" if "id" in called or _HAS_NUMBER.of(description).search(description) else ""
    return weigh_words(f"{humanise(name)} {description} {meant} {numbered}")
