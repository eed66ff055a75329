"""`tools`: making, importing, listing and checking tools."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import Outcome, Table, Terminal, command, commands, first_lines, table_of
from callwright.flows.loops import run_loop
from callwright.flows.settings import open_warehouse, read_settings
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.catalogs import PlumbingParameter
    from callwright.flows.planning.possible import Survey
    from callwright.flows.recipe import Recipe
    from callwright.generators.catalogs import Problem

_SHOWN = 40
_MOST_NAMED = 12
_FEW = 3
_ENOUGH = 100  # samples of each kind, so that each category has some
_LONGEST = 110
_QUOTED = re.compile(r"'[^']*'")
_GAPS = 10  # what is missing is no error: the counts and what to do next come after it and should be seen

Secrets = Annotated[
    list[str] | None, typer.Option(help="NAME=VARIABLE: a header, or a variable of the server, from ours.")
]
app = commands()
tools = commands("Make, import, list and check tools.")
app.add_typer(tools, name="tools")


@command(tools, "make", "tools make recipe.yaml --preview 5")
def make(
    recipe: Annotated[Path, typer.Argument(help="A recipe with a line such as {generate: all} under `tools`.")],
    preview: Annotated[int, typer.Option(min=0, help="Show N tools of each category, keep none.")] = 0,
    model: Annotated[str, typer.Option(help="The model that makes them, by its litellm name.")] = "",
) -> Outcome:
    """Make a recipe's tools; those that a check does not prove wait for people, the others are used by its builds."""
    from callwright.flows.recipe import read_recipe_to_build
    from callwright.flows.toolmaking import preview_tools, report_tools

    chosen = read_recipe_to_build(recipe).as_asked(model=model)
    with Terminal() as screen:
        if preview:
            shown = run_loop(preview_tools(chosen, preview, read_settings(), screen))
            return Outcome(shown, [Table(("name", "language", "description", "parameters", "doubt"), shown)])
        reports = run_loop(report_tools(chosen, read_settings(), screen))
    value, text = [], list[str | Table]()
    for one in reports:
        value.append(one._asdict() | {"waiting": [{"tool": name, "reason": reason} for name, reason in one.waiting]})
        gaps = first_lines((f"{gap.where}: {gap.message}" for gap in one.gaps), _GAPS, "gaps: --json lists them all.")
        used, made = sum(row.used for row in one.categories), sum(row.made for row in one.categories)
        text += [table_of(one.categories), *gaps, f"{used} of {made} tools can be used (toolset {one.toolset})."]
        text += [f"{len(one.waiting)} wait for people: callwright review push"] if one.waiting else []
    return Outcome(value, text)


@command(tools, "refresh", "tools refresh recipe.yaml")
def refresh(
    recipe: Annotated[Path, typer.Argument(help="A recipe with a line such as {environment: http, …} under `tools`.")],
) -> Outcome:
    """Ask the live servers of a recipe again all that is stored, and list what they answer otherwise by now."""
    from callwright.flows.environments import refresh_environments
    from callwright.flows.recipe import read_recipe

    drifts = run_loop(refresh_environments(read_recipe(recipe), read_settings()))
    rows = [(one.call.tool, str(one.call.arguments), str(one.recorded_at), str(one.rerecorded_at)) for one in drifts]
    table = Table(("tool", "arguments", "recorded at", "re-recorded at"), rows)
    counts = f"{len(drifts)} calls are answered otherwise by now; the later answer counts from now on."
    return Outcome(drifts, [table, counts])


@command(tools, "import", "tools import openapi api.yaml --name api --include tag=users")
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
) -> Outcome:
    """Import tools of files, a folder or an MCP server; everything odd in them is reported item by item."""
    from callwright.flows.catalogs import catalog_json, import_catalog, import_server, plumbing_in, problems_in
    from callwright.flows.environments import mcp_address
    from callwright.generators.catalogs.choosing import (
        ToolChoice,
        read_constants,
        read_pairs,
        read_pattern,
        read_switches,
    )
    from callwright.generators.environments.mcp import read_server
    from callwright.generators.environments.mcp_server import LIST_PATIENCE

    choice = ToolChoice(
        include=tuple(map(read_pattern, include or ())),
        exclude=tuple(map(read_pattern, exclude or ())),
        rename=read_pairs("--rename", rename or ()),
        categories=read_pairs("--category", category or ()),
        constants=read_constants(constant or ()),
        plumbing=read_switches(plumbing or ()),
    )
    warehouse = open_warehouse(read_settings())
    if [bool(path), bool(server), bool(url)].count(True) != 1 or (not path and format_name != "mcp"):
        raise ConfigurationError(
            f"Which tools? callwright tools import {format_name} PATH, or for an MCP server"
            ' callwright tools import mcp --server "COMMAND" or --url URL'
        )
    if path:
        kept = import_catalog(warehouse, format_name, path if len(path) > 1 else path[0], choice, name=name)
    else:
        address = mcp_address(server, url, read_pairs("--secret", secret or ()))
        listed = run_loop(read_server(address, LIST_PATIENCE))  # just now
        kept = import_server(warehouse, listed, server or url, choice, name)
    problems, unsaid = problems_in(warehouse, kept.key), plumbing_in(warehouse, kept.key)
    named = f", the catalog {name!r}" if name else ""
    counts = f"{kept.entries} entries, {kept.tools} tools kept{named}."
    value = catalog_json(kept) | {"plumbing": unsaid, "problems": problems}
    return Outcome(value, [counts, *_plumbing_text(unsaid), *_problems_text(problems, _SHOWN)])


def _plumbing_text(unsaid: "list[PlumbingParameter]") -> Iterator[str]:
    """What no plan chooses, and what of it every call needs nevertheless."""
    if not unsaid:
        return
    listed = ", ".join(f"{one.parameter} ({one.tools})" for one in unsaid[:_MOST_NAMED])
    more = f" and {len(unsaid) - _MOST_NAMED} more" if len(unsaid) > _MOST_NAMED else ""
    yield f"Plumbing, chosen by no plan, with the number of tools: {listed}{more}. --plumbing NAME=false has it chosen."
    if needed := [one for one in unsaid if one.required]:
        names = ", ".join(f"{one.parameter} ({one.required})" for one in needed)
        yield (
            f"Of these calls require {names}; --constant {needed[0].parameter}=VALUE fixes it, so that nobody says it."
        )


@command(tools, "show", "tools show spotify")
def show_catalog(name: Annotated[str, typer.Argument(help="The catalog's name.")]) -> Outcome:
    """Show a catalog: where it is from, its tools with what is required (*), plumbing (in brackets) and what is fixed."""
    from callwright.flows.catalogs import catalog_json, catalog_named, problems_in, tools_in

    warehouse = open_warehouse(read_settings())
    kept = catalog_named(warehouse, name)
    found, problems = tools_in(warehouse, kept.key), problems_in(warehouse, kept.key)
    keyed = [dict(tool) | {"key": tool.key} for tool in found]
    rows = []
    for tool in found:
        starred = {name: f"{name}*" if name in tool.required else name for name in tool.properties}
        shown = ", ".join(f"({one})" if name in tool.plumbing else one for name, one in starred.items())
        rows.append((tool.category, tool.name, shown, str(tool.constants or "")))
    chosen = kept.selection.model_dump(mode="json", exclude_defaults=True)
    origin = f"{kept.path} ({kept.format}), {kept.imported_at:%Y-%m-%d %H:%M}"
    lines = [f"{kept.name}: {kept.tools} of {kept.entries} entries of {origin}."]
    lines += [f"{setting}: {value}" for setting, value in chosen.items()]
    value = catalog_json(kept) | {"tools": keyed, "problems": problems}
    return Outcome(value, [*lines, Table(("category", "name", "parameters", "fixed"), rows)])


@command(tools, "drop", "tools drop spotify")
def drop_catalog_named(name: Annotated[str, typer.Argument(help="The catalog's name.")]) -> Outcome:
    """Drop a catalog's name; builds that used its tools keep them."""
    from callwright.flows.catalogs import catalog_json, drop_catalog

    dropped = drop_catalog(open_warehouse(read_settings()), name)
    return Outcome(catalog_json(dropped), f"The catalog {name!r} is dropped ({dropped.tools} tools).")


@command(tools, "list", "tools list --category Hotels")
def list_tools(
    category: Annotated[str, typer.Option(help="Only this category.")] = "",
    seed: Annotated[bool, typer.Option("--seed", help="The seed catalog instead of the warehouse.")] = False,
    catalogs: Annotated[bool, typer.Option("--catalogs", help="The named catalogs instead of single tools.")] = False,
) -> Outcome:
    """List the tools that were imported or used so far, or the catalogs that have names."""
    from callwright.flows.catalogs import catalog_json, catalogs_in
    from callwright.generators.catalogs.own_catalogs import seed_tools

    if catalogs:
        found = catalogs_in(open_warehouse(read_settings()))
        listed = [(one.name, one.format, one.tools, one.path, f"{one.imported_at:%Y-%m-%d %H:%M}") for one in found]
        table = Table(("catalog", "format", "tools", "path", "imported"), listed)
        return Outcome([catalog_json(one) for one in found], [table])
    if seed:
        rows = [dict(tool) | {"key": tool.key} for tool in seed_tools()]
    else:
        rows = open_warehouse(read_settings()).rows("select * from tools order by source, category, name, language")
    rows = [row for row in rows if not category or row["category"] == category]
    return Outcome(rows, [table_of(rows, ("category", "name", "language", "source", "description"))])


@command(tools, "check", "tools check api.yaml")
def check_tools(
    catalog: Annotated[
        list[str] | None,
        typer.Argument(help="Files or a folder (a format's name may come first), a catalog's name, seed or warehouse."),
    ] = None,
    server: Annotated[str, typer.Option(help="Check the MCP server that this command starts, in one text.")] = "",
    url: Annotated[str, typer.Option(help="Check the MCP server at this address.")] = "",
    secret: Secrets = None,
    tool: Annotated[str, typer.Option(help="What can be made of this tool, kind by kind.")] = "",
) -> Outcome:
    """Check tools before anything is built: what samples of each kind they allow and why not others, and what is odd in them."""
    from callwright.flows.environments import words_of
    from callwright.flows.planning.possible import constants_to_fix, survey_recipe
    from callwright.flows.toolmaking import find_problems
    from callwright.generators.catalogs.choosing import read_pairs
    from callwright.generators.environments.mcp_server import LIST_PATIENCE

    if server or url:
        origin = {"url": url} if url else {"command": words_of(server)}
        taken = {"secrets": read_pairs("--secret", secret or ()), "allow": ["*"], "timeout": LIST_PATIENCE}
        stated = _every_kind({"environment": "mcp", **origin, **taken})
    else:
        stated = _recipe_of(catalog or [])
    found = run_loop(survey_recipe(stated, read_settings()))
    rows, constants = [*found.rows()], constants_to_fix(found.tools)
    if found.unheard:
        raise ConfigurationError(found.unheard[0])
    problems = (*found.problems, *find_problems(found.tools))
    value = {"kinds": rows, "left_out": found.left_out, "constants": constants, "problems": problems}
    if tool:
        return Outcome(value, [_tool_table(tool, found)])
    counted = [
        (
            row.kind,
            f"{row.usable} of {row.tools}{', in some categories' if row.usable and row.possible < row.asked else ''}",
            row.reason if len(row.reason) <= _LONGEST else f"{row.reason[:_LONGEST]}…",
        )
        for row in rows
    ]
    table = Table(("kind", "tools", "why not"), counted)
    fixed = [one.sentence(len(found.tools)) for one in constants]
    of_servers = [f"{found.of_servers}."] if found.of_servers else []
    return Outcome(value, [table, *of_servers, *_left_out_text(found), *fixed, *_problems_text(problems, _GAPS)])


def _recipe_of(words: "Sequence[str]") -> "Recipe":
    """A recipe that asks for every kind of the tools of files, a catalog, or callwright's own."""
    from callwright.flows.catalogs import catalogs_in
    from callwright.flows.recipe import OwnTools
    from callwright.generators.catalogs import FORMATS, recognise
    from callwright.warehouse.releases import read_tools

    if list(words) == ["seed"]:
        return _every_kind({"seed": "all"})
    if list(words) == ["warehouse"]:
        warehouse = open_warehouse()
        keys = [row["key"] for row in warehouse.rows("select key from tools order by category, language, name, key")]
        tools = read_tools(warehouse, keys)
        own = OwnTools.model_construct(own=tuple(tools[key] for key in keys))
        return _every_kind({"seed": "all"}).model_copy(update={"tools": (own,)})
    stated = words[0] if len(words) > 1 and words[0] in FORMATS.names else ""
    paths = [Path(word).absolute() for word in words[bool(stated) :]]
    if paths and all(path.exists() for path in paths):
        form = stated or recognise(paths[0])
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

    # What is taken comes of no tools, and what policies rule needs a recipe that states them.
    asked = {name: _ENOUGH for name, kind in all_kinds().items() if not (kind.traits.is_taken or kind.traits.is_ruled)}
    return parse_recipe({"name": "check", "tools": [source], "samples": asked}, Path(), "check")


def _left_out_text(found: "Survey") -> Iterator[str]:
    """The tools that are left out of some kinds, those with the same reason together."""
    groups: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in found.left_out:
        if one.tool:
            kinds, tools = groups.setdefault(_QUOTED.sub("…", one.reason), ({}, {}))  # the same of each tool
            kinds[one.kind], tools[one.tool] = None, None
    lines = []
    for reason, (kinds, tools) in sorted(groups.items(), key=lambda pair: -len(pair[1][1])):
        named = ", ".join([*tools][:_FEW]) + (f" and {len(tools) - _FEW} more" if len(tools) > _FEW else "")
        lines.append(f"{', '.join(kinds)}: without {named}. {reason}")
    return first_lines(lines, _GAPS, "reasons: --json lists them all, --tool NAME those of one tool.")


def _tool_table(name: str, found: "Survey") -> Table:
    known = {tool.name for tool in found.tools}
    if name not in known:
        near = difflib.get_close_matches(name, known, _FEW)
        meant = f"; did you mean {', '.join(near)}?" if near else "."
        raise ConfigurationError(f"There is no tool {name!r}{meant}")
    against = {row.kind: row.reason for row in found.rows() if not row.usable}
    against |= {one.kind: one.reason for one in reversed(found.left_out) if one.tool == name}
    rows = [(kind, "no" if kind in against else "yes", against.get(kind, "")) for kind in found.asked]
    return Table(("kind", "possible", "why not"), rows)


def _problems_text(problems: "Sequence[Problem]", most: int) -> Iterator[str | Table]:
    if not problems:
        yield "Nothing odd."
        return
    from callwright.generators.catalogs.catalog import LEFT_OUT, weightiest_first

    gone = dict.fromkeys(one.tool or one.where for one in problems if one.kind in LEFT_OUT)
    cut = dict.fromkeys(one.tool for one in problems if one.kind == "shortened_parameters" and one.tool not in gone)
    for said, names in (("Left out", gone), ("Shortened", cut)):
        if names:
            yield f"{said} ({len(names)}): {', '.join(names)}."
    yield Table(("problem", "count"), Counter(problem.kind for problem in problems).most_common())
    lines = (f"{problem.where}: {problem.message}" for problem in weightiest_first(problems))
    yield from first_lines(lines, most)
