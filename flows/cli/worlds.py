"""Worlds of tasks: `world serve`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from callwright.flows.cli.screen import command, commands, say

app = commands()
world = commands("Worlds of tasks, to be played in.")
app.add_typer(world, name="world")


@command(world, "serve", "world serve v1 --port 8323 --controls")
def serve(
    source: Annotated[str, typer.Argument(help="A release with tasks, or the folder of an exported environment.")],
    task: Annotated[
        str, typer.Option(help="The key of the task that sessions begin with; the first unless given.")
    ] = "",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Serve at this port of this machine; over input and output unless given."),
    ] = None,
    controls: Annotated[
        bool, typer.Option("--controls", help="Also serve the tools reset_episode and episode_reward.")
    ] = False,
) -> None:
    """Serve the world of a task over MCP: each session has a state of its own, which its calls change.

    Over input and output there is one session. At a port the address names it: http://127.0.0.1:PORT/mcp?session=NAME.
    """
    from callwright.flows.api.tasks import load_tasks
    from callwright.flows.world_server import WorldSessions, make_server, serve_http, serve_stdio

    tasks = load_tasks(Path(source) if Path(source).is_dir() else source)
    first = tasks.of_key(task) if task else tasks[0]
    server = make_server(WorldSessions(tasks, first, has_controls=controls))
    if port is None:
        asyncio.run(serve_stdio(server))
        return
    say(f"The task {first.key} is served at http://127.0.0.1:{port}/mcp?session=NAME. Ctrl-C ends it.")
    serve_http(server, port)
