"""`review`: Label Studio and what people decide in it."""

import asyncio
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from callwright.flows.cli.review_status import agreement, recheck, status, suspects
from callwright.flows.cli.screen import AsJson, Terminal, present, say, show, show_json, show_table
from callwright.flows.settings import Settings, open_warehouse, read_settings

if TYPE_CHECKING:
    from callwright.annotation.studio.client import LabelStudio
    from callwright.flows.review.pulling import Pulled
    from callwright.flows.review.training import TrainingAnswer


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    review = typer.Typer(help="Ask people, and take their answers back.", no_args_is_help=True, rich_markup_mode=None)
    review.command("serve", epilog="Example: callwright review serve")(serve)
    review.command("stop", epilog="Example: callwright review stop")(stop)
    review.command("push", epilog="Example: callwright review push")(push)
    review.command("pull", epilog="Example: callwright review pull")(pull)
    review.command(
        "listen", epilog="Example: callwright review listen --url http://192.0.2.7:8123/ --host 0.0.0.0 --port 8123"
    )(listen)
    review.command("edit", epilog="Example: callwright review edit")(edit)
    review.command("audit", epilog="Example: callwright review audit v1 --draw 100")(audit)
    review.command("training", epilog="Example: callwright review training --items 10")(training)
    review.command("recheck", epilog="Example: callwright review recheck v1 --draw 100")(recheck)
    review.command("agreement", epilog="Example: callwright review agreement")(agreement)
    review.command("suspects", epilog="Example: callwright review suspects v1")(suspects)
    review.command("status", epilog="Example: callwright review status --json")(status)
    app.add_typer(review, name="review")


def serve(
    host: Annotated[
        str,
        typer.Option(help="The address of this machine to listen at; 0.0.0.0 for every one, so that others reach it."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes the last one, or a free one.")] = 0,
    url: Annotated[
        str, typer.Option(help="Under which address people reach it, where a proxy with TLS stands before.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Start a local Label Studio in the background (its own environment, SQLite), or find the one that runs."""
    from callwright.annotation.studio.server import StudioAddress
    from callwright.flows.review.servers import serve_label_studio

    server = serve_label_studio(read_settings(), say, StudioAddress(host, port, url))
    if host not in {"127.0.0.1", "localhost"}:
        say(
            f"Warning: whoever reaches {host} reaches the sign-in page, and passwords and answers cross the network as they are. "
            "Let a proxy with TLS stand before it (docs/reviewing.md)."
        )
    present(
        {"url": server.url, "username": server.username, "password": server.password, "pid": server.pid},
        f"Label Studio: {server.url}\nuser: {server.username}\npassword: {server.password}\nTo end it: callwright review stop",
        as_json=as_json,
    )


def stop(as_json: AsJson = False) -> None:
    """End the local Label Studio; its data stay."""
    from callwright.flows.review.servers import stop_label_studio

    stopped = stop_label_studio(read_settings())
    words = "Label Studio has ended." if stopped else "No Label Studio of this work folder was running."
    present({"stopped": stopped}, words, as_json=as_json)


def push(
    again: Annotated[
        bool, typer.Option("--again", help="Push also what was pushed before and nobody has decided: for a new server.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Push what waits for people; what is there already is not pushed again."""
    from callwright.flows.review.pushing import push_reviews
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()
    with Terminal() as screen, require_label_studio(settings) as studio:
        result = push_reviews(settings, studio, screen, again=again)
    there = f", {result.already_there} were there already" if result.already_there else ""
    words = f"{result.created} tasks pushed{there}: {result.url}"
    if not (result.created or there):
        words = f"Nothing waits to be pushed. What people have still to do is at {result.url}"
    present(result, words, as_json=as_json)


def pull(
    every: Annotated[
        float, typer.Option(min=0, help="Pull again every so many seconds, until Ctrl-C; 0: once. See also `deploy`.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Take back what people decided; edited samples run through the checks again before they land."""
    from callwright.flows.review.listening import interrupts, poll_reviews
    from callwright.flows.review.pulling import pull_reviews
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()

    def tell(result: "Pulled") -> None:
        present(result, *pulled_lines(result), as_json=as_json)

    if every:
        with Terminal() as screen, suppress(KeyboardInterrupt), interrupts():
            poll_reviews(settings, screen, every, tell)
        return
    with Terminal() as screen, require_label_studio(settings) as studio:
        result = asyncio.run(pull_reviews(settings, studio, screen))
    tell(result)


def training(
    items: Annotated[int, typer.Option(min=1, help="So many items are pushed, those that are there among them.")] = 10,
    results: Annotated[bool, typer.Option("--results", help="Tell how people did, instead of pushing.")] = False,
    reviewer: Annotated[
        str, typer.Option(help="Only what this person answered, by e-mail address; with --results.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Push items with known answers for people who are new, to a project of their own; --results tells of each what was right.

    Half of the items are as they should be, half have a defect. Everybody answers each once; `review pull` takes the answers
    back. They count in no figure about reviewers.
    """
    from callwright.flows.review.servers import require_label_studio
    from callwright.flows.review.training import push_training, training_answers

    settings = read_settings()
    if results:
        found = training_answers(open_warehouse(settings), reviewer)
        present(found, *training_lines(found), as_json=as_json)
        return
    with Terminal() as screen, require_label_studio(settings) as studio:
        pushed = push_training(settings, studio, screen, items)
    words = f"{pushed.created} training items pushed, {pushed.already_there} were there already: {pushed.url}"
    present(pushed, words, as_json=as_json)


def training_lines(found: "Sequence[TrainingAnswer]") -> Iterator[str]:
    """What each person got right, and of each item what was."""
    if not found:
        yield "Nobody has answered a training item yet, as far as was pulled."
    for person in dict.fromkeys(one.reviewer for one in found):
        mine = [one for one in found if one.reviewer == person]
        yield f"{person}: {sum(one.is_right for one in mine)} of {len(mine)} right."
        for one in mine:
            defect = one.defect.replace("_", " ")
            was = f"made wrong ({defect}); right is {one.right}" if defect else "as it should be"
            yield f"  {'right' if one.is_right else 'WRONG'}  {one.decision}  {one.request}\n         It was {was}."


def audit(
    release: Annotated[str, typer.Argument(help="The release whose answers are audited.")],
    model: Annotated[
        list[str] | None, typer.Option(help="Only answers of this candidate, by its label; may be given again.")
    ] = None,
    draw: Annotated[
        int, typer.Option(min=1, help="So many answers are drawn in all; those drawn before count, and stay drawn.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Draw answers of candidates, so that people say whether the metric is right about them; `review push` asks.

    Of each error type, and of the answers counted right, as many are drawn as of any other, as far as there are; within a
    type as many of each model, at different snapshots first. Which ones is the same wherever the answers are the same. So rare
    mistakes are audited too: the view metric_audit has the share for each type, and how many answers it stands for. Runs over
    multi-step samples are not drawn.
    """
    from callwright.flows.review.prediction_audits import draw_audits

    drawn = draw_audits(release, read_settings(), model or [], draw)
    if as_json:
        show_json(drawn)
        return
    show(f"{drawn.drawn} of {drawn.answers} answers to {release} are drawn, {drawn.new} of them now.")
    show_table(
        ("what the metric says", "drawn"),
        [(error or "right", count) for error, count in sorted(drawn.by_error_type.items())],
    )
    if drawn.new:
        show("`callwright review push` asks people about them.")


def edit(
    host: Annotated[str, typer.Option(help="The address of this machine to answer at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to answer at; 0 takes a free one.")] = 8322,
    url: Annotated[
        str,
        typer.Option(
            help="Under which URL reviewers reach this, where it is another; its host name is Label Studio's."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Serve the page on which samples are edited by form, and link to it from each task, until Ctrl-C.

    Edits are submitted to Label Studio by the session that a reviewer's browser has there, under their own name.
    """
    from callwright.flows.review.editing import served_edit_page
    from callwright.flows.review.listening import interrupts
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()
    with (
        suppress(KeyboardInterrupt),
        interrupts(),
        require_label_studio(settings) as studio,
        served_edit_page(settings, studio, host=host, port=port, url=url) as server,
    ):
        if as_json:
            _show_line({"address": server.address, "label_studio": studio.url})
        else:
            show(server.address)
            say(f"Each task of the samples at {studio.url} links to it. Ctrl-C ends it.")
            sys.stdout.flush()
        server.run()


def listen(
    host: Annotated[str, typer.Option(help="The address of this machine to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.")] = 0,
    url: Annotated[
        str, typer.Option(help="Under which URL Label Studio reaches this; it is registered there, with the secret.")
    ] = "",
    remove: Annotated[bool, typer.Option("--remove", help="Take the webhooks away, instead of listening.")] = False,
    as_json: AsJson = False,
) -> None:
    """Listen for Label Studio's webhooks and pull two seconds after people did something; Ctrl-C ends it."""
    from callwright.flows.review.listening import register_webhooks, remove_webhooks
    from callwright.flows.review.servers import require_label_studio

    settings = read_settings()
    with Terminal() as screen, require_label_studio(settings) as studio:
        if remove:
            removed = remove_webhooks(studio)
            present({"removed": removed}, f"{removed} webhooks taken away.", as_json=as_json)
            return
        if url:
            projects = register_webhooks(settings, studio, url)
            screen.say(f"{projects} projects of {studio.url} tell {url} of changes from now on.")
        with suppress(KeyboardInterrupt):  # before the handler was set
            asyncio.run(_listen(settings, studio, screen, host=host, port=port, as_json=as_json))
        screen.say("Listening has ended.")


async def _listen(
    settings: Settings, studio: "LabelStudio", screen: Terminal, *, host: str, port: int, as_json: bool
) -> None:
    from callwright.flows.review import listening

    def ready(address: str) -> None:
        if as_json:
            _show_line({"address": address})
        else:
            show(f"Listening at {address}; the secret is that of {listening.secret_place(settings)}.")
            sys.stdout.flush()

    def brought(pulled: "Pulled") -> None:

        if as_json:
            _show_line(pulled._asdict())
            return
        for line in pulled_lines(pulled):
            show(line)
        sys.stdout.flush()

    callbacks = listening.Callbacks(ready, brought)
    address = listening.ListeningAddress(host, port)
    task = asyncio.create_task(listening.listen(settings, studio, screen, address=address, callbacks=callbacks))
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _show_line(value: object) -> None:
    """One line of JSON for each event, at once: whoever reads this reads it as it comes."""
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()


def pulled_lines(result: "Pulled") -> Iterator[str]:
    """What a pull brought, in sentences."""
    if result.reviews:
        yield (
            f"{result.reviews} new reviews: {result.accepted} accepted, {result.edited} edited, "
            f"{result.rejected} rejected."
        )
    else:
        yield "No new reviews."
    for name, sentence in _ALSO_PULLED.items():
        if count := getattr(result, name):
            yield f"{count} {sentence}"
    yield from result.problems


_ALSO_PULLED = {
    "resumed": "edits were checked that an earlier pull had brought and, being cut off, had left.",
    "returned": "went back to people as new tasks: what was typed can't be used, and the task says why.",
    "contradicted": "edited samples wait for a second person: a check contradicts them, or none can decide.",
    "withdrawn": "earlier reviews count no more: their annotations were deleted, skipped or changed by others.",
    "deleted": "tasks were deleted; those that nobody had decided are pushed again.",
    "elsewhere": "annotations are of samples that another work folder pushed; they are left to it.",
}
