"""Wordings and answers with one defect, as a careless writer makes them; some look flawless from outside."""

from collections.abc import Callable
from functools import cache
from random import Random

from pydantic import JsonValue

from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.packs import COMMON_SCRIPT, known, of, script_of, signs, writes
from callwright.language.values import locate
from callwright.llm.template.dialogues import SlotReply, word_answer
from callwright.llm.template.grammar.defects import (
    EXTRA_ARGUMENT,
    HALLUCINATED_VALUE,
    MISSING_ARGUMENT,
    WRONG_ARGUMENT,
    WRONG_TOOL,
    other_value,
)
from callwright.llm.template.grammar.phrasebook import requests_in
from callwright.llm.template.grammar.stating import say
from callwright.llm.template.wording import Worded, compose, quote_values, word_call
from callwright.warehouse.records import Language

Slot = tuple[ParameterView, JsonValue]
_HALF = 0.5
_ENDS = signs(".!?")


def spoil_answer(defect: str, view: ToolView, slot: Slot, language: Language, rng: Random) -> SlotReply | None:
    """An answer with this defect in it, None where it can't be made of this slot."""
    spoil = _SPOILERS.get(defect)
    return spoil(view, slot, language, rng) if spoil else None


def _mistaken(view: ToolView, slot: Slot, language: Language, rng: Random) -> SlotReply | None:
    """Says the right value, and then another one for the same parameter."""
    wrong = _another(view, slot, language, rng)
    return None if wrong is None else _followed(view, slot, wrong, language, rng)


def _made_up(view: ToolView, slot: Slot, language: Language, rng: Random) -> SlotReply | None:
    """Says another value, and claims words for the right one that are not there."""
    parameter, value = slot
    wrong = _another(view, slot, language, rng)
    if wrong is None or locate(value, parameter.schema, wrong.answer):
        return None
    return SlotReply(wrong.answer, word_answer(view, slot, language, rng, is_bare=True).words)


def _added(view: ToolView, slot: Slot, language: Language, rng: Random) -> SlotReply | None:
    """Says a value for a parameter that nobody asked for, and does not own up to it."""
    others = [one for one in view.parameters if one.name != slot[0].name]
    if not others:
        return None
    extra = rng.choice(others)
    more = make_value(extra.name, extra.schema, language, rng)
    return _followed(view, slot, word_answer(view, (extra, more), language, rng, is_bare=False), language, rng)


def _another(view: ToolView, slot: Slot, language: Language, rng: Random) -> SlotReply | None:
    parameter, value = slot
    other = other_value(view, parameter.name, value, language, rng)
    return None if other is None else word_answer(view, (parameter, other), language, rng, is_bare=False)


def _followed(view: ToolView, slot: Slot, more: SlotReply, language: Language, rng: Random) -> SlotReply:
    right = word_answer(view, slot, language, rng, is_bare=rng.random() < _HALF)
    stop = "" if right.answer[-1] in _ENDS else requests_in(language).stop
    space = of(language).space
    return right._replace(answer=f"{right.answer}{stop}{space}{more.answer}")


_SPOILERS: dict[str, Callable[[ToolView, Slot, Language, Random], SlotReply | None]] = {
    WRONG_ARGUMENT: _mistaken,
    HALLUCINATED_VALUE: _made_up,
    EXTRA_ARGUMENT: _added,
}


_TRIES = 4
_OPPOSITE_SHARE = 0.6
_OWNED_UP_SHARE = 0.25


@cache
def _opposites() -> dict[str, str]:
    """Actions, and what a careless writer takes for them."""
    return {action: other for code in known() for action, other in of(code).data["defects"]["opposites"].items()}


def spoil_wording(
    defect: str, view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random
) -> Worded | None:
    """A wording with this defect in it, None where it can't be made of this call."""
    spoil = _WORDING_SPOILERS.get(defect)
    return spoil(view, arguments, language, rng) if spoil else None


def _other_action(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded | None:
    """Asks for something else, with all values in place."""
    action = view.actions[0]
    opposites = [other + action[len(verb) :] for verb, other in _opposites().items() if action.startswith(verb)]
    fitting = [other for other in opposites if writes(language, other)]
    options = (
        fitting if fitting and rng.random() < _OPPOSITE_SHARE else list(of(language).data["defects"]["other_actions"])
    )
    action = rng.choice(
        [other for other in options if other not in view.keys] or list(of(language).data["defects"]["other_actions"])
    )
    return quote_values(compose(view, arguments, language, rng, action=action))


def _left_out(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded | None:
    """Leaves one value out; says nothing of it, or claims that words without it say it."""
    if not arguments:
        return None
    name = rng.choice(list(arguments))
    rest = {other: value for other, value in arguments.items() if other != name}
    worded = word_call(view, rest, language, rng)
    if locate(arguments[name], view.properties[name], worded.request) is not None:
        return None
    claims = [None, _last_words(worded.request), *worded.mentions.values()]
    words = rng.choice(claims)
    return worded if not words else worded._replace(mentions={**worded.mentions, name: words})


def _last_words(request: str) -> str:
    """The end of a request: two words of it, six Chinese characters."""
    bare = request.rstrip(_ENDS)
    return bare[-6:] if script_of(bare) != COMMON_SCRIPT else " ".join(bare.split()[-2:])


def _with_addition(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded | None:
    """States a value that was not drafted; mostly without owning up to it."""
    unstated = [one for one in view.parameters if one.name not in arguments]
    if not unstated:
        return None
    extra = rng.choice(unstated)
    value = make_value(extra.name, extra.schema, language, rng)
    worded = word_call(view, {**arguments, extra.name: value}, language, rng)
    if rng.random() < _OWNED_UP_SHARE:
        return worded
    return worded._replace(mentions={name: words for name, words in worded.mentions.items() if name != extra.name})


def _with_mistake(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded | None:
    """Words another value of the same type: in place of the right one, or after it, as a second thought."""
    changed = _with_another_value(view, arguments, language, rng)
    if changed is None:
        return None
    parameter, value = changed
    if rng.random() < _HALF:
        return _instead(view, arguments, {parameter.name: value}, language, rng)
    right = word_call(view, arguments, language, rng)
    aside = _aside(parameter, value, language, rng)
    return right._replace(request=f"{right.request}{of(language).space}{aside}")


def _with_invention(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded | None:
    """Words a value from nowhere and claims the right words, or throws in a detail that nobody gave."""
    unstated = [one for one in view.parameters if one.name not in arguments]
    if unstated and (not arguments or rng.random() < _HALF):
        detail = rng.choice(unstated)
        right = word_call(view, arguments, language, rng)
        aside = _aside(detail, make_value(detail.name, detail.schema, language, rng), language, rng)
        return right._replace(request=f"{right.request}{of(language).space}{aside}")
    changed = _with_another_value(view, arguments, language, rng)
    if changed is None:
        return None
    parameter, value = changed
    worded = word_call(view, {**arguments, parameter.name: value}, language, rng)
    if locate(arguments[parameter.name], parameter.schema, worded.request) is not None:
        return None
    gold = say(parameter, arguments[parameter.name], language, rng, plain=True).words
    return worded._replace(mentions={**worded.mentions, parameter.name: gold})


def _instead(
    view: ToolView, arguments: dict[str, JsonValue], changed: dict[str, JsonValue], language: Language, rng: Random
) -> Worded | None:
    """A wording of the changed values; None where it says the right ones all the same."""
    worded = word_call(view, {**arguments, **changed}, language, rng)
    is_right = [locate(arguments[name], view.properties[name], worded.request) is not None for name in changed]
    return None if any(is_right) else worded


def _with_another_value(
    view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random
) -> tuple[ParameterView, JsonValue] | None:
    for name in rng.sample(list(arguments), len(arguments))[:_TRIES]:
        value = other_value(view, name, arguments[name], language, rng)
        if value is not None:
            return next(one for one in view.parameters if one.name == name), value
    return None


def _aside(parameter: ParameterView, value: JsonValue, language: Language, rng: Random) -> str:
    stated = say(parameter, value, language, rng, plain=True)
    cue = of(language).rules.with_article(stated.cue)
    asides: list[str] = of(language).data["defects"]["asides"]
    shape = rng.choice(asides if isinstance(value, str) else asides[:2])
    return shape.format(c=cue, v=stated.shown)


_WORDING_SPOILERS: dict[str, Callable[[ToolView, dict[str, JsonValue], Language, Random], Worded | None]] = {
    WRONG_TOOL: _other_action,
    MISSING_ARGUMENT: _left_out,
    EXTRA_ARGUMENT: _with_addition,
    WRONG_ARGUMENT: _with_mistake,
    HALLUCINATED_VALUE: _with_invention,
}
