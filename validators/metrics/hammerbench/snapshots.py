"""HammerBench's metrics over our own predictions, by kind, category, language (HammerBench 6.1.1).

They are those of its logs (`tallies`), over our own conversations; a single turn is a conversation
of one snapshot. `func_acc` asks for the tool at a conversation's first snapshot. `args_acc` is a
share of the snapshots chosen, and so is `args_acc_exact`, without the paper's Rouge-L; `pr` and
`sr` are shares of the conversations; `pn_hr`, `pn_mr` and `pn_hr_definition` are shares of the
snapshots whose conversation began with the right tool. `pn_hr` counts names that the gold lacks, as
the published code does; `pn_hr_definition` those that the tool's definition lacks, as the paper
defines it. Where no call is due, `irrelevant` (and `intent_shift`, the paper's IS, where calls were
due before) is the published count of replies that say sorry; `no_call` counts the replies that call
nothing, in whatever words.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

from callwright.generators.kinds import traits_of
from callwright.language.packs import LanguagePattern
from callwright.validators.metrics.hammerbench.scores import (
    SnapshotResult,
    Tally,
    arguments_equal,
    arguments_match,
    hallucinated_names,
    is_refusal,
    missing_names,
    sum_up,
    tally_conversation,
)
from callwright.validators.metrics.mistakes import CallPair, due_calls, pair_calls, stated_arguments
from callwright.validators.metrics.ratios import (
    Addend,
    CandidateRun,
    Cell,
    Figure,
    by_run,
    intervals_of,
    score_of,
    share_interval,
)
from callwright.validators.metrics.table import Answered, MetricSet
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Language,
    Prediction,
    Sample,
    Score,
    Snapshot,
    SnapshotsScored,
    Tool,
    UserTurn,
)

SLICES = ("kind", "category", "language")
EXACT = "args_acc_exact"
CHOICES: tuple[SnapshotsScored, ...] = get_args(SnapshotsScored)
Agreements = Mapping[str, bool]  # what a judge says of predictions, by their keys
# How the published records word an overriding in the turn that says the value: they bring no facts.
_OVERRIDING = LanguagePattern("@{overriding}", re.RegexFlag(0))
# Of which counts of a Tally each metric is a share.
_SHARES = {
    "func_acc": ("opened", "conversations"),
    "args_acc": ("right", "snapshots"),
    EXACT: ("exact", "snapshots"),
    "pr": ("progress", "conversations"),
    "sr": ("successes", "conversations"),
    "pn_hr": ("hallucinated", "seen"),
    "pn_mr": ("missing", "seen"),
    "pn_hr_definition": ("undefined", "defined"),
}
_OF_RIGHT_TOOLS = ("args_acc", "pr", "sr")  # also as shares of where the tool is right
_OF_SILENCE = ("irrelevant", "intent_shift", "no_call")
METRICS = (*_SHARES, *_OF_SILENCE, *(f"{metric}/func_acc" for metric in _OF_RIGHT_TOOLS))


class NoCallReply(NamedTuple):
    """A reply where no call is due: apology or not, call or not, and if a call was due before."""

    says_sorry: bool
    calls_nothing: bool
    after_calls: bool


class Counted(NamedTuple):
    """What one run's answers to one sample count for.

    `tallies` are in the order of CHOICES, None where nothing is chosen. `is_long` says that
    calls are due at more than one snapshot.
    """

    tallies: tuple[Tally | None, ...]
    silences: tuple[NoCallReply, ...]
    is_long: bool


class SnapshotScores:
    """The metrics of any number of runs, by sample; memory grows with runs and slices only."""

    def __init__(
        self,
        tools: Mapping[str, Tool] | None = None,
        *,
        judge: str = "",
        agreements: Agreements | None = None,
    ) -> None:
        """Start without counts; `tools` are by key, and None leaves out `pn_hr_definition`.

        `agreements` are the verdicts of the model `judge` on predictions by key; None compares
        values by rule.
        """
        self._tools = tools or {}
        self._judge = judge
        self._agreements = agreements
        self._counted: dict[tuple[CandidateRun, tuple[str, ...]], Counter[Counted]] = defaultdict(
            Counter
        )

    def add(self, answered: Sequence[Answered]) -> None:
        """Count answers to some samples; all answers of a run to a sample come at once.

        Raises RecordError where a snapshot has no prediction, or the judge was not asked about one
        that needs it.
        """
        for sample, given in answered:
            if has_one_call(sample):
                gold = GoldSnapshots(sample, self._tools)
                traits = tuple(getattr(sample, field) for field in SLICES)
                for run, of_run in by_run(given).items():
                    self._counted[run, traits][gold.count(of_run, self._agreements)] += 1

    def addends(self) -> dict[str, Addend]:
        """What all that was gathered adds to each metric that is a share where calls are due."""
        tallies = _tallies(sum(self._counted.values(), Counter()), "all")
        total = sum_up(tallies)
        return {
            metric: Addend(getattr(total, met), getattr(total, whole))
            for metric, (met, whole) in _SHARES.items()
            if tallies
        }

    def scores(self) -> list[Score]:
        """Return the scores of every run, sorted."""
        cells: dict[Cell, Counter[Counted]] = defaultdict(Counter)
        for (run, traits), counted in self._counted.items():
            for where in (("all", ""), *zip(SLICES, traits, strict=True)):
                cells[Cell(run, *where)].update(counted)
        return [
            score_of(cell, figure, judge=self._judge, snapshots=choice)
            for cell, counted in sorted(cells.items(), key=lambda one: one[0])
            for choice in CHOICES
            for figure in sorted(_figures(counted, choice))
            if not (self._judge and figure.metric == EXACT)
        ]


def has_one_call(sample: Sample) -> bool:
    """Whether these metrics are about a sample: at most one call is due at a snapshot."""
    return traits_of(sample.kind).asked == "call"


class GoldSnapshots:
    """A sample's snapshots to compare with any number of runs; earlier results are reused."""

    def __init__(self, sample: Sample, tools: Mapping[str, Tool]) -> None:
        """Take a sample; `tools` by key show which parameter names are defined."""
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
        self._counted: dict[
            tuple[tuple[SnapshotResult, ...], tuple[bool, ...], tuple[NoCallReply, ...]], Counted
        ] = {}

    def count(
        self, predictions: Sequence[Prediction], agreements: Agreements | None = None
    ) -> Counted:
        """Count one run's predictions against the gold; without `agreements`, compare by rule.

        Raises RecordError if a snapshot has no prediction, or if a judge was not asked about one
        that needs it.
        """
        by_turn = {prediction.turn: prediction for prediction in predictions}
        results: list[SnapshotResult] = []
        flags: list[bool] = []
        silences: list[NoCallReply] = []
        for turn, is_due in self._due:
            prediction = by_turn.pop(turn, None)
            if prediction is None:
                raise RecordError(
                    f"Turn {turn} of {self._sample.key} was not predicted, but others are. Predict"
                    " it again."
                )
            if not is_due:
                silences.append(
                    NoCallReply(is_refusal(prediction.text), prediction.calls == (), bool(results))
                )
                continue
            seen_call = (turn, id(prediction.calls), is_refusal(prediction.text))
            # those that were read from the same text are one object
            if seen_call not in self._results:
                result = snapshot_result(prediction, self._sample, self._tools)._replace(problem="")
                self._results[seen_call] = (result, prediction.calls)
            results.append(self._results[seen_call][0])
            by_rule = results[-1].arguments_right
            flags.append(
                by_rule
                if agreements is None
                else _is_judged_right(prediction, self._sample, agreements)
            )
        for prediction in by_turn.values():
            due_calls(prediction, self._sample)  # raises: the sample has no such call turn
        seen = (tuple(results), tuple(flags), tuple(silences))
        if seen not in self._counted:
            picks = (self._picked[choice] for choice in CHOICES)
            tallies = tuple(
                tally_conversation(results, flags, picked) if picked else None for picked in picks
            )
            self._counted[seen] = Counted(tallies, seen[2], len(results) > 1)
        return self._counted[seen]


def snapshot_result(
    prediction: Prediction, sample: Sample, tools: Mapping[str, Tool]
) -> SnapshotResult:
    """Return what a prediction got right where a call is due.

    The arguments of another tool are never right (6.1.1). Raises RecordError if no call is due.
    """
    gold = due_calls(prediction, sample)
    if not gold:
        raise RecordError(
            f"No call is due at turn {prediction.turn} of {sample.key}; there is nothing to"
            " compare."
        )
    if not prediction.calls:
        return SnapshotResult(
            tool_right=False,
            arguments_right=False,
            missing=sum(len(due.arguments) for due in gold),
            refused=is_refusal(prediction.text),
            is_call=False,
            problem=prediction.problem,
        )
    named = {tools[key].name: tools[key] for key in reversed(sample.candidates) if key in tools}
    pairs = pair_calls(gold, prediction.calls, sample.language)
    results = [_pair_result(pair, sample.language, named) for pair in pairs]
    undefined = [one.undefined for one in results if one.undefined is not None]
    tool_right = all(one.tool_right for one in results)
    return SnapshotResult(
        tool_right=tool_right,
        arguments_right=all(one.arguments_right for one in results),
        arguments_exact=tool_right and all(one.arguments_exact for one in results),
        hallucinated=sum(one.hallucinated for one in results),
        missing=sum(one.missing for one in results),
        refused=not tool_right and is_refusal(prediction.text),
        undefined=sum(undefined) if undefined else None,
    )


def _pair_result(pair: CallPair, language: Language, tools: Mapping[str, Tool]) -> SnapshotResult:
    """Return what is right about a call; missing and needless calls have all names wrong."""
    due, made_call = pair
    if due is None or made_call is None:
        return SnapshotResult(
            tool_right=False,
            arguments_right=False,
            missing=len(due.arguments) if due else 0,
            hallucinated=len(stated_arguments(made_call.arguments)) if made_call else 0,
        )
    given_arguments, tool_right = stated_arguments(made_call.arguments), made_call.tool == due.tool
    defined = tools.get(due.tool)
    return SnapshotResult(
        tool_right=tool_right,
        arguments_right=tool_right and arguments_match(due.arguments, given_arguments, language),
        arguments_exact=tool_right and arguments_equal(due.arguments, given_arguments),
        hallucinated=hallucinated_names(due.arguments, given_arguments),
        missing=missing_names(due.arguments, given_arguments),
        undefined=None
        if defined is None
        else hallucinated_names(defined.properties, given_arguments),
    )


def needs_judge(prediction: Prediction, sample: Sample) -> bool:
    """Whether only a judge can decide: tools and parameter names are right, a value is not.

    That gate is the paper's (EVALUATORS 1.5); a call that equals the gold exactly needs no judge
    either.
    """
    return bool(pairs_to_judge(prediction, sample))


def pairs_to_judge(prediction: Prediction, sample: Sample) -> list[tuple[GoldCall, Call]]:
    """Return the due calls whose values are written differently in the calls made for them.

    Each comes with the call made. Empty if rules can decide.
    """
    differing: list[tuple[GoldCall, Call]] = []
    for due, made_call in pair_calls(
        due_calls(prediction, sample), prediction.calls or (), sample.language
    ):
        given_arguments = stated_arguments(made_call.arguments) if made_call else {}
        if (
            due is None
            or made_call is None
            or made_call.tool != due.tool
            or given_arguments.keys() != due.arguments.keys()
        ):
            return []
        if given_arguments != due.arguments:
            differing.append((due, made_call.with_changes(arguments=given_arguments)))
    return differing


def shifted_snapshots(sample: Sample) -> list[int]:
    """The numbers of these snapshots, from 0; none where nothing shifts.

    Samples say it by their facts. Of published records it is read from the turns, as their lists of
    snapshots have it. A turn that was inserted for an overriding counts with the one after it, as
    in the paper's runs (EVALUATORS 1.5).
    """
    snapshots = list(sample.snapshots())
    numbers = set(sample.facts.shifts) or set(_found(sample, snapshots))
    if traits_of(sample.kind).shift == "own_turn":
        numbers |= {number + 1 for number in numbers}
    return sorted(number for number in numbers if number < len(snapshots))


def _figures(counted: Mapping[Counted, int], choice: SnapshotsScored) -> Iterator[Figure]:
    """Yield every metric that applies to the conversations at the chosen snapshots."""
    if choice in {"first", "last"} and not any(one.is_long for one in counted):
        return  # single turns: the first and the last snapshot are all there is
    silences: Counter[NoCallReply] = Counter()
    for conversation, times in counted.items():
        for silence in conversation.silences if choice == "all" else ():
            silences[silence] += times
    first, later = (
        {one: n for one, n in silences.items() if one.after_calls is after}
        for after in (False, True)
    )
    for metric, group, says in (
        ("irrelevant", first, "says_sorry"),
        ("intent_shift", later, "says_sorry"),
        ("no_call", silences, "calls_nothing"),
    ):
        met, whole = (
            sum(times for one, times in group.items() if getattr(one, says)),
            sum(group.values()),
        )
        if whole:
            yield Figure(metric, met / whole, whole, share_interval(met, whole))
    if tallies := _tallies(counted, choice):
        yield from _where_calls_are_due(tallies)


def _tallies(counted: Mapping[Counted, int], choice: SnapshotsScored) -> Counter[Tally]:
    """How many conversations have each tally at the snapshots chosen."""
    tallies: Counter[Tally] = Counter()
    for one, times in counted.items():
        tally = one.tallies[CHOICES.index(choice)]
        if tally is not None:
            tallies[tally] += times
    return tallies


def _where_calls_are_due(tallies: Mapping[Tally, int]) -> Iterator[Figure]:
    total = sum_up(tallies)
    counted = [
        (
            metric,
            getattr(total, met),
            getattr(total, whole),
            [
                Addend(getattr(one, met), getattr(one, whole), times)
                for one, times in tallies.items()
            ],
        )
        for metric, (met, whole) in _SHARES.items()
        if getattr(total, whole)
    ]
    intervals = intervals_of([parts for *_, parts in counted])
    for (metric, met, whole, _), interval in zip(counted, intervals, strict=True):
        yield Figure(metric, met / whole, whole, interval)
    if total.opened:  # the paper's "/Func Acc": what is left where the tool is right
        func_acc = total.opened / total.conversations
        for metric in _OF_RIGHT_TOOLS:
            met, whole = (getattr(total, name) for name in _SHARES[metric])
            yield Figure(f"{metric}/func_acc", met / whole / func_acc, whole)


def _is_judged_right(prediction: Prediction, sample: Sample, agreements: Agreements) -> bool:
    if not needs_judge(prediction, sample):
        result = snapshot_result(prediction, sample, {})
        # One call with its names and without need of a judge is the gold call to the letter; of
        # several, rules compare the values.
        return result.names_right and (
            result.arguments_right or len(due_calls(prediction, sample)) == 1
        )
    if prediction.key not in agreements:
        raise RecordError(
            f"The judge has not been asked about the prediction {prediction.key}. Evaluate again"
            " with it."
        )
    return agreements[prediction.key]


def _found(sample: Sample, snapshots: list[Snapshot]) -> Iterator[int]:
    shift = traits_of(sample.kind).shift
    if snapshots and shift == "last":
        yield len(snapshots) - 1
        return
    for number, snapshot in enumerate(snapshots):
        # what the user said since the snapshot before
        spoken = (
            turn for turn in reversed(snapshot.prefix) if isinstance(turn, UserTurn | CallTurn)
        )
        latest_turn = next(spoken, None)
        if isinstance(latest_turn, UserTurn):
            is_worded = (
                shift == "same_turn"
                and _OVERRIDING.of(latest_turn.text).search(latest_turn.text) is not None
            )
            if latest_turn.external is not None or is_worded:
                yield number
                continue
        if shift == "own_turn" and number > 0 and _overrides(snapshots[number - 1], snapshot):
            yield number


def _overrides(before: Snapshot, here: Snapshot) -> bool:
    """Whether an argument has another value than at the previous snapshot."""
    if not before.calls or not here.calls:
        return False
    earlier, later = before.calls[0].arguments, here.calls[0].arguments
    return any(name in later and later[name] != value for name, value in earlier.items())


HAMMERBENCH = MetricSet(
    "hammerbench",
    "calls at snapshots, by tools, parameter names and values",
    METRICS,
    of_answers=SnapshotScores,
    of_opinions=lambda tools, opinions: SnapshotScores(
        tools, judge=opinions.judge, agreements=opinions.agreements
    ),
)
