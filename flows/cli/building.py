"""`init`, `build`, `stages`, `deploy` and `demo`: making datasets."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from callwright.flows.cli.screen import AsJson, Terminal, share_with_bounds, show, show_json, show_table

if TYPE_CHECKING:
    from callwright.flows.build import BuildReport
    from callwright.flows.planning.estimating import Estimate
    from callwright.flows.recipe import Recipe
    from callwright.flows.review.pushing import Pushed
    from callwright.flows.scaffolds import Sort


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("init", epilog="Example: callwright init my-dataset")(init)
    app.command("build", epilog="Example: callwright build recipe.yaml --preview 5")(build)
    app.command("estimate", epilog="Example: callwright estimate recipe.yaml")(estimate)
    app.command("stages", epilog="Example: callwright stages --json")(list_stages)
    app.command("deploy", epilog="Example: callwright deploy recipes/demo.yaml --pool builds")(deploy)
    app.command("demo", epilog="Example: callwright demo")(demo)
    app.command("stop", epilog="Example: callwright stop")(stop)


def init(  # noqa: PLR0913, PLR0917 - typer reads each option from a parameter
    folder: Annotated[Path, typer.Argument(help="Where to put the first recipe, or the file.")] = Path(),
    kind: Annotated[str, typer.Option(metavar="NAME", help="Write NAME.py with a kind of samples.")] = "",
    check: Annotated[str, typer.Option(metavar="NAME", help="Write NAME.py with a check, and its test.")] = "",
    export: Annotated[str, typer.Option(metavar="NAME", help="Write NAME.py with an export format.")] = "",
    importer: Annotated[str, typer.Option(metavar="NAME", help="Write NAME.py with an importer of tools.")] = "",
    environment: Annotated[str, typer.Option(metavar="NAME", help="Write NAME.py with a world.")] = "",
    model: Annotated[str, typer.Option(metavar="NAME", help="Write NAME.py with a model.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write a first recipe to edit, or a file with a row of one's own that works (docs/extending)."""
    asked = {
        "kind": kind,
        "check": check,
        "export": export,
        "importer": importer,
        "environment": environment,
        "model": model,
    }
    written = [_write_row(cast("Sort", sort), name, folder) for sort, name in asked.items() if name]
    if written:
        if as_json:
            show_json({"extensions": written})
        else:
            show(f"In a recipe beside it: extensions: [{', '.join(written)}]")
            if export:
                show(f"By the format of one's own: callwright export RELEASE --to {export}.py:FORMAT")
        return
    from callwright.flows.recipe import SCHEMA_FILE, write_first_recipe

    path = write_first_recipe(folder)
    if as_json:
        show_json({"recipe": str(path), "schema": str(path.with_name(SCHEMA_FILE))})
    else:
        show(f"{path} is yours to edit. Then: callwright build {path} --preview 5")
        show(
            f"Editors know its settings by {SCHEMA_FILE} beside it; `callwright recipe check {path}` lists what is wrong."
        )


def _write_row(sort: "Sort", name: str, folder: Path) -> str:
    """The row of a new file, as a recipe's `extensions` name it."""
    from callwright.flows.scaffolds import ROWS, write_scaffold

    return f"{write_scaffold(sort, name, folder).name}:{ROWS[sort]}"


def build(  # noqa: PLR0917 - typer reads each option from a parameter
    recipe: Annotated[Path, typer.Argument(help="The recipe, a YAML file.")],
    preview: Annotated[int, typer.Option(min=0, help="Show N samples of each kind, keep none.")] = 0,
    limit: Annotated[int, typer.Option(min=0, help="Build at most N samples of each kind.")] = 0,
    model: Annotated[str, typer.Option(help="One model for all three roles, by its litellm name.")] = "",
    no_review: Annotated[bool, typer.Option("--no-review", help="Do not push to Label Studio.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build a recipe's samples, going on where the last build of it stopped."""
    from callwright.flows.api.building import build as build_samples
    from callwright.flows.api.building import read_recipe
    from callwright.flows.review.pushing import push_what_waits
    from callwright.flows.settings import read_settings

    chosen = read_recipe(recipe)
    if preview:
        _preview(chosen, preview, model, as_json=as_json)
        return
    settings, began = read_settings(), time.monotonic()
    with Terminal() as screen:
        if settings.prefect_api_url:
            from callwright.flows.chats import check_keys
            from callwright.flows.engine.deploying import build_with_prefect

            check_keys(chosen.as_asked(model=model, limit=limit))
            report = build_with_prefect(recipe, limit, model, screen)
        else:
            report = build_samples(chosen, model=model, limit=limit, workers=None, progress=screen)
    pushed = None
    try:
        if not no_review:
            with Terminal() as screen:
                pushed = push_what_waits(settings, screen)
    finally:  # the build is done and kept, also where Label Studio is away
        _show_report(report, pushed, time.monotonic() - began, as_json=as_json)


def estimate(
    recipe: Annotated[Path, typer.Argument(help="The recipe, a YAML file.")],
    limit: Annotated[int, typer.Option(min=0, help="As build --limit: at most N samples of each kind.")] = 0,
    model: Annotated[str, typer.Option(help="One model for all three roles, by its litellm name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Tell what a build will ask and cost, by role and kind, before it asks anything: no model is called."""
    from callwright.flows.planning.estimating import estimate_build
    from callwright.flows.recipe import read_recipe_to_build
    from callwright.flows.settings import read_settings

    chosen = read_recipe_to_build(recipe).as_asked(model=model, limit=limit)
    found = asyncio.run(estimate_build(chosen, read_settings()))
    if as_json:
        show_json(found._asdict() | {"rows": [row._asdict() for row in found.rows]})
        return
    _show_estimate(found)


def _show_estimate(found: "Estimate") -> None:
    if found.rows:
        show_table(found.rows[0]._fields, found.rows)
    show(found.sentence)
    if found.earlier is not None:
        each = found.earlier.calls_per_accepted
        calls = "" if each is None else f", {each:.1f} calls and ${found.earlier.cost_per_accepted or 0:.4f} each"
        show(
            f"Of the {found.earlier.made} samples of build {found.earlier.build} {found.earlier.accepted} landed{calls}."
        )
    for note in found.notes:
        show(note)


def _show_report(report: "BuildReport", pushed: "Pushed | None", seconds: float, *, as_json: bool) -> None:
    if as_json:
        composition = [row._asdict() for row in report.composition]
        paths = [row._asdict() for row in report.paths]
        conversations = [row._asdict() for row in report.conversations]
        counted = {"composition": composition, "paths": paths, "conversations": conversations}
        spent = (report.spending._asdict() if report.spending else {}) | {"seconds": round(seconds, 1)}
        counted["repeated"] = [row._asdict() for row in report.repeated]
        counted["left_out"] = [row._asdict() for row in report.left_out]
        counted["failures"] = [row._asdict() for row in report.failures]
        counted["readers"] = [row._asdict() for row in report.readers]
        show_json(report._asdict() | counted | {"spending": spent, "review": pushed and pushed._asdict()})
        return
    show_table(report.funnel[0]._fields if report.funnel else (), report.funnel)
    show_table(report.composition[0]._fields if report.composition else (), report.composition)
    if report.paths:
        show_table(report.paths[0]._fields, report.paths)
    if report.conversations:
        show_table(report.conversations[0]._fields, report.conversations)
    _show_readers(report)
    if report.spending:
        show_table((*report.spending._fields, "seconds"), [(*report.spending, round(seconds, 1))])
    show(report.sentence)
    for remark in report.remarks:
        show(remark)
    if report.is_trial:
        show(f"A trial: no release takes it unless it is named (--build {report.build}).")
    if pushed:
        show(f"{pushed.created} tasks pushed for people to review: {pushed.url}")


def _show_readers(report: "BuildReport") -> None:
    """How well who reads has read what was planted, each share with its interval."""
    measured = [row for row in report.readers if not row.defect and (row.planted or row.doubles)]
    if measured:
        show_table(
            ("reader", "language", "family", "read", "defects", "caught", "as they are", "doubted", "precision"),
            [
                (
                    row.reader, row.language, row.family, row.read, row.planted,
                    share_with_bounds(row.catch_rate, row.catch_low, row.catch_high), row.doubles,
                    share_with_bounds(row.false_doubts, row.doubts_low, row.doubts_high),
                    "" if row.precision is None else f"{row.precision:.1%} (at least {row.precision_low:.1%})",
                )
                for row in measured
            ],
        )  # fmt: skip


def _preview(recipe: "Recipe", count: int, model: str, *, as_json: bool) -> None:
    from callwright.flows.api.building import preview
    from callwright.flows.preview import sample_lines

    with Terminal() as screen:
        shown = preview(recipe, count, model=model, workers=None, progress=screen)
    if as_json:
        show_json([item._asdict() for item in shown])
        return
    for item in shown:
        for line in sample_lines(item):
            show(line)


def list_stages(as_json: AsJson = False) -> None:
    """List the stages: what each reads, makes and asks, and where the paper has it."""
    from callwright.flows.stages import all_stages

    if as_json:
        show_json([stage.described() for stage in all_stages()])
        return
    show_table(
        ("stage", "group", "reads", "yields", "role", "source", "about"),
        [
            (stage.name, stage.group, stage.reads, stage.yields, stage.role or "", stage.source, stage.about)
            for stage in all_stages()
        ],
    )


def deploy(
    recipes: Annotated[list[Path], typer.Argument(help="Recipes whose builds Prefect shall run.")],
    pool: Annotated[
        str, typer.Option(help="The work pool; made as a process pool where there is none.")
    ] = "callwright",
    as_json: AsJson = False,
) -> None:
    """Register scheduled builds with Prefect: one deployment a recipe, by the cron line in it; and one that pulls reviews.

    Reviews are pulled every 10 minutes, or as many as CALLWRIGHT_REVIEW_EVERY says.
    """
    from callwright.flows.engine.deploying import deploy_recipes

    deployed = deploy_recipes(recipes, pool)
    if as_json:
        show_json([one._asdict() for one in deployed])
        return
    for one in deployed:
        zone = f" ({one.timezone})" if one.timezone else ""
        when = f"{one.schedule}{zone}" if one.schedule else "no schedule; start it from its page"
        show(f"{one.name}: {when}\n  {one.url}")
    show(f"A worker carries them out: prefect worker start --pool {pool}")


def demo(as_json: AsJson = False) -> None:
    """Build the demo dataset through every real part: Prefect, Label Studio, DuckDB, a release, two models, a report."""
    from callwright.flows.demo import run_demo
    from callwright.flows.settings import read_settings

    with Terminal() as screen:
        result = run_demo(read_settings(), screen)
    if as_json:
        show_json(result._asdict())
        return
    for line in result.lines():
        show(line)


def stop(as_json: AsJson = False) -> None:
    """End the local servers that callwright started; their data stay."""
    from callwright.flows.demo import stop_servers
    from callwright.flows.settings import read_settings

    stopped = stop_servers(read_settings())
    if as_json:
        show_json({"stopped": stopped})
    else:
        show(f"Ended: {', '.join(stopped)}." if stopped else "No server of this work folder was running.")
