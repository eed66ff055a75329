"""Defects in replies, calls, wordings and answers, made to measure checks on known errors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.packs import known, of, signs
from callwright.language.pages import draw_line, shapes_in
from callwright.language.saying import say
from callwright.language.schemas import json_type
from callwright.llm.template.questions import ValueLine, word_answer
from callwright.llm.template.sections import is_equivalent
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
    WRONG_TOOL,
    MISSING_ARGUMENT,
    EXTRA_ARGUMENT,
    WRONG_ARGUMENT,
    HALLUCINATED_VALUE,
    MALFORMED_JSON,
    REFUSAL,
)
OMITTED_CALL = "omitted_call"
NEEDLESS_CALL = "needless_call"
WRONG_ORDER = "wrong_order"
WRONG_TYPE = "wrong_type"
# made only where calls are made in steps
STEP_DEFECTS = (OMITTED_CALL, NEEDLESS_CALL, WRONG_ORDER, WRONG_TYPE)
_KNOWN = DEFECTS + STEP_DEFECTS
_ROUNDING = 1e-9
UNKNOWN = "$$$"  # a value that only an earlier call's result tells


class Proposal(NamedTuple):
    """A call as answered; no tool means that none fits."""

    tool: str | None
    arguments: dict[str, JsonValue]


def error_rates(given: Mapping[str, float]) -> dict[str, float]:
    """Return the rates in the order of DEFECTS and STEP_DEFECTS.

    Raises ConfigurationError if a name is unknown, a rate is not between 0 and 1, or they add up
    to more than 1.
    """
    valid, problem = ", ".join(_KNOWN), ""
    for name, rate in given.items():
        if name not in _KNOWN:
            problem = (
                f"template/v1 knows no defect {name!r} in error_rate; the defects are {valid}."
            )
        elif isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            problem = (
                f"The error_rate of {name!r} is {rate!r}; a share between 0 and 1 is needed"
                f" ({valid})."
            )
    if not problem and (total := sum(given.values())) > 1 + _ROUNDING:
        problem = (
            f"The shares in error_rate add up to {total:g}; at most one defect goes into a reply,"
            f" so 1 is the most ({valid})."
        )
    if problem:
        raise ConfigurationError(problem)
    return {name: float(given[name]) for name in _KNOWN if given.get(name)}


def draw_defect(rates: Mapping[str, float], rng: Random) -> str:
    """Return the defect to make, or ""; `rates` are shares of replies with at most one each."""
    return rng.choices([*rates, ""], [*rates.values(), max(0.0, 1 - sum(rates.values()))])[0]


def break_json(text: str, rng: Random) -> str:
    """Return invalid JSON: cut short, with an extra comma, or with a wrong quote."""
    cut = max(1, len(text) - 1 - rng.randrange(max(1, len(text) // 2)))
    ways = (text[:cut], text[:-1] + "," + text[-1], text.replace('"', "'", 1))
    return rng.choice(ways)


def apology(rng: Random) -> str:
    """Return a refusal in plain text, in one of the languages that have some."""
    texts: list[str] = [text for code in known() for text in shapes_in(code, "defects.apologies")]
    return rng.choice(texts)


_TRIES = 6
_HALF = 0.5
_ENDS = signs(".!?")


def spoil_calls(
    defect: str,
    calls: Sequence[Proposal],
    views: Sequence[ToolView],
    language: Language,
    rng: Random,
) -> tuple[list[Proposal], str]:
    """Return the calls with the defect in one, and the defect; if impossible, the calls and ""."""
    right = [*calls]
    if not defect or not right:
        return right, ""
    at = rng.randrange(len(right))
    if defect == NEEDLESS_CALL:
        spoilt = [*right, *_needless(right, views, language, rng)]
    elif defect == OMITTED_CALL:  # what is left to do is not done: the answer comes too early
        spoilt = []
    elif defect == WRONG_ORDER:  # one of several calls has to wait for the next step
        spoilt = [*right[:at], *right[at + 1 :]] if len(right) > 1 else right
    else:
        one = spoil_call(defect, right[at], views, language, rng) or right[at]
        spoilt = [*right[:at], *([one] if one.tool else []), *right[at + 1 :]]
    return spoilt, defect if spoilt != right else ""


def _needless(
    calls: Sequence[Proposal], views: Sequence[ToolView], language: Language, rng: Random
) -> Iterator[Proposal]:
    others = [view for view in views if view.name not in {call.tool for call in calls}]
    for view in rng.sample(others, min(1, len(others))):
        made = [_made_up(view, name, language, rng) for name in view.required]
        yield Proposal(view.name, {name: value for one in made for name, value in one.items()})


def spoil_call(
    defect: str, call: Proposal, views: Sequence[ToolView], language: Language, rng: Random
) -> Proposal | None:
    """Return the call with this defect, or None if the defect cannot be made in this call."""
    tool, arguments = call
    view = next((view for view in views if view.name == tool), None)
    if defect == WRONG_TOOL:
        others = [view for view in views if view.name != tool]
        if not others:
            return None
        other = rng.choice(others)
        return Proposal(
            other.name, {name: one for name, one in arguments.items() if name in other.properties}
        )
    if defect == MISSING_ARGUMENT and arguments:
        dropped = rng.choice([*arguments])
        return Proposal(tool, {name: value for name, value in arguments.items() if name != dropped})
    if view is None or (defect == WRONG_TYPE and not arguments):
        return None
    spoil = {
        EXTRA_ARGUMENT: _extra,
        WRONG_ARGUMENT: _wrong,
        HALLUCINATED_VALUE: _hallucinated,
        WRONG_TYPE: _mistyped,
    }
    spoilt = spoil[defect](view, arguments, language, rng) if defect in spoil else {}
    return Proposal(tool, {**arguments, **spoilt}) if spoilt else None


def _extra(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments:
    """Return an argument that nobody stated, or one unknown to the tool if none is left."""
    unstated = [one.name for one in view.parameters if one.name not in arguments]
    optional = [name for name in unstated if name not in view.required] or unstated
    if not optional:
        return {"confirm": True} if "confirm" not in view.properties else {}
    return _made_up(view, rng.choice(optional), language, rng)


def _wrong(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments:
    """Swap two values of the same type, or else replace one value."""

    def are_alike(one: str, other: str) -> bool:
        first, second = (view.properties.get(name, {}) for name in (one, other))
        if json_type(first) != json_type(second) or first.get("enum") or second.get("enum"):
            return False
        return not is_equivalent(arguments[one], arguments[other], first)

    pairs = [pair for pair in combinations(arguments, 2) if are_alike(*pair)]
    if pairs and rng.random() < _HALF:
        first_name, second_name = rng.choice(pairs)
        return {first_name: arguments[second_name], second_name: arguments[first_name]}
    return _another(view, arguments, language, rng)


def _hallucinated(
    view: ToolView, arguments: Arguments, language: Language, rng: Random
) -> Arguments:
    """Return a made-up value for a required parameter that is not stated, or else a stated one."""
    due = [name for name in view.required if name not in arguments and name in view.properties]
    if due:
        return _made_up(view, rng.choice(due), language, rng)
    return (_another if arguments else _extra)(view, arguments, language, rng)


def _mistyped(_view: ToolView, arguments: Arguments, _language: Language, rng: Random) -> Arguments:
    """Replace a value by one of another type."""
    name = rng.choice([*arguments])
    value = arguments[name]
    return {name: [value] if isinstance(value, str) else str(value)}


def _another(view: ToolView, arguments: Arguments, language: Language, rng: Random) -> Arguments:
    """Return another valid value for one of the arguments, or an empty dict if there is none."""
    name = rng.choice([*arguments]) if arguments else ""
    value, schema = arguments.get(name), view.properties.get(name, {})
    if isinstance(value, bool):
        return {name: not value}
    made = (_made_up(view, name, language, rng) for _ in range(_TRIES if schema else 0))
    return next((one for one in made if one and not is_equivalent(value, one[name], schema)), {})


def _made_up(view: ToolView, name: str, language: Language, rng: Random) -> Arguments:
    try:
        return {name: make_value(name, view.properties[name], language, rng)}
    except ReplyError:
        return {}


def asides(
    view: ToolView, before: Arguments, after: Arguments, language: Language, rng: Random
) -> list[str]:
    """Return a sentence for each argument that is new or has another value."""
    new = {name: one for name, one in after.items() if name not in before or before[name] != one}
    lines: list[str] = []
    for name, value in new.items():
        said_values = say(view.parameter(name), value, language, rng, plain=True)
        words = {"called": said_values.parameter.called(language), "value": said_values.shown}
        lines.append(draw_line(language, "defects.asides", rng, **words))
    return lines


def spoil_answer(
    defect: str,
    view: ToolView,
    slot: tuple[ParameterView, JsonValue],
    language: Language,
    rng: Random,
) -> ValueLine | None:
    """Return an answer with another or an additional value, None if the defect makes none."""
    asked_values = {slot[0].name: slot[1]}
    spoilt = spoil_call(defect, Proposal(view.name, asked_values), [view], language, rng)
    known_ones = (
        {name: value for name, value in spoilt.arguments.items() if name in view.properties}
        if spoilt
        else {}
    )
    more = asides(view, asked_values, known_ones, language, rng)
    right = word_answer(view, slot, language, rng, is_bare=rng.random() < _HALF)
    stop = "" if right.text[-1] in _ENDS else of(language).stop
    if more:
        return right._replace(text=of(language).space.join((f"{right.text}{stop}", *more)))
    return None
