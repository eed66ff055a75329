"""The flows that Prefect runs: a build with a flow per group, evaluations, the review loop.

Each calls the functions that the command line calls. A file of flows has a name that nothing
else has, because Prefect puts its folder on the path.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, Unpack, cast

from prefect import Flow, flow, task
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from callwright.flows.api.evaluating import evaluate_async
from callwright.flows.api.options import Again, BuildOptions, EvaluationOptions, ReleaseOptions
from callwright.flows.api.releases import create_release
from callwright.flows.engine.later_tries import tell_failure
from callwright.flows.engine.running import (
    FlowProgress,
    explained,
    run_name,
    show_build,
    show_result,
    show_reviews,
    show_run,
    show_scores,
    tell_stages,
)
from callwright.flows.evaluation.evaluating import leaderboard
from callwright.flows.evaluation.evaluation_run import choose_candidates, label_of
from callwright.flows.options import Option, with_options
from callwright.flows.pages.report import write_report
from callwright.flows.planning.demands import waves
from callwright.flows.planning.estimating import tell_costs
from callwright.flows.planning.value_pools import collect_pools
from callwright.flows.progress import tell_models
from callwright.flows.recipe import Candidate, Recipe, read_recipe
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
from callwright.flows.scheduled_runs import (
    Grown,
    RunReport,
    carry_out,
    note_evaluated,
    release_reviewed,
    unevaluated,
)
from callwright.flows.settings import (
    Settings,
    open_warehouse,
    quiet_vendors,
    read_settings,
    silence_teardown,
)
from callwright.flows.toolmaking import prepare_tools
from callwright.llm.function_model import AnswerFunction
from callwright.warehouse.errors import CallwrightError
from callwright.warehouse.records import Release
from callwright.warehouse.rows import Row

NOTHING = "Nothing to do"
Given = ParamSpec("Given")
Result = TypeVar("Result")


# Parameters of flows, beside the options that commands and the Python API have too.
RecipeFile = Annotated[str, Option(words="The recipe's YAML file, as the worker sees it.")]
_Work = Callable[Given, Coroutine[Any, Any, Result]]


def verb(
    name: str,
    run_name: Callable[[], str] | str = run_name,
    again: Callable[[], dict[str, Any]] | None = None,
) -> Callable[[_Work[Given, Result]], Flow[Given, Coroutine[Any, Any, Result]]]:
    """Make a function a flow whose form has its options, and whose failures are one sentence.

    A deployment's run is tried again later with the parameters `again`, if given.
    """

    async def told(error: CallwrightError) -> str:
        return await tell_failure(error, again=again() if again is not None else None)

    return lambda work: flow(name=name, flow_run_name=run_name)(explained(with_options(work), told))


Tries = Annotated[
    int, Option(least=0, words="How many runs before this one met a provider that was away.")
]


@verb("build-dataset", again=dict)
async def build_dataset(
    recipe: RecipeFile, *, review: bool = True, tries: Tries = 0, **options: Unpack[BuildOptions]
) -> BuildReport:
    """Build a recipe's samples, going on where its last build stopped.

    Nothing is done if nothing has changed since it ended.

    Args:
        review: Send waiting questions to Label Studio.
    """
    settings, progress, chosen = _settings(), FlowProgress(), _chosen(recipe, options)
    report: BuildReport | State[BuildReport]
    if (unchanged := find_unchanged(chosen, settings, progress)) is not None:
        progress.say(unchanged.sentence)
        report = Completed(name=NOTHING, message=unchanged.sentence, data=unchanged.report)
    else:
        await tell_costs(chosen, settings, progress)
        for kinds in waves(chosen):
            is_more = True
            while is_more:
                planned = await make_samples(recipe, kinds=[*kinds], **options)
                await check_samples(recipe, **options)
                is_more = bool(planned and chosen.spare)
        if chosen.readers.planted:
            await measure_readers(recipe, **options)
        done = report = await land_samples(recipe, **options)
        tell_stages(done, progress)
        await show_build(done, label_studio_address(settings), open_warehouse(settings).path)
    if review:
        _push(settings, progress)
    return cast("BuildReport", report)  # Prefect gives callers what is in a state


def _due() -> datetime:
    """Return the time that the flow's run is for: the one stated, or when it was scheduled."""
    stated = flow_run.parameters.get("due")
    due = datetime.fromisoformat(str(stated)) if stated else flow_run.scheduled_start_time
    return due if due.tzinfo else due.replace(tzinfo=UTC)


@verb("grow-dataset", again=lambda: {"due": _due().isoformat()})
async def grow_dataset(
    recipe: RecipeFile, *, due: datetime | None = None, review: bool = True, tries: Tries = 0
) -> Grown:
    """Carry out the run of a recipe's schedule that is due, after those that have not ended.

    What it makes stands beside what earlier runs have made. Releases that the schedule asks for are
    made and evaluated.

    Args:
        due: The time that the run is for. Default: when it was scheduled.
        review: Send waiting questions to Label Studio.
    """
    settings, progress, chosen = _settings(), FlowProgress(), _chosen(recipe, {})
    reports = list[RunReport]()
    runs = carry_out(
        chosen, _due(), settings, lambda run: build_dataset(recipe, review=False, run=run)
    )
    async for report in runs:
        reports.append(report)
        for sentence in report.sentences:
            progress.say(sentence)
        await show_run(report)
    if review:
        _push(settings, progress)
    grown = Grown(tuple(reports), await _release_by_rule(settings, progress))
    if reports:
        return grown
    nothing = f"The run that was due at {_due():%Y-%m-%d %H:%M} has ended."
    return cast("Grown", Completed(name=NOTHING, message=nothing, data=grown))


async def _release_by_rule(settings: Settings, progress: FlowProgress) -> tuple[Release, ...]:
    """Make the releases that schedules ask for by now, and evaluate their recipes' candidates."""
    releases = release_reviewed(settings)
    for made in releases:
        progress.say(f"{made.release.name}: {made.release.samples} samples, all runs reviewed")
        await show_result(made.release, settings)
    for made in [*unevaluated(settings)]:
        await _score(made.release.name, made.recipe.candidates, settings)
        note_evaluated(settings, made)
    return tuple(made.release for made in releases)


@verb("make-samples")
async def make_samples(
    recipe: RecipeFile, *, kinds: Sequence[str] = (), **options: Unpack[BuildOptions]
) -> int:
    """Make the samples that the recipe still lacks; how many were planned.

    Args:
        kinds: Only samples of these kinds; empty for all that can be made of what has passed its
            checks.
    """
    progress, chosen = FlowProgress(), _chosen(recipe, options)
    if not kinds or [*kinds] == waves(chosen)[0]:  # once a build
        tell_models(roles_of(chosen), progress)
    await prepare_tools(
        chosen, _settings(), progress, partial(open_task_carrier, progress=progress)
    )
    await collect_pools(chosen, _settings(), progress)
    run = open_build(chosen, _settings(), progress)
    with open_task_carrier(run, progress) as carrier:
        return sum(
            [
                await make_all(run, carrier, wave)
                for wave in ([[*kinds]] if kinds else waves(run.recipe))
            ]
        )


@verb("check-samples")
async def check_samples(recipe: RecipeFile, **options: Unpack[BuildOptions]) -> BuildReport:
    """Carry the samples that no check has seen yet through the checks."""
    return await _over_build(recipe, options, check_all)


@verb("measure-readers")
async def measure_readers(recipe: RecipeFile, **options: Unpack[BuildOptions]) -> BuildReport:
    """Let who read the samples read some of them again, with planted defects and as they are."""
    return await _over_build(recipe, options, measure_all)


@verb("land-samples")
async def land_samples(recipe: RecipeFile, **options: Unpack[BuildOptions]) -> BuildReport:
    """Sort out duplicates, ask people about what is in doubt, and accept the rest."""
    run = open_build(_chosen(recipe, options), _settings(), FlowProgress())
    report = land(run)
    run.progress.say(report.sentence)
    return report


@verb("evaluate-models")
async def evaluate_models(
    release: str, models: Sequence[str] = (), recipe: str = "", **options: Unpack[EvaluationOptions]
) -> list[Row]:
    """Ask candidate models for the calls that are due, and score them.

    Nothing is asked twice.

    Args:
        release: The release to evaluate on.
        models: Candidates: models by their litellm names.
        recipe: A recipe's YAML file, as the worker sees it, whose candidates are evaluated too.
    """
    options["budget"] = options["budget"] or None  # of a form without a bound
    candidates = choose_candidates(models, Path(recipe) if recipe else None)
    return await _score(release, candidates, _settings(), **options)


async def _score(
    release: str,
    candidates: Sequence[Candidate | AnswerFunction],
    settings: Settings,
    **options: Unpack[EvaluationOptions],
) -> list[Row]:
    """Score candidates on a release in a task, and show how they did."""

    @task(name="score-candidates", task_run_name="{labels}", persist_result=False)
    @explained
    async def score_candidates(labels: str) -> None:  # all of them in one: they share the budget
        await evaluate_async(
            release, candidates, home=settings.home, progress=FlowProgress(), **options
        )

    labels = ", ".join(map(label_of, candidates))
    # its type hides that it is to be awaited
    scoring: Any = score_candidates(labels, return_state=True)
    await (await scoring).aresult()  # raises what the task could not do
    board = leaderboard(release, settings)
    await show_scores(
        release, board, write_report(open_warehouse(settings), settings.home / "report.html")
    )
    return board


@verb("create-release")
async def freeze_release(release: str, **options: Unpack[ReleaseOptions]) -> Release:
    """Freeze what the newest whole build of each recipe has landed, under a name.

    Args:
        release: The name of the release.
    """
    settings = _settings()
    made_release = create_release(release, home=settings.home, **options).created
    FlowProgress().say(f"{made_release.release.name}: {made_release.release.samples} samples")
    await show_result(made_release, settings)
    return made_release.release


@verb("push-reviews", "all recipes")
async def push_reviews(*, again: Again = False) -> Pushed:
    """Push what waits for people to Label Studio."""
    settings, progress = _settings(), FlowProgress()
    with require_label_studio(settings) as studio:
        pushed = pushing.push_reviews(settings, studio, progress, again=again)
    await show_result(pushed, settings)
    return pushed


@verb("pull-reviews", "all recipes")
async def pull_reviews(*, required: bool = True) -> Pulled:
    """Pull new reviews from Label Studio, check edits, land what was accepted, and push.

    What is pushed is what waits for people by now.

    Args:
        required: Fail where no Label Studio is named or running; a run on a schedule only says
            so while nobody was asked.
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
    await _release_by_rule(settings, progress)
    return pulled


_ASKED = "select 1 from review_requests where pushed_at is not null limit 1"


def _accepted(settings: Settings) -> int:
    [row] = open_warehouse(settings).rows(
        "select count(*) as samples from acceptances where withdrawn_at is null"
    )
    return int(row["samples"])


def _push(settings: Settings, progress: FlowProgress) -> int:
    """Push waiting questions, report it, and return how many tasks were created."""
    pushed = push_what_waits(settings, progress)
    if pushed is not None:
        progress.say(
            f"{pushed.created} tasks pushed, {pushed.already_there} were there already:"
            f" {pushed.url}"
        )
    return pushed.created if pushed else 0


async def _over_build(
    recipe: str, options: BuildOptions, work: Callable[[GroupRun, Carrier], Awaitable[object]]
) -> BuildReport:
    """Do some work of a build with the carrier that the settings name."""
    progress = FlowProgress()
    run = open_build(_chosen(recipe, options), _settings(), progress)
    with open_task_carrier(run, progress) as carrier:
        await work(run, carrier)
    return report_build(run)


def _chosen(path: str, options: BuildOptions) -> Recipe:
    """Return the recipe of a flow's parameters, with their changes."""
    return read_recipe(Path(path)).as_asked(**options)


def _settings() -> Settings:
    """Return the settings of a flow's process, and keep vendors' libraries quiet in it."""
    quiet_vendors()
    silence_teardown()
    return read_settings()
