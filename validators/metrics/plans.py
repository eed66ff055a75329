"""CallNavi's figures over samples of our own: plans of calls, none of which is carried out (CallNavi 5.1, 6.1).

A plan is right by routing where it names the tools in their order; by structure where each call also has the parameters
that are due; by AST where their values are right too, a placeholder standing for a value that only a result can tell.
`syntax_validity` counts answers in the notation that was asked for, `…_repaired` also those that could be read by rule.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from validators.matching.hammerbench import arguments_match, hallucinated_names, missing_names
from validators.metrics.callnavi.answers import NAMES, PARAMETERS
from validators.metrics.callnavi.matching import GoldAnswer, is_routed, match_answer
from validators.metrics.errors import ErrorType, said_arguments
from validators.replies.reading import is_valid
from validators.strategies import format_of
from warehouse.exports.callnavi import UNKNOWN
from warehouse.records import Arguments, GoldCall, Language, Prediction

PlanMetric = Literal["syntax_validity", "syntax_validity_repaired", "routing", "structure", "ast"]
BY_DIFFICULTY: tuple[PlanMetric, ...] = get_args(PlanMetric)

_ARGUMENT_ERRORS: tuple[ErrorType, ...] = ("missing_argument", "hallucinated_argument", "wrong_value")


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


def plan_error(prediction: Prediction, gold: Sequence[GoldCall], language: Language) -> ErrorType:
    """The gravest mistake of an answer to all the calls due at a turn, "" where it is right."""
    if prediction.calls is None:
        return "unparseable"
    if not gold or not prediction.calls:
        return "called_when_none_fits" if prediction.calls else "refused" if gold else ""
    if [call.tool for call in prediction.calls] != [call.tool for call in gold]:
        return "wrong_tool"
    mistakes = {
        _argument_error(due.arguments, made.arguments, language)
        for due, made in zip(gold, prediction.calls, strict=True)
    }
    return next((kind for kind in _ARGUMENT_ERRORS if kind in mistakes), "")


def _argument_error(due: Arguments, made: Arguments, language: Language) -> ErrorType:
    open_ones = {name: UNKNOWN for name, value in due.items() if value == UNKNOWN and name in made}
    given = said_arguments({**made, **open_ones})
    if arguments_match(due, given, language):
        return ""
    if missing_names(due, given):
        return "missing_argument"
    return "hallucinated_argument" if hallucinated_names(due, given) else "wrong_value"
