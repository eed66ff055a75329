"""Registering builds and the review loop with Prefect, and starting a build from the command line where a Prefect server is set."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import flows
from flows.build import BuildReport
from flows.engine.server import explained_errors, require_server
from flows.progress import Progress, SilentProgress
from flows.recipe import Recipe, read_recipe
from flows.settings import QUIET, Settings, hush_prefect, read_settings
from warehouse.errors import ConfigurationError

ENTRYPOINT = "flows/build_dataset.py:build_dataset"
PULLING = "flows/pull_reviews.py:pull_reviews"


PROCESS = "process"  # the type of the pools that are made here


class Deployed(NamedTuple):
    """A deployment: its full name, its schedule ("" where there is none), and where its page is."""

    name: str
    schedule: str
    timezone: str
    url: str


def build_with_prefect(recipe: Path, limit: int, model: str, progress: Progress | None = None) -> BuildReport:
    """Run the build as a flow of this process; Prefect shows it. Raises what the plain build raises.

    Raises CallwrightError besides where the Prefect server does not answer.
    """
    hush_prefect()
    api = require_server(read_settings())
    with explained_errors(api):
        from flows.build_dataset import build_dataset
        from flows.engine.showing import reporting_to

        with reporting_to(progress or SilentProgress()):
            return asyncio.run(build_dataset(str(recipe.absolute()), limit, model, review=False))


def deploy_recipes(recipes: Sequence[Path], pool: str) -> list[Deployed]:
    """Register one deployment a recipe on a work pool, scheduled by the recipe's cron line; once more updates it.

    The last deployment is that of the review loop, which pulls every so many minutes as the settings say.

    Raises ConfigurationError where no Prefect server is named or two recipes share a name, CallwrightError where the
    server does not answer.
    """
    settings = read_settings()
    read = [(path.absolute(), read_recipe(path)) for path in recipes]
    names = [recipe.name for _, recipe in read]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ConfigurationError(
            f"Several of these recipes are named {', '.join(map(repr, doubled))}. A deployment bears its recipe's name, so "
            "give each a name of its own."
        )
    hush_prefect()
    api = require_server(settings)
    with explained_errors(api):
        return asyncio.run(_deploy(read, pool, settings))


async def _deploy(recipes: Sequence[tuple[Path, Recipe]], pool: str, settings: Settings) -> list[Deployed]:
    from prefect.utilities.urls import url_for

    await _process_pool(pool)
    deployed = []
    for path, recipe in recipes:
        identifier = await _apply(
            ENTRYPOINT,
            pool,
            settings,
            name=recipe.name,
            parameters={"recipe": str(path), "limit": 0, "model": "", "review": True},
            schedules=_schedules(recipe),
            concurrency_limit=1,
            description=recipe.description,
        )
        deployed.append(_deployed(recipe, url_for("deployment", identifier) or ""))
    return [*deployed, await _deploy_pulling(pool, settings)]


async def _deploy_pulling(pool: str, settings: Settings) -> Deployed:
    """Deploy the review loop of this work folder: what people decided is taken back, and what waits by then is pushed."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.utilities.urls import url_for

    name, every = _folder_name(settings.home), settings.review_every
    identifier = await _apply(
        PULLING,
        pool,
        settings,
        name=name,
        parameters={"required": False},
        schedules=_every(every),
        # A pull takes what the ones before it missed: after a night without a worker one is enough.
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW),
        description="What people decided in Label Studio, and what they are asked next.",
    )
    when = f"every {every:g} minutes" if every else ""
    return Deployed(f"pull-reviews/{name}", when, "", url_for("deployment", identifier) or "")


async def _apply(entrypoint: str, pool: str, settings: Settings, **options: Any) -> UUID:  # noqa: ANN401 - Prefect's own options
    """Make or update a deployment of the flow at `entrypoint`."""
    from prefect import Flow

    source = str(Path(flows.__file__).parent.parent)
    loading: Any = Flow.from_source(source=source, entrypoint=entrypoint)  # its type hides that it can be awaited
    flow = await loading
    # Not `flow.deploy`: it also asks for the pool's workers, in a way that newer servers refuse.
    making: Any = flow.to_deployment(
        tags=["callwright"],
        job_variables={"env": _environment(settings), "working_dir": source},
        work_pool_name=pool,
        **options,
    )
    applying: Any = (await making).apply()
    identifier: UUID = await applying
    return identifier


def _folder_name(home: Path) -> str:
    """The work folder's name; of one that is hidden in a project's folder, the project's."""
    named = next((part for part in reversed(home.parts) if not part.startswith(".")), "")
    return named.strip("/") or "reviews"


def _every(minutes: float) -> list[Any]:
    from prefect.schedules import Interval

    return [Interval(timedelta(minutes=minutes))] if minutes else []


def _environment(settings: Settings) -> dict[str, str]:
    """What a run is given besides the worker's own environment; keys and tokens stay there."""
    return {"CALLWRIGHT_HOME": str(settings.home), "DO_NOT_TRACK": QUIET["DO_NOT_TRACK"]}


def _schedules(recipe: Recipe) -> list[Any]:
    """The recipe's schedule as Prefect's; an empty list takes away what was there before."""
    from prefect.schedules import Cron

    return [Cron(recipe.schedule.cron, timezone=recipe.schedule.timezone)] if recipe.schedule else []


def _deployed(recipe: Recipe, url: str) -> Deployed:
    cron, timezone = (recipe.schedule.cron, recipe.schedule.timezone) if recipe.schedule else ("", "")
    return Deployed(f"build-dataset/{recipe.name}", cron, timezone, url)


async def _process_pool(name: str) -> None:
    """Find a process pool, or make it. Raises ConfigurationError where the pool is of another type."""
    from prefect import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists
    from prefect.workers.process import ProcessWorker

    async with get_client() as client:
        with suppress(ObjectAlreadyExists):
            # With its template at hand, nobody has to look it up in a registry on the network.
            template = ProcessWorker.get_default_base_job_template()
            await client.create_work_pool(WorkPoolCreate(name=name, type=PROCESS, base_job_template=template))
        found = await client.read_work_pool(name)
    if found.type != PROCESS:
        raise ConfigurationError(
            f"The work pool {name!r} is of the type {found.type!r}, and a build runs on a {PROCESS!r} pool. Name another "
            "with --pool; one that does not exist is made."
        )
