"""`check`: the checks on samples that others made, and `doctor`: the checks on this machine."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.screen import AsJson, show, show_json, show_table


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    check = typer.Typer(help="Check other people's data.", no_args_is_help=True, rich_markup_mode=None)
    check.command("hammerbench", epilog="Example: callwright check hammerbench en/single-turn/ST_Perfect.json")(
        hammerbench
    )
    check.callback()(lambda: None)
    app.add_typer(check, name="check")
    app.command("doctor", epilog="Example: callwright doctor --json")(doctor)


def hammerbench(
    path: Annotated[Path, typer.Argument(help="A file of HammerBench records.")],
    model: Annotated[str, typer.Option(help="The model that checks and judges; none: rules alone.")] = "",
    failures: Annotated[bool, typer.Option("--failures", help="Show only what is not proved.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the checks on each record, its label taken as gold, and print the verdicts."""
    from flows.checking import check_hammerbench
    from flows.settings import read_settings

    checked = asyncio.run(check_hammerbench(path, model, read_settings()))
    shown = [one for one in checked.records if not failures or one.decision != "proved"]
    if as_json:
        show_json({"records": shown, "problems": checked.problems, "summary": checked.summary})
        return
    for one in shown:
        show(f"{one.record}  {one.decision}  {one.request}")
        for verdict in one.verdicts:
            if verdict.decision != "proved":
                show(f"    {verdict.check}: {verdict.decision}: {verdict.reason}")
    for problem in checked.problems:
        show(f"{problem.where}: {problem.message}")
    show_table(("check", "proved", "unproved", "contradicted"), checked.summary)


def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has of all that callwright can use, and what to do about the rest."""
    from flows.doctor import examine

    findings = examine()
    if as_json:
        show_json([finding._asdict() for finding in findings])
    else:
        show_table(("part", "state", "what to do"), [(one.part, one.state, one.advice) for one in findings])
    if any(one.state == "broken" for one in findings):
        raise typer.Exit(1)
