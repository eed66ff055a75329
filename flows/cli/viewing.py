"""Looking at what there is: `view`, `report` and `notebook`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import AsJson, present, say
from callwright.flows.settings import Settings, open_warehouse, read_settings, reading

if TYPE_CHECKING:
    from callwright.warehouse.store import Warehouse


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("view", epilog="Example: callwright view, or: callwright view --out page --samples 1000")(view)
    app.command("report", epilog="Example: callwright report --out report.html")(report)
    app.command("notebook", epilog="Example: callwright notebook figures.ipynb")(notebook)


def view(
    out: Annotated[
        Path | None, typer.Option(help="Write the page as files to this folder, to send around, and serve nothing.")
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=4000, help="With --out: so many samples, spread over kinds.")
    ] = 500,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of this machine to answer at; 0 takes a free one.")
    ] = 8321,
    as_json: AsJson = False,
) -> None:
    """Show samples, evaluations and builds as a web page, from a published copy: no build waits for it.

    It answers on this machine only, until Ctrl-C. The copy is made anew where the warehouse has changed since.
    """
    with _readable_copy(read_settings()) as copy:
        if out is None:
            _serve(copy, port, as_json=as_json)
            return
        from callwright.flows.pages.files import write_site

        written = write_site(copy, out, samples)
    present(written, str(written.first), as_json=as_json)
    if not as_json:
        say(f"{written.pages} pages, {written.samples} samples among them.")


def _serve(copy: "Warehouse", port: int, *, as_json: bool) -> None:
    from callwright.flows.pages.serving import PageServer

    server = PageServer(copy, port)
    present({"address": server.address, "copy": copy.path}, server.address, as_json=as_json)
    if not as_json:
        say("Ctrl-C ends it.")
    server.run()


def notebook(
    file: Annotated[Path, typer.Argument(help="The notebook to write.")] = Path("callwright.ipynb"),
    as_json: AsJson = False,
) -> None:
    """Write a Jupyter notebook that opens the published copy and draws stages, samples, scores, errors, differences and cost."""
    from callwright.flows.pages.notebook import write_notebook

    written = write_notebook(_fresh_copy(read_settings()).path, file)
    present({"notebook": str(written)}, str(written), as_json=as_json)


def _fresh_copy(settings: Settings) -> "Warehouse":
    """The published copy, made anew where the warehouse has changed since; during a build, what was published last."""
    from callwright.warehouse.publish import is_build_under_way, published_copy

    may_be_older = is_build_under_way(settings.home)
    warehouse = open_warehouse(settings)
    return warehouse.beside(published_copy(warehouse, settings.published, may_be_older=may_be_older))


@contextmanager
def _readable_copy(settings: Settings) -> Iterator["Warehouse"]:
    """The same; where nothing can be published, one that goes at the end."""
    from callwright.warehouse.errors import StoreError

    with TemporaryDirectory(prefix="callwright-") as folder:
        try:
            copy = _fresh_copy(settings)
        except StoreError as error:
            warehouse = open_warehouse(settings)
            copy = warehouse.beside(Path(folder) / "warehouse.duckdb")
            try:
                warehouse.copy_to(copy.path)
            except OSError:
                raise error from None
            say(f"{error} What is shown is a copy that goes at the end.")
        yield copy


def report(
    out: Annotated[
        Path | None, typer.Option(help="The file to write; report.html in the work folder unless given.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a summary on one HTML page: funnel, scores with intervals, error types, cost. It opens from a file."""
    from callwright.flows.pages.report import write_report

    with reading() as warehouse:
        path = write_report(warehouse, out or read_settings().home / "report.html")
    present({"report": path}, str(path), as_json=as_json)
