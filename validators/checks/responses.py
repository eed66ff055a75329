"""Where an earlier result holds a value."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.responses import walk
from warehouse.records import ResultTurn, Turn


class Place(NamedTuple):
    """A value inside a result turn, by its path."""

    turn: int
    path: str


def find_in_results(value: JsonValue, prefix: Sequence[Turn]) -> Place | None:
    """The latest place where a result of `prefix` holds `value`; what is empty, or only true or false, is no proof."""
    if value in (None, "", [], {}) or isinstance(value, bool):
        return None
    for index in range(len(prefix) - 1, -1, -1):
        turn = prefix[index]
        if isinstance(turn, ResultTurn):
            for number, result in enumerate(turn.results):
                for path, held in walk(result, f"turns[{index}].results[{number}]"):
                    if held == value and not isinstance(held, bool):
                        return Place(index, path)
    return None
