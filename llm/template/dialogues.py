"""Asking for one parameter and answering with one value, read over until each can only mean that one."""

import re
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.packs import COMMON_SCRIPT, LanguagePattern, of, packs_of, widened, writes
from callwright.language.text import capitalised
from callwright.language.values import locate, write_value
from callwright.llm.template.grammar.questions import asked_parameters, called, counting, group_of, is_route_end
from callwright.llm.template.grammar.stating import Shapes, StatedParameter, dialogues_in, in_quotes, requests_in, say
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language

_ATTEMPTS = 8
_UNNAMED_SHARE = 0.4
_GENERAL_SHARE = 0.35
_OPTIONS_SHARE = 0.35
_COUNTED_SHARE = 0.6
_MOST_OPTIONS = 5
_AMOUNT = LanguagePattern("@{amount}")
_ROUTES = frozenset({"origin", "destination"})
_ONCE = {"date": frozenset({"date", "moment", "birthday"}), "time": frozenset({"time", "moment"})}


def word_question(
    view: ToolView, parameter: ParameterView, known: dict[str, JsonValue], language: Language, rng: Random
) -> str:
    """A question that asks for exactly this parameter and says none of the values that are known."""
    for _ in range(_ATTEMPTS):
        question = _propose_question(view, parameter, language, rng)
        asked = asked_parameters(view, question, known)
        if asked == (parameter,) and not _says(question, known, view) and writes(language, question):
            return question
    named = called(parameter, language)
    return _shape(dialogues_in(language).last_question, named)


def _propose_question(view: ToolView, parameter: ParameterView, language: Language, rng: Random) -> str:
    book = dialogues_in(language)
    named = called(parameter, language)
    if parameter.kind == "boolean":
        return _shape(rng.choice(book.flags), parameter.topic or named)
    if parameter.kind == "choice" and rng.random() < _OPTIONS_SHARE:
        options = _options(parameter, language, rng)
        if options:
            return _shape(rng.choice(book.options), named).replace("{o}", options)
    counted = counting(parameter, language)
    if counted and rng.random() < _COUNTED_SHARE:
        return rng.choice(book.counted).replace("{u}", counted.asked)
    if counted and of(language).rules.is_plural(named):
        return _shape(rng.choice(book.questions), named)
    if parameter.kind in book.unnamed and _is_only_one(view, parameter) and rng.random() < _UNNAMED_SHARE:
        return rng.choice(book.unnamed[parameter.kind])
    own = book.named.get(group_of(parameter), ()) or book.named["name"]
    return _shape(rng.choice(book.questions if rng.random() < _GENERAL_SHARE else own), named)


def _is_only_one(view: ToolView, parameter: ParameterView) -> bool:
    """Whether a question that names nothing can only mean this parameter."""
    alike = _ONCE.get(parameter.kind, frozenset({parameter.kind}))
    others = [one for one in view.parameters if one.kind in alike]
    if parameter.kind == "money" and not _AMOUNT.everywhere.search(
        f"{parameter.name} {parameter.schema.get('description', '')}"
    ):
        return False
    return len(others) == 1 and (parameter.kind not in _ROUTES or is_route_end(parameter))


def _options(parameter: ParameterView, language: Language, rng: Random) -> str:
    """All options of a choice in words, "" where they are too many to be read out."""
    book = dialogues_in(language)
    options = parameter.schema.get("enum") or []
    if not 1 < len(options) <= _MOST_OPTIONS:
        return ""
    stated = [write_value(option, parameter.schema, language, rng) for option in options]
    return book.next_option.join(stated[:-1]) + book.last_option + stated[-1]


def _shape(shape: str, named: str) -> str:
    shape = packs_of(shape)[0].rules.in_number(shape, named)
    return shape.replace("{c}", named).replace("{C}", capitalised(named))


def _says(question: str, known: dict[str, JsonValue], view: ToolView) -> bool:
    """Whether the question gives a known value away."""
    return any(
        not isinstance(value, bool) and locate(value, view.properties.get(name, {}), question) is not None
        for name, value in known.items()
    )


_ANSWER_ATTEMPTS = 10
_BOLD_ATTEMPTS = 6
_COUNT_SHARE = 0.5
_QUOTED_SHARE = 0.5
_STOP = re.compile(widened(r"[.!?;:](?=\s|$)|@[{.!?;:}\n]"))
_UNMISTAKABLE = frozenset({"email", "link", "pattern", "code", "phone", "plate", "file"})


class _Filling(NamedTuple):
    """A shape and what goes into it: the value with and without quotation marks, and what the parameter is called."""

    shape: str
    shown: str
    words: str
    named: str


class SlotReply(NamedTuple):
    """An answer, and the words in it that state the value."""

    answer: str
    words: str

    def reply(self) -> dict[str, JsonValue]:
        """The answer as the schema wants it."""
        return {"answer": self.answer, "words": self.words}


def word_answer(
    view: ToolView, slot: tuple[ParameterView, JsonValue], language: Language, rng: Random, *, is_bare: bool
) -> SlotReply:
    """An answer to the question for this parameter; ReplyError where no words for the value can be found.

    A sentence is worded so that it is understood without its question, as merged trajectories need it.
    """
    parameter, value = slot
    for attempt in range(_ANSWER_ATTEMPTS):
        plain = attempt >= _BOLD_ATTEMPTS
        answered = _propose_answer(parameter, value, language, rng, is_bare=is_bare, plain=plain)
        if locate(value, _titled(parameter), answered.words) is None or answered.words not in answered.answer:
            continue
        return answered
    raise ReplyError(f"template/v1 finds no words in {language!r} that say {value!r} for {parameter.name!r}.")


def _titled(parameter: ParameterView) -> JsonSchema:
    return {"title": parameter.name, **parameter.schema}


def _propose_answer(
    parameter: ParameterView, value: JsonValue, language: Language, rng: Random, *, is_bare: bool, plain: bool
) -> SlotReply:
    stated = say(parameter, value, language, rng, plain=plain)
    named = called(parameter, language)
    if isinstance(value, bool):
        return _flag(stated, language, rng, value=value, is_bare=is_bare)
    shown = _shown(stated, parameter, language, rng, plain=plain)
    if is_bare:
        shape = rng.choice(_bare_shapes(parameter, value, language, rng))
    else:
        shapes = dialogues_in(language).sentences_by_kind.get(group_of(parameter), dialogues_in(language).sentences)
        shape = rng.choice(shapes[:2] if plain else shapes)
    return _filled(_Filling(shape, shown, stated.words, named), parameter, language)


def _bare_shapes(parameter: ParameterView, value: JsonValue, language: Language, rng: Random) -> Shapes:
    book = dialogues_in(language)
    if counting(parameter, language) and value not in (1, "1") and rng.random() < _COUNT_SHARE:
        return book.bare_count
    return book.bare_by_kind.get(parameter.kind) or book.bare_by_kind.get(group_of(parameter)) or book.bare


def _shown(stated: StatedParameter, parameter: ParameterView, language: Language, rng: Random, *, plain: bool) -> str:
    """The value in quotation marks where it would not be distinguished from what stands around it, else as it is."""
    if stated.words == stated.shown or not isinstance(stated.value, str):
        return stated.words
    if parameter.kind in _UNMISTAKABLE:
        return in_quotes(stated.words, requests_in(language)) if " " in stated.words else stated.words
    is_message = group_of(parameter) == "message" and rng.random() < _QUOTED_SHARE
    needs_marks = plain or is_message or _STOP.search(stated.words)
    return in_quotes(stated.words, requests_in(language)) if needs_marks else stated.words


def _flag(stated: StatedParameter, language: Language, rng: Random, *, value: bool, is_bare: bool) -> SlotReply:
    book = dialogues_in(language)
    if is_bare or not stated.is_frame:
        answer = rng.choice(book.yes if value else book.no)
        return SlotReply(answer, answer)
    stop = requests_in(language).stop
    shown = capitalised(stated.words)
    return SlotReply(f"{shown}{stop}", shown)


def _filled(filling: _Filling, parameter: ParameterView, language: Language) -> SlotReply:
    shape, shown, words, named = filling
    shape = of(language).rules.agreed(shape, named)
    counted = counting(parameter, language)
    text = shape.replace("{c}", named).replace("{C}", capitalised(named))
    text = text.replace("{u}", counted.unit if counted else "").replace("{v}", shown)
    if (
        of(language).script == COMMON_SCRIPT
        and shape.startswith("{v}")
        and parameter.kind not in _UNMISTAKABLE
        and shown[:1].islower()
    ):
        text = capitalised(text)
        words = words if words in text else capitalised(words)
    return SlotReply(text, words)
