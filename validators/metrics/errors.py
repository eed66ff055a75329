"""What kind of mistake a prediction makes: one name each, the gravest first (HammerBench 6.3 and appendix B)."""

from typing import Literal

from validators.matching.hammerbench import arguments_match, hallucinated_names, missing_names
from warehouse.errors import RecordError
from warehouse.records import Arguments, GoldCall, Prediction, Sample

ErrorType = Literal[
    "",
    "unparseable",
    "called_when_none_fits",
    "refused",
    "wrong_tool",
    "missing_argument",
    "hallucinated_argument",
    "wrong_value",
]
_UNSAID = ("", "\\")


def error_type(prediction: Prediction, sample: Sample) -> ErrorType:
    """The mistake of a prediction at its snapshot, "" where it is right. Raises RecordError for a turn without one."""
    gold = gold_at(prediction, sample)
    if prediction.calls is None:
        return "unparseable"
    if gold is None:
        return "called_when_none_fits" if prediction.calls else ""
    if not prediction.calls:
        return "refused"
    made = prediction.calls[0]
    if made.tool != gold.tool:
        return "wrong_tool"
    given = said_arguments(made.arguments)
    if arguments_match(gold.arguments, given, sample.language):
        return ""
    if missing_names(gold.arguments, given):
        return "missing_argument"
    return "hallucinated_argument" if hallucinated_names(gold.arguments, given) else "wrong_value"


def gold_at(prediction: Prediction, sample: Sample) -> GoldCall | None:
    """The call due at the prediction's snapshot, None where none is; the first where several are.

    Raises RecordError where the sample has no call turn there, or is another sample.
    """
    turn = sample.turns[prediction.turn] if 0 <= prediction.turn < len(sample.turns) else None
    if turn is None or turn.kind != "calls" or prediction.subject != sample.key:
        raise RecordError(
            f"A prediction for turn {prediction.turn} of {prediction.subject} was held against the sample {sample.key},"
            " which has no call turn there. Predict this release again."
        )
    return turn.calls[0] if turn.calls else None


def said_arguments(arguments: Arguments) -> Arguments:
    """The arguments that say something: HammerBench asks for empty strings where nothing was said."""
    return {name: value for name, value in arguments.items() if value not in _UNSAID}
