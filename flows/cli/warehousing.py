"""`query`, `publish` and `report`: looking at what there is."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.screen import AsJson, show, show_json, show_table


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("query", epilog='Example: callwright query "select * from funnel"')(query)
    app.command("publish", epilog="Example: callwright publish")(publish)
    app.command("report", epilog="Example: callwright report --out report.html")(report)


def query(
    sql: Annotated[str, typer.Argument(help="DuckDB SQL; nothing can be changed by it.")], as_json: AsJson = False
) -> None:
    """Run a read-only query on the warehouse; `show tables` lists what there is."""
    from flows.places import open_warehouse

    columns, rows = open_warehouse().query(sql)
    if as_json:
        show_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        show_table(columns, rows)


def publish(as_json: AsJson = False) -> None:
    """Replace the read-only database and the Parquet files that analysts open while builds go on."""
    from flows.places import open_warehouse
    from flows.settings import read_settings
    from warehouse.publish import publish as publish_warehouse

    published = publish_warehouse(open_warehouse(), read_settings().home / "published")
    if as_json:
        show_json(published._asdict())
    else:
        show(f"{published.database}\n{published.parquet}")


def report(
    out: Annotated[
        Path | None, typer.Option(help="The file to write; report.html in the work folder unless given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write an HTML report with plots: funnel, scores, error types, cost. It opens from a file, without a network."""
    from flows.places import open_warehouse
    from flows.report import write_report
    from flows.settings import read_settings

    path = write_report(open_warehouse(), out or read_settings().home / "report.html")
    if as_json:
        show_json({"report": path})
    else:
        show(str(path))
