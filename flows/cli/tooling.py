"""`tools`: making, importing, listing and checking tools."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from callwright.flows.cli.screen import AsJson, Terminal, present, show, show_json, show_table
from callwright.flows.settings import open_warehouse, read_settings

if TYPE_CHECKING:
    from callwright.flows.catalogs import KeptCatalog, PlumbingParameter
    from callwright.flows.toolmaking import ToolsetReport
    from callwright.generators.catalogs import Problem
    from callwright.generators.catalogs.choosing import ToolChoice
    from callwright.warehouse.records import Tool
    from callwright.warehouse.store import Warehouse

_SHOWN = 40
_MOST_NAMED = 12
_GAPS = 10  # what is missing is no error: the counts and what to do next come after it and should be seen


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    tools = typer.Typer(help="Make, import, list and check tools.", no_args_is_help=True, rich_markup_mode=None)
    tools.command("make", epilog="Example: callwright tools make recipe.yaml --preview 5")(make)
    tools.command("import", epilog="Example: callwright tools import openapi api.yaml --name api --include tag=users")(
        import_tools
    )
    tools.command("refresh", epilog="Example: callwright tools refresh recipe.yaml")(refresh)
    tools.command("list", epilog="Example: callwright tools list --category Hotels")(list_tools)
    tools.command("show", epilog="Example: callwright tools show spotify")(show_catalog)
    tools.command("drop", epilog="Example: callwright tools drop spotify")(drop_catalog_named)
    tools.command("check", epilog="Example: callwright tools check openai tools.json")(check_tools)
    app.add_typer(tools, name="tools")


def make(
    recipe: Annotated[Path, typer.Argument(help="A recipe with a line such as {generate: all} under `tools`.")],
    preview: Annotated[int, typer.Option(min=0, help="Show N tools of each category, keep none.")] = 0,
    model: Annotated[str, typer.Option(help="The model that makes them, by its litellm name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a recipe's tools; those that a check does not prove wait for people, the others are used by its builds."""
    from callwright.flows.recipe import read_recipe_to_build
    from callwright.flows.toolmaking import preview_tools, report_tools

    chosen = read_recipe_to_build(recipe).as_asked(model=model)
    with Terminal() as screen:
        if preview:
            shown = asyncio.run(preview_tools(chosen, preview, read_settings(), screen))
        else:
            reports = asyncio.run(report_tools(chosen, read_settings(), screen))
    if preview:
        if as_json:
            show_json(shown)
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
    from callwright.flows.environments import refresh_environments
    from callwright.flows.recipe import read_recipe

    drifts = asyncio.run(refresh_environments(read_recipe(recipe), read_settings()))
    if as_json:
        show_json([drift._asdict() | {"call": drift.call.model_dump(mode="json")} for drift in drifts])
        return
    show_table(
        ("tool", "arguments", "recorded at", "re-recorded at"),
        [(one.call.tool, str(one.call.arguments), str(one.recorded_at), str(one.rerecorded_at)) for one in drifts],
    )
    show(f"{len(drifts)} calls are answered otherwise by now; the later answer counts from now on.")


def import_tools(  # noqa: PLR0913, PLR0917 - one for each option
    format_name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="callnavi, bfcl, hammerbench, openapi, mcp or openai.")
    ],
    path: Annotated[
        list[Path] | None,
        typer.Argument(help="The file or folder, or several that are one import; none with --server and --url."),
    ] = None,
    server: Annotated[str, typer.Option(help="Ask the MCP server that this command starts, in one text.")] = "",
    url: Annotated[str, typer.Option(help="Ask the MCP server at this address.")] = "",
    secret: Annotated[
        list[str] | None, typer.Option(help="NAME=VARIABLE: a header, or a variable of the server, from ours.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name the catalog, for recipes: {catalog: NAME}.")] = "",
    include: Annotated[
        list[str] | None, typer.Option(help="Only these tools: get*, tag=users, path=/v1/*, method=get,tag=users …")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="None of these tools, as with --include.")] = None,
    rename: Annotated[list[str] | None, typer.Option(help="OLD=NEW: another name for a tool.")] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="TOOLS=CATEGORY: another category, such as get*=Reading.")
    ] = None,
    constant: Annotated[
        list[str] | None, typer.Option(help="[TOOLS.]PARAMETER=VALUE: fixed and hidden, gold calls carry it.")
    ] = None,
    plumbing: Annotated[
        list[str] | None,
        typer.Option(help="[TOOLS.]PARAMETER=true or false: whether it is plumbing that no plan chooses."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import tools of files, a folder or an MCP server; everything odd in them is reported item by item."""
    from callwright.flows.catalogs import catalog_json, plumbing_in, problems_in
    from callwright.generators.catalogs.choosing import (
        ToolChoice,
        read_constants,
        read_pairs,
        read_pattern,
        read_switches,
    )

    choice = ToolChoice(
        include=tuple(map(read_pattern, include or ())),
        exclude=tuple(map(read_pattern, exclude or ())),
        rename=read_pairs("--rename", rename or ()),
        categories=read_pairs("--category", category or ()),
        constants=read_constants(constant or ()),
        plumbing=read_switches(plumbing or ()),
    )
    warehouse = open_warehouse(read_settings())
    kept = _import(warehouse, _Origin(format_name, tuple(path or ()), server, url, tuple(secret or ())), choice, name)
    problems, unsaid = problems_in(warehouse, kept.key), plumbing_in(warehouse, kept.key)
    if as_json:
        shown = [problem.model_dump(mode="json") for problem in problems]
        show_json(catalog_json(kept) | {"plumbing": [one._asdict() for one in unsaid], "problems": shown})
        return
    named = f", the catalog {name!r}" if name else ""
    show(f"{kept.entries} entries, {kept.tools} tools kept{named}.")
    _show_plumbing(unsaid)
    _show_problems(tuple(problems))


def _show_plumbing(unsaid: "list[PlumbingParameter]") -> None:
    """What no plan chooses, and what of it every call needs nevertheless."""
    if not unsaid:
        return
    listed = ", ".join(f"{one.parameter} ({one.tools})" for one in unsaid[:_MOST_NAMED])
    more = f" and {len(unsaid) - _MOST_NAMED} more" if len(unsaid) > _MOST_NAMED else ""
    show(f"Plumbing, chosen by no plan, with the number of tools: {listed}{more}. --plumbing NAME=false has it chosen.")
    if needed := [one for one in unsaid if one.required]:
        names = ", ".join(f"{one.parameter} ({one.required})" for one in needed)
        show(
            f"Of these calls require {names}; --constant {needed[0].parameter}=VALUE fixes it, so that nobody says it."
        )


class _Origin(NamedTuple):
    """Where tools are imported from: files and folders, or a server."""

    format: str
    paths: tuple[Path, ...]
    server: str
    url: str
    secrets: tuple[str, ...]


def _import(warehouse: "Warehouse", origin: _Origin, choice: "ToolChoice", name: str) -> "KeptCatalog":
    from callwright.flows.catalogs import import_catalog, import_server
    from callwright.flows.environments import mcp_address
    from callwright.generators.catalogs.choosing import read_pairs
    from callwright.warehouse.errors import ConfigurationError

    stated = [one for one in (origin.paths, origin.server, origin.url) if one]
    if len(stated) != 1 or (not origin.paths and origin.format != "mcp"):
        raise ConfigurationError(
            f"Which tools? callwright tools import {origin.format} PATH, or for an MCP server"
            ' callwright tools import mcp --server "COMMAND" or --url URL'
        )
    if origin.paths:
        path = origin.paths if len(origin.paths) > 1 else origin.paths[0]
        return import_catalog(warehouse, origin.format, path, choice, name=name)
    from callwright.generators.environments.mcp import read_server
    from callwright.generators.environments.mcp_server import LIST_PATIENCE

    address = mcp_address(origin.server, origin.url, read_pairs("--secret", origin.secrets))
    listed = asyncio.run(read_server(address, LIST_PATIENCE))
    return import_server(warehouse, listed, origin.server or origin.url, choice, name)


def show_catalog(
    name: Annotated[str, typer.Argument(help="The catalog's name.")],
    as_json: AsJson = False,
) -> None:
    """Show a catalog: where it is from, its tools with what is required (*), plumbing (in brackets) and what is fixed."""
    from callwright.flows.catalogs import catalog_json, catalog_named, problems_in, tools_in

    warehouse = open_warehouse(read_settings())
    kept = catalog_named(warehouse, name)
    tools = tools_in(warehouse, kept.key)
    if as_json:
        odd = [problem.model_dump(mode="json") for problem in problems_in(warehouse, kept.key)]
        listed = [dict(tool) | {"key": tool.key} for tool in tools]
        show_json(catalog_json(kept) | {"tools": listed, "problems": odd})
        return
    show(
        f"{kept.name}: {kept.tools} of {kept.entries} entries of {kept.path} ({kept.format}), {kept.imported_at:%Y-%m-%d %H:%M}."
    )
    for setting, value in kept.selection.model_dump(mode="json", exclude_defaults=True).items():
        show(f"{setting}: {value}")
    rows = [(tool.category, tool.name, _parameters_of(tool), str(tool.constants or "")) for tool in tools]
    show_table(("category", "name", "parameters", "fixed"), rows)


def _parameters_of(tool: "Tool") -> str:
    """The parameters' names, those required with a star, plumbing in brackets."""
    starred = {name: f"{name}*" if name in tool.required else name for name in tool.properties}
    return ", ".join(f"({shown})" if name in tool.plumbing else shown for name, shown in starred.items())


def drop_catalog_named(
    name: Annotated[str, typer.Argument(help="The catalog's name.")],
    as_json: AsJson = False,
) -> None:
    """Drop a catalog's name; builds that used its tools keep them."""
    from callwright.flows.catalogs import catalog_json, drop_catalog

    dropped = drop_catalog(open_warehouse(read_settings()), name)
    present(catalog_json(dropped), f"The catalog {name!r} is dropped ({dropped.tools} tools).", as_json=as_json)


def _list_catalogs(*, as_json: bool) -> None:
    from callwright.flows.catalogs import catalog_json, catalogs_in

    found = catalogs_in(open_warehouse(read_settings()))
    if as_json:
        show_json([catalog_json(one) for one in found])
        return
    rows = [(one.name, one.format, one.tools, one.path, f"{one.imported_at:%Y-%m-%d %H:%M}") for one in found]
    show_table(("catalog", "format", "tools", "path", "imported"), rows)


def list_tools(
    category: Annotated[str, typer.Option(help="Only this category.")] = "",
    seed: Annotated[bool, typer.Option("--seed", help="The seed catalog instead of the warehouse.")] = False,
    catalogs: Annotated[bool, typer.Option("--catalogs", help="The named catalogs instead of single tools.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tools that were imported or used so far, or the catalogs that have names."""
    from callwright.generators.catalogs.seed_catalog import seed_tools

    if catalogs:
        _list_catalogs(as_json=as_json)
        return
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
    from callwright.flows.toolmaking import find_problems

    tools, before = _tools_to_check(format_name, path)
    problems = (*before, *find_problems(tools))
    if as_json:
        show_json([problem.model_dump(mode="json") for problem in problems])
        return
    _show_problems(problems)


def _tools_to_check(format_name: str, path: Path | None) -> "tuple[list[Tool], tuple[Problem, ...]]":
    """The tools, and what was odd in the file that they were read from."""
    from callwright.generators.catalogs import read_catalog
    from callwright.generators.catalogs.seed_catalog import seed_tools
    from callwright.warehouse.errors import ConfigurationError
    from callwright.warehouse.releases import read_tools

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
    from callwright.generators.catalogs.catalog import LEFT_OUT, weightiest_first

    gone = dict.fromkeys(one.tool or one.where for one in problems if one.kind in LEFT_OUT)
    cut = dict.fromkeys(one.tool for one in problems if one.kind == "shortened_parameters" and one.tool not in gone)
    for said, names in (("Left out", gone), ("Shortened", cut)):
        if names:
            show(f"{said} ({len(names)}): {', '.join(names)}.")
    counts: dict[str, int] = {}
    for problem in problems:
        counts[problem.kind] = counts.get(problem.kind, 0) + 1
    show_table(("problem", "count"), sorted(counts.items(), key=lambda pair: -pair[1]))
    for problem in weightiest_first(problems)[:_SHOWN]:
        show(f"{problem.where}: {problem.message}")
    if len(problems) > _SHOWN:
        show(f"… and {len(problems) - _SHOWN} more: --json lists them all.")
