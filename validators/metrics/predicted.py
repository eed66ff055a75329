"""Our own predictions held against the gold, snapshot by snapshot: what the tallies of a conversation are made of."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from validators.matching.hammerbench_arguments import arguments_match, hallucinated_names, missing_names
from validators.metrics.errors import gold_at, said_arguments
from validators.metrics.hammerbench_snapshots import SnapshotResult, is_refusal
from validators.metrics.shifts import shifted_snapshots
from validators.metrics.tallies import Tally, tally_conversation
from warehouse.errors import RecordError
from warehouse.records import Prediction, Sample, SnapshotsScored, Tool

CHOICES: tuple[SnapshotsScored, ...] = get_args(SnapshotsScored)
Agreements = Mapping[str, bool]  # what a judge says of predictions, by their keys


class Silence(NamedTuple):
    """A reply where no call is due: whether it says sorry, whether it calls nothing, and whether a call was due before."""

    says_sorry: bool
    calls_nothing: bool
    after_calls: bool


class Counted(NamedTuple):
    """What one run's answers to one sample count for: its tallies in the order of CHOICES, None where nothing is chosen.

    `is_long` says that calls are due at more than one snapshot.
    """

    tallies: tuple[Tally | None, ...]
    silences: tuple[Silence, ...]
    is_long: bool


class GoldSnapshots:
    """A sample's snapshots, against which the answers of any number of runs are held; what was seen before is known."""

    def __init__(self, sample: Sample, tools: Mapping[str, Tool]) -> None:
        """`tools` by key tell which parameter names are defined at all."""
        self._sample = sample
        self._tools = tools
        self._due = [(snapshot.turn, bool(snapshot.calls)) for snapshot in sample.snapshots()]
        numbers = [number for number, (_, is_due) in enumerate(self._due) if is_due]
        shifted = set(shifted_snapshots(sample))
        places = range(len(numbers))
        self._picked: dict[SnapshotsScored, Sequence[int]] = {
            "all": places,
            "first": places[:1],
            "last": places[-1:],
            "shift": [place for place in places if numbers[place] in shifted],
        }
        # a result holds on to the calls that it is of: no others can then be taken for them
        self._results: dict[tuple[int, int, bool], tuple[SnapshotResult, object]] = {}
        self._counted: dict[tuple[tuple[SnapshotResult, ...], tuple[bool, ...], tuple[Silence, ...]], Counted] = {}

    def count(self, predictions: Sequence[Prediction], agreements: Agreements | None = None) -> Counted:
        """One run's predictions, beside the gold; `agreements` None compares values by rule.

        Raises RecordError where a snapshot has no prediction, or a judge was not asked about one that needs it.
        """
        by_turn = {prediction.turn: prediction for prediction in predictions}
        results: list[SnapshotResult] = []
        flags: list[bool] = []
        silences: list[Silence] = []
        for turn, is_due in self._due:
            prediction = by_turn.pop(turn, None)
            if prediction is None:
                raise RecordError(
                    f"Turn {turn} of {self._sample.key} was not predicted, but others are. Predict it again."
                )
            if not is_due:
                silences.append(Silence(is_refusal(prediction.text), prediction.calls == (), bool(results)))
                continue
            result = self._result(prediction)
            results.append(result)
            by_rule = result.arguments_right
            flags.append(by_rule if agreements is None else _is_judged_right(prediction, self._sample, agreements))
        for prediction in by_turn.values():
            gold_at(prediction, self._sample)  # raises: the sample has no such call turn
        return self._tallied(tuple(results), tuple(flags), tuple(silences))

    def _result(self, prediction: Prediction) -> SnapshotResult:
        """The result, worked out once for the same calls; those that were read from the same text are one object."""
        seen = (prediction.turn, id(prediction.calls), is_refusal(prediction.text))
        known = self._results.get(seen)
        if known is None:
            result = snapshot_result(prediction, self._sample, self._tools)._replace(problem="")
            known = self._results[seen] = (result, prediction.calls)
        return known[0]

    def _tallied(
        self, results: tuple[SnapshotResult, ...], flags: tuple[bool, ...], silences: tuple[Silence, ...]
    ) -> Counted:
        seen = (results, flags, silences)
        counted = self._counted.get(seen)
        if counted is None:
            tallies = (
                tally_conversation(results, flags, picked) if (picked := self._picked[choice]) else None
                for choice in CHOICES
            )
            counted = self._counted[seen] = Counted(tuple(tallies), silences, len(results) > 1)
        return counted


def snapshot_result(prediction: Prediction, sample: Sample, tools: Mapping[str, Tool]) -> SnapshotResult:
    """What a prediction got right where a call is due; the arguments of another tool are never right (6.1.1).

    Raises RecordError where no call is due.
    """
    gold = gold_at(prediction, sample)
    if gold is None:
        raise RecordError(f"No call is due at turn {prediction.turn} of {sample.key}; there is nothing to compare.")
    made = prediction.calls[0] if prediction.calls else None
    if made is None:
        refused = is_refusal(prediction.text)
        return SnapshotResult(
            tool_right=False, arguments_right=False, missing=len(gold.arguments), refused=refused, is_call=False,
            problem=prediction.problem,
        )  # fmt: skip
    given = said_arguments(made.arguments)
    tool_right = made.tool == gold.tool
    defined = next((tools[key] for key in sample.candidates if key in tools and tools[key].name == gold.tool), None)
    return SnapshotResult(
        tool_right=tool_right,
        arguments_right=tool_right and arguments_match(gold.arguments, given, sample.language),
        hallucinated=hallucinated_names(gold.arguments, given),
        missing=missing_names(gold.arguments, given),
        refused=not tool_right and is_refusal(prediction.text),
        undefined=None if defined is None else hallucinated_names(defined.properties, given),
    )


def needs_judge(prediction: Prediction, sample: Sample) -> bool:
    """Whether only a judge can say if the call is right: tool and parameter names are, a value is written otherwise.

    That gate is the paper's (EVALUATORS 1.5); what is the gold call to the letter needs nobody's word either.
    """
    gold = gold_at(prediction, sample)
    if gold is None or not prediction.calls:
        return False
    given = said_arguments(prediction.calls[0].arguments)
    has_its_names = prediction.calls[0].tool == gold.tool and given.keys() == gold.arguments.keys()
    return has_its_names and given != gold.arguments


def _is_judged_right(prediction: Prediction, sample: Sample, agreements: Agreements) -> bool:
    if not needs_judge(prediction, sample):
        return snapshot_result(prediction, sample, {}).names_right
    if prediction.key not in agreements:
        raise RecordError(
            f"The judge has not been asked about the prediction {prediction.key}. Evaluate again with it."
        )
    return agreements[prediction.key]
