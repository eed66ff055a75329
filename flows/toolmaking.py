"""The tools that a recipe asks to be made: making them, and reporting how they stand."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.environments import explore_environments
from callwright.flows.progress import Progress, tell_models
from callwright.flows.recipe import GeneratedTools, Recipe
from callwright.flows.review.resolutions import (
    check_made_tools,
    settle_tools,
    tools_of,
    usable_tools,
)
from callwright.flows.run.carry import Carrier, GroupRun, open_carrier, run_group
from callwright.flows.run.work import record_line, write_lines
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.sources import read_sources
from callwright.flows.stages import prompt_rows, stage_rows, stages_of
from callwright.generators.catalogs import Problem, check_catalog
from callwright.generators.toolset import GROUP
from callwright.generators.toolset.sketches import category_named, load_categories, plan_toolset
from callwright.language.packs import known
from callwright.llm.models import open_adapter
from callwright.llm.prompts import own_prompts, version_at
from callwright.validators.toolset.complexity import find_gaps, hard_to_say
from callwright.validators.toolset.redundancy import find_duplicate_tools
from callwright.warehouse.batches import grouped
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.outcomes import reject_repeated
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Tool, ToolsetPlan, content_key
from callwright.warehouse.rows import body_of
from callwright.warehouse.store import Warehouse

TOOLSET_VERSION = 1  # raised when the same categories, models and prompts would make other tools
# a plan is a category's tools in a language, so as many model calls as a shard of samples has
PLANS_A_SHARD = 6
Working = Callable[[GroupRun], AbstractContextManager[Carrier]]


class Toolset(NamedTuple):
    """A toolset by its key: the recipe's source, and the plans made from it."""

    key: str
    source: GeneratedTools
    plans: tuple[ToolsetPlan, ...]


async def prepare_tools(
    recipe: Recipe, settings: Settings, progress: Progress, working: Working | None = None
) -> None:
    """Read a recipe's files, look at its live servers and make the tools that it lacks."""
    read_sources(recipe, settings, progress)
    await explore_environments(recipe, settings)
    for source in recipe.tools:
        if isinstance(source, GeneratedTools):
            await make_tools(source, recipe, settings, progress, working)


async def make_tools(
    source: GeneratedTools,
    recipe: Recipe,
    settings: Settings,
    progress: Progress,
    working: Working | None = None,
) -> tuple[Tool, ...]:
    """Make and check a source's tools, going on where it stopped; return those a build may use.

    Tools that a check does not prove wait for people. The same source with the same models and
    prompts makes nothing new.
    """
    toolset = toolset_of(source, recipe)
    warehouse = open_warehouse(settings)
    if not _is_made(warehouse, toolset):
        # connects nowhere, but knows whether the settings make sense
        open_adapter(recipe.models.generator)
        run = _open(toolset, recipe, settings, warehouse, progress)
        with working(run) if working else open_carrier(recipe, settings, progress) as carrier:
            first, last = stages_of(GROUP)[0].name, stages_of(GROUP)[-1].name
            outcomes = run.warehouse.rows(
                "select subject from outcomes where build = ? and stage = ?", [run.build, first]
            )
            done = {row["subject"] for row in outcomes}
            plans: Sequence[ToolsetPlan] = [plan for plan in toolset.plans if plan.key not in done]
            await run_group(
                run, GROUP, (record_line("ToolsetPlan", body_of(plan)) for plan in plans), carrier
            )
            # A tool is its content: where two drafts came to the same one, the second made nothing
            # new, and its outcome says so.
            reject_repeated(run.warehouse, run.build, [last], "tool")
        check_made_tools(warehouse, toolset.key)
        warehouse.execute("update toolsets set finished_at = now() where key = ?", [toolset.key])
    settle_tools(warehouse)
    return usable_tools(warehouse, toolset.key)


def made_tools(recipe: Recipe, settings: Settings) -> dict[GeneratedTools, tuple[Tool, ...]]:
    """Return the tools that each source of a recipe made before and that can be used by now.

    Raises ConfigurationError where a source was not made, or none of its tools can be used yet.
    """
    tools_by_source = {}
    for source in recipe.tools:
        if isinstance(source, GeneratedTools):
            toolset, warehouse = toolset_of(source, recipe), open_warehouse(settings)
            if not _is_made(warehouse, toolset):
                raise ConfigurationError(
                    f"The tools of the recipe {recipe.name!r} have not been made yet. Make them "
                    "first: callwright tools make RECIPE"
                )
            tools_by_source[source] = usable_tools(warehouse, toolset.key)
            if not tools_by_source[source]:
                raise ConfigurationError(
                    f"None of the tools made for the recipe {recipe.name!r} can be used. They wait "
                    "for reviewers (`callwright review push` sends them), or were rejected."
                )
    return tools_by_source


def toolset_of(source: GeneratedTools, recipe: Recipe) -> Toolset:
    """Return what a source asks for. Raises ConfigurationError where it names no known category."""
    names = [one.name for one in load_categories()] if source.generate == "all" else source.generate
    categories = [category_named(name) for name in dict.fromkeys(names)]
    plans = tuple(
        plan_toolset(category, language, source.tools_per_category, seed=recipe.seed)
        for category in categories
        for language in recipe.languages
    )
    model = recipe.models.generator
    with own_prompts(recipe.own_prompts):
        prompts: list[JsonValue] = [
            version_at(path) for stage in stages_of(GROUP) for path in stage.templates
        ]
    ingredients: dict[str, JsonValue] = {
        "version": TOOLSET_VERSION,
        "seed": recipe.seed,
        "plans": [*sorted(plan.key for plan in plans)],
        "model": [model.name, *map(list, model.options)],
        "prompts": prompts,
    }
    return Toolset(content_key(ingredients), source, plans)


def _is_made(warehouse: Warehouse, toolset: Toolset) -> bool:
    return bool(
        warehouse.rows(
            "select 1 from toolsets where key = ? and finished_at is not null", [toolset.key]
        )
    )


def _open(
    toolset: Toolset, recipe: Recipe, settings: Settings, warehouse: Warehouse, progress: Progress
) -> GroupRun:
    """Store what is to be made, and open the run; a toolset starts without tools."""
    body = {
        "source": toolset.source.model_dump(mode="json"),
        "recipe": orjson.loads(recipe.model_dump_json(by_alias=True)),
    }
    row = {
        "key": toolset.key,
        "body": orjson.dumps(body).decode(),
        "started_at": datetime.now(UTC),
        "finished_at": None,
    }
    warehouse.put_rows({"stages": stage_rows(), "prompts": prompt_rows(), "toolsets": [row]})
    path = settings.home / "toolsets" / f"{toolset.key}.tools.jsonl"
    write_lines(path, ())
    by_plan = recipe.model_copy(update={"shard_size": min(recipe.shard_size, PLANS_A_SHARD)})
    return GroupRun(
        toolset.key, by_plan, settings, warehouse, (), path, progress, datetime.now(UTC)
    )


class CategoryRow(NamedTuple):
    """Counts of a category's tools: `made` are those `used`, edited or not, waiting or rejected."""

    category: str
    made: int
    used: int
    waiting: int
    rejected: int
    gaps: int


class ToolsetReport(NamedTuple):
    """A toolset: a row for each category, what these lack, and tools that wait, with reasons."""

    toolset: str
    categories: tuple[CategoryRow, ...]
    gaps: tuple[Problem, ...]
    waiting: tuple[tuple[str, str], ...]


class ShownTool(NamedTuple):
    """A tool as shown to a person; required parameters have a star."""

    name: str
    language: str
    description: str
    parameters: str
    doubt: str


def find_problems(tools: Sequence[Tool]) -> list[Problem]:
    """Return a catalog's weaknesses: of single tools, of tools that do the same, and its gaps."""
    # What duplicates say is more.
    plain = [problem for problem in check_catalog(tools) if problem.kind != "similar_description"]
    read = [tool for tool in tools if tool.language in known()]
    return [
        *plain,
        *_of_unknown_languages(tools),
        *_complex(read),
        *_redundant(read),
        *find_gaps(read),
    ]


def _of_unknown_languages(tools: Sequence[Tool]) -> Iterator[Problem]:
    """Yield a problem for each language of tools that no rule checks."""
    counted = Counter(tool.language for tool in tools if tool.language not in known())
    for language, count in counted.items():
        checked = ", ".join(known())
        message = (
            f"{count} tools are in {language!r}; how complex they are and which do the same is"
            f" checked in {checked} only."
        )
        yield Problem(where=language, kind="unsupported", message=message)


def _complex(tools: Sequence[Tool]) -> Iterator[Problem]:
    company = grouped(tools, attrgetter("category", "language"))
    for tool in tools:
        where = f"{tool.category}/{tool.name}"
        for doubt in hard_to_say(tool, company[tool.category, tool.language]):
            yield Problem(where=where, tool=tool.name, kind="too_complex", message=doubt.message)


def _redundant(tools: Sequence[Tool]) -> Iterator[Problem]:
    for duplicates in find_duplicate_tools(tools):
        does = "Does the same as" if duplicates.are_alike else "May do the same as"
        message = (
            f"{does} {duplicates.one.name!r} ({duplicates.one.description.strip()}); likeness"
            f" {duplicates.likeness:.2f}."
        )
        where = f"{duplicates.other.category}/{duplicates.other.name}"
        yield Problem(where=where, tool=duplicates.other.name, kind="redundant", message=message)


async def report_tools(
    recipe: Recipe, settings: Settings, progress: Progress
) -> list[ToolsetReport]:
    """Make what the recipe's sources lack, and report it. Raises ConfigurationError without any."""
    sources = [source for source in recipe.tools if isinstance(source, GeneratedTools)]
    if not sources:
        raise ConfigurationError(
            f"The recipe {recipe.name!r} has no tools to make. Add a line such as "
            "{generate: all, tools_per_category: 12} under `tools`."
        )
    tell_models([("generator", recipe.models.generator)], progress)
    warehouse = open_warehouse(settings)
    reports = []
    for source in sources:
        await make_tools(source, recipe, settings, progress)
        reports.append(report_toolset(warehouse, toolset_of(source, recipe).key))
    return reports


def report_toolset(warehouse: Warehouse, toolset: str) -> ToolsetReport:
    """Return the current state of a toolset."""
    toolset_tools, used = tools_of(warehouse, toolset), usable_tools(warehouse, toolset)
    outcomes = {
        row["subject"]: row for row in warehouse.rows(sql("toolsets.last_outcomes"), [toolset])
    }
    gaps = find_gaps(used)
    rows = []
    for category in sorted({tool.category for tool in toolset_tools}):
        keys = [tool.key for tool in toolset_tools if tool.category == category]
        ends = [outcomes[key]["outcome"] for key in keys if key in outcomes]
        rows.append(
            CategoryRow(
                category=category,
                made=len(keys),
                used=ends.count("passed"),
                waiting=ends.count("waiting"),
                rejected=ends.count("rejected"),
                gaps=sum(gap.where == category for gap in gaps),
            )
        )
    met = [(tool.name, outcomes[tool.key]) for tool in toolset_tools if tool.key in outcomes]
    waiting = tuple((name, one["reason"]) for name, one in met if one["outcome"] == "waiting")
    return ToolsetReport(toolset, tuple(rows), tuple(gaps), waiting)


async def preview_tools(
    recipe: Recipe, count: int, settings: Settings, progress: Progress
) -> list[ShownTool]:
    """Make `count` tools for each category in a temporary work folder; answers are kept."""
    sources = [
        one.model_copy(update={"tools_per_category": count})
        for one in recipe.tools
        if isinstance(one, GeneratedTools)
    ]
    few = recipe.model_copy(update={"tools": tuple(sources) or recipe.tools})
    with tempfile.TemporaryDirectory(prefix="callwright-preview-") as folder:
        aside = settings.aside(Path(folder))
        reports = await report_tools(few, aside, progress)
        warehouse = open_warehouse(aside)
        return [
            _shown(tool, report)
            for report in reports
            for tool in tools_of(warehouse, report.toolset)
        ]


def _shown(tool: Tool, report: ToolsetReport) -> ShownTool:
    parameters = ", ".join(
        f"{name}*" if name in tool.required else name for name in tool.properties
    )
    doubt = next((reason for name, reason in report.waiting if name == tool.name), "")
    return ShownTool(tool.name, tool.language, tool.description, parameters, doubt)
