"""`tools`: importing, listing and checking tool catalogs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.screen import AsJson, show, show_json, show_table

if TYPE_CHECKING:
    from generators.catalogs import Problem

_SHOWN = 40


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    tools = typer.Typer(help="Import, list and check tools.", no_args_is_help=True, rich_markup_mode=None)
    tools.command("import", epilog="Example: callwright tools import openapi api.yaml")(import_tools)
    tools.command("list", epilog="Example: callwright tools list --category Hotels")(list_tools)
    tools.command("check", epilog="Example: callwright tools check openai tools.json")(check_tools)
    app.add_typer(tools, name="tools")


def import_tools(
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="callnavi, bfcl, hammerbench, openapi, mcp or openai.")
    ],
    path: Annotated[Path, typer.Argument(help="The file or folder.")],
    as_json: AsJson = False,
) -> None:
    """Import tools into the warehouse; everything odd in the file is reported item by item."""
    from flows.settings import read_settings
    from generators.catalogs import read_catalog
    from warehouse.store import Warehouse

    catalog = read_catalog(format_name, path)
    settings = read_settings()
    Warehouse(settings.warehouse, patience=settings.patience).put(catalog.tools)
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
    from flows.settings import read_settings
    from generators.catalogs.seed_catalog import seed_tools
    from warehouse.store import Warehouse

    if seed:
        rows = [dict(tool) | {"key": tool.key} for tool in seed_tools()]
    else:
        settings = read_settings()
        rows = Warehouse(settings.warehouse, patience=settings.patience).rows(
            "select * from tools order by source, category, name, language"
        )
    rows = [row for row in rows if not category or row["category"] == category]
    if as_json:
        show_json(rows)
        return
    columns = ("category", "name", "language", "source", "description")
    show_table(columns, [[row[column] for column in columns] for row in rows])


def check_tools(
    format_name: Annotated[str, typer.Argument(metavar="FORMAT", help="The format of the file, or seed.")],
    path: Annotated[Path | None, typer.Argument(help="The file or folder; none for seed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a catalog: what is missing, doubled, too complex or invalid in it."""
    from generators.catalogs import check_catalog, read_catalog
    from generators.catalogs.seed_catalog import seed_tools
    from warehouse.errors import ConfigurationError

    if format_name == "seed":
        problems = tuple(check_catalog(seed_tools()))
    elif path is None:
        raise ConfigurationError(f"Which file? callwright tools check {format_name} PATH")
    else:
        catalog = read_catalog(format_name, path)
        problems = (*catalog.problems, *check_catalog(catalog.tools))
    if as_json:
        show_json([problem.model_dump(mode="json") for problem in problems])
        return
    _show_problems(problems)


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
