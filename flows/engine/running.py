"""The groups of a build as Prefect flows: a task is a shard, an artifact is a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefect import get_run_logger, task
from prefect.artifacts import acreate_table_artifact
from prefect.runtime import task_run

from flows.build import BuildReport, check_samples, close_build, land, make_samples, open_build, report_build
from flows.groups import GroupRun, Workers, local_workers
from flows.recipe import Recipe, read_recipe
from flows.settings import Settings, read_settings
from flows.shards import Shard, ShardResult
from warehouse.errors import TransientError

SHARD_RETRIES = 2
RETRY_SECONDS = 5


class FlowNews:
    """News of a build, in the flow run's log."""

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        get_run_logger().info("%s", sentence)

    def begin(self, title: str, total: int) -> None:
        """A stretch of work begins."""
        get_run_logger().info("%s: %d to do", title, total)

    def advance(self, count: int) -> None:
        """Prefect shows each shard as a task of its own."""


def chosen_recipe(path: str, limit: int, model: str) -> Recipe:
    """The recipe that a flow's parameters name."""
    recipe = read_recipe(Path(path))
    recipe = recipe.with_model(model) if model else recipe
    return recipe.with_limit(limit) if limit else recipe


def opened(path: str, limit: int, model: str) -> GroupRun:
    """The build that a flow's parameters name, opened; opening it again changes nothing."""
    return open_build(chosen_recipe(path, limit, model), flow_settings(), FlowNews())


def flow_settings() -> Settings:
    """The settings of the process that carries out the flow."""
    return read_settings()


async def run_making(run: GroupRun) -> None:
    """Make the build's samples, each shard a task."""
    with task_workers(run) as workers:
        await make_samples(run, workers)


async def run_checking(run: GroupRun) -> None:
    """Check the build's samples, each shard a task."""
    with task_workers(run) as workers:
        await check_samples(run, workers)


async def run_landing(run: GroupRun) -> BuildReport:
    """Land the build's samples and show the funnel in Prefect."""
    land(run)
    report = close_build(run)
    await show_funnel(report)
    return report


def report_of(run: GroupRun) -> BuildReport:
    """The build's funnel as it stands."""
    return report_build(run.warehouse, run.build)


@contextmanager
def task_workers(run: GroupRun) -> Iterator[Workers]:
    """The workers of this machine, each shard wrapped in a Prefect task that is tried again after transient errors."""
    with local_workers(run.recipe, run.settings) as workers:

        @task(
            name="work_shard",
            task_run_name="{group}-{number}",
            retries=SHARD_RETRIES,
            retry_delay_seconds=RETRY_SECONDS,
            retry_condition_fn=_is_transient,
            persist_result=False,
        )
        async def work_shard(group: str, number: int, source: str) -> ShardResult:
            result = await workers.work(shards[source])
            may_try_again = (task_run.run_count or 1) <= SHARD_RETRIES
            if result.undone and not result.is_fatal and may_try_again:
                raise TransientError(f"{result.undone} records of {source} are not done: {result.error}")
            return result

        shards: dict[str, Shard] = {}

        async def work(shard: Shard) -> ShardResult:
            # A task's parameters are shown and stored: the path names the shard, the rest stays here.
            shards[str(shard.source)] = shard
            return await work_shard(shard.group, shard.number, str(shard.source))

        yield Workers(work, workers.slots)


async def _is_transient(_task: Any, _run: Any, state: Any) -> bool:  # noqa: ANN401 - Prefect's own types
    try:
        await state.result(raise_on_failure=True)
    except TransientError:
        return True
    except Exception:  # noqa: BLE001 - any other error is not ours to try again
        return False
    return False


async def show_funnel(report: BuildReport) -> None:
    """Show the funnel as a table artifact."""
    await acreate_table_artifact(
        table=[row._asdict() for row in report.funnel],
        key=f"funnel-{report.recipe.replace('_', '-')}",
        description=f"{report.landed} of {report.planned} planned samples have landed (build {report.build}).",
    )
