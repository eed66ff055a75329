"""Looking at what there is: `view`, `report` and `notebook`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli.screen import Aside, AsJson, Outcome, command, commands, present, say
from callwright.flows.settings import Settings, open_warehouse, read_settings, reading

if TYPE_CHECKING:
    from callwright.warehouse.store import Warehouse

app = commands()


@command(app, "view", "view, or: callwright view --out page --samples 1000")
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
        if out is not None:
            from callwright.flows.pages.site import write_site

            written = write_site(copy, out, samples)
            counts = Aside(f"{written.pages} pages, {written.samples} samples among them.")
            present(Outcome(written, [str(written.first), counts]), as_json=as_json)
            return
        from callwright.flows.pages.serving import PageServer

        server = PageServer(copy, port)
        value = {"address": server.address, "copy": copy.path}
        present(Outcome(value, [server.address, Aside("Ctrl-C ends it.")]), as_json=as_json)
        server.run()


@command(app, "notebook", "notebook figures.ipynb")
def notebook(
    file: Annotated[Path, typer.Argument(help="The notebook to write.")] = Path("callwright.ipynb"),
) -> Outcome:
    """Write a Jupyter notebook that opens the published copy and draws stages, samples, scores, errors, differences and cost."""
    from callwright.flows.pages.notebook import write_notebook

    written = write_notebook(_fresh_copy(read_settings()).path, file)
    return Outcome({"notebook": written}, str(written))


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


@command(app, "report", "report --out report.html")
def report(
    out: Annotated[
        Path | None, typer.Option(help="The file to write; report.html in the work folder unless given.")
    ] = None,
) -> Outcome:
    """Write a summary on one HTML page: funnel, scores with intervals, error types, cost. It opens from a file."""
    from callwright.flows.pages.report import write_report

    with reading() as warehouse:
        path = write_report(warehouse, out or read_settings().home / "report.html")
    return Outcome({"report": path}, str(path))
