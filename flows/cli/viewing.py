"""Look at data with `view`, `report` and `notebook`, and serve worlds of tasks: `world serve`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from callwright.flows.cli.screen import (
    Aside,
    AsJson,
    CommandResult,
    Port,
    command,
    commands,
    present,
    say,
    serving,
)
from callwright.flows.loops import run_loop
from callwright.flows.options import Option
from callwright.flows.settings import Settings, open_warehouse, read_settings, reading

if TYPE_CHECKING:
    from callwright.warehouse.store import Warehouse


from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError

app = commands()
world = commands("Serve the worlds of tasks to agents.")
app.add_typer(world, name="world")


@command(
    app, "view", "view, or: callwright view --out page --samples 1000", begins="Preparing the page"
)
def view(
    *,
    out: Path | None = None,
    samples: Annotated[int, Option(least=1, most=4000)] = 500,
    port: Port = 8321,
    as_json: AsJson = False,
) -> None:
    """Show samples, evaluations and builds as a local web page.

    The page is reachable from this machine only. Ctrl-C stops the server. It shows a published
    copy, which is refreshed if the warehouse has changed since; builds can continue meanwhile.

    Args:
        out: Write the pages as files to this folder instead of serving them.
        samples: With --out, the number of samples, spread over the kinds.
    """
    with _readable_copy(read_settings()) as copy:
        if out is not None:
            from callwright.flows.pages.site import write_site

            written = write_site(copy, out, samples)
            counts = Aside(
                f"{count_of(written.pages, 'page')} written, with"
                f" {count_of(written.samples, 'sample')}."
            )
            present(CommandResult(written, [str(written.first), counts]), as_json=as_json)
            return
        from callwright.flows.pages.serving import AppServer, page_app

        server = AppServer(page_app(copy), port)
        value = {"address": server.address, "copy": copy.path}
        present(
            CommandResult(value, [server.address, Aside("Stop the server with Ctrl-C.")]),
            as_json=as_json,
        )
        with serving():
            server.run()


@command(app, "notebook", "notebook figures.ipynb")
def notebook(file: Path = Path("callwright.ipynb")) -> CommandResult:
    """Write a Jupyter notebook with plots.

    It plots stages, samples, scores, errors, differences and cost.

    Args:
        file: The file to write.
    """
    from callwright.flows.pages.notebook import write_notebook

    written = write_notebook(_fresh_copy(read_settings()).path, file)
    return CommandResult({"notebook": written}, str(written))


def _fresh_copy(settings: Settings) -> "Warehouse":
    """Return the published copy, renewed if the warehouse has changed.

    During a build it is the copy that was published last.
    """
    from callwright.warehouse.publish import is_build_under_way, published_copy

    may_be_older = is_build_under_way(settings.home)
    warehouse = open_warehouse(settings)
    return warehouse.beside(
        published_copy(warehouse, settings.published, may_be_older=may_be_older)
    )


@contextmanager
def _readable_copy(settings: Settings) -> Iterator["Warehouse"]:
    """Yield the published copy; if nothing can be published, a temporary one."""
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
            say(f"{error} A temporary copy is shown instead.")
        yield copy


@command(app, "report", "report --out report.html", begins="Preparing the report")
def report(*, out: Path | None = None) -> CommandResult:
    """Write a summary as one HTML file.

    It shows the funnel, scores with intervals, error types and cost.

    Args:
        out: The file to write. Default: report.html in the work folder.
    """
    from callwright.flows.pages.report import write_report

    with reading() as warehouse:
        path = write_report(warehouse, out or read_settings().home / "report.html")
    return CommandResult({"report": path}, str(path))


@command(world, "serve", "world serve v1 --port 8323 --controls")
def serve(
    source: str,
    *,
    task: str = "",
    seed: Annotated[int | None, Option(least=0)] = None,
    port: Annotated[int | None, Option(least=1, most=65535)] = None,
    controls: bool = False,
) -> None:
    """Serve the world of a task or a recipe over MCP.

    Each session has a state of its own, which its calls change.

    Over stdin and stdout there is one session. With --port, the address names the session:
    http://127.0.0.1:PORT/mcp?session=NAME.

    Args:
        source: A release with tasks, the folder of an exported environment, or a recipe file.
        task: The key of the task that sessions begin with. Default: the first task.
        seed: The seed of the contents of a recipe's world. Default: the seed of the recipe.
        port: Listen on this port of this machine. Default: stdin and stdout.
        controls: Also serve the tools reset_episode and episode_reward.
    """
    from callwright.flows.api.tasks import load_tasks, world_of_recipe
    from callwright.flows.world_server import WorldSessions, make_server, serve_http, serve_stdio

    path = Path(source)
    if seed is not None and not path.is_file():
        problem = "--seed works with a recipe only. A task has the world that it was made in."
        raise ConfigurationError(problem)
    if path.is_file():
        tasks = world_of_recipe(path, seed)
    else:
        tasks = load_tasks(path if path.is_dir() else source)
    first = tasks.of_key(task) if task else tasks[0]
    server = make_server(WorldSessions(tasks, first, has_controls=controls))
    if port is None:
        run_loop(serve_stdio(server))
        return
    what = f"The task {first.key}" if first.sample.changes else f"The world {first.world.name}"
    say(
        f"{what} is served at http://127.0.0.1:{port}/mcp?session=NAME. Stop the server with"
        " Ctrl-C."
    )
    with serving():
        serve_http(server, port)
