"""Registering builds with Prefect, and starting one from the command line where a Prefect server is set."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import flows
from flows.build import BuildReport
from flows.engine.connecting import explained_errors, require_server
from flows.news import News, Silence
from flows.recipe import Recipe, read_recipe
from flows.settings import QUIET, Settings, hush_prefect, read_settings
from warehouse.errors import ConfigurationError

ENTRYPOINT = "flows/build_dataset.py:build_dataset"
_PROCESS = "process"


class Deployed(NamedTuple):
    """A deployment: its full name, its schedule as the recipe has it, and where its page is."""

    name: str
    schedule: str
    timezone: str
    url: str


def build_with_prefect(recipe: Path, limit: int, model: str, news: News | None = None) -> BuildReport:
    """Run the build as a flow of this process; Prefect shows it. Raises what the plain build raises.

    Raises CallwrightError besides where the Prefect server does not answer.
    """
    hush_prefect()
    api = require_server(read_settings())
    with explained_errors(api):
        from flows.build_dataset import build_dataset
        from flows.engine.telling import heard_by

        with heard_by(news or Silence()):
            return asyncio.run(build_dataset(str(recipe.absolute()), limit, model, review=False))


def deploy_recipes(recipes: Sequence[Path], pool: str) -> list[Deployed]:
    """Register one deployment a recipe on a work pool, scheduled by the recipe's cron line; once more updates it.

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
    from prefect import Flow
    from prefect.utilities.urls import url_for

    await _make_pool(pool)
    source = str(Path(flows.__file__).parent.parent)
    deployed = []
    for path, recipe in recipes:
        loading: Any = Flow.from_source(source=source, entrypoint=ENTRYPOINT)  # its type hides that it can be awaited
        flow = await loading
        # Not `flow.deploy`: it also asks for the pool's workers, in a way that newer servers refuse.
        making: Any = flow.to_deployment(
            name=recipe.name,
            parameters={"recipe": str(path), "limit": 0, "model": "", "review": True},
            schedules=_schedules(recipe),
            concurrency_limit=1,
            description=recipe.description,
            tags=["callwright"],
            job_variables={"env": _environment(settings), "working_dir": source},
            work_pool_name=pool,
        )
        applying: Any = (await making).apply()
        identifier = await applying
        deployed.append(_deployed(recipe, url_for("deployment", identifier) or ""))
    return deployed


def _environment(settings: Settings) -> dict[str, str]:
    """What a run is told besides the worker's own environment; keys and tokens stay there."""
    return {"CALLWRIGHT_HOME": str(settings.home), "DO_NOT_TRACK": QUIET["DO_NOT_TRACK"]}


def _schedules(recipe: Recipe) -> list[Any]:
    """The recipe's schedule as Prefect's; an empty list takes away what was there before."""
    from prefect.schedules import Cron

    return [Cron(recipe.schedule.cron, timezone=recipe.schedule.timezone)] if recipe.schedule else []


def _deployed(recipe: Recipe, url: str) -> Deployed:
    cron, timezone = (recipe.schedule.cron, recipe.schedule.timezone) if recipe.schedule else ("", "")
    return Deployed(f"build-dataset/{recipe.name}", cron, timezone, url)


async def _make_pool(name: str) -> None:
    from prefect import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
    from prefect.workers.process import ProcessWorker

    async with get_client() as client:
        try:
            found = await client.read_work_pool(name)
        except ObjectNotFound:
            # With its template at hand, nobody has to look it up in a registry on the network.
            template = ProcessWorker.get_default_base_job_template()
            try:
                found = await client.create_work_pool(
                    WorkPoolCreate(name=name, type=_PROCESS, base_job_template=template)
                )
            except ObjectAlreadyExists:  # somebody else was faster
                found = await client.read_work_pool(name)
    if found.type != _PROCESS:
        raise ConfigurationError(
            f"The work pool {name!r} is of the type {found.type!r}, and a build runs on a {_PROCESS!r} pool. Name another "
            "with --pool; one that does not exist is made."
        )
