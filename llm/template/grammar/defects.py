"""Defects of replies and calls that a model can be made to show, so that checks are measured against known errors."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.sampling import make_value
from callwright.language.calls.tools import ToolView
from callwright.language.packs import known, language_of, of
from callwright.language.schemas import json_type
from callwright.llm.template.grammar.turns import is_equivalent
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import Language

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
    spoil = _SPOILERS.get(defect)
    return spoil(proposal, views, language, rng) if spoil else None


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


def text_language(text: str) -> Language:
    """The language that a text is in."""
    return language_of(text)


def _wrong_tool(proposal: Proposal, views: Sequence[ToolView], language: Language, rng: Random) -> Proposal | None:
    others = [view for view in views if view.name != proposal.tool]
    if not others:
        return None
    other = rng.choice(others)
    kept = {name: value for name, value in proposal.arguments.items() if name in other.properties}
    return Proposal(other.name, kept)


def _missing(proposal: Proposal, views: Sequence[ToolView], language: Language, rng: Random) -> Proposal | None:
    if not proposal.arguments:
        return None
    dropped = rng.choice(list(proposal.arguments))
    return Proposal(proposal.tool, {name: value for name, value in proposal.arguments.items() if name != dropped})


def _extra(proposal: Proposal, views: Sequence[ToolView], language: Language, rng: Random) -> Proposal | None:
    """An argument that nobody stated; where there is none left to add, one that the tool does not know."""
    view = _view(proposal, views)
    if view is None:
        return None
    unstated = [one.name for one in view.parameters if one.name not in proposal.arguments]
    optional = [name for name in unstated if name not in view.required] or unstated
    if not optional:
        return (
            Proposal(proposal.tool, {**proposal.arguments, "confirm": True})
            if "confirm" not in view.properties
            else None
        )
    name = rng.choice(optional)
    return _with(proposal, view, name, language, rng)


def _wrong(proposal: Proposal, views: Sequence[ToolView], language: Language, rng: Random) -> Proposal | None:
    """Two values mixed up where two are of a type, else another value."""
    view = _view(proposal, views)
    if view is None or not proposal.arguments:
        return None
    pairs = [
        (one, other)
        for one in proposal.arguments
        for other in proposal.arguments
        if one < other and _are_mixable(view, one, other, proposal.arguments)
    ]
    if pairs and rng.random() < _SWAP_SHARE:
        one, other = rng.choice(pairs)
        swapped = {one: proposal.arguments[other], other: proposal.arguments[one]}
        return Proposal(proposal.tool, {**proposal.arguments, **swapped})
    name = rng.choice(list(proposal.arguments))
    other_one = other_value(view, name, proposal.arguments[name], language, rng)
    return None if other_one is None else Proposal(proposal.tool, {**proposal.arguments, name: other_one})


def _hallucinated(proposal: Proposal, views: Sequence[ToolView], language: Language, rng: Random) -> Proposal | None:
    """A value made up for what the tool requires and nobody said; else one made up instead of what was stated."""
    view = _view(proposal, views)
    if view is None:
        return None
    due = [name for name in view.required if name not in proposal.arguments and name in view.properties]
    if due:
        return _with(proposal, view, rng.choice(due), language, rng)
    if not proposal.arguments:
        return _extra(proposal, views, language, rng)
    name = rng.choice(list(proposal.arguments))
    made_up = other_value(view, name, proposal.arguments[name], language, rng)
    return None if made_up is None else Proposal(proposal.tool, {**proposal.arguments, name: made_up})


def _with(proposal: Proposal, view: ToolView, name: str, language: Language, rng: Random) -> Proposal | None:
    try:
        value = make_value(name, view.properties[name], language, rng)
    except ReplyError:
        return None
    return Proposal(proposal.tool, {**proposal.arguments, name: value})


def _view(proposal: Proposal, views: Sequence[ToolView]) -> ToolView | None:
    return next((view for view in views if view.name == proposal.tool), None)


def _are_mixable(view: ToolView, one: str, other: str, arguments: dict[str, JsonValue]) -> bool:
    first, second = view.properties.get(one, {}), view.properties.get(other, {})
    return (
        json_type(first) == json_type(second)
        and not first.get("enum")
        and not second.get("enum")
        and not is_equivalent(arguments[one], arguments[other], first)
    )


_SPOILERS: dict[str, Callable[[Proposal, Sequence[ToolView], Language, Random], Proposal | None]] = {
    WRONG_TOOL: _wrong_tool,
    MISSING_ARGUMENT: _missing,
    EXTRA_ARGUMENT: _extra,
    WRONG_ARGUMENT: _wrong,
    HALLUCINATED_VALUE: _hallucinated,
}
