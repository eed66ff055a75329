"""`tools`: making, importing, listing and checking tools."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.screen import AsJson, Terminal, show, show_json, show_table

if TYPE_CHECKING:
    from flows.toolmaking import ToolsetReport
    from generators.catalogs import Problem
    from warehouse.records import Tool

_SHOWN = 40
_GAPS = 10  # what is missing is no error: the counts and what to do next come after it and should be seen


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    tools = typer.Typer(help="Make, import, list and check tools.", no_args_is_help=True, rich_markup_mode=None)
    tools.command("make", epilog="Example: callwright tools make recipe.yaml --preview 5")(make)
    tools.command("import", epilog="Example: callwright tools import openapi api.yaml")(import_tools)
    tools.command("refresh", epilog="Example: callwright tools refresh recipe.yaml")(refresh)
    tools.command("list", epilog="Example: callwright tools list --category Hotels")(list_tools)
    tools.command("check", epilog="Example: callwright tools check openai tools.json")(check_tools)
    app.add_typer(tools, name="tools")


def make(
    recipe: Annotated[Path, typer.Argument(help="A recipe with a line such as {generate: all} under `tools`.")],
    preview: Annotated[int, typer.Option(min=0, help="Show N tools of each category, keep none.")] = 0,
    model: Annotated[str, typer.Option(help="The model that makes them, by its litellm name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a recipe's tools; those that a check does not prove wait for people, the others are used by its builds."""
    from flows.recipe import read_recipe
    from flows.settings import read_settings
    from flows.toolmaking import preview_tools, report_tools

    chosen = read_recipe(recipe)
    chosen = chosen.with_model(model) if model else chosen
    with Terminal() as screen:
        if preview:
            shown = asyncio.run(preview_tools(chosen, preview, read_settings(), screen))
        else:
            reports = asyncio.run(report_tools(chosen, read_settings(), screen))
    if preview:
        if as_json:
            show_json([tool._asdict() for tool in shown])
        else:
            show_table(("name", "language", "description", "parameters", "doubt"), shown)
        return
    if as_json:
        show_json([_report_json(report) for report in reports])
        return
    for report in reports:
        _show_toolset(report)


def _report_json(report: "ToolsetReport") -> dict[str, object]:
    return report._asdict() | {
        "categories": [row._asdict() for row in report.categories],
        "waiting": [{"tool": name, "reason": reason} for name, reason in report.waiting],
    }


def _show_toolset(report: "ToolsetReport") -> None:
    show_table(report.categories[0]._fields if report.categories else (), report.categories)
    for gap in report.gaps[:_GAPS]:
        show(f"{gap.where}: {gap.message}")
    if len(report.gaps) > _GAPS:
        show(f"… and {len(report.gaps) - _GAPS} more gaps: --json lists them all.")
    used, made = sum(row.used for row in report.categories), sum(row.made for row in report.categories)
    show(f"{used} of {made} tools can be used (toolset {report.toolset}).")
    if report.waiting:
        show(f"{len(report.waiting)} wait for people: callwright review push")


def refresh(
    recipe: Annotated[Path, typer.Argument(help="A recipe with a line such as {environment: http, …} under `tools`.")],
    as_json: AsJson = False,
) -> None:
    """Ask the live servers of a recipe again all that is stored, and list what they answer otherwise by now."""
    from flows.environments import refresh_environments
    from flows.recipe import read_recipe
    from flows.settings import read_settings

    drifts = asyncio.run(refresh_environments(read_recipe(recipe), read_settings()))
    if as_json:
        show_json([drift._asdict() | {"call": drift.call.model_dump(mode="json")} for drift in drifts])
        return
    show_table(
        ("tool", "arguments", "recorded at", "re-recorded at"),
        [(one.call.tool, str(one.call.arguments), str(one.recorded_at), str(one.rerecorded_at)) for one in drifts],
    )
    show(f"{len(drifts)} calls are answered otherwise by now; the later answer counts from now on.")


def import_tools(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="callnavi, bfcl, hammerbench, openapi, mcp or openai.")
    ],
    path: Annotated[Path, typer.Argument(help="The file or folder.")],
    as_json: AsJson = False,
) -> None:
    """Import tools into the warehouse; everything odd in the file is reported item by item."""
    from flows.settings import open_warehouse, read_settings
    from generators.catalogs import read_catalog

    catalog = read_catalog(format_name, path)
    settings = read_settings()
    open_warehouse(settings).put(catalog.tools)
    if as_json:
        problems = [problem.model_dump(mode="json") for problem in catalog.problems]
        show_json(
            {
                "entries": catalog.entries,
                "distinct": catalog.distinct,
                "tools": len(catalog.tools),
                "problems": problems,
            }
        )
        return
    show(f"{catalog.entries} entries, {catalog.distinct} distinct names, {len(catalog.tools)} tools kept.")
    _show_problems(catalog.problems)


def list_tools(
    category: Annotated[str, typer.Option(help="Only this category.")] = "",
    seed: Annotated[bool, typer.Option("--seed", help="The seed catalog instead of the warehouse.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tools that were imported or used so far."""
    from flows.settings import open_warehouse, read_settings
    from generators.catalogs.seed_catalog import seed_tools

    if seed:
        rows = [dict(tool) | {"key": tool.key} for tool in seed_tools()]
    else:
        settings = read_settings()
        rows = open_warehouse(settings).rows("select * from tools order by source, category, name, language")
    rows = [row for row in rows if not category or row["category"] == category]
    if as_json:
        show_json(rows)
        return
    columns = ("category", "name", "language", "source", "description")
    show_table(columns, [[row[column] for column in columns] for row in rows])


def check_tools(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="The format of the file; or seed, or warehouse for what is kept.")
    ],
    path: Annotated[Path | None, typer.Argument(help="The file or folder; none for seed and warehouse.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check tools: what is missing, invalid, too complex or redundant, and what can be created but not managed."""
    from flows.toolmaking import find_problems

    tools, before = _tools_to_check(format_name, path)
    problems = (*before, *find_problems(tools))
    if as_json:
        show_json([problem.model_dump(mode="json") for problem in problems])
        return
    _show_problems(problems)


def _tools_to_check(format_name: str, path: Path | None) -> "tuple[list[Tool], tuple[Problem, ...]]":
    """The tools, and what was odd in the file that they were read from."""
    from flows.settings import open_warehouse
    from generators.catalogs import read_catalog
    from generators.catalogs.seed_catalog import seed_tools
    from warehouse.errors import ConfigurationError
    from warehouse.releases import read_tools

    if format_name == "seed":
        return seed_tools(), ()
    if format_name == "warehouse":
        warehouse = open_warehouse()
        keys = [row["key"] for row in warehouse.rows("select key from tools order by category, language, name, key")]
        tools = read_tools(warehouse, keys)
        return [tools[key] for key in keys], ()
    if path is None:
        raise ConfigurationError(f"Which file? callwright tools check {format_name} PATH")
    catalog = read_catalog(format_name, path)
    return list(catalog.tools), catalog.problems


def _show_problems(problems: "tuple[Problem, ...]") -> None:
    if not problems:
        show("Nothing odd.")
        return
    counts: dict[str, int] = {}
    for problem in problems:
        counts[problem.kind] = counts.get(problem.kind, 0) + 1
    show_table(("problem", "count"), sorted(counts.items(), key=lambda pair: -pair[1]))
    for problem in problems[:_SHOWN]:
        show(f"{problem.where}: {problem.message}")
    if len(problems) > _SHOWN:
        show(f"… and {len(problems) - _SHOWN} more: --json lists them all.")
