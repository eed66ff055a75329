"""CallNavi's figures over samples of our own: plans of calls, none of which is carried out (CallNavi 5.1, 6.1).

A plan is right by routing where it names the tools in their order; by structure where each call also has the parameters
that are due; by AST where their values are right too, a placeholder standing for a value that only a result can tell.
`syntax_validity` counts answers in the notation that was asked for, `…_repaired` also those that could be read by rule.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from validators.metrics.callnavi.answers import NAMES, PARAMETERS
from validators.metrics.callnavi.matching import GoldAnswer, is_routed, match_answer
from validators.replies.reading import is_valid
from validators.strategies import format_of
from warehouse.records import GoldCall, Prediction

PlanMetric = Literal["syntax_validity", "syntax_validity_repaired", "routing", "structure", "ast"]
BY_DIFFICULTY: tuple[PlanMetric, ...] = get_args(PlanMetric)


class PlanScore(NamedTuple):
    """What is right about one answer, by metric."""

    difficulty: str
    verdicts: dict[PlanMetric, bool]


def score_plan(prediction: Prediction, gold: Sequence[GoldCall], difficulty: str = "") -> PlanScore:
    """Hold an answer against the calls that are due."""
    wanted = GoldAnswer([call.tool for call in gold], [call.arguments for call in gold])
    calls = prediction.calls or ()
    made = {NAMES: [call.tool for call in calls], PARAMETERS: [call.arguments for call in calls]}
    valid = is_valid(prediction.text, format_of(prediction.strategy))
    match = match_answer(made if prediction.calls is not None else None, wanted)
    return PlanScore(
        difficulty,
        {
            "syntax_validity": valid,
            "syntax_validity_repaired": valid or bool(calls),
            "routing": prediction.calls is not None and is_routed(made, wanted.names),
            "structure": match.structure,
            "ast": match.ast,
        },
    )
