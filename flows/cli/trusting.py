"""`review recheck` and `review agreement`: how far people's word is to be trusted, and what share of the samples is usable."""

from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.screen import AsJson, show, show_json, show_table

if TYPE_CHECKING:
    from warehouse.rows import Row

_MEASURES = ("observed", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha")
_SLICES = {"all": 0, "reviewer": 1, "pair": 2, "reason": 3}


def recheck(
    name: Annotated[
        str, typer.Argument(metavar="[RELEASE|RECIPE]", help="Of what to draw; without a name of all that is accepted.")
    ] = "",
    draw: Annotated[int, typer.Option("--draw", min=1, help="How many samples to look at again.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Another seed draws others.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Ask people about accepted samples again, drawn at random: what share of them is usable? `review agreement` tells."""
    from flows.review.second_looks import recheck as draw_again
    from flows.settings import read_settings

    drawn = draw_again(read_settings(), name, draw=draw, seed=seed)
    if as_json:
        show_json(drawn._asdict())
        return
    of = f"the {drawn.scope} {drawn.name!r}" if drawn.name else "all recipes"
    show(
        f"{drawn.drawn} of {drawn.samples} accepted samples of {of} are drawn; {drawn.asked} questions about them are new."
    )
    if drawn.asked:
        show("`callwright review push` takes them to people.")


def agreement(as_json: AsJson = False) -> None:
    """Say how far reviewers agree, how they do on gold items, and what share of the accepted samples is usable."""
    from flows.review.agreement import agreement_report
    from flows.settings import read_settings

    report = agreement_report(read_settings())
    if as_json:
        show_json(report)
        return
    if not any(report.values()):
        show("No two people have answered the same question yet, and nothing was drawn to be looked at again.")
    if report["agreement"]:
        show("agreement (1: always, 0: as by chance; empty where it is not defined):")
        show_table(["kind", "of", "who or what", "items", "people", *_MEASURES], _agreement_lines(report["agreement"]))
    for title, table in (("gold items", report["gold_items"]), ("usable", report["usable"])):
        if table:
            show(f"{title}:")
            show_table(list(table[0]), [list(row.values()) for row in table])


def _agreement_lines(rows: "list[Row]") -> list[list[object]]:
    """A line for each slice, its measures side by side."""
    slices: dict[tuple[str, int, str], dict[str, Row]] = {}
    for row in rows:
        slices.setdefault((row["kind"], _SLICES[row["slice_by"]], row["slice_value"]), {})[row["measure"]] = row
    lines: list[list[object]] = []
    for (kind, _, value), measures in sorted(slices.items()):
        one = next(iter(measures.values()))
        figures = [measures[name]["value"] if name in measures else None for name in _MEASURES]
        lines.append([kind, one["slice_by"], value, one["items"], one["reviewers"], *figures])
    return lines
