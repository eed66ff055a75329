"""How many of the predicted parameters the conversation bears out, by a judge's word on each (CONFETTI 4.1, 5.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from validators.metrics.confetti.decoding import MadeCall


class JudgedCall(NamedTuple):
    """A predicted call: whether its name is right, how many parameters it has, and how many of them are valid."""

    name_right: bool
    parameters: int
    valid: int


class Validity(NamedTuple):
    """The share of valid parameters, None where there is no parameter to judge.

    `rate` divides by the parameters of calls with the right name, as the paper's text has it; `rate_of_all` by those of
    all predicted calls, as its formula has it.
    """

    rate: float | None
    rate_of_all: float | None
    judged: int
    predicted: int


def judged_call(call: MadeCall, gold_name: str, made_up: Iterable[str]) -> JudgedCall:
    """A call with a judge's word on it; names that are no parameters of the call say nothing."""
    invented = set(made_up) & call.arguments.keys()
    return JudgedCall(call.name == gold_name, len(call.arguments), len(call.arguments) - len(invented))


def measure_validity(calls: Sequence[JudgedCall]) -> Validity:
    """The validity over all calls; of a call to another tool no parameter is valid."""
    valid = sum(call.valid for call in calls if call.name_right)
    judged = sum(call.parameters for call in calls if call.name_right)
    predicted = sum(call.parameters for call in calls)
    return Validity(valid / judged if judged else None, valid / predicted if predicted else None, judged, predicted)
