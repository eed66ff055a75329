"""Worlds of tasks: `world serve`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from callwright.flows.cli.screen import command, commands, say
from callwright.warehouse.errors import ConfigurationError

app = commands()
world = commands("Worlds of tasks, to be played in.")
app.add_typer(world, name="world")


@command(world, "serve", "world serve v1 --port 8323 --controls")
def serve(
    source: Annotated[
        str, typer.Argument(help="A release with tasks, the folder of an exported environment, or a recipe.")
    ],
    task: Annotated[
        str, typer.Option(help="The key of the task that sessions begin with; the first unless given.")
    ] = "",
    seed: Annotated[
        int | None, typer.Option(min=0, help="The seed of what a recipe's world holds, its own unless given.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve at this port of this machine; over input and output unless given."),
    ] = None,
    controls: Annotated[
        bool, typer.Option("--controls", help="Also serve the tools reset_episode and episode_reward.")
    ] = False,
) -> None:
    """Serve the world of a task over MCP, or of a recipe: each session has a state of its own, which its calls change.

    Over input and output there is one session. At a port the address names it: http://127.0.0.1:PORT/mcp?session=NAME.
    """
    from callwright.flows.api.tasks import load_tasks, world_of_recipe
    from callwright.flows.world_server import WorldSessions, make_server, serve_http, serve_stdio

    path = Path(source)
    if seed is not None and not path.is_file():
        raise ConfigurationError("--seed is of the world of a recipe; a task plays in the one that it was made in.")
    tasks = world_of_recipe(path, seed) if path.is_file() else load_tasks(path if path.is_dir() else source)
    first = tasks.of_key(task) if task else tasks[0]
    server = make_server(WorldSessions(tasks, first, has_controls=controls))
    if port is None:
        asyncio.run(serve_stdio(server))
        return
    what = f"The task {first.key}" if first.sample.changes else f"The world {first.world.name}"
    say(f"{what} is served at http://127.0.0.1:{port}/mcp?session=NAME. Ctrl-C ends it.")
    serve_http(server, port)
