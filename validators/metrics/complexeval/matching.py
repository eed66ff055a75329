"""Whether two calls are the same, and what differs where they are not (EVALUATORS 2.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from validators.metrics.complexeval.calls import is_equal
from validators.metrics.complexeval.mistakes import Mistake

if TYPE_CHECKING:
    from pydantic import JsonValue

    from warehouse.records import Call


def match_by_rule(made: Call, golden: Call, unordered: Collection[str] = ()) -> bool:
    """Whether both name the same function with equal arguments; texts of `unordered` are lists without an order."""
    if made.tool != golden.tool or made.arguments.keys() != golden.arguments.keys():
        return False
    return all(
        _same_list(made.arguments[name], value) if name in unordered else is_equal(made.arguments[name], value)
        for name, value in golden.arguments.items()
    )


def check_values(made: Call, golden: Call, exact: Mapping[str, Collection[str]]) -> Mistake | None:
    """The first gold argument that must be equal and is not; None leaves the call to the response and the judge."""
    if made.tool != golden.tool:
        return wrong_function(made, golden)
    listed = exact.get(golden.tool, ())
    differing = [name for name in _differing(made, golden) if name in listed]
    return _about(made, differing[0]) if differing else None


def describe_difference(made: Call, golden: Call) -> Mistake:
    """What is wrong with a call of the right function that no matching accepts: a gold argument, or one too many."""
    differing = _differing(made, golden)
    if differing:
        return _about(made, differing[0])
    extra = next((name for name in made.arguments if name not in golden.arguments), "")
    return Mistake("param_hallucination", extra, f"{made.tool} was given {extra!r}, which nobody asked for.")


def wrong_arguments(made: Call, golden: Call) -> tuple[str, ...]:
    """The gold arguments that a call lacks or gives another value; all of them where it calls another function."""
    return tuple(golden.arguments) if made.tool != golden.tool else tuple(_differing(made, golden))


def wrong_function(made: Call, golden: Call) -> Mistake:
    """The mistake of calling another function than the one due."""
    return Mistake("func_error", "", f"{made.tool!r} was called where {golden.tool!r} is due.")


def _differing(made: Call, golden: Call) -> list[str]:
    return [
        name
        for name, value in golden.arguments.items()
        if name not in made.arguments or not is_equal(made.arguments[name], value)
    ]


def _about(made: Call, name: str) -> Mistake:
    if name not in made.arguments:
        return Mistake("param_missing", name, f"{made.tool} lacks {name!r}.")
    return Mistake("value_error", name, f"{made.tool} has another value for {name!r} than the one due.")


def _same_list(made: JsonValue, golden: JsonValue) -> bool:
    if not isinstance(made, str) or not isinstance(golden, str):
        return is_equal(made, golden)
    return {part.strip() for part in made.split(",")} == {part.strip() for part in golden.split(",")}
