"""Measuring the readers of a build: some of what they read is planted, and what they make of it is kept."""

from collections.abc import Iterator

from callwright.flows.recipe import Recipe
from callwright.flows.runner import GroupRun, Workers, run_group
from callwright.flows.shards import record_line
from callwright.flows.stages import some_of
from callwright.llm.prompts import own_prompts
from callwright.validators.blind.planting import GROUP, MEASURED, planting_version
from callwright.validators.checks.table import CHECKS
from callwright.warehouse.queries import sql
from callwright.warehouse.store import Warehouse


async def measure_readers(run: GroupRun, workers: Workers) -> None:
    """Plant what the recipe wants and the build lacks; what was planted before stays."""
    for check in _measured(run.recipe):
        lines = [record_line("Sample", body) for body in lacking_readings(run.warehouse, run.build, run.recipe, check)]
        await run_group(run, some_of(GROUP, [MEASURED[check].name]), lines, workers)


def is_measured(warehouse: Warehouse, build: str, recipe: Recipe) -> bool:
    """Whether all is planted in a build that the recipe wants."""
    return not any(True for check in _measured(recipe) for _ in lacking_readings(warehouse, build, recipe, check))


def _measured(recipe: Recipe) -> Iterator[str]:
    """The checks whose readers are measured: each model once."""
    models = dict[str, str]()
    for check, stage in MEASURED.items():
        name = getattr(recipe.models, stage.role or "").name
        models.setdefault(name, check)
    yield from models.values() if recipe.readers.planted else ()


def lacking_readings(warehouse: Warehouse, build: str, recipe: Recipe, check: str) -> list[str]:
    """The bodies of the samples in which is to be planted for a check's reader, in each language and family.

    They are drawn by the recipe's seed from what a reader settled, one reading a sample at most.
    """
    with own_prompts(recipe.own_prompts):
        version = planting_version(CHECKS.named(check))
    readers = recipe.readers
    asked = [build, check, version, readers.planted, readers.at_least, str(recipe.seed), *MEASURED, recipe.most_planted]
    return [row["body"] for row in warehouse.rows(sql("measuring.lacking"), asked)]
