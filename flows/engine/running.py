"""The groups of a build as Prefect flows carry them out: the same functions, a task a shard, a table for the results."""

from functools import partial
from pathlib import Path

from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.build import BuildReport, close_build, land, open_build, report_build
from flows.chats import roles_of, tell_models
from flows.engine.artifacts import show_funnel
from flows.engine.entering import flow_settings
from flows.engine.tasks import task_workers
from flows.engine.telling import FlowProgress
from flows.groups import GroupRun
from flows.making import check_samples, make_samples
from flows.planning.planner import waves
from flows.recipe import Recipe, read_recipe
from flows.review.pushing import push_reviews, waiting_reviews
from flows.review.servers import find_label_studio
from flows.toolmaking import prepare_tools
from flows.unchanged import find_unchanged

NOTHING = "Nothing to do"


def waves_to_make(recipe: str, limit: int, model: str) -> tuple[list[list[str]], bool]:
    """The kinds of a recipe wave by wave, and whether samples that do not pass shall be replaced."""
    chosen = _recipe(recipe, limit, model)
    return waves(chosen), chosen.spare > 0


def unchanged(recipe: str, limit: int, model: str) -> State[BuildReport] | None:
    """The state of a run that has nothing to do, None where recipe, tools, models or prompts have changed since it last ended."""
    progress = FlowProgress()
    found = find_unchanged(_recipe(recipe, limit, model), flow_settings(), progress)
    if found is None:
        return None
    progress.say(found.sentence)
    return Completed(name=NOTHING, message=found.sentence, data=found.report)


async def run_making(recipe: str, limit: int, model: str, kinds: list[str]) -> int:
    """Make the build's samples of these kinds, all where none is named; how many were planned."""
    progress, chosen = FlowProgress(), _recipe(recipe, limit, model)
    if kinds in ([], waves(chosen)[0]):  # once a build
        tell_models(roles_of(chosen), progress)
    await prepare_tools(chosen, flow_settings(), progress, partial(task_workers, progress=progress))
    run = _opened(recipe, limit, model, progress)
    with task_workers(run, progress) as workers:
        return sum([await make_samples(run, workers, wave) for wave in ([kinds] if kinds else waves(run.recipe))])


async def run_checking(recipe: str, limit: int, model: str) -> BuildReport:
    """Check the build's samples."""
    progress = FlowProgress()
    run = _opened(recipe, limit, model, progress)
    with task_workers(run, progress) as workers:
        await check_samples(run, workers)
    return report_build(run)


async def run_landing(recipe: str, limit: int, model: str) -> BuildReport:
    """Land the build's samples and show the funnel."""
    run = _opened(recipe, limit, model, FlowProgress())
    land(run)
    report = close_build(run)
    await show_funnel(report)
    run.progress.say(f"{report.landed} of {report.planned} planned samples have landed.")
    return report


async def run_pushing() -> None:
    """Push what waits for people, where there is a Label Studio; say where else."""
    settings, progress = flow_settings(), FlowProgress()
    waiting = waiting_reviews(settings)
    if not waiting:
        return
    studio = find_label_studio(settings)
    if studio is None:
        progress.say(f"{waiting} tasks wait for people, and no Label Studio is named or running.")
        return
    with studio:
        pushed = push_reviews(settings, studio, progress)
    progress.say(f"{pushed.created} tasks pushed, {pushed.already_there} were there already: {pushed.url}")


def _opened(path: str, limit: int, model: str, progress: FlowProgress) -> GroupRun:
    """The build that a flow's parameters name, opened; opening it again changes nothing."""
    return open_build(_recipe(path, limit, model), flow_settings(), progress)


def _recipe(path: str, limit: int, model: str) -> Recipe:
    recipe = read_recipe(Path(path))
    recipe = recipe.with_model(model) if model else recipe
    return recipe.with_limit(limit) if limit else recipe
