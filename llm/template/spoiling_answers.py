"""Answers with one defect, as a careless writer makes them."""

from collections.abc import Callable
from random import Random

from pydantic import JsonValue

from language.calls.defects import EXTRA_ARGUMENT, HALLUCINATED_VALUE, WRONG_ARGUMENT, other_value
from language.calls.sampling import make_value
from language.calls.tools import ParameterView, ToolView
from language.phrasebook import PHRASEBOOKS
from language.values import locate
from llm.template.slot_answers import Answered, word_answer
from warehouse.records import Language

Slot = tuple[ParameterView, JsonValue]
_HALF = 0.5
_ENDS = ".!?。！？"


def spoil_answer(defect: str, view: ToolView, slot: Slot, language: Language, rng: Random) -> Answered | None:
    """An answer with this defect in it, None where it can't be made of this slot."""
    spoil = _SPOILERS.get(defect)
    return spoil(view, slot, language, rng) if spoil else None


def _mistaken(view: ToolView, slot: Slot, language: Language, rng: Random) -> Answered | None:
    """Says the right value, and then another one for the same parameter."""
    wrong = _another(view, slot, language, rng)
    return None if wrong is None else _followed(view, slot, wrong, language, rng)


def _made_up(view: ToolView, slot: Slot, language: Language, rng: Random) -> Answered | None:
    """Says another value, and claims words for the right one that are not there."""
    parameter, value = slot
    wrong = _another(view, slot, language, rng)
    if wrong is None or locate(value, parameter.schema, wrong.answer):
        return None
    return Answered(wrong.answer, word_answer(view, slot, language, rng, is_bare=True).words)


def _added(view: ToolView, slot: Slot, language: Language, rng: Random) -> Answered | None:
    """Says a value for a parameter that nobody asked for, and does not own up to it."""
    others = [one for one in view.parameters if one.name != slot[0].name]
    if not others:
        return None
    extra = rng.choice(others)
    more = make_value(extra.name, extra.schema, language, rng)
    return _followed(view, slot, word_answer(view, (extra, more), language, rng, is_bare=False), language, rng)


def _another(view: ToolView, slot: Slot, language: Language, rng: Random) -> Answered | None:
    parameter, value = slot
    other = other_value(view, parameter.name, value, language, rng)
    return None if other is None else word_answer(view, (parameter, other), language, rng, is_bare=False)


def _followed(view: ToolView, slot: Slot, more: Answered, language: Language, rng: Random) -> Answered:
    right = word_answer(view, slot, language, rng, is_bare=rng.random() < _HALF)
    stop = "" if right.answer[-1] in _ENDS else PHRASEBOOKS[language].stop
    space = "" if language == "zh" else " "
    return right._replace(answer=f"{right.answer}{stop}{space}{more.answer}")


_SPOILERS: dict[str, Callable[[ToolView, Slot, Language, Random], Answered | None]] = {
    WRONG_ARGUMENT: _mistaken,
    HALLUCINATED_VALUE: _made_up,
    EXTRA_ARGUMENT: _added,
}
