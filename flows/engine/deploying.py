"""Registering builds with Prefect, and starting one from the command line where a Prefect server is set."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import flows
from flows.build import BuildReport, FunnelRow
from flows.recipe import read_recipe
from flows.settings import read_settings
from warehouse.errors import ConfigurationError

ENTRYPOINT = "flows/build_dataset.py:build_dataset"


class Deployed(NamedTuple):
    """A deployment: its full name, and its schedule as the recipe has it."""

    name: str
    schedule: str


def build_with_prefect(recipe: Path, limit: int, model: str) -> BuildReport:
    """Run the build as a flow of this process; Prefect shows it. Raises what the plain build raises."""
    from flows.build_dataset import build_dataset

    report = asyncio.run(build_dataset(str(recipe.absolute()), limit, model))
    return BuildReport(**report | {"funnel": tuple(FunnelRow(*row) for row in report["funnel"])})


def deploy_recipes(recipes: Sequence[Path], pool: str) -> list[Deployed]:
    """Register one deployment a recipe on a work pool, scheduled by the recipe's cron line.

    Raises ConfigurationError where no Prefect server is named.
    """
    settings = read_settings()
    if not settings.prefect_api_url:
        raise ConfigurationError(
            "No Prefect server is named. Start one with `prefect server start` and set PREFECT_API_URL to its address."
        )
    read = [(path.absolute(), read_recipe(path)) for path in recipes]
    return asyncio.run(_deploy(read, pool, str(settings.home)))


async def _deploy(recipes: Sequence[tuple[Path, "flows.recipe.Recipe"]], pool: str, home: str) -> list[Deployed]:
    from prefect import Flow
    from prefect.schedules import Cron

    await _make_pool(pool)
    source = str(Path(flows.__file__).parent.parent)
    deployed = []
    for path, recipe in recipes:
        loading: Any = Flow.from_source(
            source=source, entrypoint=ENTRYPOINT
        )  # its type says that it may not be awaited
        flow = await loading
        schedule = Cron(recipe.schedule.cron, timezone=recipe.schedule.timezone) if recipe.schedule else None
        await flow.deploy(
            name=recipe.name,
            work_pool_name=pool,
            parameters={"recipe": str(path)},
            schedules=[schedule] if schedule else None,
            description=recipe.description,
            job_variables={"env": {"CALLWRIGHT_HOME": home}, "working_dir": source},
            print_next_steps=False,
            ignore_warnings=True,
        )
        deployed.append(Deployed(f"build-dataset/{recipe.name}", recipe.schedule.cron if recipe.schedule else ""))
    return deployed


async def _make_pool(name: str) -> None:
    from prefect import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists

    async with get_client() as client:
        try:
            await client.create_work_pool(WorkPoolCreate(name=name, type="process"))
        except ObjectAlreadyExists:
            return
