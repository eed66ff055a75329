"""Free calls: lookups that the published code lets a model make at any turn, or not at all (EVALUATORS 2.3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from validators.metrics.complexeval.calls import GoldenCall, call_text, golden_calls

if TYPE_CHECKING:
    from warehouse.records import Call, Exchange


class FreeCalls:
    """The distinct gold calls of free functions, known by their JSON text as it stands, and which were made so far."""

    def __init__(self, chain: Sequence[Exchange] = (), functions: Collection[str] = ()) -> None:
        golden = [one for number, step in enumerate(chain) for one in golden_calls(step, number)]
        self._known = {call_text(one.call): one for one in golden if one.call.tool in functions}
        self._made: list[str] = []

    @property
    def made(self) -> tuple[str, ...]:
        """The texts of the free calls that were made beside what was due, each once."""
        return tuple(self._made)

    def find(self, call: Call) -> GoldenCall | None:
        """The gold call that a free call is; None where it is none."""
        return self._known.get(call_text(call))

    def mark(self, call: Call) -> None:
        """Note that a free call was made beside what was due."""
        text = call_text(call)
        if text not in self._made:
            self._made.append(text)

    def is_made(self, call: Call) -> bool:
        """Whether this very text was noted as made."""
        return call_text(call) in self._made
