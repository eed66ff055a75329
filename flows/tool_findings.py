"""What is told about tools: the findings about a catalog, and how far a recipe's toolsets are."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from flows.chats import tell_models
from flows.progress import Progress
from flows.recipe import GeneratedTools, Recipe
from flows.review.tool_decisions import usable_tools
from flows.settings import Settings, open_warehouse
from flows.tool_checking import tools_of
from flows.toolmaking import make_tools, toolset_of
from generators.catalogs import Problem, check_catalog
from validators.toolset.complexity import hard_to_say
from validators.toolset.gaps import find_gaps
from validators.toolset.redundancy import find_twins
from warehouse.errors import ConfigurationError
from warehouse.records import Tool
from warehouse.store import Warehouse


class CategoryRow(NamedTuple):
    """How a category's tools fare: `made` = those used as they are or edited, and those that wait or were rejected."""

    category: str
    made: int
    used: int
    waiting: int
    rejected: int
    gaps: int


class ToolsetReport(NamedTuple):
    """A toolset: a row a category, what its categories lack, and the tools that wait with the reasons."""

    toolset: str
    categories: tuple[CategoryRow, ...]
    gaps: tuple[Problem, ...]
    waiting: tuple[tuple[str, str], ...]


class ShownTool(NamedTuple):
    """A tool as a person looks at it; required parameters have a star."""

    name: str
    language: str
    description: str
    parameters: str
    doubt: str


def find_problems(tools: Sequence[Tool]) -> list[Problem]:
    """Every weakness of a catalog: of each tool, of tools that do the same, and of what its categories lack."""
    plain = [problem for problem in check_catalog(tools) if problem.kind != "similar_description"]  # the twins say more
    return [*plain, *_complex(tools), *_redundant(tools), *find_gaps(tools)]


def _complex(tools: Sequence[Tool]) -> Iterator[Problem]:
    company: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        company[tool.category, tool.language].append(tool)
    for tool in tools:
        for doubt in hard_to_say(tool, company[tool.category, tool.language]):
            where = f"{tool.category}/{tool.name}"
            yield Problem(where=where, tool=tool.name, kind="too_complex", message=doubt.message)


def _redundant(tools: Sequence[Tool]) -> Iterator[Problem]:
    for twins in find_twins(tools):
        does = "Does the same as" if twins.are_alike else "May do the same as"
        message = f"{does} {twins.one.name!r} ({twins.one.description.strip()}); likeness {twins.likeness:.2f}."
        where = f"{twins.other.category}/{twins.other.name}"
        yield Problem(where=where, tool=twins.other.name, kind="redundant", message=message)


async def report_tools(recipe: Recipe, settings: Settings, progress: Progress) -> list[ToolsetReport]:
    """Make what the recipe's sources lack, and say how it stands. Raises ConfigurationError where no tools are to be made."""
    sources = [source for source in recipe.tools if isinstance(source, GeneratedTools)]
    if not sources:
        raise ConfigurationError(
            f"The recipe {recipe.name!r} has no tools to make; under `tools` it needs a line such as "
            "{generate: all, tools_per_category: 12}."
        )
    tell_models([("generator", recipe.models.generator)], progress)
    warehouse = open_warehouse(settings)
    reports = []
    for source in sources:
        await make_tools(source, recipe, settings, progress)
        reports.append(report_toolset(warehouse, toolset_of(source, recipe).key))
    return reports


def report_toolset(warehouse: Warehouse, toolset: str) -> ToolsetReport:
    """A toolset as it stands."""
    made, used = tools_of(warehouse, toolset), usable_tools(warehouse, toolset)
    outcomes = {row["subject"]: row for row in warehouse.rows(_OUTCOMES, [toolset])}
    gaps = find_gaps(used)
    rows = []
    for category in sorted({tool.category for tool in made}):
        keys = [tool.key for tool in made if tool.category == category]
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
    waiting = tuple(
        (tool.name, outcomes[tool.key]["reason"])
        for tool in made
        if tool.key in outcomes and outcomes[tool.key]["outcome"] == "waiting"
    )
    return ToolsetReport(toolset, tuple(rows), tuple(gaps), waiting)


# The last check that each tool met: where it waits or was rejected, else the review.
_OUTCOMES = """
    select f.subject, arg_max(f.outcome, t.position) as outcome, arg_max(f.reason, t.position) as reason
    from made_tools m join fates f on f.build = m.toolset and f.subject = m.tool join stages t on t.name = f.stage
    where m.toolset = ? group by f.subject
"""


async def preview_tools(recipe: Recipe, count: int, settings: Settings, progress: Progress) -> list[ShownTool]:
    """Make `count` tools a category in a work folder that is thrown away; what models answer is kept."""
    sources = [
        one.model_copy(update={"tools_per_category": count}) for one in recipe.tools if isinstance(one, GeneratedTools)
    ]
    few = recipe.model_copy(update={"tools": tuple(sources) or recipe.tools})
    with tempfile.TemporaryDirectory(prefix="callwright-preview-") as folder:
        aside = settings._replace(home=Path(folder))
        reports = await report_tools(few, aside, progress)
        warehouse = open_warehouse(aside)
        return [_shown(tool, report) for report in reports for tool in tools_of(warehouse, report.toolset)]


def _shown(tool: Tool, report: ToolsetReport) -> ShownTool:
    parameters = ", ".join(f"{name}*" if name in tool.required else name for name in tool.properties)
    doubt = next((reason for name, reason in report.waiting if name == tool.name), "")
    return ShownTool(tool.name, tool.language, tool.description, parameters, doubt)
