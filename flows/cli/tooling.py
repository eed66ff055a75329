"""The `tools` commands: making, importing, listing and checking tools."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from callwright.flows.cli.screen import (
    CommandResult,
    Terminal,
    TextTable,
    command,
    commands,
    first_lines,
    table_of,
)
from callwright.flows.loops import run_loop
from callwright.flows.options import Option
from callwright.flows.settings import open_warehouse, read_settings
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.catalogs import PlumbingParameter
    from callwright.flows.planning.possible import KindRow, Survey
    from callwright.flows.planning.trying import TriedKind
    from callwright.generators.catalogs import Problem
    from callwright.llm.tool_sentences import SentenceFile

_SHOWN = 40
_WRONG = 2  # as of any command that is given a wrong file
_MOST_NAMED = 12
_FEW = 3
_UNKNOWN = "known after a build"
_LONGEST = 110
_QUOTED = re.compile(r"'[^']*'")
# what is missing is no error: the counts and what to do next come after it and should be seen
_GAPS = 10

Secrets = Annotated[
    Sequence[str],
    Option(
        words=(
            "NAME=VARIABLE: set a header, or an environment variable of the server, from the"
            " environment variable VARIABLE."
        )
    ),
]
app = commands()
tools = commands("Make, import, list and check tools.")
app.add_typer(tools, name="tools")


@command(tools, "make", "tools make recipe.yaml --preview 5")
def make(
    recipe: Path, *, preview: Annotated[int, Option(least=0)] = 0, model: str = ""
) -> CommandResult:
    """Make the tools of a recipe that generates tools.

    Tools that a check cannot prove wait for reviewers. Builds of the recipe use the others.

    Args:
        recipe: A recipe with a line such as {generate: all} under `tools`.
        preview: Make and show N tools of each category, and keep none.
        model: The model that makes the tools (a litellm name).
    """
    from callwright.flows.recipe import read_recipe_to_build
    from callwright.flows.toolmaking import preview_tools, report_tools

    chosen = read_recipe_to_build(recipe).as_asked(model=model)
    with Terminal() as screen:
        if preview:
            shown = run_loop(preview_tools(chosen, preview, read_settings(), screen))
            return CommandResult(
                shown,
                [TextTable(("name", "language", "description", "parameters", "doubt"), shown)],
            )
        reports = run_loop(report_tools(chosen, read_settings(), screen))
    value, text = [], list[str | TextTable]()
    for tool_report in reports:
        waiting = [{"tool": name, "reason": reason} for name, reason in tool_report.waiting]
        value.append(tool_report._asdict() | {"waiting": waiting})
        gaps = (f"{gap.where}: {gap.message}" for gap in tool_report.gaps)
        text += [table_of(tool_report.categories)]
        text += first_lines(gaps, _GAPS, "gaps; list them all with --json.")
        used = sum(row.used for row in tool_report.categories)
        tools_made = sum(row.made for row in tool_report.categories)
        text.append(
            f"{used} of {count_of(tools_made, 'tool')} can be used (toolset {tool_report.toolset})."
        )
        if waiting:
            advice = "wait for reviewers. Send them with `callwright review push`."
            text.append(f"{len(waiting)} {advice}")
    return CommandResult(value, text)


@command(tools, "refresh", "tools refresh recipe.yaml")
def refresh(recipe: Path) -> CommandResult:
    """Repeat all stored calls to the live servers of a recipe and list changed answers.

    Args:
        recipe: A recipe with a line such as {environment: http, …} under `tools`.
    """
    from callwright.flows.environments import refresh_environments
    from callwright.flows.recipe import read_recipe

    drifts = run_loop(refresh_environments(read_recipe(recipe), read_settings()))
    rows = [
        (one.call.tool, str(one.call.arguments), str(one.recorded_at), str(one.rerecorded_at))
        for one in drifts
    ]
    table = TextTable(("tool", "arguments", "recorded at", "re-recorded at"), rows)
    changed = count_of(len(drifts), "answer has", "answers have")
    return CommandResult(drifts, [table, f"{changed} changed. The new ones are used from now on."])


@command(
    tools,
    "import",
    "tools import openapi api.yaml --name api --include tag=users",
    begins="Reading the document",
)
def import_tools(
    format_name: Annotated[str, Option(metavar="FORMAT")],
    path: Sequence[Path] = (),
    *,
    server: str = "",
    url: str = "",
    secret: Secrets = (),
    name: str = "",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    rename: Sequence[str] = (),
    category: Sequence[str] = (),
    constant: Sequence[str] = (),
    plumbing: Sequence[str] = (),
) -> CommandResult:
    """Import tools from files, a folder or an MCP server. Every problem in them is listed.

    Args:
        format_name: The format: openapi, mcp, openai, bfcl, callnavi or hammerbench.
        path: The files or folders to import as one. Omit with --server and --url.
        server: Start an MCP server with this command (one argument), and ask it.
        url: Ask the MCP server at this URL.
        name: Name the catalog, so that recipes can use it: {catalog: NAME}.
        include: Only these tools, such as get*, tag=users, path=/v1/* or method=get,tag=users.
            Repeatable.
        exclude: Leave these tools out; patterns as for --include. Repeatable.
        rename: OLD=NEW: rename a tool. Repeatable.
        category: TOOLS=CATEGORY: set the category, such as get*=Reading. Repeatable.
        constant: [TOOLS.]PARAMETER=VALUE: fix a parameter. Models do not see it; gold calls carry
            it. Repeatable.
        plumbing: [TOOLS.]PARAMETER=true or false: whether the parameter is technical, so that no
            request mentions it. Repeatable.
    """
    from callwright.flows.catalogs import (
        catalog_json,
        import_catalog,
        import_server,
        plumbing_in,
        problems_in,
        tools_in,
    )
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
    from callwright.generators.own_values import missing_values, told_of_missing

    choice = ToolChoice(
        include=tuple(map(read_pattern, include)),
        exclude=tuple(map(read_pattern, exclude)),
        rename=read_pairs("--rename", rename),
        categories=read_pairs("--category", category),
        constants=read_constants(constant),
        plumbing=read_switches(plumbing),
    )
    warehouse = open_warehouse(read_settings())
    if [bool(path), bool(server), bool(url)].count(True) != 1 or (
        not path and format_name != "mcp"
    ):
        raise ConfigurationError(
            f"Name the tools to import: `callwright tools import {format_name} PATH`, or for an MCP"
            ' server `callwright tools import mcp --server "COMMAND"` or `--url URL`.'
        )
    if path:
        imported_catalog = import_catalog(
            warehouse, format_name, path if len(path) > 1 else path[0], choice, name=name
        )
    else:
        address = mcp_address(server, url, read_pairs("--secret", secret))
        listed = run_loop(read_server(address, LIST_PATIENCE))  # just now
        imported_catalog = import_server(warehouse, listed, server or url, choice, name)
    problems, unsaid = (
        problems_in(warehouse, imported_catalog.key),
        plumbing_in(warehouse, imported_catalog.key),
    )
    named = f" as the catalog {name!r}" if name else ""
    counts = (
        f"{count_of(imported_catalog.entries, 'entry', 'entries')} read,"
        f" {count_of(imported_catalog.tools, 'tool')} kept{named}."
    )
    missing = missing_values(tools_in(warehouse, imported_catalog.key))
    value = catalog_json(imported_catalog) | {"plumbing": unsaid, "problems": problems}
    value |= {"values": missing}
    lines = [*_plumbing_text(unsaid), *told_of_missing(missing)]
    return CommandResult(value, [counts, *lines, *_problems_text(problems, _SHOWN)])


def _plumbing_text(unsaid: "list[PlumbingParameter]") -> Iterator[str]:
    """Yield sentences on the parameters that no plan chooses, and on those that calls require."""
    if not unsaid:
        return
    listed = ", ".join(f"{one.parameter} ({one.tools})" for one in unsaid[:_MOST_NAMED])
    more = f" and {len(unsaid) - _MOST_NAMED} more" if len(unsaid) > _MOST_NAMED else ""
    yield (
        "Technical parameters that no request mentions, with their number of tools:"
        f" {listed}{more}. Undo with --plumbing NAME=false."
    )
    if needed := [one for one in unsaid if one.required]:
        names = ", ".join(f"{one.parameter} ({one.required})" for one in needed)
        yield (
            f"Calls require {names} of these; each call carries a made-up value. Set your own with"
            f" --constant {needed[0].parameter}=VALUE."
        )


@command(tools, "show", "tools show spotify")
def show_catalog(name: str) -> CommandResult:
    """Show a catalog: its origin, and its tools with their parameters.

    Required parameters have a star, technical ones stand in brackets.

    Args:
        name: The name of the catalog.
    """
    from callwright.flows.catalogs import catalog_json, catalog_named, problems_in, tools_in

    warehouse = open_warehouse(read_settings())
    shown_catalog = catalog_named(warehouse, name)
    found, problems = (
        tools_in(warehouse, shown_catalog.key),
        problems_in(warehouse, shown_catalog.key),
    )
    keyed = [dict(tool) | {"key": tool.key} for tool in found]
    rows = []
    for tool in found:
        starred = {name: f"{name}*" if name in tool.required else name for name in tool.properties}
        shown = ", ".join(
            f"({one})" if name in tool.plumbing else one for name, one in starred.items()
        )
        rows.append((tool.category, tool.name, shown, str(tool.constants or "")))
    chosen = shown_catalog.selection.model_dump(mode="json", exclude_defaults=True)
    origin = (
        f"{shown_catalog.path} ({shown_catalog.format}), {shown_catalog.imported_at:%Y-%m-%d %H:%M}"
    )
    lines = [
        f"{shown_catalog.name}: {count_of(shown_catalog.tools, 'tool')} from"
        f" {count_of(shown_catalog.entries, 'entry', 'entries')} of {origin}."
    ]
    lines += [f"{setting}: {value}" for setting, value in chosen.items()]
    value = catalog_json(shown_catalog) | {"tools": keyed, "problems": problems}
    return CommandResult(
        value, [*lines, TextTable(("category", "name", "parameters", "fixed"), rows)]
    )


@command(tools, "drop", "tools drop spotify")
def drop_catalog_named(name: str) -> CommandResult:
    """Remove the name of a catalog. Builds that used its tools keep them.

    Args:
        name: The name of the catalog.
    """
    from callwright.flows.catalogs import catalog_json, drop_catalog

    dropped = drop_catalog(open_warehouse(read_settings()), name)
    return CommandResult(
        catalog_json(dropped), f"Removed the catalog {name!r} ({count_of(dropped.tools, 'tool')})."
    )


@command(tools, "list", "tools list --category Hotels")
def list_tools(*, category: str = "", seed: bool = False, catalogs: bool = False) -> CommandResult:
    """List the tools imported or used so far, or the named catalogs.

    Args:
        category: Only this category.
        seed: List the tools that come with callwright instead.
        catalogs: List the named catalogs instead of single tools.
    """
    from callwright.flows.catalogs import catalog_json, catalogs_in
    from callwright.generators.catalogs.own_catalogs import seed_tools

    if catalogs:
        named_catalogs = catalogs_in(open_warehouse(read_settings()))
        listed = [
            (one.name, one.format, one.tools, one.path, f"{one.imported_at:%Y-%m-%d %H:%M}")
            for one in named_catalogs
        ]
        table = TextTable(("catalog", "format", "tools", "path", "imported"), listed)
        return CommandResult([catalog_json(one) for one in named_catalogs], [table])
    if seed:
        rows = [dict(tool) | {"key": tool.key} for tool in seed_tools()]
    else:
        rows = open_warehouse(read_settings()).rows(
            "select * from tools order by source, category, name, language"
        )
    rows = [row for row in rows if not category or row["category"] == category]
    return CommandResult(
        rows, [table_of(rows, ("category", "name", "language", "source", "description"))]
    )


@command(tools, "check", "tools check api.yaml")
def check_named(
    catalog: Sequence[str] = (),
    *,
    server: str = "",
    url: str = "",
    secret: Secrets = (),
    tool: str = "",
    sentences: Sequence[Path] = (),
    no_samples: bool = False,
) -> CommandResult:
    """Check which kinds of samples tools allow, and what is wrong with the tools.

    A sample of each kind is made by template/v1 and checked; the table says what landed.

    Args:
        catalog: Files or a folder (a format may come first), the name of a catalog, `seed` for the
            tools that come with callwright, or `warehouse`.
        server: Start an MCP server with this command (one argument), and check its tools.
        url: Check the tools of the MCP server at this URL.
        tool: Show for each kind whether it can be made from this tool.
        sentences: Check only this file of sentences for the tools, NAME.LANGUAGE.yaml. Repeatable.
        no_samples: Only say what can be planned, and make no sample of each kind.
    """
    from callwright.flows.environments import words_of
    from callwright.flows.planning.checking_tools import check_tools, every_kind, recipe_of_tools
    from callwright.flows.planning.possible import survey_recipe
    from callwright.generators.catalogs.choosing import read_pairs
    from callwright.generators.environments.mcp_server import LIST_PATIENCE
    from callwright.generators.own_values import told_of_missing

    settings = read_settings()
    if server or url:
        origin = {"url": url} if url else {"command": words_of(server)}
        taken = {
            "secrets": read_pairs("--secret", secret),
            "allow": ["*"],
            "timeout": LIST_PATIENCE,
        }
        chosen = every_kind({"environment": "mcp", **origin, **taken})
    else:
        chosen = recipe_of_tools(catalog, settings)
    if sentences:
        files = _sentence_files(sentences)
        languages = tuple(dict.fromkeys(one.language for one in files))
        changes = {"samples": {}, "sentence_files": files, "languages": languages}
        return _sentences_outcome(
            run_loop(survey_recipe(chosen.model_copy(update=changes), settings))
        )
    found = run_loop(check_tools(chosen, settings, with_samples=not (no_samples or tool)))
    kind_survey, problems = found.survey, found.problems
    value = {
        "kinds": found.kinds,
        "left_out": kind_survey.left_out,
        "constants": found.constants,
        "values": found.values,
        "problems": problems,
        "tried": found.tried,
    }
    if tool:
        return CommandResult(value, [_tool_table(tool, kind_survey)])
    table = _kinds_table(found.kinds, {one.kind: one for one in found.tried})
    fixed = [one.sentence(len(kind_survey.tools)) for one in found.constants]
    of_servers = [f"{kind_survey.of_servers}."] if kind_survey.of_servers else []
    return CommandResult(
        value,
        [
            table,
            *of_servers,
            *_left_out_text(kind_survey),
            *fixed,
            *told_of_missing(found.values),
            *_problems_text(problems, _GAPS),
        ],
    )


def _kinds_table(rows: "Sequence[KindRow]", tried: "Mapping[str, TriedKind]") -> TextTable:
    """Return what can be planned of each kind, what came of trying it, and why not more."""
    counted = []
    for row in rows:
        one = tried.get(row.kind)
        sample = "landed" if one and one.landed else "none landed" if row.usable else ""
        reason = (one.reason if one else "") or row.reason
        shown = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}…"
        counted.append((row.kind, _usable_text(row), *([sample] if tried else []), shown))
    return TextTable(("kind", "tools", *(["sample"] if tried else []), "why not"), counted)


def _sentence_files(paths: "Sequence[Path]") -> "tuple[SentenceFile, ...]":
    from callwright.flows.recipe.own_sentences import read_sentence_file

    try:
        return tuple(map(read_sentence_file, paths))
    except ValueError as error:
        raise ConfigurationError(f"{error}.") from error


def _sentences_outcome(found: "Survey") -> CommandResult:
    wrong = count_of(len(found.sentences), "mistake") if found.sentences else "No mistakes"
    value = {"problems": found.sentences, "without_sentences": found.plainly}
    return CommandResult(
        value,
        [*map(str, found.sentences), *found.plainly, f"{wrong}."],
        _WRONG if found.sentences else 0,
    )


@command(tools, "sentences", "tools sentences spotify --model openai/gpt-6-luna")
def write_sentences(
    catalog: str, *, language: str = "", model: str = "", out: Path | None = None
) -> CommandResult:
    """Draft the sentences that people say to the tools of a catalog.

    The model template/v1 words and reads requests with them.

    Read and edit the file, and name it in a recipe, beside the tools: {catalog: NAME, sentences:
    FILE}.

    Args:
        catalog: The name of the catalog.
        language: The language of the sentences. Default: that of the tools.
        model: The model that drafts them (a litellm name). Default: write a skeleton to edit.
        out: The file to write. Default: CATALOG.LANGUAGE.yaml.
    """
    from callwright.flows.catalogs import catalog_named, tools_in
    from callwright.flows.draft_sentences import (
        draft_by_model,
        draft_skeleton,
        file_for,
        write_draft,
    )

    settings = read_settings()
    warehouse = open_warehouse(settings)
    catalog_tools = tools_in(warehouse, catalog_named(warehouse, catalog).key)
    language = language or catalog_tools[0].language
    path = file_for(catalog, language, out)
    if model:
        with Terminal() as screen:
            drafted = run_loop(
                draft_by_model(catalog_tools, language, path, catalog, model, settings, screen)
            )
    else:
        drafted = draft_skeleton(catalog_tools, language, path, catalog)
    write_draft(drafted, path)
    lines = [f"{one.tool}: {one.reason}" for one in drafted.left_out]
    lines.append(
        f"Wrote {path}: sentences for {drafted.written} of {count_of(drafted.tools, 'tool')}."
    )
    if model:
        lines.append(f"{count_of(drafted.calls, 'call')} for ${drafted.cost:.4f}.")
    lines.append(f"Edit it, then check it: callwright tools check {catalog} --sentences {path}")
    value = drafted._asdict() | {
        "file": path,
        "language": language,
        "left_out": [one._asdict() for one in drafted.left_out],
    }
    return CommandResult({name: one for name, one in value.items() if name != "text"}, lines)


def _usable_text(row: "KindRow") -> str:
    in_some = ", in some categories" if row.usable and row.possible < row.asked else ""
    return f"{'' if row.is_known else 'at most '}{row.usable} of {row.tools}{in_some}"


def _left_out_text(found: "Survey") -> Iterator[str]:
    """Yield the tools that are left out of some kinds, grouped by reason."""
    groups: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for left_tool in found.left_out:
        if left_tool.tool:
            # the same of each tool
            kinds, tools = groups.setdefault(_QUOTED.sub("…", left_tool.reason), ({}, {}))
            kinds[left_tool.kind], tools[left_tool.tool] = None, None
    lines: list[str] = []
    for reason, (kinds, tools) in sorted(groups.items(), key=lambda pair: -len(pair[1][1])):
        named = ", ".join([*tools][:_FEW]) + (
            f" and {len(tools) - _FEW} more" if len(tools) > _FEW else ""
        )
        lines.append(f"{', '.join(kinds)}: without {named}. {reason}")
    return first_lines(
        lines, _GAPS, "reasons; list them all with --json, those of one tool with --tool NAME."
    )


def _tool_table(name: str, found: "Survey") -> TextTable:
    known = {tool.name for tool in found.tools}
    if name not in known:
        near = difflib.get_close_matches(name, known, _FEW)
        meant = f"; did you mean {', '.join(near)}?" if near else "."
        raise ConfigurationError(f"No tool is named {name!r}{meant}")
    against = {row.kind: row.reason for row in found.rows() if not row.usable}
    unknown = {row.kind for row in found.rows() if not row.is_known}
    against |= {one.kind: one.reason for one in reversed(found.left_out) if one.tool == name}
    rows = [
        (
            kind,
            "no" if kind in against else _UNKNOWN if kind in unknown else "yes",
            against.get(kind, ""),
        )
        for kind in found.asked
    ]
    return TextTable(("kind", "possible", "why not"), rows)


def _problems_text(problems: "Sequence[Problem]", most: int) -> Iterator[str | TextTable]:
    if not problems:
        yield "No problems found."
        return
    from callwright.generators.catalogs.catalog import LEFT_OUT, weightiest_first

    gone = dict.fromkeys(one.tool or one.where for one in problems if one.kind in LEFT_OUT)
    cut = dict.fromkeys(
        one.tool for one in problems if one.kind == "shortened_parameters" and one.tool not in gone
    )
    for said, names in (("Left out", gone), ("Shortened", cut)):
        if names:
            yield f"{said} ({len(names)}): {', '.join(names)}."
    doubted = [one for one in problems if one.kind == "doubted_rule"]
    if doubted:
        tools = {one.tool for one in doubted}
        yield (
            "callwright does not read these rules, and samples that they may concern wait for"
            f" reviewers ({count_of(len(tools), 'tool')}):"
        )
        counted = Counter(one.message for one in doubted).most_common()
        yield from first_lines((f"{one} ({count_of(n, 'tool')})" for one, n in counted), most)
    yield TextTable(
        ("problem", "count"), Counter(problem.kind for problem in problems).most_common()
    )
    lines = (f"{problem.where}: {problem.message}" for problem in weightiest_first(problems))
    yield from first_lines(lines, most)
