"""HammerBench's metrics over our own predictions, as a whole and by kind, category and language (HammerBench 6.1.1).

They are those of its logs (`tallies`), over our own conversations; a single turn is a conversation of one snapshot.
`func_acc` asks for the tool at a conversation's first snapshot. `args_acc` is a share of the snapshots chosen, `pr` and `sr` of
the conversations; `pn_hr`, `pn_mr` and `pn_hr_definition` are shares of the snapshots whose conversation began with the right
tool. `pn_hr` counts names that the gold lacks, as the published code does; `pn_hr_definition` those that the tool's definition
lacks, as the paper defines it. Where no call is due, `irrelevant` (and `intent_shift`, the paper's IS, where calls were due
before) is the published count of replies that say sorry; `no_call` counts the replies that call nothing, in whatever words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

from validators.metrics.predicted import Agreements, PredictedConversation, Silence, hold_against_gold
from validators.metrics.tallies import Tally, sum_up
from validators.runs import CandidateRun
from warehouse.errors import RecordError
from warehouse.records import Prediction, Sample, Score, SnapshotsScored, Tool

SLICES = ("kind", "category", "language")
CHOICES: tuple[SnapshotsScored, ...] = get_args(SnapshotsScored)


class _Member(NamedTuple):
    conversation: PredictedConversation
    tallies: Mapping[SnapshotsScored, Tally | None]


class Figure(NamedTuple):
    """One metric over some conversations, and how many things it is a share of."""

    metric: str
    value: float
    whole: int


def score_predictions(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    tools: Mapping[str, Tool] | None = None,
    *,
    judge: str = "",
    agreements: Agreements | None = None,
) -> list[Score]:
    """The scores of every run in `predictions`, sorted; `tools` by key, None leaves out `pn_hr_definition`.

    `agreements` are what the model `judge` says of predictions by their keys, None compares values by rule. Raises
    RecordError where predictions and samples do not fit together, or the judge was not asked.
    """
    by_key = {sample.key: sample for sample in samples}
    asked: dict[tuple[CandidateRun, str], list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        if prediction.subject not in by_key:
            raise RecordError(
                f"The prediction for {prediction.subject} has no sample in this release. Predict it again."
            )
        asked[_run_of(prediction), prediction.subject].append(prediction)
    cells: dict[tuple[CandidateRun, str, str], list[_Member]] = defaultdict(list)
    for (run, subject), of_sample in asked.items():
        conversation = hold_against_gold(of_sample, by_key[subject], tools or {}, agreements)
        member = _Member(conversation, {choice: conversation.tally(choice) for choice in CHOICES})
        for slice_by, slice_value in _slices(conversation.sample):
            cells[run, slice_by, slice_value].append(member)
    return [
        Score(
            **run._asdict(), judge=judge, snapshots=choice, slice_by=slice_by, slice_value=slice_value,
            metric=figure.metric, value=figure.value, count=figure.whole,
        )
        for (run, slice_by, slice_value), members in sorted(cells.items(), key=lambda cell: cell[0])
        for choice in CHOICES
        for figure in sorted(_figures(members, choice))
    ]  # fmt: skip


def _run_of(prediction: Prediction) -> CandidateRun:
    return CandidateRun(
        prediction.release, prediction.model, prediction.strategy, prediction.tools_shown, prediction.run
    )


def _slices(sample: Sample) -> Iterator[tuple[str, str]]:
    yield "all", ""
    for field in SLICES:
        yield field, getattr(sample, field)


def _figures(members: Sequence[_Member], choice: SnapshotsScored) -> Iterator[Figure]:
    """Every metric that can be asked of the conversations at the snapshots chosen."""
    if choice in {"first", "last"} and not any(len(member.conversation.numbers) > 1 for member in members):
        return  # single turns: the first and the last snapshot are all there is
    if choice == "all":
        yield from _where_none_is_due([silence for member in members for silence in member.conversation.silences])
    tallies = [tally for member in members if (tally := member.tallies[choice]) is not None]
    if tallies:
        yield from _where_calls_are_due(sum_up(tallies))


def _where_calls_are_due(total: Tally) -> Iterator[Figure]:
    shares = {
        "func_acc": (total.opened, total.conversations),
        "args_acc": (total.right, total.snapshots),
        "pr": (total.progress, total.conversations),
        "sr": (total.successes, total.conversations),
        "pn_hr": (total.hallucinated, total.seen),
        "pn_mr": (total.missing, total.seen),
        "pn_hr_definition": (total.undefined, total.defined),
    }
    yield from (Figure(metric, met / count, count) for metric, (met, count) in shares.items() if count)
    if total.opened:  # the paper's "/Func Acc": what is left where the tool is right
        func_acc = total.opened / total.conversations
        for metric in ("args_acc", "pr", "sr"):
            met, count = shares[metric]
            yield Figure(f"{metric}/func_acc", met / count / func_acc, count)


def _where_none_is_due(silences: Sequence[Silence]) -> Iterator[Figure]:
    for metric, group in (
        ("irrelevant", [one for one in silences if not one.after_calls]),
        ("intent_shift", [one for one in silences if one.after_calls]),
    ):
        if group:
            yield Figure(metric, sum(one.says_sorry for one in group) / len(group), len(group))
    if silences:
        yield Figure("no_call", sum(one.calls_nothing for one in silences) / len(silences), len(silences))
