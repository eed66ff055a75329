"""`demo`: the main job, from a tool catalog to a report."""

import typer

from flows.cli.screen import AsJson, Screen, show, show_json


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("demo", epilog="Example: callwright demo")(demo)
    app.command("stop", epilog="Example: callwright stop")(stop)


def demo(as_json: AsJson = False) -> None:
    """Build the demo dataset through every real part: Prefect, Label Studio, DuckDB, a release, two models, a report."""
    from flows.demo import run_demo
    from flows.settings import read_settings

    with Screen() as screen:
        result = run_demo(read_settings(), screen)
    if as_json:
        show_json(result._asdict())
        return
    for line in result.lines():
        show(line)


def stop(as_json: AsJson = False) -> None:
    """End the local servers that callwright started; their data stay."""
    from flows.demo import stop_servers
    from flows.settings import read_settings

    stopped = stop_servers(read_settings())
    if as_json:
        show_json({"stopped": stopped})
    else:
        show(f"Ended: {', '.join(stopped)}." if stopped else "No server of this work folder was running.")
