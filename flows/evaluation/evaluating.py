"""Evaluating candidate models on a release: what they answer, how they score, how they went wrong."""

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from flows.asking import Keeping, ask_and_keep
from flows.evaluation.answer_scoring import score_by_judge, score_by_rule
from flows.evaluation.answers import (
    answered_subjects,
    count_answered,
    forget_other_settings,
    read_agreements,
    read_predictions,
)
from flows.evaluation.conditions import JUDGING, Conditions, Office
from flows.evaluation.grading import ask_judge, grade_missing
from flows.evaluation.multi_step import MULTI_STEP, evaluate_paths
from flows.evaluation.release_environments import open_release_environments
from flows.progress import Progress
from flows.recipe import Candidate, read_recipe
from flows.review.suspects import tell_suspicions
from flows.settings import Settings, open_warehouse
from generators.stage_context import StageContext
from llm.asking import LedgeredChat
from llm.ledger import Ledger
from llm.limits import Budget
from llm.models import ModelSettings, read_model
from validators.grading import judge_prediction
from validators.metrics.answers import has_one_call
from validators.metrics.predicted import needs_judge
from validators.predictions import CandidateRun, predict
from validators.strategies import PromptingStrategy
from warehouse.errors import ConfigurationError
from warehouse.records import Prediction, Sample, content_key
from warehouse.releases import ReleaseContent, read_release
from warehouse.rows import Row

__all__ = ["Conditions", "answer_board", "choose_candidates", "domain_board", "evaluate_release", "leaderboard"]

STAGE = "predict"
ROUTING = "route"
_USUAL = Conditions()


class _Evaluation(NamedTuple):
    """The office, and the samples that are answered snapshot by snapshot."""

    office: Office
    content: ReleaseContent


def choose_candidates(models: Sequence[str], recipe: Path | None) -> list[Candidate]:
    """The candidates named, and those of a recipe. Raises ConfigurationError where there are none, or two of one name."""
    named = [Candidate(label=name, model=read_model(name)) for name in models]
    of_recipe = list(read_recipe(recipe).candidates) if recipe else []
    if not named and not of_recipe:
        raise ConfigurationError("No candidate is named. Give --model NAME, or --recipe FILE with candidates in it.")
    labels = [candidate.label for candidate in named + of_recipe]
    if len(set(labels)) < len(labels):
        raise ConfigurationError(f"Two candidates have the same name: {', '.join(sorted(labels))}. Name each one once.")
    return named + of_recipe


async def evaluate_release(
    release: str,
    candidates: Sequence[Candidate],
    settings: Settings,
    progress: Progress,
    conditions: Conditions = _USUAL,
) -> None:
    """Ask each candidate for every call that is due, drive it through multi-step samples, score and keep all of it.

    What was predicted or judged before is not asked again, unless the candidate's settings are others now. Raises
    ConfigurationError for an unknown release, and what a model's adapter raises; what was answered until then is kept.
    """
    warehouse = open_warehouse(settings)
    content = read_release(warehouse, release, without=MULTI_STEP)
    async with AsyncExitStack() as stack:
        ledger = Ledger(settings.ledger)
        stack.push_async_callback(ledger.close)
        environments = stack.enter_context(
            open_release_environments(warehouse, release, MULTI_STEP, settings, progress)
        )
        conditions = conditions._replace(environments={**environments, **conditions.environments})
        office = Office(release, conditions, ledger, Budget(conditions.budget), Keeping(warehouse, progress, []))
        judge = office.open(conditions.judge, JUDGING) if conditions.judge else None
        if judge is not None:
            stack.push_async_callback(judge.close)
        for candidate in candidates:
            if content.samples:
                await _evaluate_snapshots(_Evaluation(office, content), candidate, judge)
            if conditions.prompting == PromptingStrategy():
                await evaluate_paths(office, candidate, judge)
    tell_suspicions(warehouse, release, progress)


async def _evaluate_snapshots(contexts: _Evaluation, candidate: Candidate, judge: LedgeredChat | None) -> None:
    """Ask a candidate for every call that is due, and score what it answers."""
    office = contexts.office
    await _predict_missing(contexts, candidate)
    warehouse, run = office.keeping.warehouse, _run_of(office, candidate)
    score_by_rule(warehouse, contexts.content, run)
    if judge is not None:
        await _judge_missing(contexts, judge, read_predictions(warehouse, run))
        await grade_missing(office, contexts.content, judge, read_predictions(warehouse, run))
        score_by_judge(warehouse, contexts.content, run, judge.name)


async def _predict_missing(contexts: _Evaluation, candidate: Candidate) -> None:
    """Ask a candidate for what it has not answered yet, in each run."""
    office, content = contexts
    warehouse, conditions = office.keeping.warehouse, office.conditions
    settings, first = _answering(candidate.model, conditions), _run_of(office, candidate)
    if forget_other_settings(warehouse, first.release, first.model, first.strategy, settings):
        office.keeping.progress.say(
            f"{candidate.label} had other settings when {first.release} was last evaluated; it is asked again."
        )
    answered = count_answered(warehouse, first)
    async with AsyncExitStack() as stack:
        chat = office.open(candidate.model, STAGE)
        stack.push_async_callback(chat.close)
        router = office.open(conditions.router, ROUTING) if conditions.router else None
        if router is not None:
            stack.push_async_callback(router.close)
        for number in range(conditions.runs):
            run = first._replace(run=number)
            if answered.get(number) == len(content.samples):
                continue
            known = answered_subjects(warehouse, run)
            missing = [sample for sample in content.samples if sample.key not in known]

            async def ask(sample: Sample, run: CandidateRun = run) -> list[Prediction]:
                context = StageContext(chat, Random(sample.key), content.tools)
                return await predict(
                    sample, context, run=run, settings=settings, prompting=conditions.prompting, router=router
                )

            title = f"{run.model} on {run.release}"
            await ask_and_keep(missing, ask, candidate.model.concurrency, title, office.keeping)


def _run_of(office: Office, candidate: Candidate) -> CandidateRun:
    """The first of a candidate's runs."""
    conditions = office.conditions
    return CandidateRun(office.release, candidate.label, conditions.prompting.label, conditions.tools_shown)


def _answering(model: ModelSettings, conditions: Conditions) -> str:
    """A hash of all that may change a candidate's answer beside what it is shown."""
    router: list[JsonValue] = [list(option) for option in conditions.router.options] if conditions.router else []
    return content_key([model.name, [list(option) for option in model.options], router, conditions.prompting.version])


async def _judge_missing(contexts: _Evaluation, judge: LedgeredChat, predictions: Iterable[Prediction]) -> None:
    """Ask the judge about the predictions that only it can decide, and has not yet."""
    office, content = contexts
    samples = {sample.key: sample for sample in content.samples}
    known = read_agreements(office.keeping.warehouse, office.release, judge.name)
    open_ones = [
        one
        for one in predictions
        if one.key not in known and has_one_call(samples[one.subject]) and needs_judge(one, samples[one.subject])
    ]

    await ask_judge(office, content, judge, open_ones, judge_prediction, about="the calls")


def domain_board(release: str, settings: Settings) -> list[Row]:
    """How candidates went through the release's multi-step samples: a row a run, mode, judge and domain, "all" the last."""
    warehouse = open_warehouse(settings)
    return warehouse.rows("select * exclude (release) from domain_board where release = ?", [release])


def leaderboard(release: str, settings: Settings) -> list[Row]:
    """The release's leaderboard."""
    warehouse = open_warehouse(settings)
    return warehouse.rows("select * from leaderboard where release = ?", [release])


def answer_board(release: str, settings: Settings) -> list[Row]:
    """How candidates answered the release's plans and conversations, and how steadily: a row a run and judge, "all" slice first."""
    warehouse = open_warehouse(settings)
    return warehouse.rows(
        """
        select * exclude (release) from answer_board where release = ? and slice_by in ('all', 'difficulty')
        order by slice_by, model, strategy, run, judge, slice_value
        """,
        [release],
    )
