"""`review listen`: pull as soon as people do something in Label Studio."""

import asyncio
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from flows.cli.screen import AsJson, Screen, show, show_json

if TYPE_CHECKING:
    from annotation.label_studio import LabelStudio
    from flows.review.deciding import Pulled
    from flows.settings import Settings


def listen(
    host: Annotated[str, typer.Option(help="The address of this machine to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.")] = 0,
    url: Annotated[
        str, typer.Option(help="Under which URL Label Studio reaches this; it is told so, with the secret.")
    ] = "",
    remove: Annotated[
        bool, typer.Option("--remove", help="Have Label Studio tell nobody any more, instead of listening.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Listen for Label Studio's webhooks and pull two seconds after people did something; Ctrl-C ends it."""
    from flows.review.listening import announce, withdraw_announcement
    from flows.review.servers import require_label_studio
    from flows.settings import read_settings

    settings = read_settings()
    with Screen() as screen, require_label_studio(settings) as studio:
        if remove:
            removed = withdraw_announcement(studio)
            show_json({"removed": removed}) if as_json else show(f"{removed} webhooks taken away.")
            return
        if url:
            projects = announce(settings, studio, url)
            screen.say(f"{projects} projects of {studio.url} tell {url} of changes from now on.")
        with suppress(KeyboardInterrupt):  # before the handler was set
            asyncio.run(_listen(settings, studio, screen, host=host, port=port, as_json=as_json))
        screen.say("Listening has ended.")


async def _listen(
    settings: "Settings", studio: "LabelStudio", screen: Screen, *, host: str, port: int, as_json: bool
) -> None:
    from flows.review import listening

    def ready(address: str) -> None:
        if as_json:
            _show_line({"address": address})
        else:
            show(f"Listening at {address}; the secret is that of {listening.secret_place(settings)}.")
            sys.stdout.flush()

    def brought(pulled: "Pulled") -> None:
        from flows.cli.pulled import pulled_lines

        if as_json:
            _show_line(pulled._asdict())
            return
        for line in pulled_lines(pulled):
            show(line)
        sys.stdout.flush()

    told = listening.Told(ready, brought)
    task = asyncio.create_task(listening.listen(settings, studio, screen, door=listening.Door(host, port), told=told))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _show_line(value: object) -> None:
    """One line of JSON for each event, at once: whoever reads this reads it as it comes."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()
