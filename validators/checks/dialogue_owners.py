"""Whose value it is that a turn says: told by the words around it, else by the questions that were asked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from language.calls.parameters import CLOCKED, NUMERIC
from language.calls.tools import ParameterView, ToolView, cue_table
from language.thesaurus import weigh_words
from validators.checks.dialogue_answers import Place, Segment, segments_of
from validators.checks.dialogue_fit import accepts, is_moment, lists, suits
from validators.checks.dialogue_words import about, is_named, parts_of, says_of
from validators.checks.evidence import Said

_FROM = re.compile(r"(?:\bfrom|\bleav(?:e|ing)|从|自|由)\s*$", re.IGNORECASE)
_CLAUSE = re.compile(r"[,，、;；]|\band\b|以及")
_GOES_ON = re.compile(
    r"[,，;；](?!\s*(?:就?是|这|那|作为|当作?|for|as|that|this|it|which|is)(?:\b|(?<=[\u4e00-\u9fff])))", re.IGNORECASE
)
_LEADS_UP = re.compile(r"(?:\b(?:is|are)|[是为叫])[\s:：]*$", re.IGNORECASE)
_TO = re.compile(r"(?:\bto|\btowards?|到|至|去|往|飞)\s*$", re.IGNORECASE)
_ASKED = 1.0  # what the first question counts for the first answer
_CLEAR = 0.8
_NEAR = 12


class Answer(NamedTuple):
    """A text, what the user says himself where that text is a message, the question before it, and what it gives."""

    said: Said
    pointing: str
    question: str
    places: tuple[Place, ...]

    def context(self, place: Place) -> str:
        """The words around a value; what surrounds it in a message is about something else."""
        return self.pointing if self.said.in_message else _context(self.said.text, place, self.places)


def misplaced(answer: Answer, view: ToolView, unknown: Sequence[ParameterView]) -> Iterator[str]:
    """Why an argument's value seems to be another parameter's, of `unknown` ones or of those that the turn gives too."""
    for place in answer.places:
        name, context = place.parameter.name, answer.context(place)
        rival = _rival_of(place, answer, view, unknown)
        if rival:
            yield f"{place.value!r} is taken for {name!r}, but it is said for {rival!r}."
        if (
            not answer.said.in_message
            and _is_reversed(answer.said.text, place)
            and not _named(context, (place.parameter,))
        ):
            yield f"{place.value!r} is taken for {name!r}, but it is said the other way round."
    for one, other in combinations(answer.places, 2):
        if one.start < other.end and other.start < one.end:
            yield f"{one.parameter.name!r} and {other.parameter.name!r} are taken from the same words."
        elif not answer.said.in_message and _are_exchanged(one, other, answer, unknown):
            yield f"The values of {one.parameter.name!r} and {other.parameter.name!r} seem to be exchanged."


def _rival_of(place: Place, answer: Answer, view: ToolView, unknown: Sequence[ParameterView]) -> str:
    """Another parameter that the value is said for, "" where there is none."""
    context = answer.context(place)
    if place.old is not None:
        return _rival_by_name(place, context, view.parameters)
    if not answer.question:
        # a first request also says what is to be done, in the words of other parameters: only names count
        return _rival_by_name(place, context, (place.parameter, *unknown)) or _rival_by_look(place, unknown)
    return _rival_by_name(place, context, view.parameters) or _rival(place, context, answer, unknown)


def _rival_by_look(place: Place, unknown: Sequence[ParameterView]) -> str:
    """Another parameter that a date or a time is for, where the own one holds nothing of the kind, or the other way."""
    own = place.parameter
    if isinstance(place.value, str) and (own.kind in CLOCKED) != is_moment(place.value) and own.kind not in NUMERIC:
        wanted = [one for one in unknown if (one.kind in CLOCKED) == is_moment(place.value) and suits(one, place.value)]
        if wanted and not (own.kind in CLOCKED and suits(own, place.value)):
            return wanted[0].name
    return ""


def _context(text: str, place: Place, places: Sequence[Place]) -> str:
    """The words around a value: what leads up to it in its sentence, and what follows in its clause.

    Where the sentence holds other values too, only its own clause counts, and up to these.
    """
    whole = Segment(0, len(text), corrects=False)
    segment = next((one for one in segments_of(text) if one.start <= place.start < one.end), whole)
    others = [one for one in places if one is not place and one.start < segment.end and segment.start < one.end]
    begin = max([segment.start, *(one.end for one in others if one.end <= place.start)])
    end = min([segment.end, *(one.start for one in others if one.start >= place.end)])
    lead = text[begin : place.start]
    is_led = end < segment.end and _LEADS_UP.search(text, place.end, end) is not None
    tail = "" if is_led else _GOES_ON.split(text[place.end : end])[0]
    return f"{_CLAUSE.split(lead)[-1]} {_CLAUSE.split(tail)[0]}" if others else f"{lead} {tail}"


def _rival(place: Place, context: str, answer: Answer, unknown: Sequence[ParameterView]) -> str:
    """Another parameter that the value is said for; "" where words or question are about this one, or tell nothing."""
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
    place: Place, given: Sequence[ParameterView], others: Sequence[ParameterView], asked: Sequence[Mapping[str, float]]
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


def _namesake(place: Place, others: Sequence[ParameterView], texts: Sequence[str]) -> str:
    """Another parameter whose name stands in one of the texts, where all that speaks of this one speaks of it too."""
    own = place.parameter
    if own.kind in CLOCKED and suits(own, place.value):
        return ""
    return next((one.name for one in others if suits(one, place.value) and _is_namesake(one, own, texts)), "")


def _is_better_at(place: Place, others: Sequence[ParameterView]) -> bool:
    """Whether the value itself tells of another parameter: a day where one has no day, a hospital for its name."""
    own, value = place.parameter, str(place.value)
    if is_moment(value) and own.kind not in CLOCKED:
        return any(one.kind in CLOCKED for one in others)
    told = about(value, (own, *others))
    return max(told[one.name] for one in others) >= told[own.name] + _CLEAR


def _rival_by_name(place: Place, context: str, parameters: Sequence[ParameterView]) -> str:
    """Another parameter that is called by its name where the value is said, and this one is not."""
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


def _is_offered(place: Place, question: str, parameters: Sequence[ParameterView]) -> bool:
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


def _is_reversed(text: str, place: Place) -> bool:
    """A value behind "from" for a destination, or behind "to" for a departure."""
    before = text[max(0, place.start - _NEAR) : place.start]
    if place.parameter.kind == "destination":
        return bool(_FROM.search(before))
    return place.parameter.kind == "origin" and bool(_TO.search(before))


def _are_exchanged(one: Place, other: Place, answer: Answer, unknown: Sequence[ParameterView]) -> bool:
    """Whether two values rather belong to each other's parameter; `one` is said first."""
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
