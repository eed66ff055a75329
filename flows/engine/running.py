"""The groups of a build as Prefect flows carry them out: the same functions, a task a shard, a table for the results."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from prefect import task
from prefect.client.schemas.objects import State
from prefect.states import Completed, aget_state_exception

from flows.build import BuildReport, close_build, find_unchanged, land, open_build, report_build
from flows.chats import distinct_models, roles_of, tell_models
from flows.dask_workers import open_workers
from flows.engine.showing import FlowProgress, ProgressArtifact, explained, show_funnel, show_reviews, show_scores
from flows.evaluation.evaluating import evaluate_release, leaderboard
from flows.evaluation.evaluation_run import Conditions, choose_candidates
from flows.making import check_samples, make_samples
from flows.planning.planner import waves
from flows.recipe import Recipe, Roles, read_recipe
from flows.report import write_report
from flows.review.pulling import Pulled, pull_reviews
from flows.review.pushing import push_reviews, waiting_reviews
from flows.review.servers import find_label_studio, label_studio_address, require_label_studio
from flows.runner import GroupRun, Workers, money_spent
from flows.settings import Settings, open_warehouse, quiet_vendors, read_settings, silence_teardown
from flows.shards import Shard, ShardResult, paid_folder, read_records, write_lines
from flows.toolmaking import prepare_tools
from llm.models import read_model
from warehouse.errors import TransientError
from warehouse.rows import Row

NOTHING = "Nothing to do"


def chosen_recipe(path: str, limit: int, model: str) -> Recipe:
    """The recipe that a flow's parameters name, with what they change in it."""
    recipe = read_recipe(Path(path))
    recipe = recipe.with_model(model) if model else recipe
    return recipe.with_limit(limit) if limit else recipe


def unchanged(recipe: str, limit: int, model: str) -> State[BuildReport] | None:
    """The state of a run that has nothing to do, None where recipe, tools, models or prompts have changed since it last ended."""
    progress = FlowProgress()
    found = find_unchanged(chosen_recipe(recipe, limit, model), flow_settings(), progress)
    if found is None:
        return None
    progress.say(found.sentence)
    return Completed(name=NOTHING, message=found.sentence, data=found.report)


async def run_making(recipe: str, limit: int, model: str, kinds: list[str]) -> int:
    """Make the build's samples of these kinds, all where none is named; how many were planned."""
    progress, chosen = FlowProgress(), chosen_recipe(recipe, limit, model)
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
    return open_build(chosen_recipe(path, limit, model), flow_settings(), progress)


SHARD_RETRIES = 2
RETRY_SECONDS = 5


@contextmanager
def task_workers(run: GroupRun, progress: FlowProgress) -> Iterator[Workers]:
    """The workers that the settings name, each shard a task; `progress` is the run's own, by which its progress is shown."""
    under_way: dict[str, _Tries] = {}
    shared = Shared({}, 1)
    artifact = ProgressArtifact(progress)

    @task(
        name="work-shard",
        task_run_name="{group}, shard {number} of {of}",
        retries=SHARD_RETRIES,
        retry_delay_seconds=RETRY_SECONDS,
        retry_condition_fn=_is_transient,
        persist_result=False,
    )
    async def work_shard(group: str, number: int, of: int, source: str) -> ShardResult:
        async with shared.within():
            return await under_way[source].once_more()

    with open_workers(run.recipe, run.settings, progress) as workers:

        async def work(shard: Shard) -> ShardResult:
            # A task's parameters are shown and stored: the path names the shard, the rest stays here.
            source = str(shard.source)
            under_way[source] = _Tries(run, workers, shard._replace(recipe=shared.of(shard.recipe)))
            try:
                result = await work_shard(shard.group, shard.number + 1, shard.of, source)
            finally:
                del under_way[source]
            await artifact.show(result.done)
            return result

        async def prepare(prepared: GroupRun) -> None:
            nonlocal shared
            shared = await shared_limits(prepared.recipe, workers.slots)
            if workers.prepare is not None:
                await workers.prepare(prepared)

        yield Workers(work, workers.slots, prepare)


class _Tries:
    """A shard that may be tried several times: what a try did is landed before the next one takes the rest."""

    def __init__(self, run: GroupRun, workers: Workers, shard: Shard) -> None:
        self._run, self._workers, self._shard = run, workers, shard
        self._tries, self._done, self._cost = 0, 0, 0.0

    async def once_more(self) -> ShardResult:
        """Work what is left. Raises TransientError where another try may do more."""
        spent = await asyncio.to_thread(money_spent, self._run)
        result = await self._workers.work(self._shard._replace(spent=spent))
        self._tries += 1
        if not result.undone or result.is_fatal or self._tries > SHARD_RETRIES:
            return result._replace(done=result.done + self._done, cost=result.cost + self._cost)
        self._done += result.done
        self._cost += result.cost
        self._shard = await asyncio.to_thread(self._keep, result)
        raise TransientError(f"{result.undone} records are not done yet: {result.error}")

    def _keep(self, result: ShardResult) -> Shard:
        """Land what was done; the shard without it."""
        left = _rest(self._shard, self._tries + 1)
        self._run.warehouse.put_files(result.target)
        for landed in (result.target, paid_folder(result.target)):
            shutil.rmtree(landed, ignore_errors=True)
        return left


def _rest(shard: Shard, number: int) -> Shard:
    """The records of a shard that have no outcome in its target, as a shard for try number `number`."""
    done: set[str] = set()
    outcomes = shard.target / "outcomes.jsonl"
    if outcomes.is_file():
        with outcomes.open("rb") as file:
            done = {orjson.loads(line)["subject"] for line in file}
    name = f"{shard.group}-{shard.number:05}-try-{number}"
    source = shard.source.with_name(f"{name}.jsonl")
    with shard.source.open("rb") as lines:
        left = (line for line, record in zip(lines, read_records(shard.source), strict=True) if record.key not in done)
        records = write_lines(source, left)
    return shard._replace(source=source, target=shard.target.with_name(name), records=records)


async def _is_transient(_task: Any, _run: Any, state: Any) -> bool:  # noqa: ANN401 - Prefect's own types
    return isinstance(await aget_state_exception(state), TransientError)


_FORBIDDEN = str.maketrans(dict.fromkeys("/%&><", ":"))  # in the names of Prefect's limits


def limit_name(model: str) -> str:
    """The name of the limit that holds for a model in all flows: `openai:gpt-4o` for openai/gpt-4o."""
    return model.translate(_FORBIDDEN)


class Shared(NamedTuple):
    """What a flow keeps to besides its recipe: so many requests of a model in flight at most, by the model's name."""

    limits: dict[str, int]
    shards: int

    def of(self, recipe: Recipe) -> Recipe:
        """The recipe with no model faster than its limit."""
        models = {
            name: model.model_copy(update={"concurrency": self.limits.get(model.name, model.concurrency)})
            for name, model in roles_of(recipe)
        }
        return recipe.model_copy(update={"models": Roles(**models)})

    @asynccontextmanager
    async def within(self) -> AsyncIterator[None]:
        """Take a shard's part of each limit as soon as it is free; always in one order, so that no two wait for each other."""
        from prefect.concurrency.asyncio import concurrency

        async with AsyncExitStack() as taken:
            for model in sorted(self.limits):
                part = max(1, self.limits[model] // self.shards)
                await taken.enter_async_context(concurrency(limit_name(model), occupy=part))
            yield


async def shared_limits(recipe: Recipe, shards: int) -> Shared:
    """The limits that Prefect has for a recipe's models, none of them higher than the recipe's own, for so many shards at once."""
    from prefect import get_client
    from prefect.exceptions import ObjectNotFound

    found: dict[str, int] = {}
    async with get_client() as client:
        for model in distinct_models(recipe):
            try:
                limit = await client.read_global_concurrency_limit_by_name(limit_name(model.name))
            except ObjectNotFound:
                continue
            if limit.active:
                found[model.name] = min(limit.limit, max(model.concurrency, found.get(model.name, 1)))
    return Shared(found, shards)


async def run_evaluating(release: str, models: list[str], recipe: str, judge: str, conditions: Conditions) -> list[Row]:
    """Score candidates on a release, and show the leaderboard."""
    settings, progress = flow_settings(), FlowProgress()
    candidates = choose_candidates(models, Path(recipe) if recipe else None)
    conditions = conditions._replace(judge=read_model(judge) if judge else None)

    @task(name="score-candidates", task_run_name="{labels}", persist_result=False)
    async def score_candidates(labels: str) -> None:  # all of them in one: they share the budget
        return await explained(evaluate_release(release, candidates, settings, progress, conditions))

    labels = ", ".join(candidate.label for candidate in candidates)
    scoring: Any = score_candidates(labels, return_state=True)  # its type hides that it is to be awaited
    await (await scoring).aresult()  # raises what the task could not do
    board = leaderboard(release, settings)
    warehouse = open_warehouse(settings)
    await show_scores(release, board, write_report(warehouse, settings.home / "report.html"))
    return board


async def run_pulling(*, required: bool = True) -> Pulled:
    """Take back what people decided, show it, and push what waits by now.

    Unless `required` it is no failure that there is no Label Studio, as long as nobody was asked in one.
    """
    settings = flow_settings()
    if not (required or label_studio_address(settings) or open_warehouse(settings).rows(_ASKED)):
        FlowProgress().say("No Label Studio is named or running, and nobody was asked yet: there is nothing to pull.")
        return Pulled()
    with require_label_studio(settings) as studio:
        pulled = await pull_reviews(settings, studio, FlowProgress())
    counts = {name: count for name, count in pulled._asdict().items() if name != "problems"}
    await show_reviews(counts, pulled.problems)
    await run_pushing()
    return pulled


_ASKED = "select 1 from review_requests where pushed_at is not null limit 1"


def flow_settings() -> Settings:
    """The settings of the process that carries out a flow; a worker's was not set to be quiet, at work and in the end."""
    quiet_vendors()
    silence_teardown()
    return read_settings()
