"""Evaluate candidate models on a release: requests, answers, scores and mistakes."""

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.evaluation.answers import (
    answered_subjects,
    keep_intervals,
    read_agreements,
    read_as_gold,
    read_grades,
    score_answers,
    score_others_alike,
)
from callwright.flows.evaluation.evaluation_run import (
    USUAL,
    Conditions,
    EvaluationRun,
    NamedCandidate,
    readiness_of,
    record_evaluation,
)
from callwright.flows.evaluation.grading import grade_prediction, graded_metric, judge_prediction
from callwright.flows.evaluation.paths import (
    MULTI_STEP,
    PATH_STRATEGIES,
    builds_of,
    evaluate_paths,
    live_kinds,
    live_prompts_seen,
    open_environments_of,
    path_prompts_seen,
)
from callwright.flows.evaluation.predictions import (
    MOST_NATIVE,
    STRATEGIES,
    asked_at,
    predict,
    prompts_seen,
)
from callwright.flows.evaluation.tool_changes import ChangedTool, changed_tools, note_changes
from callwright.flows.progress import Progress
from callwright.flows.recipe import Candidate
from callwright.flows.review.asking_again import tell_suspicions
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.stages import prompt_rows
from callwright.generators.stages import StageContext
from callwright.llm.chat import ChatModel
from callwright.llm.ledger import Ledger, known_keys
from callwright.llm.limits import Budget, Traffic
from callwright.validators.judges import COMPLETENESS, CORRECTNESS, SAME_ON_PATH, opinion_versions
from callwright.validators.metrics.hammerbench.snapshots import has_one_call, needs_judge
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import BudgetError, CallwrightError, ConfigurationError
from callwright.warehouse.paid_notes import paid_notes_of_process
from callwright.warehouse.records import LlmCall, Prediction, Record, Sample, content_key
from callwright.warehouse.releases import ReleaseContent, keys_of_kinds, read_release
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

STAGE, ROUTING, JUDGING = "predict", "route", "judge_prediction"


async def evaluate_release(
    release: str,
    candidates: Sequence[Candidate],
    settings: Settings,
    progress: Progress,
    conditions: Conditions = USUAL,
) -> list[str]:
    """Evaluate each candidate on a release: due calls, multi-step samples, scores; keep all.

    Returns the names that the candidates have on the release. What was predicted or judged
    before is not asked again; a candidate whose settings have changed is another one. Raises
    ConfigurationError for an unknown release, and what a model's adapter raises; answers up to
    then are kept.
    """
    warehouse = open_warehouse(settings)
    async with AsyncExitStack() as stack:
        with warehouse.together():
            content = read_release(warehouse, release, without=MULTI_STEP)
            _require_split(content, conditions.split)
            stack.enter_context(record_evaluation(warehouse, release, candidates, conditions))
            builds = builds_of(warehouse, release, MULTI_STEP)
        ledger = Ledger(settings.ledger)
        stack.push_async_callback(ledger.close)
        environments = stack.enter_context(open_environments_of(builds, settings, progress))
        conditions = conditions._replace(environments={**environments, **conditions.environments})
        known = partial(known_keys, settings.ledger)
        paid = stack.enter_context(
            paid_notes_of_process(settings.home / "evaluations", warehouse, known)
        )
        budget, ready = Budget(conditions.budget), readiness_of(candidates, conditions)
        kept = (ledger, budget, warehouse, progress, list[LlmCall](), paid, Traffic(), ready)
        evaluation = EvaluationRun(release, conditions, *kept)
        judge = evaluation.open(conditions.judge, JUDGING) if conditions.judge else None
        if judge is not None:
            stack.push_async_callback(judge.close)
        is_live = conditions.user is not None
        with warehouse.together():
            warehouse.put_rows({"prompts": prompt_rows()})
            strategy, plain = conditions.prompting, conditions.prompting._replace(tools="")
            note_changes(warehouse, release, conditions.shown, strategy.label, plain.label)
            paths = keys_of_kinds(warehouse, release, live_kinds() if is_live else MULTI_STEP)
            if is_live and not paths:
                raise ConfigurationError(
                    f"The release {release!r} has no samples with a live conversation. Kinds that "
                    f"have one: {', '.join(live_kinds())}."
                )
            worlds = [*conditions.environments]
            by = path_conditions(conditions.turn_limit, worlds, is_live=is_live) if paths else {}
            named = name_candidates(warehouse, release, candidates, by, progress)

        async def evaluate(candidate: NamedCandidate) -> None:
            if _asked_about(content, conditions.split) and not is_live:
                await _evaluate_snapshots(evaluation, content, candidate, judge)
            await evaluate_paths(evaluation, candidate, judge, paths)

        await evaluate_each(named, evaluate, release, progress)
        as_published = conditions.as_published
        told = [] if is_live else score_others_alike(warehouse, content, as_published=as_published)
        for sentence in told:
            progress.say(sentence)
    tell_suspicions(warehouse, release, progress)
    return [candidate.name for candidate in named]


def name_candidates(
    warehouse: Warehouse,
    release: str,
    candidates: Sequence[Candidate],
    conditions: Mapping[str, JsonValue],
    progress: Progress,
) -> list[NamedCandidate]:
    """Return the candidates with their names on a release, and store each one's settings.

    A label keeps its name while its settings are the same; other settings get another name
    ("label#2"), and earlier answers stay. `conditions` are those that can change runs over the
    release's multi-step samples.
    """
    rows = warehouse.rows(
        "select candidate, label, settings from candidate_settings where release = ?", [release]
    )
    names = {(row["label"], row["settings"]): row["candidate"] for row in rows}
    taken = {row["candidate"] for row in rows} | {one.label for one in candidates}
    named: list[NamedCandidate] = []
    new: list[Row] = []
    for one in candidates:
        options: JsonValue = [list(option) for option in one.model.options]
        asked: JsonValue = [one.model.name, options, _prompts()]
        settings = content_key([asked, dict(conditions)])
        name = names.get((one.label, settings)) or _new_name(
            one.label, {label for label, _ in names}, taken
        )
        if (one.label, settings) not in names:
            taken.add(name)
            new.append(
                {
                    "release": release,
                    "candidate": name,
                    "label": one.label,
                    "settings": settings,
                    "model": one.model.name,
                    "options": orjson.dumps(dict(one.model.options)).decode(),
                    "prompts": _prompts(),
                    "conditions": orjson.dumps(dict(conditions)).decode(),
                    "code_version": version("callwright"),
                    "first_asked_at": datetime.now(UTC),
                }
            )
            if name != one.label:
                progress.say(
                    f"{one.label} had other settings when {release} was last evaluated. With the "
                    f"new settings it is named {name}."
                )
        named.append(NamedCandidate(name, one.label, one.model, settings))
    warehouse.put_rows({"candidate_settings": new})
    return named


def _new_name(label: str, labels: set[str], taken: set[str]) -> str:
    if label not in labels:
        return label
    number = 2
    while f"{label}#{number}" in taken:
        number += 1
    return f"{label}#{number}"


def _prompts() -> str:
    """Return a hash of all prompts that candidates may see, with any strategy."""
    return content_key([*prompts_seen(), *path_prompts_seen()])


def path_conditions(
    turn_limit: int, environments: Sequence[str], *, is_live: bool = False
) -> dict[str, JsonValue]:
    """Return what may change runs over multi-step samples besides the candidate.

    This is their maximum length, and who answers and judges.
    """
    judges: list[JsonValue] = [*opinion_versions(SAME_ON_PATH, COMPLETENESS, CORRECTNESS)]
    live: dict[str, JsonValue] = {"user": [*live_prompts_seen()]} if is_live else {}
    return {
        "turn_limit": turn_limit,
        "environments": [*sorted(environments)],
        "judges": judges,
        **live,
    }


async def evaluate_each(
    candidates: Sequence[NamedCandidate],
    evaluate: Callable[[NamedCandidate], Awaitable[None]],
    release: str,
    progress: Progress,
) -> None:
    """Evaluate candidates one after another, continuing with the others if one fails.

    Raises the first error at the end, and BudgetError at once, because all share the budget.
    """
    failed: dict[str, Exception] = {}
    for candidate in candidates:
        try:
            await evaluate(candidate)
        except BudgetError:
            raise
        except Exception as error:  # noqa: BLE001 - also a bug is that of one candidate; it is raised below
            failed[candidate.name] = error
            if len(candidates) > 1:
                progress.say(f"{candidate.name} is not evaluated to its end: {error}")
    if not failed:
        return
    first = next(iter(failed.values()))
    if len(candidates) == 1 or not isinstance(first, CallwrightError):
        raise first
    raise type(first)(
        f"{len(failed)} of {len(candidates)} candidates could not be evaluated"
        f" ({', '.join(failed)}): {first} The others are evaluated. Then `callwright evaluate"
        f" {release} --resume` asks for what is missing."
    ) from first


def _require_split(content: ReleaseContent, split: str) -> None:
    """Raise ConfigurationError if a release has no such split."""
    splits = content.release.splits
    if split and split not in splits:
        split_hint = "it has none: `release create NAME --splits …` makes some"
        if splits:
            split_hint = f"it has {', '.join(splits)}"
        problem = f"The release {content.release.name!r} has no split {split!r}; {split_hint}."
        raise ConfigurationError(problem)


def leaderboard(release: str, settings: Settings, split: str = "") -> list[Row]:
    """Return the leaderboard of a split of a release, or of all of it, without unfinished runs."""
    return _board(
        "select * from leaderboard where release = ? and split = ? and is_scored",
        release,
        settings,
        split,
    )


def domain_board(release: str, settings: Settings, split: str = "") -> list[Row]:
    """Return rows on the release's multi-step samples by run, mode, judge and domain.

    The domain "all" comes last.
    """
    sql = "select * exclude (release) from domain_board where release = ? and split = ?"
    return _board(sql, release, settings, split)


def answer_board(release: str, settings: Settings, split: str = "") -> list[Row]:
    """Return rows on the release's plans and conversations by run and judge.

    They say how candidates answered and how steadily. The slice "all" comes first.
    """
    sql = """
        select * exclude (release) from answer_board where release = ? and split = ? and slice_by in ('all', 'difficulty')
        order by slice_by, candidate, strategy, run, judge, slice_value
    """  # noqa: E501
    return _board(sql, release, settings, split)


def _board(sql: str, release: str, settings: Settings, split: str) -> list[Row]:
    return open_warehouse(settings).rows(sql, [release, split])


def _asked_about(content: ReleaseContent, split: str) -> list[Sample]:
    """Return the samples of a split; "" means all."""
    return [
        sample for sample in content.samples if split in ("", content.splits.get(sample.key, ""))
    ]


async def _evaluate_snapshots(
    evaluation: EvaluationRun,
    content: ReleaseContent,
    candidate: NamedCandidate,
    judge: ChatModel | None,
) -> None:
    await _predict_missing(evaluation, content, candidate)
    warehouse, run = evaluation.warehouse, evaluation.first_run_of(candidate)
    as_published = evaluation.conditions.as_published
    with warehouse.together():
        problems = score_answers(warehouse, content, run, as_published=as_published)
        keep_intervals(warehouse, content, run, as_published=as_published)
    if judge is not None:
        await _judge_missing(evaluation, content, judge, run)
        split = evaluation.conditions.split
        problems += score_answers(
            warehouse, content, run, judge.name, split, as_published=as_published
        )
    for problem in problems:
        evaluation.progress.say(problem)


async def _predict_missing(
    evaluation: EvaluationRun, content: ReleaseContent, candidate: NamedCandidate
) -> None:
    """Ask a candidate for the answers that are still missing, in each run."""
    warehouse, conditions = evaluation.warehouse, evaluation.conditions
    first = evaluation.first_run_of(candidate)
    wanted = _asked_about(content, conditions.split)
    many = sum(len(sample.candidates) > MOST_NATIVE for sample in wanted)
    if many and evaluation.conditions.prompting.strategy == "native":
        evaluation.progress.say(
            f"{many} of {count_of(len(wanted), 'sample')} have more than {MOST_NATIVE} tools, which"
            " providers refuse. For these the candidate first names the tools that it needs, and"
            " is given only those."
        )
    async with AsyncExitStack() as stack:
        chat = evaluation.open(candidate.model, STAGE, candidate.name)
        stack.push_async_callback(chat.close)
        router = None
        if conditions.router:
            router = evaluation.open(conditions.router, ROUTING, candidate.name)
        if router is not None:
            stack.push_async_callback(router.close)
        runs = [first._replace(run=number) for number in range(conditions.runs)]
        with warehouse.reading_together():
            answered = [answered_subjects(warehouse, run) for run in runs]
        for run, known in zip(runs, answered, strict=True):
            missing = [sample for sample in wanted if sample.key not in known]
            if not missing:
                continue

            async def ask(sample: Sample, run: CandidateRun = run) -> list[Prediction]:
                context = StageContext(chat, Random(sample.key), content.tools)
                return await predict(
                    sample,
                    context,
                    run=run,
                    settings=candidate.settings,
                    prompting=conditions.prompting,
                    router=router,
                    shown=conditions.shown,
                )

            title = f"{run.candidate} on {run.release}"
            await evaluation.ask_about(missing, ask, candidate.model.concurrency, title)


async def _judge_missing(
    evaluation: EvaluationRun, content: ReleaseContent, judge: ChatModel, run: CandidateRun
) -> None:
    """Ask the judge for missing decisions on predictions, then for missing grades.

    It decides predictions that only a judge can decide, and grades plans and parameters.
    """
    samples = {sample.key: sample for sample in _asked_about(content, evaluation.conditions.split)}
    opinions: tuple[_Opinion, ...] = (
        _Opinion(read_agreements, _is_left_to_judge, judge_prediction, "the calls"),
        _Opinion(read_grades, graded_metric, grade_prediction, "the answers"),
    )
    for wanted in opinions:
        decided_keys = wanted.known(evaluation.warehouse, evaluation.release, judge.name)
        read = read_as_gold(
            evaluation.warehouse, content, run, as_published=evaluation.conditions.as_published
        )
        predictions = (one for one in read if one.subject in samples)
        missing = [
            one
            for one in predictions
            if one.key not in decided_keys and wanted.is_due(one, samples[one.subject])
        ]

        async def ask(prediction: Prediction, opinion: _Asking = wanted.ask) -> list[Record]:
            context = StageContext(judge, Random(prediction.key), content.tools)
            return [await opinion(prediction, samples[prediction.subject], context)]

        settings = evaluation.conditions.judge
        title = f"{judge.name} on {wanted.about} of {run.candidate}" if missing else ""
        await evaluation.ask_about(missing, ask, settings.concurrency if settings else 1, title)


_Asking = Callable[[Prediction, Sample, StageContext], Awaitable[Record]]


class _Opinion(NamedTuple):
    """One kind of judge's opinion: the known ones, when one is due, how to ask, and its name."""

    known: Callable[[Warehouse, str, str], Container[str]]
    is_due: Callable[[Prediction, Sample], object]
    ask: _Asking
    about: str


def _is_left_to_judge(prediction: Prediction, sample: Sample) -> bool:
    return has_one_call(sample) and needs_judge(prediction, sample)


class ForeseenEvaluation(NamedTuple):
    """What each candidate would be asked: at least `requests`, unless it answered before.

    `touched` samples have a changed tool.
    """

    release: str
    candidates: int
    samples: int
    touched: int
    requests: int
    changed: list[ChangedTool]


def foresee(
    warehouse: Warehouse, release: str, candidates: int, conditions: Conditions
) -> ForeseenEvaluation:
    """Return what an evaluation would ask. Raises ConfigurationError for an unknown release."""
    content = read_release(warehouse, release)
    drives = conditions.prompting._replace(user="", tools="").label in PATH_STRATEGIES
    asked_samples = [
        sample
        for sample in content.samples
        if conditions.split in ("", content.splits.get(sample.key, ""))
        and (drives or sample.kind not in MULTI_STEP)
        and (conditions.user is None or sample.kind in live_kinds())
    ]
    return ForeseenEvaluation(
        release,
        candidates,
        len(asked_samples),
        sum(
            any(key in conditions.shown.tools for key in sample.candidates)
            for sample in asked_samples
        ),
        conditions.runs * sum(_requests(sample, conditions) for sample in asked_samples),
        changed_tools(content.tools.values(), conditions.shown),
    )


def _requests(sample: Sample, conditions: Conditions) -> int:
    """Return how many requests a run over a sample needs at least.

    A run over steps needs as many as the gold has, and one to answer.
    """
    if conditions.user is not None or sample.kind in MULTI_STEP:
        return 1 + len(sample.call_turns)
    return STRATEGIES[conditions.prompting.strategy].asks * sum(1 for _ in asked_at(sample))
