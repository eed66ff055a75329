"""Making tools: the toolset of a recipe's `generate` line is made once, checked, and looked at by people where in doubt."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from flows.environments import explore_environments
from flows.groups import GroupRun, Workers, run_group
from flows.progress import Progress
from flows.recipe import GeneratedTools, Recipe
from flows.remote.workers import open_workers, validate_workers_can_take
from flows.review.tool_decisions import settle_tools, usable_tools
from flows.settings import Settings, open_warehouse
from flows.shards import record_line, write_lines
from flows.stages import STAGES, stages_of
from flows.tool_checking import check_made_tools
from generators.toolset.categories import category_named, load_categories, plan_toolset
from llm.models import open_adapter
from llm.prompts import prompt_version
from warehouse.errors import ConfigurationError
from warehouse.records import Tool, ToolsetPlan, content_key
from warehouse.rows import body_of
from warehouse.store import Warehouse

GROUP = "toolset"
TOOLSET_VERSION = 1  # raised when the same categories, models and prompts would make other tools
PLANS_A_SHARD = 6  # a plan is a category's tools in a language, so as many model calls as a shard of samples has
Working = Callable[[GroupRun], AbstractContextManager[Workers]]


class Toolset(NamedTuple):
    """A toolset by its key: the recipe's source and the plans that it makes of it."""

    key: str
    source: GeneratedTools
    plans: tuple[ToolsetPlan, ...]


async def prepare_tools(recipe: Recipe, settings: Settings, progress: Progress, working: Working | None = None) -> None:
    """Make the tools that a recipe's sources still lack, look at its live servers; to be awaited before a build is opened."""
    validate_workers_can_take(recipe, settings)
    await explore_environments(recipe, settings)
    for source in recipe.tools:
        if isinstance(source, GeneratedTools):
            await make_tools(source, recipe, settings, progress, working)


async def make_tools(
    source: GeneratedTools, recipe: Recipe, settings: Settings, progress: Progress, working: Working | None = None
) -> tuple[Tool, ...]:
    """Make a source's tools, going on where it stopped before, and check them; the tools that a build may use.

    Tools that a check does not prove wait for people. The same source with the same models and prompts makes nothing new.
    """
    validate_workers_can_take(recipe, settings)
    toolset = toolset_of(source, recipe)
    warehouse = open_warehouse(settings)
    if not _is_made(warehouse, toolset):
        open_adapter(recipe.models.generator)  # connects nowhere, but knows whether the settings make sense
        run = _open(toolset, recipe, settings, warehouse, progress)
        with (working or _as_set)(run) as workers:
            await _carry_out(run, toolset, workers)
        check_made_tools(warehouse, toolset.key)
        warehouse.execute("update toolsets set finished_at = now() where key = ?", [toolset.key])
    settle_tools(warehouse)
    return usable_tools(warehouse, toolset.key)


def made_tools(recipe: Recipe, settings: Settings) -> dict[GeneratedTools, tuple[Tool, ...]]:
    """What each source of a recipe made before, without the tools that wait for people or were turned down.

    Raises ConfigurationError where a source was not made, or where none of its tools can be used yet.
    """
    sources = [source for source in recipe.tools if isinstance(source, GeneratedTools)]
    return {source: _made(toolset_of(source, recipe), recipe, settings) for source in sources}


def _made(toolset: Toolset, recipe: Recipe, settings: Settings) -> tuple[Tool, ...]:
    warehouse = open_warehouse(settings)
    if not _is_made(warehouse, toolset):
        raise ConfigurationError(
            f"The tools of the recipe {recipe.name!r} are not made yet. First: callwright tools make RECIPE"
        )
    tools = usable_tools(warehouse, toolset.key)
    if not tools:
        raise ConfigurationError(
            f"None of the tools that were made for the recipe {recipe.name!r} can be used: people have still to accept "
            "them (callwright review push), or each was turned down."
        )
    return tools


def toolset_of(source: GeneratedTools, recipe: Recipe) -> Toolset:
    """What a source asks for. Raises ConfigurationError where it names a category that there is not."""
    names = [one.name for one in load_categories()] if source.generate == "all" else source.generate
    categories = [category_named(name) for name in dict.fromkeys(names)]
    plans = tuple(
        plan_toolset(category, language, source.tools_per_category, seed=recipe.seed)
        for category in categories
        for language in recipe.languages
    )
    model = recipe.models.generator
    ingredients: dict[str, JsonValue] = {
        "version": TOOLSET_VERSION,
        "seed": recipe.seed,
        "plans": [*sorted(plan.key for plan in plans)],
        "model": [model.name, *map(list, model.options)],
        "prompts": [_version(path) for stage in stages_of(GROUP) for path in stage.templates],
    }
    return Toolset(content_key(ingredients), source, plans)


def _version(path: str) -> str:
    package, _, name = path.removesuffix(".j2").rpartition("/")
    return prompt_version(package.replace("/", "."), name)


def _is_made(warehouse: Warehouse, toolset: Toolset) -> bool:
    return bool(warehouse.rows("select 1 from toolsets where key = ? and finished_at is not null", [toolset.key]))


def _as_set(run: GroupRun) -> AbstractContextManager[Workers]:
    return open_workers(run.recipe, run.settings, run.progress)


def _open(toolset: Toolset, recipe: Recipe, settings: Settings, warehouse: Warehouse, progress: Progress) -> GroupRun:
    """Write down what is to be made; a toolset has no tools to begin with."""
    stages = [
        {"name": stage.name, "position": position, "stage_group": stage.group, "source": stage.source}
        for position, stage in enumerate(STAGES)
    ]
    body = {
        "source": toolset.source.model_dump(mode="json"),
        "recipe": orjson.loads(recipe.model_dump_json(by_alias=True)),
    }
    row = {
        "key": toolset.key, "body": orjson.dumps(body).decode(), "started_at": datetime.now(UTC), "finished_at": None,
    }  # fmt: skip
    warehouse.put_rows({"stages": stages, "toolsets": [row]})
    path = settings.home / "toolsets" / f"{toolset.key}.tools.jsonl"
    write_lines(path, ())
    by_plan = recipe.model_copy(update={"shard_size": min(recipe.shard_size, PLANS_A_SHARD)})
    return GroupRun(toolset.key, by_plan, settings, warehouse, (), path, progress)


async def _carry_out(run: GroupRun, toolset: Toolset, workers: Workers) -> None:
    """Carry the plans that have no fate yet through the stages."""
    first, last = stages_of(GROUP)[0].name, stages_of(GROUP)[-1].name
    fates = run.warehouse.rows("select subject from fates where build = ? and stage = ?", [run.build, first])
    done = {row["subject"] for row in fates}
    plans: Sequence[ToolsetPlan] = [plan for plan in toolset.plans if plan.key not in done]
    await run_group(run, GROUP, (record_line("ToolsetPlan", body_of(plan)) for plan in plans), workers)
    # A tool is its content: where two drafts came to the same one, the second made nothing new, and its fate says so.
    run.warehouse.execute(
        """
        update fates set outcome = 'rejected', reason = 'Another draft had already become this very tool.'
        where build = ? and stage = ? and outcome = 'passed' and not exists (
            select 1 from made_tools m where m.toolset = fates.build and m.draft = fates.subject)
        """,
        [run.build, last],
    )
