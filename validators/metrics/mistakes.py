"""What kind of mistake an answer makes, the gravest first (HammerBench 6.3, B).

It also says which call was made for which.

`invented` is the share of answers that call a tool which is no candidate.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple, get_args

from callwright.generators.kinds import traits_of
from callwright.validators.matching import assign
from callwright.validators.metrics.callnavi.answers import UNKNOWN
from callwright.validators.metrics.hammerbench.scores import (
    arguments_match,
    hallucinated_names,
    missing_names,
)
from callwright.validators.metrics.ratios import by_run
from callwright.validators.metrics.table import Answered, MetricSet, RatioScores, Tools
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    Call,
    CallTurn,
    GoldCall,
    Language,
    Prediction,
    Sample,
)

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
_GRAVEST_FIRST: tuple[ErrorType, ...] = get_args(ErrorType)[1:]
_UNSTATED = ("", "\\")


class CallPair(NamedTuple):
    """A due call and the call made for it; either is None if the other has no partner."""

    due: GoldCall | None
    made: Call | None


def mistakes_of(
    predictions: Iterable[Prediction], samples: Mapping[str, Sample]
) -> Iterator[ErrorType | None]:
    """Yield the mistake of each prediction, "" if there is none, None if no call was possible."""
    known_mistakes: dict[tuple[str, int, int], tuple[ErrorType, object]] = {}
    for prediction in predictions:
        sample = samples[prediction.subject]
        traits = traits_of(sample.kind)
        turn = sample.turns[prediction.turn] if 0 <= prediction.turn < len(sample.turns) else None
        if not isinstance(turn, CallTurn) and traits.asked != "call":
            yield None
            continue
        seen = (prediction.subject, prediction.turn, id(prediction.calls))
        if seen not in known_mistakes:
            is_set = traits.asked == "call" or (traits.asked == "plan" and traits.calls == "set")
            due = turn.calls if isinstance(turn, CallTurn) else ()
            known_mistakes[seen] = (
                error_type(prediction, sample)
                if is_set
                else plan_error(prediction, due, sample.language),
                prediction.calls,
            )
        yield known_mistakes[seen][0]


def error_type(prediction: Prediction, sample: Sample) -> ErrorType:
    """Return the gravest mistake of a prediction at its snapshot, or "" if it is right.

    Raises RecordError for a turn without a snapshot.
    """
    gold, made = due_calls(prediction, sample), prediction.calls
    return _gravest(made, gold, pair_calls(gold, made or (), sample.language), sample.language)


def plan_error(prediction: Prediction, gold: Sequence[GoldCall], language: Language) -> ErrorType:
    """Return the gravest mistake in an answer to a turn's calls, in order, "" if it is right."""
    pairs = [CallPair(*pair) for pair in zip_longest(gold, prediction.calls or ())]
    return _gravest(prediction.calls, gold, pairs, language)


def due_calls(prediction: Prediction, sample: Sample) -> tuple[GoldCall, ...]:
    """Return the calls due at the prediction's snapshot.

    Raises RecordError if the sample has no call turn there, or is another sample.
    """
    turn = sample.turns[prediction.turn] if 0 <= prediction.turn < len(sample.turns) else None
    if turn is None or turn.kind != "calls" or prediction.subject != sample.key:
        raise RecordError(
            f"A prediction for turn {prediction.turn} of {prediction.subject} was held against the"
            f" sample {sample.key}, which has no call turn there. Predict this release again."
        )
    return turn.calls


def pair_calls(
    gold: Sequence[GoldCall], made: Sequence[Call], language: Language
) -> list[CallPair]:
    """Return each due call with the call made for it, in gold order, then surplus calls.

    With several calls, the pairs are those with the least grave mistakes in total, whatever the
    order of the calls. If one call is due, only the first call made counts, as in HammerBench's
    own scoring.
    """
    if len(gold) <= 1:
        return [CallPair(due, made[0] if made else None) for due in gold]
    # the less is wrong with a call as the one that is due, the likelier it is meant
    grades = (*_GRAVEST_FIRST, "")
    likeness = [
        [float(grades.index(_pair_error(CallPair(due, call), language))) for call in made]
        for due in gold
    ]
    found = dict(assign(likeness))
    pairs = [CallPair(due, made[found[at]] if at in found else None) for at, due in enumerate(gold)]
    taken = set(found.values())
    return pairs + [CallPair(None, call) for at, call in enumerate(made) if at not in taken]


def stated_arguments(arguments: Arguments) -> Arguments:
    """Return the arguments without the empty ones that HammerBench wants for unstated values."""
    return {name: value for name, value in arguments.items() if value not in _UNSTATED}


def _gravest(
    made: Sequence[Call] | None,
    gold: Sequence[GoldCall],
    pairs: Iterable[CallPair],
    language: Language,
) -> ErrorType:
    if made is None:
        return "unparseable"
    if not gold:
        return "called_when_none_fits" if made else ""
    if not made:
        return "refused"
    mistakes = {_pair_error(pair, language) for pair in pairs}
    return next((kind for kind in _GRAVEST_FIRST if kind in mistakes), "")


def _pair_error(pair: CallPair, language: Language) -> ErrorType:
    if pair.due is None or pair.made is None or pair.due.tool != pair.made.tool:
        return "wrong_tool"
    due, made = pair.due.arguments, pair.made.arguments
    open_ones = {name: UNKNOWN for name, value in due.items() if value == UNKNOWN and name in made}
    given_arguments = stated_arguments({**made, **open_ones})
    if arguments_match(due, given_arguments, language):
        return ""
    if missing_names(due, given_arguments):
        return "missing_argument"
    return "hallucinated_argument" if hallucinated_names(due, given_arguments) else "wrong_value"


class InventedScores(RatioScores):
    """The share of answers that call a tool which is no candidate."""

    def __init__(self, tools: Tools) -> None:
        """`tools` by key have the names of candidates."""
        super().__init__()
        self._tools = tools

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples."""
        for sample, given in answered:
            names = {self._tools[key].name for key in sample.candidates if key in self._tools}
            for run, of_run in by_run(given).items():
                invented = sum(
                    any(call.tool not in names for call in one.calls or ()) for one in of_run
                )
                self.of(run, sample).count("invented", invented, len(of_run))


INVENTED = MetricSet(
    "invented", "calls of tools that are no candidates", ("invented",), InventedScores
)
