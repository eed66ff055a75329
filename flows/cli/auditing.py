"""`audit`: how well checks tell broken samples from intact ones, and readers planted defects from golds."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import AsJson, Terminal, share_with_bounds, show, show_json, show_table
from callwright.flows.settings import read_settings

if TYPE_CHECKING:
    from callwright.flows.auditing import AuditReport
    from callwright.flows.comparing_readers import ReaderComparison

_COLUMNS = (
    "broken",
    "still_proved",
    "still_judged",
    "recall",
    "recall_low",
    "recall_high",
    "intact",
    "false_alarms",
    "precision",
)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    audit = typer.Typer(help="Measure the checks, and who reads.", no_args_is_help=True, rich_markup_mode=None)
    audit.command("checks", epilog="Example: callwright audit checks --release v1 --limit 10")(checks)
    audit.command(
        "readers",
        epilog="Example: callwright audit readers --model template/v1 --model hosted_vllm/MINE --wrong-at-most 0.02",
    )(readers)
    audit.callback()(lambda: None)
    app.add_typer(audit, name="audit")


def checks(  # noqa: PLR0913, PLR0917 - each is an option of its own
    release: Annotated[
        str, typer.Option(help="The release to break; what the newest builds have landed unless given.")
    ] = "",
    wordings: Annotated[
        Path | None,
        typer.Option(help="Instead of samples: JSON lines as `check requests` reads, with label and defect."),
    ] = None,
    model: Annotated[str, typer.Option(help="The model that checks and judges; none: rules alone.")] = "",
    limit: Annotated[int, typer.Option(help="How many samples of each kind and language.")] = 10,
    seed: Annotated[int, typer.Option(help="Draws the samples, and what is broken in them.")] = 0,
    defect: Annotated[list[str] | None, typer.Option(help="Only this kind of defect; may be given again.")] = None,
    survivors: Annotated[
        Path | None,
        typer.Option(help="A file for the broken samples that are still proved, as `check records` reads them."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A file for the figures as Markdown tables.")] = None,
    as_json: AsJson = False,
) -> None:
    """Inject defects into accepted samples and tell how many each check finds, and how many intact ones it doubts."""
    from callwright.flows.auditing import AuditPlan, audit_checks, audit_page, audit_wordings

    plan = AuditPlan(release, limit, seed, model, tuple(defect or ()), survivors)
    with Terminal() as screen:
        settings = read_settings()
        work = audit_wordings(wordings, plan, settings) if wordings else audit_checks(plan, settings, screen)
        report = asyncio.run(work)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(audit_page(report), encoding="utf-8")
    if as_json:
        show_json(report)
    else:
        _show(report)


def readers(  # noqa: PLR0913, PLR0917 - each is an option of its own
    model: Annotated[list[str], typer.Option(help="A model that reads; may be given again.")],
    release: Annotated[
        str, typer.Option(help="The release whose samples are read; what the newest builds have landed unless given.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many samples of each family and language.")] = 40,
    seed: Annotated[int, typer.Option(help="Draws the samples, and what is planted in them.")] = 0,
    wrong_at_most: Annotated[
        float | None, typer.Option(min=0, max=1, help="Name the cheapest of which it is known that no more is wrong.")
    ] = None,
    wrong_before: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="How much of what is read is wrong; what readers of the newest builds doubted."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let models read the same accepted samples, with planted defects and as they are: price, what they catch and doubt."""
    from callwright.flows.comparing_readers import ComparisonPlan, compare_readers

    plan = ComparisonPlan(tuple(model), release, limit, seed, wrong_before, wrong_at_most)
    with Terminal() as screen:
        report = asyncio.run(compare_readers(plan, read_settings(), screen))
    if as_json:
        show_json(report._asdict() | {"readers": [one._asdict() for one in report.readers]})
    else:
        _show_readers(report)


def _show_readers(report: "ReaderComparison") -> None:
    show_table(
        ("reader", "defects", "caught", "as they are", "doubted", "wrong", "tokens", "dollars for 1,000"),
        [
            (
                one.model, one.planted, share_with_bounds(one.catch_rate, one.catch_low, one.catch_high), one.doubles,
                share_with_bounds(one.false_doubts, one.doubts_low, one.doubts_high),
                "" if one.wrong is None else f"{one.wrong:.1%} (at most {one.most_wrong:.1%})", round(one.tokens),
                "unknown" if one.dollars is None else f"{one.dollars:.2f}",
            )
            for one in report.readers
        ],
    )  # fmt: skip
    show(
        f"{report.samples} samples of {report.source}, the same for each. Wrong: of what a reader chooses,"
        f" where {report.wrong_before:.1%} of what it reads is wrong."
    )
    if report.wrong_at_most is not None:
        bar = f"{report.wrong_at_most:.1%}"
        show(
            f"The cheapest that is known to let no more than {bar} pass: {report.chosen}."
            if report.chosen
            else f"None with a known price is known to let no more than {bar} pass; with a larger --limit more is known."
        )


def _show(report: "AuditReport") -> None:
    by_check = [row for row in report.figures if row["slice_by"] == "all"]
    show_table(("check", *_COLUMNS), [(row["check_name"], *(row[name] for name in _COLUMNS)) for row in by_check])
    together = [row for row in report.figures if by_check and row["check_name"] == by_check[0]["check_name"]]
    for name in ("family", "kind", "language", "defect"):
        rows = [row for row in together if row["slice_by"] == name]
        show("")
        show_table((name, *_COLUMNS), [(row["slice_value"], *(row[column] for column in _COLUMNS)) for row in rows])
    if report.arguments:
        columns = ("wrong", "wrong_landed", "correct", "precision")
        graded = [(row["language"], row["grade"], *(row[column] for column in columns)) for row in report.arguments]
        show("")
        show_table(("language", "argument's grade", *columns), graded)
