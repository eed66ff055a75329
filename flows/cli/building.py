"""Make datasets: `init`, `build`, `estimate`, `grow`, `runs`, `deploy`, `demo` and more."""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from callwright.flows.api.options import BuildOptions, OneModel
from callwright.flows.cli.screen import (
    Aside,
    AsJson,
    CommandResult,
    RecipeFile,
    Terminal,
    TextTable,
    command,
    commands,
    present,
    say,
    share_with_bounds,
    table_of,
)
from callwright.flows.loops import run_loop
from callwright.flows.options import Option
from callwright.flows.settings import open_warehouse, read_settings
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError

if TYPE_CHECKING:
    from callwright.flows.planning.statistics import ReaderRow
    from callwright.flows.review.pushing import Pushed
    from callwright.flows.run.land import BuildReport
    from callwright.flows.scaffolds import Sort

app = commands()
recipe_group = commands("Check recipes, and show their prompts and schema.")
app.add_typer(recipe_group, name="recipe")
_WRONG = 2  # as of any command that is given a wrong recipe


@command(app, "init", "init my-dataset", begins="Writing the recipe")
def init(
    folder: Path = Path(),
    *,
    kind: Annotated[str, Option(metavar="NAME")] = "",
    check: Annotated[str, Option(metavar="NAME")] = "",
    export: Annotated[str, Option(metavar="NAME")] = "",
    importer: Annotated[str, Option(metavar="NAME")] = "",
    environment: Annotated[str, Option(metavar="NAME")] = "",
    model: Annotated[str, Option(metavar="NAME")] = "",
    metric: Annotated[str, Option(metavar="NAME")] = "",
) -> CommandResult:
    """Write a first recipe, or a working example of an extension.

    An extension is a kind, a check, an export format, an importer, a world, a model or a metric of
    your own (docs/extending).

    Args:
        folder: The folder to write to.
        kind: Write NAME.py with a kind of sample instead.
        check: Write NAME.py with a check and its test instead.
        export: Write NAME.py with an export format instead.
        importer: Write NAME.py with an importer of tools instead.
        environment: Write NAME.py with a world instead.
        model: Write NAME.py with a model instead.
        metric: Write NAME.py with a metric instead.
    """
    from callwright.flows.next_step import command_line
    from callwright.flows.recipe import SCHEMA_FILE, write_first_recipe
    from callwright.flows.scaffolds import ROWS, write_scaffold

    names_by_sort: dict[Sort, str] = {
        "kind": kind,
        "check": check,
        "export": export,
        "importer": importer,
        "environment": environment,
        "model": model,
        "metric": metric,
    }
    written = [
        f"{write_scaffold(sort, name, folder).name}:{ROWS[sort]}"
        for sort, name in names_by_sort.items()
        if name
    ]
    if written:
        lines = [f"Use it in a recipe in the same folder: extensions: [{', '.join(written)}]"]
        lines += (
            [f"Export in this format: callwright export RELEASE --to {export}.py:FORMAT"]
            if export
            else []
        )
        lines += (
            ["Evaluate with it: callwright evaluate RELEASE --recipe RECIPE.yaml"] if metric else []
        )
        return CommandResult({"extensions": written}, lines)
    path = write_first_recipe(folder)
    lines = [
        f"Wrote {path}, for you to edit, and {SCHEMA_FILE}, which tells editors its settings.",
        f"Check it: {command_line('recipe', 'check', path)}",
        f"Try it:   {command_line('build', path, '--preview', 5)}",
    ]
    return CommandResult({"recipe": path, "schema": path.with_name(SCHEMA_FILE)}, lines)


@command(app, "build", "build recipe.yaml --preview 5", begins="Reading the recipe")
def build(
    recipe: RecipeFile,
    *,
    preview: Annotated[int, Option(least=0)] = 0,
    no_review: bool = False,
    as_json: AsJson = False,
    **options: Unpack[BuildOptions],
) -> None:
    """Build the samples of a recipe.

    A build that was stopped continues where it stopped, and nothing is paid for twice.

    Args:
        preview: Make and show N samples of each kind, and keep none.
        no_review: Do not send questions to Label Studio.
    """
    from callwright.flows.api import building
    from callwright.flows.api.building import sample_lines
    from callwright.flows.review.pushing import push_what_waits

    chosen = building.read_recipe(recipe)
    if preview:
        with Terminal() as screen:
            shown = building.preview(
                chosen, preview, model=options["model"], workers=None, progress=screen
            )
        present(
            CommandResult(shown, (line for item in shown for line in sample_lines(item))),
            as_json=as_json,
        )
        return
    settings, began = read_settings(), time.monotonic()
    with Terminal() as screen:
        if settings.prefect_api_url:
            from callwright.flows.engine.deploying import build_with_prefect
            from callwright.flows.run.work import check_keys

            check_keys(chosen.as_asked(**options))
            report = build_with_prefect(recipe, options, screen)
        else:
            report = building.build(chosen, workers=None, progress=screen, **options)
    pushed = None
    try:
        if not no_review:
            with Terminal() as screen:
                pushed = push_what_waits(settings, screen)
    finally:  # the build is done and kept, also where Label Studio is away
        seconds = round(time.monotonic() - began, 1)
        spent = (report.spending._asdict() if report.spending else {}) | {"seconds": seconds}
        value = report._asdict() | {"spending": spent, "review": pushed}
        present(
            CommandResult(value, chain(_report_text(report, pushed, seconds), _next_text(report))),
            as_json=as_json,
        )
    if report.emptiness:
        say(report.emptiness)
        if not report.waiting:
            raise typer.Exit(1)


def _report_text(
    report: "BuildReport", pushed: "Pushed | None", seconds: float
) -> Iterator[str | TextTable]:
    funnel = table_of(report.worked)
    if not any(row.personal_data for row in report.worked):  # the last column, only if any is found
        funnel = TextTable(funnel.columns[:-1], [row[:-1] for row in funnel.rows])
    yield funnel
    yield table_of(report.composition)
    yield from map(table_of, filter(None, (report.paths, report.conversations, report.users)))
    measured = [
        row for row in report.readers if not row.defect and (row.n_planted or row.n_doubles)
    ]
    if measured:
        yield table_of([_reader_row(row) for row in measured])
    if report.spending:
        yield TextTable((*report.spending._fields, "seconds"), [(*report.spending, seconds)])
    yield report.sentence
    yield from report.remarks
    if report.is_trial:
        yield (
            "This build is a trial. Releases leave it out unless you name it: --build"
            f" {report.build}"
        )
    if pushed:
        yield f"{count_of(pushed.created, 'task')} sent to reviewers: {pushed.url}"


def _reader_row(row: "ReaderRow") -> dict[str, object]:
    sure = (
        "" if row.precision is None else f"{row.precision:.1%} (at least {row.precision_low:.1%})"
    )
    return {
        "reader": row.reader,
        "language": row.language,
        "family": row.family,
        "read": row.n_read,
        "defects": row.n_planted,
        "caught": share_with_bounds(row.caught_share, row.caught_low, row.caught_high),
        "as they are": row.n_doubles,
        "doubted": share_with_bounds(
            row.false_doubt_share, row.false_doubt_low, row.false_doubt_high
        ),
        "precision": "" if row.precision is None else sure,
    }


def _next_text(report: "BuildReport") -> Iterator[str]:
    """Yield the command that comes next, if the build has made something for it."""
    from callwright.flows.next_step import find_recipes, step_in

    if report.landed and not report.is_trial:
        step = step_in(open_warehouse(read_settings()), [*find_recipes(Path.cwd())])
        yield f"Next: {step.command}    ({step.purpose})"


@command(
    app, "estimate", "estimate recipe.yaml", begins="Planning the build without asking a model"
)
def estimate(recipe: RecipeFile, **options: Unpack[BuildOptions]) -> CommandResult:
    """Estimate the calls, tokens and cost of a build.

    The table is by role and kind. No model is called.
    """
    from callwright.flows.planning.estimating import estimate_build
    from callwright.flows.recipe import read_recipe_to_build

    chosen = read_recipe_to_build(recipe).as_asked(**options)
    build_estimate = run_loop(estimate_build(chosen, read_settings()))
    lines: list[str | TextTable] = [
        *([table_of(build_estimate.rows)] if build_estimate.rows else []),
        build_estimate.sentence,
    ]
    if (earlier := build_estimate.earlier) is not None:
        each = earlier.calls_per_accepted
        calls = ""
        if each is not None:
            calls = f", {each:.1f} calls and ${earlier.cost_per_accepted or 0:.4f} each"
        made = count_of(earlier.made, "sample")
        lines.append(
            f"Build {earlier.build} made {made}, of which {earlier.accepted} were accepted{calls}."
        )
    return CommandResult(build_estimate, [*lines, *build_estimate.notes])


@command(app, "stages", "stages --json")
def list_stages() -> CommandResult:
    """List the stages of a build.

    The table says what each stage reads and makes, and the section of the paper it comes from.
    """
    from callwright.flows.stages import all_stages

    columns = ("name", "group", "reads", "yields", "role", "source", "about")
    table = table_of(all_stages(), columns, ("stage", *columns[1:]))
    return CommandResult([stage.described() for stage in all_stages()], [table])


@command(app, "grow", "grow recipe.yaml", begins="Reading the recipe")
def grow(recipe: RecipeFile, *, due: str = "", no_review: bool = False) -> CommandResult:
    """Carry out a run of a recipe's schedule now.

    Each run makes what `each` in the schedule says, beside what earlier runs have made. One that
    was stopped goes on first. Releases by the schedule's rule are made and evaluated.

    Args:
        due: The time that the run is for, such as 2026-12-01T03:00Z. Default: now. A run that has
            ended is not carried out again.
        no_review: Do not send questions to Label Studio.
    """
    from callwright.flows.review.pushing import push_what_waits

    due_at, settings = _moment(due) if due else datetime.now(UTC), read_settings()
    with Terminal() as screen:
        if settings.prefect_api_url:
            from callwright.flows.engine.deploying import grow_with_prefect

            grown = grow_with_prefect(recipe, due_at, screen)
        else:
            from callwright.flows.api import growing

            grown = run_loop(growing.grow(recipe, due_at, settings, screen))
        pushed = None if no_review else push_what_waits(settings, screen)
    lines = [sentence for report in grown.runs for sentence in report.sentences]
    lines += [
        f"Release {one.name}: {count_of(one.samples, 'sample')}, version {one.version}."
        for one in grown.releases
    ]
    if pushed:
        lines.append(f"{count_of(pushed.created, 'task')} sent to reviewers: {pushed.url}")
    return CommandResult(
        grown._asdict() | {"review": pushed}, lines or [f"The run due at {due} has ended already."]
    )


def _moment(stated: str) -> datetime:
    """Return a time that was stated; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(stated)
    except ValueError as error:
        raise ConfigurationError(
            f"--due is {stated!r}; it is a time such as 2026-12-01T03:00Z."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@command(app, "runs", "runs my-dataset")
def list_runs(name: str = "") -> CommandResult:
    """List the runs of schedules: what each made and cost, how tools changed, which release it has.

    Args:
        name: Only runs of the recipe of this name.
    """
    from callwright.flows.scheduled_runs import figures_of

    rows = figures_of(open_warehouse(read_settings()), name)
    columns = ("recipe", "run", "due_at", "ended_at", "landed", "waiting", "rejected", "failed")
    table = table_of(rows, (*columns, "calls", "cost", "n_changed_tools", "release"))
    return CommandResult(rows, [table] if rows else ["No schedule has run yet."])


@command(app, "deploy", "deploy recipes/demo.yaml --pool builds")
def deploy(recipes: Sequence[Path], *, pool: str = "callwright") -> CommandResult:
    """Schedule builds with Prefect.

    Each recipe gets a deployment that runs at the times of its cron line. One more deployment takes
    back reviews every 10 minutes, or as often as CALLWRIGHT_REVIEW_EVERY says. Without
    PREFECT_API_URL they go to the server that `callwright demo` started.

    Args:
        recipes: The recipes that Prefect builds.
        pool: The work pool. If there is none of this name, a process pool is created.
    """
    from callwright.flows.engine.deploying import deploy_recipes

    deployed, lines = deploy_recipes(recipes, pool), []
    for one in deployed:
        zone = f" ({one.timezone})" if one.timezone else ""
        when = f"{one.schedule}{zone}" if one.schedule else "no schedule (start it from its page)"
        lines.append(f"{one.name}: {when}\n  {one.url}")
    worker = f"PREFECT_API_URL={read_settings().prefect_api_url} prefect worker start --pool {pool}"
    return CommandResult(deployed, [*lines, f"Start a worker to run them: {worker}"])


@command(app, "demo", "demo")
def demo() -> CommandResult:
    """Build a demo dataset with every part at work.

    The parts are Prefect, Label Studio, DuckDB, a release, two candidates and a report.
    """
    from callwright.flows.demo import run_demo

    with Terminal() as screen:
        result = run_demo(read_settings(), screen)
    return CommandResult(result, result.lines())


@command(app, "stop", "stop")
def stop() -> CommandResult:
    """Stop the local servers that callwright started. Their data are kept."""
    from callwright.flows.demo import stop_servers

    stopped = stop_servers(read_settings())
    text = "No server of this work folder is running."
    if stopped:
        text = f"Stopped: {', '.join(stopped)}."
    return CommandResult({"stopped": stopped}, text)


@command(
    recipe_group,
    "check",
    "recipe check recipe.yaml",
    begins="Checking the recipe and what its tools allow",
)
def check_recipes(recipes: Sequence[Path]) -> CommandResult:
    """List every mistake in recipes, with file, line, column and the name that was probably meant.

    For a valid recipe, list the samples that its tools do not allow, and why.

    Args:
        recipes: The recipes, YAML files.
    """
    from callwright.flows.planning.possible import problems_of_recipe
    from callwright.flows.recipe import read_recipe_file

    recipe_problems = [
        problem
        for path in recipes
        for problem in run_loop(
            problems_of_recipe(path, read_recipe_file(path, with_files=True), read_settings())
        )
    ]
    problems = [problem for problem in recipe_problems if not problem.is_remark]
    wrong = len({problem.file for problem in problems})
    checked = count_of(len(recipes), "recipe")
    valid = "Recipe is valid." if len(recipes) == 1 else f"All {checked} are valid."
    whole = f"{count_of(len(problems), 'mistake')} in {wrong} of {checked}." if problems else valid
    return CommandResult(
        recipe_problems, [*map(str, recipe_problems), Aside(whole)], _WRONG if problems else 0
    )


@command(recipe_group, "schema", "recipe schema --out recipe.schema.json")
def schema(*, out: Path | None = None) -> CommandResult:
    """Print or write the JSON Schema of recipes.

    Editors use it if the first line of a recipe is `# yaml-language-server: $schema=FILE`.

    Args:
        out: The file to write. Default: print it.
    """
    from callwright.flows.recipe import schema_text, write_schema
    from callwright.flows.recipe.schema import recipe_schema

    if out is None:
        return CommandResult(recipe_schema(), schema_text().rstrip())
    path = write_schema(out)
    hint = Aside(
        "Make this the first line of a recipe in the same folder: # yaml-language-server:"
        f" $schema={path.name}"
    )
    return CommandResult({"schema": path}, [str(path), hint])


@command(recipe_group, "prompts", "recipe prompts recipe.yaml --only word_request")
def prompts(recipe: RecipeFile, *, only: str = "", model: OneModel = "") -> CommandResult:
    """Show every prompt of a build in full, with your tools in it. No model is called.

    Args:
        only: Show only the prompt of this name.
    """
    from callwright.flows.planning.estimating import prompts_page, show_prompts
    from callwright.flows.recipe import read_recipe_to_build

    chosen = read_recipe_to_build(recipe).as_asked(model=model, limit=0)
    found = run_loop(show_prompts(chosen, read_settings()))
    shown = [one for one in found if only in ("", one.name)]
    if not shown:
        named = ", ".join(one.name for one in found)
        problem = f"A build of {recipe} does not use a prompt named {only!r}. It uses {named}."
        raise ConfigurationError(problem)
    return CommandResult(
        shown,
        "\n\n".join(one.markdown for one in shown) if only else prompts_page(shown, str(recipe)),
    )
