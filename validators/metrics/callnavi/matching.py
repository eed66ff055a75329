"""Whether an answer names the right calls with the right parameters, placeholders taking any value (CallNavi 5.1)."""

import string
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.validators.metrics.callnavi.answers import NAMES, PARAMETERS

UNKNOWN = "$$$"
_QUOTING = str.maketrans("", "", "'\"[]\n `\\")
_PUNCTUATION = str.maketrans("", "", string.punctuation + string.whitespace)
_KINDS = {dict: "an object", list: "a list", str: "a text", type(None): "null", bool: "a truth value"}


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


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def names_text(names: object) -> str:
    """Names as the published code compares them: without quotes, brackets, spaces and case; commas stay."""
    return (names if isinstance(names, str) else str(names)).translate(_QUOTING).lower()


def is_routed(answer: object, gold: Sequence[str]) -> bool:
    """Whether the names are those of the question, in its order.

    `answer` is what a router said, a text or a list of names, or a whole answer with its names under "API".
    """
    named = answer.get(NAMES) if isinstance(answer, dict) else answer
    return isinstance(named, str | list) and names_text(named) == names_text(list(gold))


def is_same_output(made: JsonValue, gold: JsonValue, *, wildcard: bool = False) -> bool:
    """Whether two outputs say the same. With `wildcard` a placeholder takes any value, as the authors meant it."""
    return _is_like(bare(made, keep_unknown=wildcard), bare(gold, keep_unknown=wildcard))


def bare(value: JsonValue, *, keep_unknown: bool = False) -> JsonValue:
    """The value with all names and texts in capitals, without punctuation and space.

    The published code drops the placeholder's signs as well; `keep_unknown` leaves it to stand for any value.
    """
    if isinstance(value, dict):
        return {_bare_text(name): bare(member, keep_unknown=keep_unknown) for name, member in value.items()}
    if isinstance(value, list):
        return [bare(member, keep_unknown=keep_unknown) for member in value]
    if not isinstance(value, str) or (keep_unknown and value == UNKNOWN):
        return value
    return _bare_text(value)


def _bare_text(text: str) -> str:
    return text.translate(_PUNCTUATION).upper()


def _is_like(made: JsonValue, gold: JsonValue) -> bool:
    if UNKNOWN in (made, gold):
        return True
    if isinstance(made, dict) and isinstance(gold, dict):
        return made.keys() == gold.keys() and all(_is_like(value, gold[name]) for name, value in made.items())
    if isinstance(made, list) and isinstance(gold, list):
        return len(made) == len(gold) and _is_same_bag(made, list(gold))
    return made == gold


def _is_same_bag(made: list[JsonValue], left: list[JsonValue]) -> bool:
    for value in made:
        at = next((place for place, other in enumerate(left) if _is_like(value, other)), None)
        if at is None:
            return False
        del left[at]
    return True
