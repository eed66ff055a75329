"""Asking for one parameter: worded in one of many ways, and read over until it can only be the question for that one."""

import re
from random import Random

from pydantic import JsonValue

from language.calls.questions import asked_parameters, called, counting, group_of, is_plural, is_route_end
from language.calls.tools import ParameterView, ToolView
from language.names import is_chinese
from language.values import locate, write_value
from llm.template.slot_phrases import SLOT_BOOKS
from warehouse.records import Language

_ATTEMPTS = 8
_UNNAMED_SHARE = 0.4
_GENERAL_SHARE = 0.35
_OPTIONS_SHARE = 0.35
_COUNTED_SHARE = 0.6
_MOST_OPTIONS = 5
_AMOUNT = re.compile("amount|金额", re.IGNORECASE)
_ROUTES = frozenset({"origin", "destination"})
_ONCE = {"date": frozenset({"date", "moment", "birthday"}), "time": frozenset({"time", "moment"})}


def word_question(
    view: ToolView, parameter: ParameterView, known: dict[str, JsonValue], language: Language, rng: Random
) -> str:
    """A question that asks for exactly this parameter and says none of the values that are known."""
    for _ in range(_ATTEMPTS):
        question = _propose(view, parameter, language, rng)
        asked = asked_parameters(view, question, known)
        if asked == (parameter,) and not _says(question, known, view) and is_chinese(question) == (language == "zh"):
            return question
    told = called(parameter, language)
    return f"What is the {told}?" if language == "en" else f"请问{told}是什么？"


def _propose(view: ToolView, parameter: ParameterView, language: Language, rng: Random) -> str:
    book = SLOT_BOOKS[language]
    told = called(parameter, language)
    if parameter.kind == "boolean":
        return _shape(rng.choice(book.flags), parameter.topic or told)
    if parameter.kind == "choice" and rng.random() < _OPTIONS_SHARE:
        options = _options(parameter, language, rng)
        if options:
            return _shape(rng.choice(book.options), told).replace("{o}", options)
    counted = counting(parameter, language)
    if counted and rng.random() < _COUNTED_SHARE:
        return rng.choice(book.counted).replace("{u}", counted.asked)
    if counted and is_plural(told):
        return _shape(rng.choice(book.questions), told)
    if parameter.kind in book.unnamed and _is_only_one(view, parameter) and rng.random() < _UNNAMED_SHARE:
        return rng.choice(book.unnamed[parameter.kind])
    own = book.named.get(group_of(parameter), ()) or book.named["name"]
    return _shape(rng.choice(book.questions if rng.random() < _GENERAL_SHARE else own), told)


def _is_only_one(view: ToolView, parameter: ParameterView) -> bool:
    """Whether a question that names nothing can only mean this parameter."""
    alike = _ONCE.get(parameter.kind, frozenset({parameter.kind}))
    others = [one for one in view.parameters if one.kind in alike]
    if parameter.kind == "money" and not _AMOUNT.search(f"{parameter.name} {parameter.schema.get('description', '')}"):
        return False
    return len(others) == 1 and (parameter.kind not in _ROUTES or is_route_end(parameter))


def _options(parameter: ParameterView, language: Language, rng: Random) -> str:
    """All options of a choice in words, "" where they are too many to be read out."""
    book = SLOT_BOOKS[language]
    options = parameter.schema.get("enum") or []
    if not 1 < len(options) <= _MOST_OPTIONS:
        return ""
    said = [write_value(option, parameter.schema, language, rng) for option in options]
    return book.next_option.join(said[:-1]) + book.last_option + said[-1]


def _shape(shape: str, told: str) -> str:
    return shape.replace("{c}", told).replace("{C}", told[:1].upper() + told[1:])


def _says(question: str, known: dict[str, JsonValue], view: ToolView) -> bool:
    """Whether the question gives a known value away."""
    return any(
        not isinstance(value, bool) and locate(value, view.properties.get(name, {}), question) is not None
        for name, value in known.items()
    )
