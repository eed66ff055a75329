"""An answer beside what was due, call by call and argument by argument, with what differs marked."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from callwright.annotation.calls import is_same
from callwright.annotation.prediction_audit import partners_of, visible
from callwright.flows.pages.conversation import write_json
from callwright.warehouse.records import Call
from callwright.warehouse.rows import Row

_WORDS = 1_500


class PairedArgument(NamedTuple):
    """An argument as it is due and as it was answered, None where one side has none."""

    name: str
    due: str | None
    answer: str | None
    is_same: bool


class PairedCall(NamedTuple):
    """A call that was due beside the one that was made for it; "" for the tool of a side that has none."""

    due: str
    answer: str
    arguments: tuple[PairedArgument, ...]


class ShownAnswer(NamedTuple):
    """One item: the row that it was read from, and its calls in pairs; `words` is what an answer without calls says."""

    row: Row
    calls: tuple[PairedCall, ...]
    words: str
    is_unreadable: bool


def show_answer(row: Row) -> ShownAnswer:
    """An item as it is shown."""
    due, made = _calls(row["due"]), _calls(row["calls"])
    words = "" if made else visible(str(row["problem"] or row["text"] or "").strip()[:_WORDS])
    return ShownAnswer(row, pair_calls(due, made), words, row["calls"] is None)


def pair_calls(due: Sequence[Call], made: Sequence[Call]) -> tuple[PairedCall, ...]:
    """Each due call with the one that stands for it, then those that nobody asked for."""
    partners = partners_of(due, made)
    left = [call for place, call in enumerate(made) if place not in partners.values()]
    pairs = [_pair(call, made[partners[place]] if place in partners else None) for place, call in enumerate(due)]
    return tuple(pairs + [_pair(None, call) for call in left])


def _pair(due: Call | None, made: Call | None) -> PairedCall:
    wanted, given = due.arguments if due else {}, made.arguments if made else {}
    arguments = tuple(
        PairedArgument(
            name,
            write_json(wanted[name]) if name in wanted else None,
            write_json(given[name]) if name in given else None,
            name in wanted and name in given and is_same(wanted[name], given[name]),
        )
        for name in dict.fromkeys((*wanted, *given))
    )
    return PairedCall(due.tool if due else "", made.tool if made else "", arguments)


def _calls(text: str | None) -> list[Call]:
    """The calls of a column, which may hold what is none where a model wrote it."""
    found = json.loads(text) if text else None
    return [
        Call.model_construct(tool=str(one["tool"]), arguments=one.get("arguments") or {})
        for one in found or ()
        if isinstance(one, dict) and "tool" in one
    ]
