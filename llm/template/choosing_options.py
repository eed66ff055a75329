"""Choosing among options: which of the calls that a prompt offers are the ones that a conversation asks for.

Each option is held against what was said: every value has a place in the user's words, in a message or in a result, each place
belongs to one argument, the words beside it call that argument and no other, and what is said is said for something. The option
that leaves least unexplained is named, several where they explain the same, none where all of them leave something.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.frames import PhraseIndex, Stretch, glue_of, left_over_of, phrase_index
from callwright.language.calls.parameters import CLOCKED, cues_of
from callwright.language.calls.tools import ParameterView, ToolView, name_phrase, squeeze, view_of
from callwright.language.dates import find_dates, find_times
from callwright.language.names import split_name
from callwright.language.numbers import find_numbers
from callwright.language.packs import COMMON_SCRIPT, of, script_of, widened
from callwright.language.schemas import json_type, scalars
from callwright.language.text import deep_stem, find_corrections, fold
from callwright.language.values import locate
from callwright.llm.template.baseline import (
    SECTIONS,
    Calling,
    Said,
    calls_in,
    cues,
    is_called,
    links_of,
    loosely,
    more_steps,
    said_in,
    spoken_of,
    taken_back,
)
from callwright.llm.template.defects import Proposal
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.plain_sentences import is_unknown, says_plainly
from callwright.llm.template.sections import Sections, is_equivalent
from callwright.llm.template.stating import dialogues_in, requests_in
from callwright.llm.template.steps_calling import due_steps
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language

UNKNOWN = "$$$"
_MOST_PLACES = 4
# what an option costs, by what it leaves unexplained
_UNSAID, _MISPLACED, _REUSED, _UNCALLED, _REPEATED, _UNFED = 6.0, 3.0, 2.0, 0.3, 4.0, 3.0
_WORD, _TELLING, _OTHER_TOOL, _IDLE, _LACKING = 0.5, 1.5, 1.5, 1.0, 0.2
_MOST, _SAME = 1.9, 0.04
_OPEN, _LIKELY = 1.6, 0.75
_LATER, _FEW = 0.2, 7.0  # words may be left over where more steps follow
_SMALL = 99
_BESIDE = 6
_FAINT = frozenset({"find", "get", "by", "of", "look", "up", "the", "for", "in", "to"})
_LEFT_WORD = re.compile(r"[^\W_]+")
_TELLS = re.compile(widened(r"\d|@[\"“”«»{open}{close}]|\b[A-ZÀ-Þ]"))


class OfferedCall(NamedTuple):
    """A call of an option, with the view of its tool, None where no such tool is shown."""

    tool: str
    arguments: Mapping[str, JsonValue]
    view: ToolView | None


class Option(NamedTuple):
    """Calls to make, or what to do instead of making one: "ask", "none"."""

    letter: str
    calls: tuple[OfferedCall, ...]
    act: str


class Place(NamedTuple):
    """Where a value is said: the turn, the stretch in it, and the cost of taking it for a parameter."""

    said: int
    start: int
    end: int
    cost: float


class Part(NamedTuple):
    """A single value of an argument."""

    parameter: ParameterView
    value: JsonValue
    schema: JsonSchema


def choose_options(sections: Sections) -> dict[str, JsonValue]:
    """The letters of the options that the conversation asks for, with the reason in one sentence."""
    talk = Talk(sections)
    options = _options(sections, talk.views)
    plain = [one.letter for one in options if talk.is_plainly(one)]
    if plain:
        return {"asked": [*plain], "reason": "It says just that."}
    steps = due_steps(sections)
    if steps is not None:
        named: list[JsonValue] = [option.letter for option in options if _are_same(option, steps, talk.views)]
        return {"asked": named, "reason": "They are the next steps." if named else "None of them is the next step."}
    costs = {option.letter: talk.cost(option) for option in options}
    calls = [costs[option.letter] for option in options if option.calls]
    is_spoken = any(talk.is_spoken(option) for option in options)
    if talk.may_ask and is_spoken and min(calls, default=0.0) >= _UNSAID:  # whichever is called, something is unsaid
        costs |= {option.letter: _OPEN for option in options if option.act == "ask"}
    if min(calls, default=_MOST) < _MOST:  # a tool does it
        costs |= {option.letter: _UNSAID for option in options if option.act == "none"}
    least = min(costs.values(), default=_MOST)
    asked: list[JsonValue] = [letter for letter, cost in costs.items() if cost <= least + _SAME and least < _MOST]
    reason = "Each word is said for it." if len(asked) == 1 else "They explain the same words." if asked else ""
    return {"asked": asked, "reason": reason or "Each of them leaves words or values unexplained."}


def _are_same(option: Option, steps: Sequence[Proposal], views: Mapping[str, ToolView]) -> bool:
    """Whether an option makes just the calls of the next step."""
    rest = list(steps)
    for call in option.calls:
        schema: JsonSchema = {"properties": views[call.tool].properties if call.tool in views else {}}
        alike = (step for step in rest if step.tool == call.tool)
        found = next((step for step in alike if is_equivalent(step.arguments, {**call.arguments}, schema)), None)
        if found is None:
            return False
        rest.remove(found)
    return not rest and (bool(option.calls) or option.act != "none")


def _options(sections: Sections, views: Mapping[str, ToolView]) -> list[Option]:
    read = []
    for one in sections.listed("options"):
        if isinstance(one, dict):
            listed = one.get("calls")
            calls = tuple(
                _call(call, views) for call in (listed if isinstance(listed, list) else ()) if isinstance(call, dict)
            )
            read.append(Option(str(one.get("option")), calls, str(one.get("act") or "")))
    return read


def _call(call: Mapping[str, JsonValue], views: Mapping[str, ToolView]) -> OfferedCall:
    tool, arguments = str(call.get("tool")), call.get("arguments")
    return OfferedCall(tool, arguments if isinstance(arguments, dict) else {}, views.get(tool))


class Talk:
    """What was said, made and returned so far, and what an option leaves of it unexplained."""

    def __init__(self, sections: Sections) -> None:
        self.views = {view.name: view for view in map(view_of, sections.listed("tools"))}
        self.language: Language = sections.word("language", DEFAULT_LANGUAGE)
        turns = resolve_pointers(sections.turns())
        self.said = said_in(turns)
        self.is_answered = bool(turns) and turns[-1].speaker in ("call", "result")
        self.made = tuple(_call(turn.json(), self.views) for turn in turns if turn.speaker == "call")
        self.returned = {
            fold(str(value))
            for turn in turns
            if turn.speaker == "result"
            for value in scalars(turn.json())
            if isinstance(value, str) or (isinstance(value, int | float) and value > _SMALL)
        }

        new = [one.text for one in self.said if one.is_new]
        self.may_ask = bool(turns) and not self.is_answered and any(view.parameters for view in self.views.values())
        results = [turn.json() for turn in turns if turn.speaker == "result"]
        has_failed = bool(results) and "error" in results[-1]
        is_redone = has_failed or any(mark.start == 0 for text in new for mark in find_corrections(text))
        self.redone = self.made[-1:] if is_redone else ()
        self.in_steps = self.is_answered or any(more_steps(self.language).search(text) for text in new)
        self._places: dict[tuple[str, str, str, str], tuple[Place, ...]] = {}

    def is_plainly(self, option: Option) -> bool:
        """Whether all that was said is the plain wording of the only call of an option."""
        if len(self.said) != 1 or len(option.calls) != 1 or option.calls[0].view is None:
            return False
        call, view = option.calls[0], option.calls[0].view
        return is_unknown(view) and says_plainly(self.said[0].text, view, call.arguments, self.language)

    def places(self, part: Part, view: ToolView) -> tuple[Place, ...]:
        """Where a value is said; options that differ in one value ask for the others again."""
        key = (view.name, part.parameter.name, repr(part.value), repr(part.schema))
        if key not in self._places:
            self._places[key] = tuple(_places(part, view, self.said, self.language))
        return self._places[key]

    def cost(self, option: Option) -> float:
        """What an option leaves unexplained: values that nobody said, words that it does not take."""
        if not option.calls:
            return self._cost_of_waiting(option)
        layout = Layout(self)
        for call in self.made:
            layout.take(call)
        cost = sum(layout.take(call) for call in option.calls)
        cost += _REUSED * sum(
            len(one.arguments.keys() - call.arguments.keys())
            for call in option.calls
            for one in self.redone
            if one.tool == call.tool
        )
        cost += _REPEATED * sum(call in self.made or call in option.calls[:at] for at, call in enumerate(option.calls))
        cost += _MISPLACED * layout.crossings(len(self.made))
        cost += _REPEATED * (self.in_steps and len({call.tool for call in option.calls}) < len(option.calls))
        cost += _UNFED * (UNKNOWN in option.calls[0].arguments.values())
        for call in option.calls:  # the user's words speak for other tools, and a required argument is left out
            lacks = call.view and any(name not in call.arguments for name in call.view.required)
            cost += _LACKING * bool(lacks) + _OTHER_TOOL * (1.0 - self._likeness(call.view)) if call.view else _UNSAID
        if self.in_steps and cost < _MOST:
            return cost + min(layout.rest((*self.made, *option.calls)), _FEW) * _LATER
        return cost + layout.rest((*self.made, *option.calls))

    def _cost_of_waiting(self, option: Option) -> float:
        """What it costs to make no call: nothing where something has to be asked first, or where no tool does it."""
        spoken = [view for view in self.views.values() if self._likeness(view) >= _LIKELY]
        if option.act == "none":
            return _IDLE + _UNSAID * bool(spoken)
        open_ones = (
            one for view in spoken for one in view.parameters if one.name in view.required and not self._says(one, view)
        )
        if not self.is_answered and (not spoken or any(open_ones)):
            return _OPEN
        layout = Layout(self)
        for call in self.made:
            layout.take(call)
        return _IDLE + layout.rest(self.made)

    def is_spoken(self, option: Option) -> bool:
        """Whether the user says what one of an option's tools does."""
        return any(call.view and self._likeness(call.view) >= _LIKELY for call in option.calls)

    def _says(self, parameter: ParameterView, view: ToolView) -> bool:
        """Whether the user says a value, as far as what parameters are called and the kinds of values tell."""
        text = "\n".join(one.text for one in self.said if one.is_new)
        called = any(one.parameter == parameter.name for one in calls_in(view, text, self.language))
        if called or any(is_called(parameter, one.question) for one in self.said if one.is_new and one.question):
            return True
        if parameter.kind in CLOCKED:
            return bool(find_dates(text) or find_times(text))
        if parameter.is_number:
            return bool(find_numbers(text))
        leads = links_of(self.language).route.get(parameter.kind, ())
        return any(lead.strip() in text for lead in leads) or json_type(parameter.schema) == "object"

    def _likeness(self, view: ToolView) -> float:
        """The share of what a tool does that the user says; 1 where it is said in one of the known ways."""
        if any(view.name == one.tool for one in self.redone):
            return 1.0
        said = "\n".join(one.text for one in self.said if one.is_new).lower()
        if any(key.lower() in said for key in (*view.keys, *view.actions)):
            return 1.0
        stems = {deep_stem(word) for word in _LEFT_WORD.findall(said)}
        wanted = {deep_stem(word) for word in split_name(view.name.rpartition(".")[2])} - _FAINT
        return len(wanted & stems) / len(wanted) * 0.99 if wanted else 0.0


class Layout:
    """The user's words with the places that values take in them."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._taken: dict[tuple[int, int, int], int] = {}
        self._placed: dict[str, Place] = {}
        self._calls = 0

    def take(self, call: OfferedCall) -> float:
        """What the values of a call cost, each taking its place."""
        self._calls += 1
        if call.view is None:
            return _UNSAID
        views = {one.name: one for one in call.view.parameters}  # what the tool lacks is said by nobody
        stated = ((name, value) for name, value in call.arguments.items() if name in views)
        parts = chain.from_iterable(
            _single(views[name], value, {"title": name, **views[name].schema}) for name, value in stated
        )
        placed = [(part, self._talk.places(part, call.view)) for part in parts if part.value != UNKNOWN]
        return sum(self._place(part, places) for part, places in sorted(placed, key=lambda one: len(one[1])))

    def _place(self, part: Part, places: Sequence[Place]) -> float:
        free = [one for one in places if not self._owners(one)]
        if free:
            best = min(free, key=lambda one: (one.cost, -one.said, -one.start))
            self._taken[best[:3]] = self._calls
            self._placed[part.parameter.name] = best
            return best.cost
        again = any(part.value == one.arguments.get(part.parameter.name) for one in self._talk.redone)
        if again or fold(str(part.value)) in self._talk.returned:
            return 0.0
        if places:
            shared = all(self._calls not in self._owners(one) for one in places)
            return min(one.cost for one in places) + (_UNCALLED if shared else _REUSED)
        return _UNSAID

    def _owners(self, place: Place) -> list[int]:
        taken = ((*span, call) for span, call in self._taken.items())
        return [
            call for said, start, end, call in taken if said == place.said and start < place.end and place.start < end
        ]

    def crossings(self, made: int) -> int:
        """How often the values of one call stand between those of another, of calls that were not `made` before."""
        spans: dict[tuple[int, int], list[int]] = {}
        for (said, start, _), call in self._taken.items():
            if call > made:
                spans.setdefault((said, call), []).append(start)
        ranges = [(said, min(starts), max(starts)) for (said, _), starts in spans.items()]
        pairs = combinations(ranges, 2)
        return sum(one[0] == other[0] and one[1] < other[2] and other[1] < one[2] for one, other in pairs)

    def rest(self, calls: Sequence[OfferedCall]) -> float:
        """What the words cost that these calls are not said in."""
        language = self._talk.language
        phrases = [phrase_index((*glue_of(language, *SECTIONS), of(language).last))]
        phrases += [_said_for(call.view, tuple(call.arguments), language) for call in calls if call.view]
        cost = 0.0
        for at, one in enumerate(self._talk.said):
            if not one.is_new:
                continue
            taken = [Stretch(start, end) for said, start, end in self._taken if said == at]
            taken += self._replaced(at, calls)
            left = left_over_of(one.text, phrases, taken)
            cost += sum(map(_weight, left))
            for mark in find_corrections(one.text)[-1:]:
                behind = [Stretch(max(start - mark.end, 0), end - mark.end) for start, end in taken if end > mark.end]
                twice = left_over_of(one.text[mark.end :], phrases, behind)
                cost += 2 * sum(_weight(piece) for piece in twice if any(piece in whole for whole in left))
        return cost

    def _replaced(self, at: int, calls: Sequence[OfferedCall]) -> Iterator[Stretch]:
        """The stretches of a turn that say values which this option takes from words behind them."""
        said, language = self._talk.said[at], self._talk.language
        yield from (Stretch(*one.span()) for one in taken_back(language).finditer(said.text))
        for view in {call.tool: call.view for call in calls if call.view}.values():
            first = min((mark.start for mark in find_corrections(said.text)), default=len(said.text))
            callings = [one for one in calls_in(view, said.text, language) if one.at <= first or not first]
            for one in callings:
                if self._is_later(one.parameter, at, one.at, said.text):
                    yield _called_stretch(one, said.text)
            answered = [one.name for one in view.parameters if said.question and is_called(one, said.question)]
            if not callings and any(self._is_later(name, at, 0, said.text) for name in answered):
                yield Stretch(0, _clause_end(said.text, 0))

    def _is_later(self, parameter: str, at: int, start: int, text: str) -> bool:
        """Whether the value of a parameter is taken from another turn behind a place, or from a correction behind it."""
        placed = self._placed.get(parameter)
        if placed is None or placed.said < at:
            return False
        if placed.said > at:
            return True
        return any(start <= mark.start < placed.start for mark in find_corrections(text))


_CLAUSE_END = re.compile(widened(r"@[,.;!?]"))


def _clause_end(text: str, start: int) -> int:
    found = _CLAUSE_END.search(text, start)
    return found.start() if found else len(text)


def _called_stretch(called: "Calling", text: str) -> Stretch:
    """Where the value stands that a parameter is called for: behind the place, or before it in its clause."""
    if called.is_behind:
        return Stretch(called.at, _clause_end(text, called.at))
    ends = [one.end() for one in _CLAUSE_END.finditer(text, 0, called.at)]
    return Stretch(ends[-1] if ends else 0, called.at)


def _weight(left: str) -> float:
    """What words cost that are left over: most where they look like a value."""
    words = _LEFT_WORD.findall(left)
    count = sum(1.0 if script_of(word) == COMMON_SCRIPT else len(word) / 2 for word in words)
    return _WORD * count + (_TELLING if words and _TELLS.search(left) else 0.0)


def _single(parameter: ParameterView, value: JsonValue, schema: JsonSchema) -> Iterator[Part]:
    """The single values of an argument."""
    if isinstance(value, list):
        for one in value:
            yield from _single(parameter, one, schema.get("items") or {})
    elif isinstance(value, dict):
        members = schema.get("properties") or {}
        for name, one in value.items():
            yield from _single(parameter, one, {"title": name, **(members.get(name) or {})})
    else:
        yield Part(parameter, value, schema)


@lru_cache(2048)
def _said_for(view: ToolView, arguments: tuple[str, ...], language: Language) -> PhraseIndex:
    """What people say for a tool and for the arguments that a call has."""
    phrases = [*view.actions, *view.keys, name_phrase(view.name), *split_name(view.name)]
    for parameter in view.parameters:
        if parameter.name in arguments:
            for cue in cues(parameter):
                phrases += spoken_of(cue, language)
            phrases.append(of(language).rules.counted_argument(parameter.cues.among(language)))
            for name, member in (parameter.schema.get("properties") or {}).items():
                phrases += cues_of(name, str(member.get("description") or "")).spoken
    return phrase_index(tuple(phrases))


def _places(part: Part, view: ToolView, said: Sequence[Said], language: Language) -> Iterator[Place]:
    """Where a value is said, each place with what it costs to take it for its parameter."""
    for at, one in enumerate(said):
        text = one.text
        for _ in range(_MOST_PLACES):
            span = locate(part.value, part.schema, text)
            found = Stretch(span.start, span.end) if span and span.end > span.start else None
            if found is None and isinstance(part.value, bool):
                found = _find_answer(part, text, one, language)
            if found is None:
                break
            stale = _MISPLACED * _is_replaced(part, view, Place(at, *found, 0.0), said, language)
            yield Place(at, *found, stale or _cost_of_owner(part, view, one, found, language))
            text = f"{text[: found.start]}{' ' * (found.end - found.start)}{text[found.end :]}"


def _find_answer(part: Part, text: str, said: Said, language: Language) -> Stretch | None:
    """A yes or no behind what the parameter is called, or to a question for it."""
    answer = requests_in(language).answers[bool(part.value)]
    for cue in cues(part.parameter):
        for before in links_of(language).behind:
            found = re.search(loosely(cue + before + answer), text, re.IGNORECASE)
            if found:
                return Stretch(*found.span())
    book = dialogues_in(language)
    shapes = book.yes if part.value else book.no
    is_answer = any(fold(shape) == fold(text) for shape in shapes)
    return Stretch(0, len(text)) if is_answer and is_called(part.parameter, said.question) else None


def _cost_of_owner(part: Part, view: ToolView, said: Said, at: Stretch, language: Language) -> float:
    """What it costs to take a place for a parameter: much where the words beside it call another one."""
    if json_type(part.parameter.schema) == "object":  # its members are called by names of their own
        return 0.0
    callings = [
        one
        for one in calls_in(view, said.text, language)
        if (at.start <= one.at < at.end if one.is_behind else at.start < one.at <= at.end + 1)
    ]
    if any(one.parameter == part.parameter.name for one in callings):
        return 0.0
    if any(one.is_sure and not _ends_action(one, view, said.text) for one in callings):
        return _MISPLACED
    left = squeeze(said.text[: at.start])
    for kind, leads in links_of(language).route.items():
        if any(left.endswith(squeeze(lead)) for lead in leads) and part.parameter.kind in ("origin", "destination"):
            return 0.0 if part.parameter.kind == kind else _MISPLACED
    is_correction = any(mark.start == 0 for mark in find_corrections(said.text))
    if not said.question or is_correction or is_called(part.parameter, said.question):
        return 0.0
    return _MISPLACED / 2 if any(is_called(one, said.question) for one in view.parameters) else 0.0


def _ends_action(calling: Calling, view: ToolView, text: str) -> bool:
    """Whether what calls a parameter is said for what the tool does: "ticket" in "switch my train ticket to May 3"."""
    called = view.cues.pattern.match(text, calling.start) if view.cues else None
    before = text[: called.end()].lower() if called else ""
    return any(before.endswith(action.lower()) for action in view.actions)


def _is_replaced(part: Part, view: ToolView, place: Place, said: Sequence[Said], language: Language) -> bool:
    """Whether another value is said for the parameter behind a place: in a later turn, or as a correction."""
    text = said[place.said].text
    if any(one.start() <= place.start and place.end <= one.end() for one in taken_back(language).finditer(text)):
        return True
    marks = [one.start for one in find_corrections(text) if one.start >= place.end]
    if any(not _LEFT_WORD.search(text[place.end : mark]) for mark in marks):
        return True
    for at in range(place.said, len(said)):
        first = 0 if at > place.said else min(marks, default=len(text))
        for one in calls_in(view, said[at].text, language):
            is_its = one.is_sure and one.at > first and one.parameter == part.parameter.name
            if is_its and not _stands_at(part, said[at].text, one):
                return True
    return False


def _stands_at(part: Part, text: str, call: Calling) -> bool:
    """Whether a value is what a place calls."""
    words = text[call.at :] if call.is_behind else text[: call.at]
    found = locate(part.value, part.schema, words)
    if found is None:
        return not _LEFT_WORD.search(words)
    if call.is_behind:
        return found.start <= _BESIDE
    ends = (found.end for at in range(len(words)) if (found := locate(part.value, part.schema, words[at:])))
    return max(ends, default=0) >= len(words) - _BESIDE
