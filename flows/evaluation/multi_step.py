"""Driving candidates through multi-step samples, one sample in memory for each that is on its way."""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from flows.asking import ask_and_keep
from flows.evaluation.conditions import Office
from flows.evaluation.path_answers import count_runs, forget_other_runs, known_runs, put_run_scores, read_results
from flows.recipe import Candidate
from generators.stage_context import StageContext
from llm.asking import LedgeredChat
from validators.judges import COMPLETENESS, CORRECTNESS, SAME_ON_PATH, opinion_versions
from validators.metrics.multi_step import RunsOf, score_runs
from validators.path_runs import PathRun, next_prompt_version, run_path
from warehouse.records import Record, Tool, content_key
from warehouse.releases import keys_of_kinds, read_sample, read_tools

MULTI_STEP = ("multi_step", "multi_step_cross")
STAGE = "run_path"
CHUNK = 32  # what is kept at once: a run may take minutes


async def evaluate_paths(office: Office, candidate: Candidate, judge: LedgeredChat | None) -> None:
    """Drive a candidate through the release's multi-step samples that it has not been through, and score all its runs."""
    warehouse = office.keeping.warehouse
    keys = keys_of_kinds(warehouse, office.release, MULTI_STEP)
    if not keys:
        return
    conditions = office.conditions
    of = RunsOf(
        release=office.release,
        model=candidate.label,
        mode=conditions.complexeval,
        judge=judge.name if judge else "",
        strategy=conditions.strategy,
        tools_shown=conditions.tools_shown,
    )
    settings = _settings_key(office, candidate)
    if forget_other_runs(warehouse, of, settings):
        office.keeping.progress.say(
            f"{candidate.label} had other settings when {office.release} was last evaluated; it is driven again."
        )
    driven = count_runs(warehouse, of)
    chat = office.open(candidate.model, STAGE)
    try:
        for number in range(conditions.runs):
            if driven.get(number) == len(keys):
                continue
            run = PathRun(of.release, of.model, of.strategy, of.mode, number, of.judge, settings, conditions.turn_limit)
            missing = sorted(set(keys) - known_runs(warehouse, of, number))
            await _drive(office, candidate, missing, run, (chat, judge))
    finally:
        await chat.close()
    put_run_scores(warehouse, of, score_runs(read_results(warehouse, of), of))


async def _drive(
    office: Office,
    candidate: Candidate,
    keys: Sequence[str],
    run: PathRun,
    chats: tuple[LedgeredChat, LedgeredChat | None],
) -> None:
    """Drive a candidate through the samples with these keys; each is read when its turn comes, and let go."""
    warehouse, (chat, judge) = office.keeping.warehouse, chats
    tools: dict[str, Tool] = {}

    async def drive(key: str) -> Sequence[Record]:
        sample = read_sample(warehouse, key)
        unknown = [candidate for candidate in sample.candidates if candidate not in tools]
        if unknown:
            tools.update(read_tools(warehouse, unknown))
        context = StageContext(chat, Random(key), tools, office.conditions.environments)
        return await run_path(sample, context, run=run, judge=judge)

    title = f"{run.model} through the multi-step samples of {run.release}"
    await ask_and_keep(keys, drive, candidate.model.concurrency, title, office.keeping, CHUNK)


def _settings_key(office: Office, candidate: Candidate) -> str:
    """A hash of all that may change a run beside the sample."""
    conditions, model = office.conditions, candidate.model
    judge = conditions.judge
    judged_by: list[JsonValue] = []
    if judge is not None:
        judged_by = [
            judge.name,
            [list(option) for option in judge.options],
            [*opinion_versions(SAME_ON_PATH, COMPLETENESS, CORRECTNESS)],
        ]
    asked: list[JsonValue] = [
        model.name,
        [list(option) for option in model.options],
        next_prompt_version(conditions.strategy),
    ]
    environments: list[JsonValue] = [*sorted(conditions.environments)]
    return content_key([asked, judged_by, conditions.turn_limit, environments])
