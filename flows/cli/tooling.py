"""`tools`: making, importing, listing and checking tools."""

import asyncio
import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from callwright.flows.cli.screen import AsJson, Terminal, present, show, show_json, show_table
from callwright.flows.settings import open_warehouse, read_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from callwright.flows.catalogs import KeptCatalog, PlumbingParameter
    from callwright.flows.planning.possible import KindRow, Survey
    from callwright.flows.recipe import Recipe
    from callwright.flows.toolmaking import ToolsetReport
    from callwright.generators.catalogs import Catalog, Problem
    from callwright.generators.catalogs.choosing import ToolChoice
    from callwright.generators.families import LeftOut
    from callwright.warehouse.records import Tool
    from callwright.warehouse.store import Warehouse

_SHOWN = 40
_MOST_NAMED = 12
_FEW = 3
_ENOUGH = 100  # samples of each kind, so that each category has some
_HEAD = 4_000
_LONGEST = 110
_OPENAPI = re.compile(r"""["']?(openapi|swagger)["']?\s*:\s*["']?\d""")
_QUOTED = re.compile(r"'[^']*'")
_GAPS = 10  # what is missing is no error: the counts and what to do next come after it and should be seen

Secrets = Annotated[
    list[str] | None, typer.Option(help="NAME=VARIABLE: a header, or a variable of the server, from ours.")
]


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
    tools.command("check", epilog="Example: callwright tools check api.yaml")(check_tools)
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
    secret: Secrets = None,
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
    return import_server(warehouse, _listed(origin), origin.server or origin.url, choice, name)


def _listed(origin: _Origin) -> "Catalog":
    """The tools that an MCP server lists just now."""
    from callwright.flows.environments import mcp_address
    from callwright.generators.catalogs.choosing import read_pairs
    from callwright.generators.environments.mcp import read_server
    from callwright.generators.environments.mcp_server import LIST_PATIENCE

    address = mcp_address(origin.server, origin.url, read_pairs("--secret", origin.secrets))
    return asyncio.run(read_server(address, LIST_PATIENCE))


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


def check_tools(  # noqa: PLR0917 - one for each option
    catalog: Annotated[
        list[str] | None,
        typer.Argument(help="Files or a folder (a format's name may come first), a catalog's name, seed or warehouse."),
    ] = None,
    server: Annotated[str, typer.Option(help="Check the MCP server that this command starts, in one text.")] = "",
    url: Annotated[str, typer.Option(help="Check the MCP server at this address.")] = "",
    secret: Secrets = None,
    tool: Annotated[str, typer.Option(help="What can be made of this tool, kind by kind.")] = "",
    as_json: AsJson = False,
) -> None:
    """Check tools before anything is built: what samples of each kind they allow and why not others, and what is odd in them."""
    from callwright.flows.planning.possible import constants_to_fix, survey_recipe
    from callwright.flows.toolmaking import find_problems

    if server or url:
        stated, before = _of_server(_Origin("mcp", (), server, url, tuple(secret or ())))
    else:
        stated, before = _recipe_of(catalog or []), ()
    found = asyncio.run(survey_recipe(stated, read_settings()))
    rows, constants = [*found.rows()], constants_to_fix(found.tools)
    problems = (*before, *found.problems, *find_problems(found.tools))
    if as_json:
        shown = [problem.model_dump(mode="json") for problem in problems]
        kinds = [row._asdict() for row in rows]
        fixed, left_out = ([one._asdict() for one in some] for some in (constants, found.left_out))
        show_json({"kinds": kinds, "left_out": left_out, "constants": fixed, "problems": shown})
        return
    if tool:
        _show_tool(tool, found)
        return
    show_table(
        ("kind", "tools", "why not"),
        [(row.kind, _counted(row), _shortened(row.reason)) for row in rows],
    )
    _show_left_out(found)
    for one in constants:
        show(one.sentence(len(found.tools)))
    _show_problems(problems, most=_GAPS)


def _recipe_of(words: "Sequence[str]") -> "Recipe":
    """A recipe that asks for every kind of the tools of files, a catalog, or callwright's own."""
    from callwright.flows.catalogs import catalogs_in
    from callwright.generators.catalogs import FORMATS
    from callwright.warehouse.errors import ConfigurationError

    if list(words) == ["seed"]:
        return _every_kind({"seed": "all"})
    if list(words) == ["warehouse"]:
        return _with_tools(_kept_tools())
    stated = words[0] if len(words) > 1 and words[0] in FORMATS.names else ""
    paths = [Path(word).absolute() for word in words[bool(stated) :]]
    if paths and all(path.exists() for path in paths):
        form = stated or _format_of(paths[0])
        if len(paths) > 1:
            return _every_kind({"import": form, "path": [*map(str, paths)]})
        return _every_kind({"environment": "simulated", "import": form, "path": str(paths[0])})
    names = [one.name for one in catalogs_in(open_warehouse(read_settings()))]
    if len(words) == 1 and words[0] in names:
        return _every_kind({"environment": "simulated", "catalog": words[0]})
    raise ConfigurationError(
        f"There is no file, folder or catalog {' '.join(words)!r}. callwright tools check api.yaml, or an MCP server: --server"
        f' "COMMAND"; the catalogs are {", ".join(names) or "none yet"}, and seed has callwright\'s own.'
    )


def _every_kind(source: dict[str, object]) -> "Recipe":
    from callwright.flows.recipe import parse_recipe
    from callwright.generators.kinds import all_kinds

    asked = dict.fromkeys(all_kinds(), _ENOUGH)
    return parse_recipe({"name": "check", "tools": [source], "samples": asked}, Path(), "check")


def _with_tools(tools: "Sequence[Tool]") -> "Recipe":
    from callwright.flows.recipe import OwnTools

    return _every_kind({"seed": "all"}).model_copy(update={"tools": (OwnTools.model_construct(own=tuple(tools)),)})


def _of_server(origin: _Origin) -> "tuple[Recipe, tuple[Problem, ...]]":
    """The tools that an MCP server lists just now, and what was odd in its list."""
    listed = _listed(origin)
    return _with_tools(listed.tools), listed.problems


def _kept_tools() -> "list[Tool]":
    from callwright.warehouse.releases import read_tools

    warehouse = open_warehouse()
    keys = [row["key"] for row in warehouse.rows("select key from tools order by category, language, name, key")]
    tools = read_tools(warehouse, keys)
    return [tools[key] for key in keys]


def _format_of(path: Path) -> str:
    """The format of a file or folder: OpenAPI by its first words, else whichever reader finds tools in it."""
    from callwright.generators.catalogs import FORMATS
    from callwright.warehouse.errors import ConfigurationError

    if path.is_file() and _OPENAPI.search(path.read_text(encoding="utf-8", errors="replace")[:_HEAD]):
        return "openapi"
    for name in FORMATS.names:
        try:
            if FORMATS.named(name).read(path).tools:
                return name
        except ConfigurationError:
            continue
    raise ConfigurationError(
        f"{str(path)!r} is of no known format with tools in it; the formats are {', '.join(FORMATS.names)}."
    )


def _show_left_out(found: "Survey") -> None:
    """The tools that are left out of some kinds, those with the same reason together."""
    groups: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in found.left_out:
        if one.tool:
            kinds, tools = groups.setdefault(_without_names(one), ({}, {}))
            kinds[one.kind], tools[one.tool] = None, None
    for reason, (kinds, tools) in sorted(groups.items(), key=lambda pair: -len(pair[1][1]))[:_GAPS]:
        named = ", ".join([*tools][:_FEW]) + (f" and {len(tools) - _FEW} more" if len(tools) > _FEW else "")
        show(f"{', '.join(kinds)}: without {named}. {reason}")
    if len(groups) > _GAPS:
        show(f"… and {len(groups) - _GAPS} more reasons: --json lists them all, --tool NAME those of one tool.")


def _shortened(reason: str) -> str:
    return reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"


def _without_names(one: "LeftOut") -> str:
    """A reason without what it quotes of one tool, so that the same reason is one."""
    return _QUOTED.sub("…", one.reason)


def _show_tool(name: str, found: "Survey") -> None:
    from callwright.warehouse.errors import ConfigurationError

    known = {tool.name for tool in found.tools}
    if name not in known:
        near = difflib.get_close_matches(name, known, _FEW)
        meant = f"; did you mean {', '.join(near)}?" if near else "."
        raise ConfigurationError(f"There is no tool {name!r}{meant}")
    against = {one.kind: one.reason for one in reversed(found.left_out) if one.tool == name}
    whole = {row.kind: row.reason for row in found.rows() if not row.usable}
    rows = [
        (kind, "no" if kind in {**whole, **against} else "yes", {**whole, **against}.get(kind, ""))
        for kind in found.asked
    ]
    show_table(("kind", "possible", "why not"), rows)


def _counted(row: "KindRow") -> str:
    """Of how many tools samples of a kind can be, and whether some of the places where they are planned allow none."""
    in_part = ", in some categories" if row.usable and row.possible < row.asked else ""
    return f"{row.usable} of {row.tools}{in_part}"


def _show_problems(problems: "tuple[Problem, ...]", most: int = _SHOWN) -> None:
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
    for problem in weightiest_first(problems)[:most]:
        show(f"{problem.where}: {problem.message}")
    if len(problems) > most:
        show(f"… and {len(problems) - most} more: --json lists them all.")
