"""Defects that the model can be made to show, in replies, calls, wordings and answers: checks are measured against known errors."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.packs import known, of, signs
from callwright.language.schemas import json_type
from callwright.language.values import locate
from callwright.llm.template.questions import SlotReply, word_answer
from callwright.llm.template.sections import is_equivalent
from callwright.llm.template.stating import requests_in, say
from callwright.llm.template.wording import Worded, compose, quote_values, word_call
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import Arguments, Language

WRONG_TOOL = "wrong_tool"
MISSING_ARGUMENT = "missing_argument"
EXTRA_ARGUMENT = "extra_argument"
WRONG_ARGUMENT = "wrong_argument"
HALLUCINATED_VALUE = "hallucinated_value"
MALFORMED_JSON = "malformed_json"
REFUSAL = "refusal"
DEFECTS = (
    WRONG_TOOL, MISSING_ARGUMENT, EXTRA_ARGUMENT, WRONG_ARGUMENT, HALLUCINATED_VALUE, MALFORMED_JSON, REFUSAL,
)  # fmt: skip
OMITTED_CALL = "omitted_call"
NEEDLESS_CALL = "needless_call"
WRONG_ORDER = "wrong_order"
WRONG_TYPE = "wrong_type"
STEP_DEFECTS = (OMITTED_CALL, NEEDLESS_CALL, WRONG_ORDER, WRONG_TYPE)  # made only where calls are made in steps
_KNOWN = DEFECTS + STEP_DEFECTS
_ROUNDING = 1e-9


class Proposal(NamedTuple):
    """A call as it is answered; no tool means that none fits."""

    tool: str | None
    arguments: dict[str, JsonValue]


class ErrorRates(NamedTuple):
    """How often each defect is made: shares of the replies, at most one defect in each."""

    rates: tuple[tuple[str, float], ...]

    def draw(self, rng: Random) -> str:
        """The defect to make this time, "" for none."""
        point = rng.random()
        for name, rate in self.rates:
            if point < rate:
                return name
            point -= rate
        return ""


def error_rates(given: Mapping[str, float]) -> ErrorRates:
    """The rates in the order of DEFECTS and STEP_DEFECTS; ConfigurationError where a name is unknown or a rate is no share."""
    valid = ", ".join(_KNOWN)
    for name, rate in given.items():
        if name not in _KNOWN:
            raise ConfigurationError(f"template/v1 knows no defect {name!r} in error_rate; the defects are {valid}.")
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise ConfigurationError(
                f"The error_rate of {name!r} is {rate!r}; a share between 0 and 1 is needed ({valid})."
            )
    total = sum(given.values())
    if total > 1 + _ROUNDING:
        raise ConfigurationError(
            f"The shares in error_rate add up to {total:g}; at most one defect goes into a reply, so 1 is the most ({valid})."
        )
    return ErrorRates(tuple((name, float(given[name])) for name in _KNOWN if given.get(name)))


def break_json(text: str, rng: Random) -> str:
    """JSON that no parser takes: cut short, with a comma too many, or with a wrong quote."""
    cut = max(1, len(text) - 1 - rng.randrange(max(1, len(text) // 2)))
    ways = (text[:cut], text[:-1] + "," + text[-1], text.replace('"', "'", 1))
    return rng.choice(ways)


@cache
def apologies() -> tuple[str, ...]:
    """Refusals in plain text, in every language that has some."""
    return tuple(text for code in known() for text in of(code).data["defects"].get("apologies", ()))


def apology(rng: Random) -> str:
    """A refusal in plain text."""
    return rng.choice(apologies())


_TRIES = 6
_SWAP_SHARE = 0.5


def spoil_call(
    defect: str, proposal: Proposal, views: Sequence[ToolView], language: Language, rng: Random
) -> Proposal | None:
    """The call with this defect in it, None where the defect can't be made of this call."""
    tool, arguments = proposal
    view = next((view for view in views if view.name == tool), None)
    if defect == WRONG_TOOL:
        others = [view for view in views if view.name != tool]
        if not others:
            return None
        other = rng.choice(others)
        return Proposal(other.name, {name: value for name, value in arguments.items() if name in other.properties})
    if defect == MISSING_ARGUMENT and arguments:
        dropped = rng.choice([*arguments])
        return Proposal(tool, {name: value for name, value in arguments.items() if name != dropped})
    if view is None or defect not in {EXTRA_ARGUMENT, WRONG_ARGUMENT, HALLUCINATED_VALUE}:
        return None
    spoil = {EXTRA_ARGUMENT: _extra, WRONG_ARGUMENT: _wrong, HALLUCINATED_VALUE: _hallucinated}[defect]
    spoilt = spoil(view, arguments, language, rng)
    return None if spoilt is None else Proposal(tool, {**arguments, **spoilt})


def other_value(view: ToolView, name: str, value: JsonValue, language: Language, rng: Random) -> JsonValue | None:
    """Another valid value for a parameter, None where there is none."""
    schema = view.properties[name]
    if isinstance(value, bool):
        return not value
    for _ in range(_TRIES):
        try:
            other = make_value(name, schema, language, rng)
        except ReplyError:
            return None
        if not is_equivalent(value, other, schema):
            return other
    return None


def _extra(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments | None:
    """An argument that nobody stated; where there is none left to add, one that the tool does not know."""
    unstated = [one.name for one in view.parameters if one.name not in arguments]
    optional = [name for name in unstated if name not in view.required] or unstated
    if not optional:
        return {"confirm": True} if "confirm" not in view.properties else None
    return _made_up(view, rng.choice(optional), language, rng)


def _wrong(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments | None:
    """Two values mixed up where two are of a type, else another value."""
    if not arguments:
        return None
    pairs = [
        (one, other)
        for one, other in product(arguments, repeat=2)
        if one < other
        and json_type(first := view.properties.get(one, {})) == json_type(second := view.properties.get(other, {}))
        and not (first.get("enum") or second.get("enum") or is_equivalent(arguments[one], arguments[other], first))
    ]
    if pairs and rng.random() < _SWAP_SHARE:
        one, other = rng.choice(pairs)
        return {one: arguments[other], other: arguments[one]}
    return _another(view, arguments, language, rng)


def _hallucinated(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments | None:
    """A value made up for what the tool requires and nobody said; else one made up instead of what was stated."""
    due = [name for name in view.required if name not in arguments and name in view.properties]
    if due:
        return _made_up(view, rng.choice(due), language, rng)
    return _another(view, arguments, language, rng) if arguments else _extra(view, arguments, language, rng)


def _another(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments | None:
    name = rng.choice([*arguments])
    other = other_value(view, name, arguments[name], language, rng)
    return None if other is None else {name: other}


def _made_up(view: ToolView, name: str, language: Language, rng: Random) -> Arguments | None:
    try:
        return {name: make_value(name, view.properties[name], language, rng)}
    except ReplyError:
        return None


_HALF = 0.5
_ENDS = signs(".!?")


def spoil_wording(
    defect: str, view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random
) -> Worded | None:
    """A request that says another call than this one; None where the defect can't be made of it, or the request says this one too.

    Words are claimed for the arguments of the right call alone: what is said besides, nobody owns up to.
    """
    if defect == WRONG_TOOL:
        others: list[str] = of(language).data["defects"]["other_actions"]
        action = rng.choice([other for other in others if other not in view.keys])
        return quote_values(compose(view, arguments, language, rng, action=action))
    spoilt = spoil_call(defect, Proposal(view.name, arguments), [view], language, rng)
    if spoilt is None or not spoilt.arguments.keys() <= view.properties.keys():
        return None
    if rng.random() < _HALF and (more := _changed(view, arguments, spoilt.arguments)):  # as a second thought
        right, said = word_call(view, arguments, language, rng), [_aside(*one, language, rng) for one in more]
        return right._replace(request=of(language).space.join((right.request, *said)))
    worded = word_call(view, spoilt.arguments, language, rng)
    lost = [name for name, value in arguments.items() if spoilt.arguments.get(name) != value]
    if any(locate(arguments[name], view.properties[name], worded.request) is not None for name in lost):
        return None
    return worded._replace(mentions={name: words for name, words in worded.mentions.items() if name in arguments})


def _changed(
    view: ToolView, before: dict[str, JsonValue], after: dict[str, JsonValue]
) -> list[tuple[ParameterView, JsonValue]]:
    """The arguments that are new or have another value."""
    return [
        (view.parameter(name), value) for name, value in after.items() if name not in before or before[name] != value
    ]


def _aside(parameter: ParameterView, value: JsonValue, language: Language, rng: Random) -> str:
    stated = say(parameter, value, language, rng, plain=True)
    asides: list[str] = of(language).data["defects"]["asides"]
    shape = rng.choice(asides if isinstance(value, str) else asides[:2])
    return of(language).rules.agreed(shape, stated.cue).format(c=stated.cue, v=stated.shown)


def spoil_answer(
    defect: str, view: ToolView, slot: tuple[ParameterView, JsonValue], language: Language, rng: Random
) -> SlotReply | None:
    """An answer that goes on to say another value, or a value that nobody asked for; None where the defect makes none."""
    asked = {slot[0].name: slot[1]}
    spoilt = spoil_call(defect, Proposal(view.name, asked), [view], language, rng)
    known = {name: value for name, value in spoilt.arguments.items() if name in view.properties} if spoilt else {}
    more = _changed(view, asked, known)
    if not more:
        return None
    right = word_answer(view, slot, language, rng, is_bare=rng.random() < _HALF)
    wrong = word_answer(view, more[0], language, rng, is_bare=False)
    stop = "" if right.answer[-1] in _ENDS else requests_in(language).stop
    return right._replace(answer=f"{right.answer}{stop}{of(language).space}{wrong.answer}")
