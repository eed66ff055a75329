"""`review`: Label Studio and what people decide in it."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli.screen import AsJson, Screen, say, show, show_json, show_table

if TYPE_CHECKING:
    from flows.deciding import Pulled


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    review = typer.Typer(help="Ask people, and take their answers back.", no_args_is_help=True, rich_markup_mode=None)
    review.command("serve", epilog="Example: callwright review serve")(serve)
    review.command("stop", epilog="Example: callwright review stop")(stop)
    review.command("push", epilog="Example: callwright review push")(push)
    review.command("pull", epilog="Example: callwright review pull")(pull)
    review.command("status", epilog="Example: callwright review status --json")(status)
    app.add_typer(review, name="review")


def serve(as_json: AsJson = False) -> None:
    """Start a local Label Studio in the background (its own environment, SQLite), or find the one that runs."""
    from flows.reviewing import serve_label_studio
    from flows.settings import read_settings

    server = serve_label_studio(read_settings(), say)
    if as_json:
        show_json({"url": server.url, "username": server.username, "password": server.password, "pid": server.pid})
        return
    show(
        f"Label Studio: {server.url}\nuser: {server.username}\npassword: {server.password}\nTo end it: callwright review stop"
    )


def stop(as_json: AsJson = False) -> None:
    """End the local Label Studio; its data stay."""
    from flows.reviewing import stop_label_studio
    from flows.settings import read_settings

    stopped = stop_label_studio(read_settings())
    if as_json:
        show_json({"stopped": stopped})
    else:
        show("Label Studio has ended." if stopped else "No Label Studio of this work folder was running.")


def push(
    again: Annotated[
        bool, typer.Option("--again", help="Push also what was pushed before and nobody has decided: for a new server.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Push what waits for people; what is there already is not pushed again."""
    from flows.reviewing import push_reviews, require_label_studio
    from flows.settings import read_settings

    settings = read_settings()
    with Screen() as screen, require_label_studio(settings) as studio:
        result = push_reviews(settings, studio, screen, again=again)
    if as_json:
        show_json(result._asdict())
    elif result.created or result.already_there:
        there = f", {result.already_there} were there already" if result.already_there else ""
        show(f"{result.created} tasks pushed{there}: {result.url}")
    else:
        show(f"Nothing waits to be pushed. What people have still to do is at {result.url}")


def pull(as_json: AsJson = False) -> None:
    """Take back what people decided; edited samples run through the checks again before they land."""
    from flows.deciding import pull_reviews
    from flows.reviewing import require_label_studio
    from flows.settings import read_settings

    settings = read_settings()
    with Screen() as screen, require_label_studio(settings) as studio:
        result = asyncio.run(pull_reviews(settings, studio, screen))
    if as_json:
        show_json(result._asdict())
        return
    for line in _pulled_lines(result):
        show(line)


def _pulled_lines(result: "Pulled") -> Iterator[str]:
    if result.reviews:
        yield (
            f"{result.reviews} new reviews: {result.accepted} accepted, {result.edited} edited, "
            f"{result.rejected} rejected."
        )
    else:
        yield "No new reviews."
    if result.returned:
        yield f"{result.returned} went back to people as new tasks: what was typed can't be used, and the task says why."
    if result.contradicted:
        yield f"{result.contradicted} edited samples went back to people: a check contradicts them."
    if result.elsewhere:
        yield f"{result.elsewhere} annotations are of samples that another work folder pushed; they are left to it."
    yield from result.problems


def status(
    refresh: Annotated[bool, typer.Option("--server", help="Also ask Label Studio.")] = False, as_json: AsJson = False
) -> None:
    """Say how many samples wait, were pushed and were reviewed, and by whom."""
    from flows.reviewing import review_status
    from flows.settings import read_settings

    rows = review_status(read_settings(), ask_server=refresh)
    if as_json:
        show_json(rows)
        return
    if not any(rows.values()):
        show("Nobody has been asked about anything yet.")
    for title, table in rows.items():
        if table:
            show(f"{title.replace('_', ' ')}:")
            columns = list(table[0])
            show_table(columns, [[row[column] for column in columns] for row in table])
