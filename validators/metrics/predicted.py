"""Our own predictions held against the gold, snapshot by snapshot: what the tallies of a conversation are made of."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from validators.matching.hammerbench_arguments import arguments_match, hallucinated_names, missing_names
from validators.metrics.errors import gold_at, said_arguments
from validators.metrics.hammerbench_snapshots import SnapshotResult, is_refusal
from validators.metrics.shifts import shifted_snapshots
from validators.metrics.tallies import Tally, tally_conversation
from warehouse.errors import RecordError
from warehouse.records import Prediction, Sample, SnapshotsScored, Tool

Agreements = Mapping[str, bool]  # what a judge says of predictions, by their keys


class Silence(NamedTuple):
    """A reply where no call is due: whether it says sorry, whether it calls nothing, and whether a call was due before."""

    says_sorry: bool
    calls_nothing: bool
    after_calls: bool


class PredictedConversation(NamedTuple):
    """One run's answers to one sample. `numbers` are those of the snapshots at which a call is due."""

    sample: Sample
    numbers: tuple[int, ...]
    results: tuple[SnapshotResult, ...]
    flags: tuple[bool, ...]
    silences: tuple[Silence, ...]

    def picked(self, choice: SnapshotsScored) -> list[int]:
        """The places of the snapshots to score, among those at which a call is due."""
        places = range(len(self.numbers))
        if choice == "shift":
            shifted = set(shifted_snapshots(self.sample))
            return [place for place in places if self.numbers[place] in shifted]
        return list({"all": places, "first": places[:1], "last": places[-1:]}[choice])

    def tally(self, choice: SnapshotsScored) -> Tally | None:
        """The counts of the conversation at the snapshots chosen, None where it has none of them."""
        picked = self.picked(choice)
        return tally_conversation(self.results, self.flags, picked) if picked else None


def hold_against_gold(
    predictions: Sequence[Prediction], sample: Sample, tools: Mapping[str, Tool], agreements: Agreements | None = None
) -> PredictedConversation:
    """One run's predictions for a sample, beside its gold; `agreements` None compares values by rule.

    Raises RecordError where a snapshot has no prediction, or a judge was not asked about one that needs it.
    """
    by_turn = {prediction.turn: prediction for prediction in predictions}
    numbers: list[int] = []
    results: list[SnapshotResult] = []
    flags: list[bool] = []
    silences: list[Silence] = []
    for number, snapshot in enumerate(sample.snapshots()):
        if snapshot.turn not in by_turn:
            raise RecordError(
                f"Turn {snapshot.turn} of {sample.key} was not predicted, but others are. Predict it again."
            )
        prediction = by_turn.pop(snapshot.turn)
        if not snapshot.calls:
            calls_nothing = prediction.calls == ()
            silences.append(Silence(is_refusal(prediction.text), calls_nothing, after_calls=bool(numbers)))
            continue
        result = snapshot_result(prediction, sample, tools)
        numbers.append(number)
        results.append(result)
        flags.append(result.arguments_right if agreements is None else _is_judged_right(prediction, sample, agreements))
    for prediction in by_turn.values():
        gold_at(prediction, sample)  # raises: the sample has no such call turn
    return PredictedConversation(sample, tuple(numbers), tuple(results), tuple(flags), tuple(silences))


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
