"""How a run ended: success or what was wrong, with the counts that the metrics are made of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from validators.metrics.complexeval.mistakes import Mistake

if TYPE_CHECKING:
    from pydantic import JsonValue

    from validators.metrics.complexeval.calls import GoldenCall
    from validators.metrics.complexeval.turns import JudgedCall
    from warehouse.records import Call

SUCCESS = "Success."


class Outcome(NamedTuple):
    """The end of a run. It succeeded where there is neither a `problem` of the run nor a list of `mistakes` in its calls.

    `success_turns` are the steps of the path before the first with something left; `real_turns` those with calls that
    were judged; `last_step` counts as the published code counts, beyond the last step too.
    """

    problem: Mistake | None
    mistakes: tuple[Mistake, ...]
    success_turns: int
    total_turns: int
    correct_calls: int
    total_calls: int
    real_turns: int
    last_step: int
    remaining: tuple[Call, ...]

    @property
    def success(self) -> bool:
        """Whether the run did everything that was due, with nothing held against it."""
        return self.problem is None and not self.mistakes

    @property
    def error(self) -> Mistake | None:
        """The one mistake that the run is counted under; None where it succeeded."""
        return self.problem or next(iter(self.mistakes), None)

    @property
    def message(self) -> JsonValue:
        """The outcome as the published results have it."""
        if self.problem is not None:
            return _stated(self.problem)
        return [_stated(one) for one in self.mistakes] or SUCCESS


def unresolved(
    turns: Sequence[Sequence[JudgedCall]], due: Sequence[GoldenCall], functions: Collection[str]
) -> tuple[Mistake, ...]:
    """The mistakes that were never made good, in their order; `due` is what was left at the end.

    One that was held against a gold call is made good when that call is found; one that never came so far, when a later
    turn finds something and no call of its function is left. A wrong function stays one while a call that was due when
    it was called is left. A call of none of the path's `functions` is a wrong function, whatever form it has.
    """
    if not due:
        return ()
    last_found = max((at for at, calls in enumerate(turns) if any(one.matched for one in calls)), default=-1)
    known = [
        (at, one, _as_counted(one, one.mistake, functions))
        for at, calls in enumerate(turns)
        for one in calls
        if one.mistake is not None
    ]
    return tuple(
        mistake
        for at, one, mistake in known
        if (at >= last_found and one.golden is None) or _is_open(one, mistake, at, due)
    )


def _as_counted(judged: JudgedCall, mistake: Mistake, functions: Collection[str]) -> Mistake:
    if judged.call is None or judged.call.tool in functions or mistake.error_type == "func_error":
        return mistake
    return Mistake("func_error", "", f"{judged.call.tool!r} is not needed here. {mistake.reason}")


def _is_open(judged: JudgedCall, mistake: Mistake, at: int, due: Sequence[GoldenCall]) -> bool:
    if judged.golden is not None:
        return (judged.golden.step, judged.golden.place) in {(one.step, one.place) for one in due}
    if mistake.error_type == "func_error" and any(one.step <= at for one in due):
        return True
    return judged.call is not None and judged.call.tool in {one.call.tool for one in due}


def _stated(mistake: Mistake) -> JsonValue:
    stated: dict[str, JsonValue] = {"error_type": mistake.kind, "content": mistake.reason}
    return stated | {"parameter": mistake.parameter} if mistake.parameter else stated
