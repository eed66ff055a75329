"""Scores of answers beyond HammerBench's: plans of calls, conversations, and how steady answers are over several runs.

`invented` is the share of answers that call a tool which is no candidate. `election_stability` and
`levenshtein_stability` are means over samples, of all runs together, and kept with the first (CallNavi 5.3). A metric
ending in `_macro` is the mean of the difficulties (CallNavi 5.1).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from validators.manners import setting_of
from validators.metrics.callnavi.scores import DIFFICULTIES
from validators.metrics.callnavi.stability import measure_stability
from validators.metrics.confetti.acts import score_acts
from validators.metrics.confetti.scorers import StringScorer, score_meaning
from validators.metrics.errors import ErrorType, error_type
from validators.metrics.plans import BY_DIFFICULTY, PlanScore, plan_error, score_plan
from validators.metrics.talks import ChainScore, TalkScores, score_talk
from validators.replies.formats import join_replies
from validators.runs import CandidateRun
from warehouse.exports.callnavi import difficulty_of
from warehouse.records import CallTurn, GoldCall, Prediction, Sample, Score, Tool

Values = Iterator[tuple[str, float, int]]  # a metric, its value, and how many things it is over


class _Answered(NamedTuple):
    """One run's answers to one sample."""

    sample: Sample
    predictions: tuple[Prediction, ...]
    plans: tuple[PlanScore, ...] = ()
    talk: TalkScores | None = None
    invented: int = 0


def has_one_call(sample: Sample) -> bool:
    """Whether a sample is one of those that HammerBench's metrics are about: at most one call is due at a snapshot."""
    return setting_of(sample.kind) == "call"


def score_answers(
    predictions: Iterable[Prediction],
    samples: Iterable[Sample],
    tools: Mapping[str, Tool],
    scorer: StringScorer = score_meaning,
) -> list[Score]:
    """Every score of every run: of plans and conversations, and over runs the stability of all answers, sorted."""
    by_key = {sample.key: sample for sample in samples}
    asked: dict[CandidateRun, dict[str, list[Prediction]]] = defaultdict(lambda: defaultdict(list))
    for one in predictions:
        run = CandidateRun(one.release, one.model, one.strategy, one.tools_shown, one.run)
        asked[run][one.subject].append(one)
    scores: list[Score] = []
    for run, of_run in sorted(asked.items(), key=lambda one: one[0]):
        answered = [_hold(by_key[key], of_sample, tools, scorer) for key, of_sample in of_run.items()]
        scores += [*_scores(run, answered), *_of_chains(run, answered)]
    families = sorted({run._replace(run=0) for run in asked})
    for first in families:
        runs = [of_run for run, of_run in sorted(asked.items(), key=lambda one: one[0]) if run._replace(run=0) == first]
        scores += _stabilities(first, runs, by_key)
    return scores


def _hold(
    sample: Sample, predictions: Sequence[Prediction], tools: Mapping[str, Tool], scorer: StringScorer
) -> _Answered:
    ordered = tuple(sorted(predictions, key=lambda one: one.turn))
    names = [tools[key].name for key in sample.candidates if key in tools]
    invented = sum(any(call.tool not in names for call in one.calls or ()) for one in ordered)
    held = _Answered(sample, ordered, invented=invented)
    match setting_of(sample.kind):
        case "plan":
            difficulty = difficulty_of(sample)
            gold = {at: turn.calls for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)}
            plans = tuple(score_plan(one, gold[one.turn], difficulty) for one in ordered if one.turn in gold)
            return held._replace(plans=plans)
        case "conversation":
            return held._replace(talk=score_talk(ordered, sample, scorer))
        case _:
            return held


def slices_of(sample: Sample) -> Iterator[tuple[str, str]]:
    """What the scores of a sample are told by: the whole, and each of its traits."""
    yield "all", ""
    for field in ("kind", "category", "language"):
        yield field, getattr(sample, field)
    if difficulty_of(sample):
        yield "difficulty", difficulty_of(sample)


def _scores(run: CandidateRun, answered: Sequence[_Answered]) -> Iterator[Score]:
    cells: dict[tuple[str, str], list[_Answered]] = defaultdict(list)
    for one in answered:
        for cell in slices_of(one.sample):
            cells[cell].append(one)
    for (slice_by, slice_value), members in sorted(cells.items()):
        for metric, value, count in (*_of_all(members), *_of_plans(members), *_of_talks(members)):
            yield Score(
                **run._asdict(), slice_by=slice_by, slice_value=slice_value, metric=metric, value=value, count=count
            )


def _of_chains(run: CandidateRun, answered: Sequence[_Answered]) -> Iterator[Score]:
    cells: dict[tuple[str, str], list[ChainScore]] = defaultdict(list)
    for one in answered:
        for chain in one.talk.chains if one.talk else ():
            for cell in chain.slices(len(one.sample.candidates)):
                cells[cell].append(chain)
    for (slice_by, slice_value), chains in sorted(cells.items()):
        told = {"slice_by": slice_by, "slice_value": slice_value, "count": len(chains)}
        yield Score(**run._asdict(), **told, metric="ast_soft_chains", value=fmean(chain.soft for chain in chains))
        yield Score(**run._asdict(), **told, metric="ast_strict_chains", value=fmean(chain.strict for chain in chains))


def _of_all(members: Sequence[_Answered]) -> Values:
    answers = sum(len(one.predictions) for one in members)
    yield "invented", sum(one.invented for one in members) / answers, answers


def _of_plans(members: Sequence[_Answered]) -> Values:
    plans = [plan for one in members for plan in one.plans]
    if not plans:
        return
    for metric in plans[0].verdicts:
        yield metric, fmean(plan.verdicts[metric] for plan in plans), len(plans)
    for metric in BY_DIFFICULTY:
        levels = [[plan.verdicts[metric] for plan in plans if plan.difficulty == name] for name in DIFFICULTIES]
        if any(levels):
            yield f"{metric}_macro", fmean(fmean(level) for level in levels if level), len(plans)


def _of_talks(members: Sequence[_Answered]) -> Values:
    talks = [one.talk for one in members if one.talk is not None]
    turns = [turn for talk in talks for turn in talk.turns]
    chains = [chain for talk in talks for chain in talk.chains]
    acts = [pair for talk in talks for pair in talk.acts]
    if turns:
        yield "ast_soft", fmean(turn.soft for turn in turns), len(turns)
        yield "ast_strict", fmean(turn.strict for turn in turns), len(turns)
        yield "ast_soft_chains", fmean(chain.soft for chain in chains), len(chains)
        yield "ast_strict_chains", fmean(chain.strict for chain in chains), len(chains)
    accuracy = score_acts(acts).accuracy
    if accuracy is not None:
        yield "act_accuracy", accuracy, len(acts)


def _stabilities(
    first: CandidateRun, runs: Sequence[Mapping[str, Sequence[Prediction]]], samples: Mapping[str, Sample]
) -> Iterator[Score]:
    """How alike the answers of several runs are; only samples that every run has answered count."""
    if len(runs) < 2:  # noqa: PLR2004 - one run can't differ from itself
        return
    shared = set(runs[0]).intersection(*runs[1:])
    cells: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in shared:
        for cell in slices_of(samples[key]):
            cells[cell].append(key)
    measured = {key: measure_stability([_text(of_run[key]) for of_run in runs]) for key in shared}
    for (slice_by, slice_value), keys in sorted(cells.items()):
        for metric in ("election", "levenshtein"):
            yield Score(
                **first._asdict(), slice_by=slice_by, slice_value=slice_value, metric=f"{metric}_stability",
                value=fmean(getattr(measured[key], metric) for key in keys), count=len(keys),
            )  # fmt: skip


def _text(predictions: Sequence[Prediction]) -> str:
    return join_replies([one.text for one in sorted(predictions, key=lambda one: one.turn)])


def name_errors(predictions: Iterable[Prediction], samples: Mapping[str, Sample]) -> Iterator[tuple[str, str]]:
    """The mistake of each prediction by its key, "" where there is none."""
    for one in predictions:
        sample = samples[one.subject]
        turn = sample.turns[one.turn] if 0 <= one.turn < len(sample.turns) else None
        if isinstance(turn, CallTurn) or has_one_call(sample):
            yield one.key, _mistake(one, sample, turn.calls if isinstance(turn, CallTurn) else ())


def _mistake(prediction: Prediction, sample: Sample, gold: Sequence[GoldCall]) -> ErrorType:
    return error_type(prediction, sample) if has_one_call(sample) else plan_error(prediction, gold, sample.language)
