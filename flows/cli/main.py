"""The root command, and the one place where errors become exit codes."""

import signal
import sys
from pathlib import Path
from threading import Timer, main_thread
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.flows.cli import (
    agents,
    building,
    checking,
    evaluating,
    releasing,
    reviewing,
    tooling,
    viewing,
)
from callwright.flows.cli.screen import INTERRUPTED, Stopped, say, show
from callwright.flows.settings import quiet_vendors, read_settings, silence_teardown
from callwright.warehouse.errors import CallwrightError, ConfigurationError, store_error_of

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

DONE, COULD_NOT, ASKED_WRONGLY = 0, 1, 2
AGAIN_AFTER = 0.05  # seconds
# Plain help instead of rich's: it starts three times as fast.
app = typer.Typer(
    name="callwright",
    epilog="Start with: callwright init mine, then: callwright build mine/recipe.yaml --preview 5",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        show(f"callwright {version('callwright')}")
        raise typer.Exit


@app.callback()
def start(
    asked: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Build, check, review, release and evaluate function-calling datasets."""
    if asked.invoked_subcommand is None:
        from callwright.flows.next_step import next_step

        step = next_step(Path.cwd(), read_settings())
        show(
            f"{step.found}\nNext: {step.command}\n      ({step.purpose})\nAll commands: callwright"
            " --help"
        )


for module in (building, tooling, checking, reviewing, releasing, evaluating, viewing, agents):
    app.add_typer(module.app)


def main() -> None:
    """Run the command line; known errors become one sentence and an exit code."""
    silence_teardown()
    quiet_vendors()
    _end_by_signals()
    try:
        app(prog_name="callwright")
    except ConfigurationError as error:
        _end(error, ASKED_WRONGLY)
    except CallwrightError as error:
        _end(error, COULD_NOT)
    except OSError as error:
        if (unwritable := store_error_of(error)) is None:
            raise
        _end(unwritable, COULD_NOT)
    except (Exception, KeyboardInterrupt) as error:
        if not _was_interrupted(error):
            raise
        say("Stopped.")
        sys.exit(INTERRUPTED)
    except SystemExit as end:  # also typer's own answer to Ctrl-C, which says nothing
        if end.code == INTERRUPTED and not isinstance(end, Stopped):
            sys.stderr.write("Stopped.\n")
        raise


def _was_interrupted(error: BaseException) -> bool:
    """Whether Ctrl-C is what an error comes of.

    It can meet a class while it is made, which Python tells as a RuntimeError, DuckDB as it works
    ("Query interrupted"), or a module that DuckDB imports: then it is an error that tells it.
    """
    within: BaseException | None = error
    while within is not None:
        told = any(one in str(within) for one in ("KeyboardInterrupt", "Query interrupted"))
        if told or isinstance(within, KeyboardInterrupt):
            return True
        within = within.__cause__ or within.__context__
    return False


def _end_by_signals() -> None:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does, unless they are ignored (nohup)."""
    sys.unraisablehook = _stop_again
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: object) -> None:
    # as shells leave it in what scripts start with `&`
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _stop_again(lost: "UnraisableHookArgs") -> None:
    """Ask the main thread again to stop where the first Ctrl-C met code that can't raise.

    Callbacks of compiled modules and finalizers report what is raised in them and go on.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    # a signal, since that also wakes who waits
    again = Timer(AGAIN_AFTER, signal.pthread_kill, (main_thread().ident, signal.SIGINT))
    again.daemon = True
    again.start()


def _end(error: CallwrightError, code: int) -> None:
    say(f"callwright: {error}")
    sys.exit(code)
