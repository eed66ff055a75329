"""The flows that Prefect runs: a build with each group of its stages a flow of its own,
evaluations, and the review loop.

Each calls the functions that the command line calls. A file of flows bears a name that nothing else
has: Prefect puts its folder on the path.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

from prefect import flow, task
from prefect.client.schemas.objects import State
from prefect.states import Completed

from callwright.flows.api.evaluating import evaluate_async
from callwright.flows.api.releases import create_release
from callwright.flows.engine.running import (
    FlowProgress,
    explained,
    run_name,
    show_build,
    show_result,
    show_reviews,
    show_scores,
    tell_stages,
)
from callwright.flows.evaluation.evaluating import leaderboard
from callwright.flows.evaluation.evaluation_run import choose_candidates, label_of
from callwright.flows.pages.report import write_report
from callwright.flows.planning.demands import waves
from callwright.flows.planning.estimating import tell_costs
from callwright.flows.progress import tell_models
from callwright.flows.recipe import Recipe, read_recipe
from callwright.flows.review import pulling, pushing
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.pushing import Pushed, push_what_waits
from callwright.flows.review.servers import label_studio_address, require_label_studio
from callwright.flows.run.carry import Carrier, GroupRun
from callwright.flows.run.land import BuildReport, land, report_build
from callwright.flows.run.plan import check_samples as check_all
from callwright.flows.run.plan import find_unchanged, open_build
from callwright.flows.run.plan import make_samples as make_all
from callwright.flows.run.plan import measure_readers as measure_all
from callwright.flows.run.prefect_tasks import open_task_carrier
from callwright.flows.run.work import roles_of
from callwright.flows.settings import (
    Settings,
    open_warehouse,
    quiet_vendors,
    read_settings,
    silence_teardown,
)
from callwright.flows.toolmaking import prepare_tools
from callwright.warehouse.records import Release
from callwright.warehouse.rows import Row

NOTHING = "Nothing to do"


@flow(name="build-dataset", flow_run_name=run_name)
@explained
async def build_dataset(
    recipe: str,
    limit: int = 0,
    model: str = "",
    review: bool = True,  # noqa: FBT001, FBT002
) -> BuildReport:
    """Build a recipe's samples, going on where its last build stopped; nothing is done where
    nothing has changed since it ended.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.
        review: Push what waits for people to Label Studio.

    """
    settings, progress, chosen = _settings(), FlowProgress(), _chosen(recipe, limit, model)
    report: BuildReport | State[BuildReport]
    if (unchanged := find_unchanged(chosen, settings, progress)) is not None:
        progress.say(unchanged.sentence)
        report = Completed(name=NOTHING, message=unchanged.sentence, data=unchanged.report)
    else:
        await tell_costs(chosen, settings, progress)
        for kinds in waves(chosen):
            is_more = True
            while is_more:
                planned = await make_samples(recipe, limit, model, kinds)
                await check_samples(recipe, limit, model)
                is_more = bool(planned and chosen.spare)
        if chosen.readers.planted:
            await measure_readers(recipe, limit, model)
        done = report = await land_samples(recipe, limit, model)
        tell_stages(done, progress)
        await show_build(done, label_studio_address(settings), open_warehouse(settings).path)
    if review:
        _push(settings, progress)
    return cast("BuildReport", report)  # Prefect gives callers what is in a state


@flow(name="make-samples", flow_run_name=run_name)
@explained
async def make_samples(
    recipe: str, limit: int = 0, model: str = "", kinds: list[str] | None = None
) -> int:
    """Make the samples that the recipe still lacks; how many were planned.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.
        kinds: Only samples of these kinds; empty for all that can be made of what has passed its
            checks.

    """
    progress, chosen = FlowProgress(), _chosen(recipe, limit, model)
    if not kinds or kinds == [*waves(chosen)[0]]:  # once a build
        tell_models(roles_of(chosen), progress)
    await prepare_tools(
        chosen, _settings(), progress, partial(open_task_carrier, progress=progress)
    )
    run = open_build(chosen, _settings(), progress)
    with open_task_carrier(run, progress) as carrier:
        return sum(
            [
                await make_all(run, carrier, wave)
                for wave in ([kinds] if kinds else waves(run.recipe))
            ]
        )


@flow(name="check-samples", flow_run_name=run_name)
@explained
async def check_samples(recipe: str, limit: int = 0, model: str = "") -> BuildReport:
    """Carry the samples that no check has seen yet through the checks.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.

    """
    return await _over_build(recipe, limit, model, check_all)


@flow(name="measure-readers", flow_run_name=run_name)
@explained
async def measure_readers(recipe: str, limit: int = 0, model: str = "") -> BuildReport:
    """Let who read the samples read some of them again, with planted defects and as they are.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.

    """
    return await _over_build(recipe, limit, model, measure_all)


@flow(name="land-samples", flow_run_name=run_name)
@explained
async def land_samples(recipe: str, limit: int = 0, model: str = "") -> BuildReport:
    """Sort out duplicates, ask people about what is in doubt, and accept the rest.

    Args:
        recipe: The recipe's YAML file, as the worker sees it.
        limit: At most so many samples of each kind; 0 for what the recipe says.
        model: One model for all three roles, by its litellm name; empty for what the recipe says.

    """
    run = open_build(_chosen(recipe, limit, model), _settings(), FlowProgress())
    report = land(run)
    run.progress.say(report.sentence)
    return report


@flow(name="evaluate-models", flow_run_name=run_name)
@explained
async def evaluate_models(  # noqa: PLR0913, PLR0917 - Prefect's form shows each as a field
    release: str,
    models: list[str] | None = None,
    recipe: str = "",
    runs: int = 1,
    budget: float = 0,
    tools: str = "",
    tools_shown: Literal["first", "always"] = "first",
    judge: str = "",
) -> list[Row]:
    """Ask candidate models for the calls that are due, and score them; what was asked before is not
    asked again.

    Args:
        release: The release to score on.
        models: Candidates by their litellm names.
        recipe: A recipe's YAML file, as the worker sees it, whose candidates are scored too.
        runs: Ask every candidate so many times.
        budget: Stop before this run has spent so many US dollars; 0 for no bound.
        tools: A file with other names and words for the release's tools, as the worker sees it;
            empty for the tools as they are.
        tools_shown: When candidates see all candidate tools: at a conversation's first snapshot, or
            always.
        judge: A model whose verdicts on the calls are scored too.

    """
    settings = _settings()
    candidates = choose_candidates(models or [], Path(recipe) if recipe else None)

    @task(name="score-candidates", task_run_name="{labels}", persist_result=False)
    @explained
    async def score_candidates(labels: str) -> None:  # all of them in one: they share the budget
        await evaluate_async(
            release,
            candidates,
            runs=runs,
            budget=budget or None,
            tools=tools or None,
            tools_shown=tools_shown,
            judge=judge,
            home=settings.home,
            progress=FlowProgress(),
        )

    labels = ", ".join(map(label_of, candidates))
    scoring: Any = score_candidates(
        labels, return_state=True
    )  # its type hides that it is to be awaited
    await (await scoring).aresult()  # raises what the task could not do
    board = leaderboard(release, settings)
    await show_scores(
        release, board, write_report(open_warehouse(settings), settings.home / "report.html")
    )
    return board


@flow(name="create-release", flow_run_name=run_name)
@explained
async def freeze_release(
    release: str, recipes: list[str] | None = None, splits: str = "", note: str = ""
) -> Release:
    """Freeze what the newest whole build of each recipe has landed, under a name.

    Args:
        release: The release's name.
        recipes: Only samples of these recipes, by their names; empty for all.
        splits: Splits with their shares, as train=0.8,test=0.2; empty for none.
        note: A sentence to keep with it.

    """
    settings = _settings()
    made = create_release(
        release, recipes=recipes or [], splits=splits, note=note, home=settings.home
    ).created
    FlowProgress().say(f"{made.release.name}: {made.release.samples} samples")
    await show_result(made, settings)
    return made.release


@flow(name="push-reviews", flow_run_name="all recipes")
@explained
async def push_reviews(again: bool = False) -> Pushed:  # noqa: FBT001, FBT002 - Prefect shows it as a switch
    """Push what waits for people to Label Studio.

    Args:
        again: Push also what was pushed before and nobody has decided.

    """
    settings, progress = _settings(), FlowProgress()
    with require_label_studio(settings) as studio:
        pushed = pushing.push_reviews(settings, studio, progress, again=again)
    await show_result(pushed, settings)
    return pushed


@flow(name="pull-reviews", flow_run_name="all recipes")
@explained
async def pull_reviews(required: bool = True) -> Pulled:  # noqa: FBT001, FBT002 - Prefect shows it as a switch
    """Pull new reviews from Label Studio, check what was edited, land what was accepted, and push
    what waits by now.

    Args:
        required: Fail where no Label Studio is named or running; a run on a schedule only says so
            while nobody was asked.

    """
    settings, progress = _settings(), FlowProgress()
    if not (required or label_studio_address(settings) or open_warehouse(settings).rows(_ASKED)):
        progress.say(
            "No Label Studio is set or running, and no questions have been sent, so there is"
            " nothing to pull."
        )
        return Pulled()
    before = _accepted(settings)
    with require_label_studio(settings) as studio:
        pulled = await pulling.pull_reviews(settings, studio, progress)
    counts = {name: count for name, count in pulled._asdict().items() if name != "problems"}
    counts |= {"before": before, "now": _accepted(settings), "pushed": _push(settings, progress)}
    await show_reviews(counts, pulled.problems)
    return pulled


_ASKED = "select 1 from review_requests where pushed_at is not null limit 1"


def _accepted(settings: Settings) -> int:
    [row] = open_warehouse(settings).rows(
        "select count(*) as samples from acceptances where withdrawn_at is null"
    )
    return int(row["samples"])


def _push(settings: Settings, progress: FlowProgress) -> int:
    """Push what waits, and say so; how many tasks that made."""
    pushed = push_what_waits(settings, progress)
    if pushed is not None:
        progress.say(
            f"{pushed.created} tasks pushed, {pushed.already_there} were there already:"
            f" {pushed.url}"
        )
    return pushed.created if pushed else 0


async def _over_build(
    recipe: str, limit: int, model: str, work: Callable[[GroupRun, Carrier], Awaitable[object]]
) -> BuildReport:
    """Do some work of a build with the carrier that the settings name."""
    progress = FlowProgress()
    run = open_build(_chosen(recipe, limit, model), _settings(), progress)
    with open_task_carrier(run, progress) as carrier:
        await work(run, carrier)
    return report_build(run)


def _chosen(path: str, limit: int, model: str) -> Recipe:
    """The recipe that a flow's parameters name, with what they change in it."""
    return read_recipe(Path(path)).as_asked(model=model, limit=limit)


def _settings() -> Settings:
    """The settings of the process that carries out a flow; a worker's was not set to be quiet,
    at work and in the end.
    """
    quiet_vendors()
    silence_teardown()
    return read_settings()
