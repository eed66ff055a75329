"""Questions for one parameter, answers with its value, and what a question asks for."""

import re
from collections.abc import Collection, Iterable, Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView, ToolView, squeeze
from callwright.language.packs import language_of, of, signs, widened, writes
from callwright.language.pages import as_sentence, draw_line, has_line, shapes_in
from callwright.language.saying import StatedParameter, say
from callwright.language.schemas import choices_of
from callwright.language.text import capitalised
from callwright.language.values import locate
from callwright.language.wording import is_cut
from callwright.llm.template.sentences import asked_by, phrase_for, questions_for
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_SENTENCE = re.compile(widened("@[^?.!]+@[?.!]*"))
_ATTEMPTS = 8
_BOLD_ATTEMPTS = 5
_NAMED_SHARE = 0.3  # of the answers that may name their parameter


def asked_parameters(
    view: ToolView, question: str, known: Collection[str] = ()
) -> tuple[ParameterView, ...]:
    """Return the parameters that a question asks for, in its order.

    A known one counts as asked for only if nothing else is.
    """
    if own := asked_by(view, question, language_of(question)):
        return (own,)
    open_parameters: list[ParameterView] = []
    for sentence in _SENTENCE.findall(question):
        fresh = [one for one in view.parameters if one not in open_parameters]
        open_ones = [one for one in fresh if one.name not in known]
        parameter = asked_by(view, sentence, language_of(question)) or _called(
            view, sentence, open_ones, fresh
        )
        open_parameters += [parameter] if parameter and parameter in fresh else []
    return tuple(open_parameters)


def _called(view: ToolView, sentence: str, *allowed: list[ParameterView]) -> ParameterView | None:
    """Return the parameter named by the longest part of a sentence, or None.

    It comes from the first group in `allowed` of which any is named.
    """
    squeezed, table = squeeze(sentence), view.table
    hits = [
        (len(title), one)
        for one in view.parameters
        for title in one.titles
        if squeeze(title) in squeezed
    ]
    if table is not None:
        hits += [
            (len(one[0]), view.parameters[table.owner(one[0])])
            for one in table.pattern.finditer(sentence)
        ]
    for some in allowed:
        named = [hit for hit in hits if hit[1] in some]
        if named:
            return max(named, key=lambda hit: hit[0])[1]
    return None


def word_question(
    view: ToolView,
    parameter: ParameterView,
    known: dict[str, JsonValue],
    language: Language,
    rng: Random,
) -> str:
    """Return a question for exactly this parameter that states none of the known values."""
    own = questions_for(view, parameter, language)
    if parameter.topic and writes(language, parameter.topic):
        called = parameter.topic
    else:
        called = parameter.called(language)
    place = "dialogues.flags" if parameter.kind == "boolean" else "dialogues.questions"
    for _ in range(_ATTEMPTS):
        question = rng.choice(own) if own else draw_line(language, place, rng, called=called)
        says_known = any(
            not isinstance(value, bool)
            and locate(value, view.properties.get(name, {}), question) is not None
            for name, value in known.items()
        )
        if (
            asked_parameters(view, question, known) == (parameter,)
            and not says_known
            and writes(language, question)
        ):
            return question
    return plain_question(parameter.called(language), language)


def plain_question(called: str, language: Language) -> str:
    """Return the question for the thing with this name, always in the same words."""
    return as_sentence(shapes_in(language, "dialogues.questions")[0], {"called": called})


class ValueLine(NamedTuple):
    """A line that says a value, and the words in it that state it."""

    text: str
    words: str

    def in_slot(self, name: str) -> str:
        """Return the line with the words in the slot of this name."""
        return in_slots(self.text, [(name, self.words)])


def in_slots(text: str, said: Iterable[tuple[str, str]]) -> str:
    """Return a text with the words of each pair, of a slot's name and its words, in that slot.

    Longer words are looked for first, as whole words, and the last of several places counts.
    """
    places: list[tuple[int, int, str]] = []
    for name, words in sorted(said, key=lambda one: -len(one[1])):
        found = [
            (one.start(), one.end())
            for one in re.finditer(re.escape(words), text)
            if all(one.end() <= start or end <= one.start() for start, end, _ in places)
        ]
        whole = [place for place in found if not is_cut(text, *place)]
        if found:
            places.append((*(whole or found)[-1], name))
    for start, end, name in sorted(places, reverse=True):
        text = f"{text[:start]}[{name}: {text[start:end]}]{text[end:]}"
    return text


Slot = tuple[ParameterView, JsonValue]


class LineWriter(NamedTuple):
    """Writes values in the lines of a place, in a language; `plain` uses the safest words."""

    language: Language
    place: str
    rng: Random
    plain: bool = False

    def say(
        self, view: ToolView, slot: Slot, ways: Sequence[str], old: JsonValue = None
    ) -> ValueLine | None:
        """Return a line that states a value in the first of these ways that has words for it.

        None if no way does. The ways: a phrase of the tool's `own`, words that speak for
        themselves (`frame`), `bare` of quotation marks, with the `old` value, with what it is
        `called`, or alone (`value`).
        """
        parameter, value = slot
        stated = say(parameter, value, self.language, self.rng, plain=self.plain)
        for way in ways:
            said = self._slots(view, stated, way, old)
            if said is None or not has_line(self.language, self.place, *said[0]):
                continue
            slots, words = said
            as_is = ("value",) if _is_own_text(parameter, value, words) else ()
            line = draw_line(self.language, self.place, self.rng, as_is=as_is, **slots)
            # it takes the name to say what the yes is to
            whole = (line.rstrip(signs(".")),) if "answer" in slots else ()
            for phrase in (*whole, words, capitalised(words)):
                if (
                    phrase in line
                    and locate(value, {"title": parameter.name, **parameter.schema}, phrase)
                    is not None
                ):
                    return ValueLine(line, phrase)
        return None

    def _slots(
        self, view: ToolView, stated: StatedParameter, way: str, old: JsonValue
    ) -> tuple[dict[str, str], str] | None:
        """Return slots for a line in this way and the words of the value, None if impossible."""
        parameter, value, words, shown, is_frame = stated
        if way == "own":
            own = phrase_for(view, parameter, value, self.language, self.rng)
            return ({"phrase": own[0]}, own[1]) if own else None
        if way == "frame":
            return ({"phrase": words}, words) if is_frame else None
        slots = {"value": words if way == "bare" and not self.plain else shown}
        if isinstance(value, bool):
            words = of(self.language).answers[value]
            slots = {"answer": words}
        if way == "called":
            slots["called"] = parameter.called(self.language)
        if way == "old" and isinstance(old, str | int | float):
            slots["old"] = say(parameter, old, self.language, self.rng, plain=False).shown
        return None if way == "old" and "old" not in slots else (slots, words)


def _is_own_text(parameter: ParameterView, value: JsonValue, words: str) -> bool:
    """Whether the words are the letters of a text that nobody chose from a list: a login name."""
    return words == value and not choices_of(parameter.schema)


def word_answer(
    view: ToolView, slot: Slot, language: Language, rng: Random, *, is_bare: bool
) -> ValueLine:
    """Return an answer to the question for this parameter.

    An answer that is not bare names its parameter about half the time, unless the tool has words
    of its own for it. Raises ReplyError if no words for the value can be found.
    """
    parameter, value = slot
    is_bare = is_bare or rng.random() > _NAMED_SHARE
    for attempt in range(_ATTEMPTS):
        plain = attempt >= _BOLD_ATTEMPTS
        writer = LineWriter(language, "dialogues.answers", rng, plain)
        if answered := writer.say(view, slot, () if plain else ("own",)):
            return answered
        if isinstance(value, bool) and is_bare:
            answer = draw_line(language, f"dialogues.{'yes' if value else 'no'}", rng)
            return ValueLine(answer, answer)
        if answered := writer.say(view, slot, ("frame", "bare" if is_bare else "called", "called")):
            return answered
    raise ReplyError(
        f"template/v1 finds no words in {language!r} that say {value!r} for {parameter.name!r}."
    )
