"""A build: from a recipe to landed samples. The command line, Prefect and the tests all call this."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from flows.groups import GroupRun, Workers, local_workers, run_group
from flows.landing import Landing, check_duplicates, land_samples, route_review
from flows.news import News
from flows.recipe import Recipe
from flows.settings import Settings
from flows.shards import record_line, write_lines
from flows.stages import STAGES
from flows.toolbox import gather_tools
from generators.assignments import plan_assignments
from llm.models import open_adapter
from llm.prompts import prompt_version
from warehouse.errors import ConfigurationError
from warehouse.records import Assignment, Language, Sample, SingleTurnKind, Tool, content_key
from warehouse.releases import read_tools
from warehouse.rows import Row, body_of
from warehouse.store import Warehouse

BUILD_VERSION = 1  # raised when the same recipe, tools and prompts would make other samples


class FunnelRow(NamedTuple):
    """What a stage did with what came to it: entered = passed + rejected + failed + waiting."""

    stage: str
    entered: int
    passed: int
    rejected: int
    failed: int
    waiting: int


class BuildReport(NamedTuple):
    """What a build made: its funnel, and how many of its samples have landed."""

    build: str
    recipe: str
    planned: int
    landed: int
    funnel: tuple[FunnelRow, ...]


async def build_dataset(recipe: Recipe, settings: Settings, news: News) -> BuildReport:
    """Build a recipe with workers of this machine, going on where the last build of it stopped."""
    with local_workers(recipe, settings) as workers:
        run = open_build(recipe, settings, news)
        await make_samples(run, workers)
        await check_samples(run, workers)
    land(run)
    return close_build(run)


def open_build(recipe: Recipe, settings: Settings, news: News) -> GroupRun:
    """Gather the tools, name the build by what goes into it, and write both down."""
    for model in (recipe.models.generator, recipe.models.checker, recipe.models.judge):
        open_adapter(model)  # connects nowhere, but knows whether the settings make sense
    toolbox = gather_tools(recipe)
    if toolbox.problems:
        news.say(f"{len(toolbox.problems)} oddities in the catalogs; `callwright tools import` lists them.")
    _see_that_it_can_be_planned(recipe, toolbox.tools)
    key = build_key(recipe, toolbox.tools)
    warehouse = Warehouse(settings.warehouse, patience=settings.patience)
    path = _write_toolbox(settings, key, toolbox.tools)
    warehouse.put(toolbox.tools)
    stages = [
        {"name": stage.name, "position": position, "stage_group": stage.group, "source": stage.source}
        for position, stage in enumerate(STAGES)
    ]
    build: Row = {
        "key": key, "recipe": recipe.name, "body": recipe.model_dump_json(by_alias=True),
        "started_at": datetime.now(UTC), "finished_at": None,
    }  # fmt: skip
    warehouse.put_rows(
        {
            "stages": stages,
            "builds": [build],
            "build_tools": [{"build": key, "tool": tool.key} for tool in toolbox.tools],
        }
    )
    return GroupRun(key, recipe, settings, warehouse, toolbox.tools, path, news)


def _see_that_it_can_be_planned(recipe: Recipe, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError where the tools can't give what is asked for, before anything is written down."""
    for kind, language, count in _shares(recipe):
        next(plan_assignments(kind, language, count, tools, seed=recipe.seed), None)


def reopen_build(key: str, settings: Settings, news: News) -> GroupRun:
    """A build that was opened before, as it was. Raises ConfigurationError where the warehouse lacks it."""
    warehouse = Warehouse(settings.warehouse, patience=settings.patience)
    rows = warehouse.rows("select body from builds where key = ?", [key])
    if not rows:
        raise ConfigurationError(f'There is no build {key!r}; `callwright query "from builds"` lists them.')
    named = warehouse.rows("select tool from build_tools where build = ?", [key])
    tools = tuple(read_tools(warehouse, [row["tool"] for row in named]).values())
    path = _write_toolbox(settings, key, tools)
    return GroupRun(key, Recipe.model_validate_json(rows[0]["body"]), settings, warehouse, tools, path, news)


def _write_toolbox(settings: Settings, key: str, tools: Sequence[Tool]) -> Path:
    """The build's tools as a file for its shards."""
    path = settings.home / "builds" / f"{key}.tools.jsonl"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        write_lines(unfinished, (record_line("Tool", body_of(tool)) for tool in tools))
        unfinished.replace(path)
    return path


def build_key(recipe: Recipe, tools: Sequence[Tool]) -> str:
    """The name of a build: the same for the same recipe, tools and prompts, however often it is run."""
    body = recipe.model_dump(
        mode="json", include={"name", "seed", "languages", "samples", "candidates_per_sample", "checks"}
    )
    roles = {name: getattr(recipe.models, name) for name in type(recipe.models).model_fields}
    ingredients: dict[str, JsonValue] = {
        "version": BUILD_VERSION,
        "recipe": body,
        "models": {name: [model.name, *map(list, model.options)] for name, model in roles.items()},
        "tools": [*sorted(tool.key for tool in tools)],
        "prompts": [_version(path) for stage in STAGES for path in stage.templates],
    }
    return content_key(ingredients)


def _version(path: str) -> str:
    package, _, name = path.removesuffix(".j2").rpartition("/")
    return prompt_version(package.replace("/", "."), name)


async def make_samples(run: GroupRun, workers: Workers) -> None:
    """Plan the assignments and turn those without a fate yet into samples."""
    done = {row["subject"] for row in _fates(run, "parameters")}
    lines = (record_line("Assignment", body_of(one)) for one in plan(run) if one.key not in done)
    await run_group(run, "single_turn", lines, workers)
    # A sample is its content: where two drafts were worded alike, the second made nothing new, and its fate says so.
    run.warehouse.execute(
        """
        update fates set outcome = 'rejected', reason = 'Another draft had already become this very sample.'
        where build = ? and stage = 'requests' and outcome = 'passed'
            and not exists (select 1 from build_samples b where b.build = fates.build and b.draft = fates.subject)
        """,
        [run.build],
    )


def plan(run: GroupRun) -> Iterator[Assignment]:
    """Every assignment of the recipe: each kind's count is shared out evenly over the languages."""
    for kind, language, count in _shares(run.recipe):
        yield from plan_assignments(
            kind, language, count, run.tools, seed=run.recipe.seed, candidates=run.recipe.candidates_per_sample
        )


def _shares(recipe: Recipe) -> Iterator[tuple[SingleTurnKind, Language, int]]:
    for kind, count in recipe.samples.items():
        share, rest = divmod(count, len(recipe.languages))
        for position, language in enumerate(recipe.languages):
            yield kind, language, share + (position < rest)


async def check_samples(run: GroupRun, workers: Workers, edited: Sequence[Sample] = ()) -> None:
    """Carry this build's samples that no check has seen yet, and `edited` ones, through the checks."""
    unseen = run.warehouse.stream(
        """
        select s.body from build_samples b join samples s on s.key = b.sample
        where b.build = ?
            and not exists (select 1 from fates g where g.build = b.build and g.stage = 'format' and g.subject = s.key)
        order by s.key
        """,
        [run.build],
    )
    bodies = chain((body for (body,) in unseen), map(body_of, edited))
    await run_group(run, "consistency", (record_line("Sample", body) for body in bodies), workers)


def land(run: GroupRun) -> None:
    """Sort out duplicates, ask people about what is in doubt, and accept the rest."""
    landing = Landing(run.build, run.recipe, run.warehouse)
    check_duplicates(landing)
    route_review(landing)
    land_samples(landing)


def close_build(run: GroupRun) -> BuildReport:
    """Note that the build is done, and count."""
    run.warehouse.execute("update builds set finished_at = now() where key = ?", [run.build])
    return report_build(run.warehouse, run.build)


def report_build(warehouse: Warehouse, build: str) -> BuildReport:
    """The funnel of a build as it stands."""
    rows = warehouse.rows(
        "select recipe, stage, entered, passed, rejected, failed, waiting from funnel where build = ? order by position",
        [build],
    )
    funnel = tuple(FunnelRow(*(row[name] for name in FunnelRow._fields)) for row in rows)
    return BuildReport(
        build=build,
        recipe=rows[0]["recipe"] if rows else "",
        planned=next((row.entered for row in funnel if row.stage == "parameters"), 0),
        landed=next((row.passed for row in funnel if row.stage == "land"), 0),
        funnel=funnel,
    )


def _fates(run: GroupRun, stage: str) -> list[Row]:
    return run.warehouse.rows("select subject from fates where build = ? and stage = ?", [run.build, stage])
