"""Whether an answer names the right calls with the right parameters, placeholders taking any value (CallNavi 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from validators.metrics.callnavi.repairing import NAMES, PARAMETERS

if TYPE_CHECKING:
    from pydantic import JsonValue

UNKNOWN = "$$$"


class GoldAnswer(NamedTuple):
    """The calls of a question: their names, and the parameters of each."""

    names: list[str]
    parameters: list[dict[str, JsonValue]]


class Match(NamedTuple):
    """An answer's verdicts: the same names in order, each parameter named, and each value right.

    `problem` tells what could not be read; such an answer is wrong in all three.
    """

    order: bool
    structure: bool
    ast: bool
    problem: str = ""


WRONG = Match(order=False, structure=False, ast=False)


def match_answer(made: object, gold: GoldAnswer) -> Match:
    """Hold an answer against the gold one, as the published code does where that does not crash.

    The order counts, what the gold answer does not name is not looked at, and a placeholder of the answer's own is a
    value like any other.
    """
    if not isinstance(made, dict):
        return WRONG._replace(problem=f"The answer is {_kind(made)}, not an object.")
    if NAMES not in made or PARAMETERS not in made:
        return WRONG._replace(problem=f"The answer lacks {NAMES!r} or {PARAMETERS!r}.")
    if made == {NAMES: gold.names, PARAMETERS: gold.parameters}:
        return Match(order=True, structure=True, ast=True)
    if made[NAMES] != gold.names:
        return WRONG
    parameters = made[PARAMETERS]
    if not isinstance(parameters, list | dict | str):
        return WRONG._replace(problem=f"{PARAMETERS!r} is {_kind(parameters)}, not a list.")
    if len(parameters) != len(gold.parameters):
        return WRONG
    if isinstance(parameters, dict) and any(gold.parameters):  # as a dictionary it is only counted, not looked into
        return WRONG._replace(problem=f"{PARAMETERS!r} is an object, not a list.")
    return _match_calls(list(parameters), gold.parameters)


def _match_calls(made: list[JsonValue], gold: list[dict[str, JsonValue]]) -> Match:
    structure = ast = True
    for given, wanted in zip(made, gold, strict=True):
        if wanted and not isinstance(given, dict | list | str):
            return WRONG._replace(problem=f"The parameters of a call are {_kind(given)}, not an object.")
        for name, value in wanted.items():
            if name not in given:  # type: ignore[operator] # whatever has no members was refused above
                structure = ast = False
                break
            if value in (UNKNOWN, {}):
                continue
            if not isinstance(given, dict):
                return WRONG._replace(problem=f"The parameters of a call are {_kind(given)}, not an object.")
            ast = ast and given[name] == value
    return Match(order=True, structure=structure, ast=ast)


_KINDS = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "a truth value"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
