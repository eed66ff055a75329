"""The parts of commands: shared options, output as JSON or text, messages and progress."""

import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from inspect import Parameter
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import orjson
import typer

from callwright.flows.options import Option, spell_out, type_and_option
from callwright.flows.progress import Phase, PhaseCount, Progress, duration
from callwright.flows.settings import read_settings
from callwright.flows.terminal_text import visible, visible_json
from callwright.warehouse.counts import count_of

if TYPE_CHECKING:
    from rich.live import Live as Picture
    from rich.progress import TaskID

AsJson = Annotated[bool, Option(flag="--json", words="Print the result as JSON.")]
RecipeFile = Annotated[Path, Option(words="The recipe, a YAML file.")]
CheckingModel = Annotated[
    str, Option(words="The model that checks and judges. Default: rules only.")
]
Host = Annotated[str, Option(words="The address to listen on.")]
Port = Annotated[int, Option(least=0, most=65535, words="The port to listen on. 0: a free one.")]
OneRelease = Annotated[str, Option(words="The name of a release.")]
_AS_JSON = Parameter("as_json", Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
Result = TypeVar("Result")
_STEPS = 10
_BAR = 24  # columns
_UNBOUND = 200  # columns where there is no terminal
_GAP = 2  # between columns
_FOLDED = 24  # columns that a long text has at least
_LONGEST_WORD = 40  # columns; a longer one is broken


INTERRUPTED = 130  # the exit code after Ctrl-C


class Stopped(SystemExit):
    """Ends a command after Ctrl-C, and prints what that means for its work."""

    def __init__(self, sentence: str) -> None:
        """Print the sentence."""
        super().__init__(INTERRUPTED)
        say(sentence)


@contextmanager
def serving() -> Iterator[None]:
    """Run a server inside; Ctrl-C stops it with a message."""
    try:
        yield
    except KeyboardInterrupt:
        raise Stopped("Server stopped.") from None


class TextTable(NamedTuple):
    """Rows with their column names."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


def table_of(
    rows: Sequence[Any], columns: Sequence[str] = (), heads: Sequence[str] = ()
) -> TextTable:
    """Return the table of rows, or of these `columns` of dicts or records, under `heads`.

    Rows without `columns` are named tuples. Without `heads` the columns' names are the heads.
    """
    if rows and not columns and isinstance(rows[0], dict):
        columns = [*rows[0]]
    if not columns:
        return TextTable(rows[0]._fields if rows else (), rows)
    cells = [
        [row[name] if isinstance(row, dict) else getattr(row, name) for name in columns]
        for row in rows
    ]
    return TextTable(heads or columns, cells)


class Aside(str):
    """A line of text that is not part of the result: it goes to stderr."""

    __slots__ = ()


class CommandResult(NamedTuple):
    """What a command found: a value for JSON, its text, read only if shown, and the exit code."""

    value: object
    text: str | Iterable[str | TextTable]
    code: int = 0


def commands(about: str = "") -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(help=about or None, no_args_is_help=True, rich_markup_mode=None)


def command(
    group: typer.Typer, name: str, example: str, begins: str = ""
) -> Callable[[Callable[..., CommandResult | None]], Callable[..., CommandResult | None]]:
    """Make a function a command of a group, with `--json` besides its own options.

    Its result is shown. A function with a parameter `as_json` may show its result as it comes
    and return None. A command that needs more than a second until its first result announces on
    a terminal that it `begins`.
    """

    def register(
        function: Callable[..., CommandResult | None],
    ) -> Callable[..., CommandResult | None]:
        text, own = spell_out(function)
        takes_json = any(one.name == "as_json" for one in own)
        defaults = {one.name: one.default for one in own}

        def run(*, as_json: bool, **given: object) -> None:
            if begins and sys.stderr.isatty():
                say(f"{begins} …")
            stated = {
                name: defaults[name] if value is None else value for name, value in given.items()
            }
            found = function(**stated, as_json=as_json) if takes_json else function(**stated)
            if found is not None:
                present(found, as_json=as_json)

        options = [*map(_typer_parameter, own if takes_json else [*own, _AS_JSON])]
        run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        run.__annotations__ = {}
        group.command(name, help=text, epilog=f"Example: callwright {example}")(run)
        return function

    return register


def _typer_parameter(one: Parameter) -> Parameter:
    """A parameter as typer reads it: what has to be named is an option, all else an argument."""
    stated, option = type_and_option(one.annotation)
    common: dict[str, Any] = {"help": option.words, "metavar": option.metavar}  # typer's own
    common |= {"min": option.least, "max": option.most}
    flag = f"--{one.name.replace('_', '-')}"
    if one.default is True:
        flag += flag.replace("--", "/--no-", 1)
    is_named = one.kind is one.KEYWORD_ONLY
    read = typer.Option(option.flag or flag, **common) if is_named else typer.Argument(**common)
    default = None if one.default == () else one.default
    return Parameter(
        one.name, one.KEYWORD_ONLY, default=default, annotation=Annotated[_read_as(stated), read]
    )


def _read_as(stated: Any) -> Any:  # noqa: ANN401 - types are values here
    """The type that a command line reads: of several the first, of a sequence a list."""
    first, *others = get_args(stated) if get_origin(stated) in {Union, UnionType} else [stated]
    if get_origin(first) is Sequence:
        return list[get_args(first)[0]] | None  # type: ignore[misc]
    return first | None if NoneType in others else first


def present(found: CommandResult, *, as_json: bool) -> None:
    """Show an outcome, and exit the command if it is no success."""
    if as_json:
        show_json(found.value)
    else:
        show(found.text)
    sys.stdout.flush()  # a server is about to run, or whoever reads this waits for it
    if found.code:
        raise typer.Exit(found.code)


def show(text: str | Iterable[str | TextTable]) -> None:
    """Print a result: lines, with tables among them."""
    for part in [text] if isinstance(text, str) else text:
        if isinstance(part, TextTable):
            show_table(*part)
        else:
            stream = sys.stderr if isinstance(part, Aside) else sys.stdout
            stream.write(visible(part) + "\n")


def say(text: str) -> None:
    """Print one message."""
    sys.stderr.write(visible(text) + "\n")


def show_json(value: object) -> None:
    """Print a result as JSON: records as objects, times and paths as text."""
    sys.stdout.write(_json(value) + "\n")


def _json(value: object, option: int = orjson.OPT_INDENT_2) -> str:
    kept = orjson.dumps(value, default=_plain, option=option | orjson.OPT_NON_STR_KEYS)
    return visible_json(kept.decode())


def _plain(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    return str(value)


def show_event(value: object, text: Iterable[str], *, as_json: bool) -> None:
    """Print an event at once, as one line of JSON or as text, for readers that follow it live."""
    if as_json:
        sys.stdout.write(_json(value, 0) + "\n")
    else:
        show(text)
    sys.stdout.flush()


class JsonList(AbstractContextManager["JsonList"]):
    """Prints a JSON list to stdout as `show_json` does, each item as it comes."""

    def __init__(self) -> None:
        """Print nothing before the first item, or the end."""
        self._is_empty = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            sys.stdout.write("[]\n" if self._is_empty else "\n]\n")

    def add(self, value: object) -> None:
        """Print one more item."""
        sys.stdout.write(
            ("[\n  " if self._is_empty else ",\n  ") + _json(value).replace("\n", "\n  ")
        )
        self._is_empty = False


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, width: int | None = None
) -> None:
    """Print a table with numbers to the right; if too wide, each row becomes a block of lines.

    `width` is the limit in columns, None for the terminal's.
    """
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(width=width or (None if sys.stdout.isatty() else _UNBOUND), highlight=False)
    row_values = [list(row) for row in rows]
    columns = [visible(column) for column in columns]
    texts = [[_cell(value) for value in row] for row in row_values]
    widths = _least_widths(columns, texts)
    if sum(widths) + _GAP * (len(widths) - 1) <= console.width:
        table = RichTable(box=None, pad_edge=False, header_style="bold")
        for place, column in enumerate(columns):
            numeric = bool(row_values) and all(
                isinstance(row[place], (int, float)) or row[place] is None for row in row_values
            )
            table.add_column(
                Text(column),
                justify="right" if numeric else "left",
                overflow="fold",
                min_width=widths[place],
            )
        for line in texts:
            table.add_row(*(Text(text) for text in line))
        console.print(table)
        return
    for number, row in enumerate(texts or [[""] * len(columns)], 1):
        if texts:
            console.print(f"[ {number} ]", style="bold", markup=False)
        block = RichTable(box=None, pad_edge=False, show_header=False)
        block.add_column(style="bold", no_wrap=True)
        block.add_column(overflow="fold")
        for column, text in zip(columns, row, strict=True):
            block.add_row(Text(column), Text(text))
        console.print(block)


def _least_widths(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    """Return each column's least width: names, numbers and keys are not broken, long texts are.

    A long text is broken at its spaces.
    """
    from rich.cells import cell_len

    widths = [cell_len(name) for name in columns]
    for line in texts:
        for place, text in enumerate(line):
            word = max((cell_len(word) for word in text.split()), default=0)
            widths[place] = max(
                widths[place], min(_LONGEST_WORD, word), min(_FOLDED, cell_len(text))
            )
    return widths


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else visible(str(value))


class Terminal(AbstractContextManager["Terminal"]):
    """Sentences and progress on stderr: a live display on a terminal, else a line now and then.

    For work in phases the display has one bar for the whole: samples done of all, the time so
    far, and the time left at the pace of this run. Below it are the current and the coming
    phases, and the models' requests: answers, waiting ones, cost. Other work has a bar for each
    stretch, which leaves a line when it is done.
    """

    def __init__(self) -> None:
        """Draw nothing before the first phase begins."""
        self._picture: Picture | None = None
        self._task: TaskID | None = None
        self._title, self._total, self._done, self._told = "", 0, 0, 0
        self._whole: PhaseCount | None = None
        self._whole_title, self._began, self._done_before = "", 0.0, 0

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._picture is not None:
            self._leave()
            self._picture.stop()
            self._picture = None
        if kind is KeyboardInterrupt:
            problem = "Stopped. Finished work is kept; run the same command again to continue."
            raise Stopped(problem) from None

    @property
    def is_live(self) -> bool:
        """Whether stderr is a terminal."""
        return sys.stderr.isatty()

    def say(self, sentence: str) -> None:
        """Print one event worth a line, above the progress display."""
        if self._picture is not None:
            self._picture.console.print(visible(sentence), highlight=False, markup=False)
        else:
            say(sentence)

    def show(self, state: str) -> None:
        """Show what is running now."""
        if self._picture is not None:
            self._state.plain = visible(state)

    def plan(self, title: str, phases: Sequence[Phase]) -> None:
        """Begin work in phases; if the number of samples is unknown, each stretch has a bar."""
        whole = PhaseCount(phases)
        if not whole.total:
            return
        self._leave()
        self._whole, self._whole_title, self._told = whole, title, 0
        self._began, self._done_before = time.monotonic(), 0
        if self.is_live:
            picture = self._draw()
            self._task = self._bar.add_task(title, total=whole.total, rate="samples")
            self._phase.plain = "preparing" + _to_come(whole)
            picture.refresh()  # how much there is to do is seen at once
        else:
            names = ", ".join(one.title for one in phases)
            say(f"{title}: {count_of(whole.total, 'sample')} to make. Phases: {names}.")

    def begin(self, title: str, total: int) -> None:
        """Report the start of a phase with `total` items."""
        self._title, self._total, self._done = title, total, 0
        if self._whole is not None:
            is_first = not self._whole.number
            self._whole.begin(title, total)
            if is_first:  # what an earlier run has made says nothing about the pace of this one
                self._began, self._done_before = time.monotonic(), self._whole.done
            self._show_whole()
            return
        self._told = 0
        if not self.is_live:
            say(f"{title}: {total} to do")
            return
        self._draw()
        self._leave()
        self._task = self._bar.add_task(visible(title), total=total, rate="")

    def advance(self, count: int) -> None:
        """Report that `count` more items are done."""
        self._done += count
        if self._whole is not None:
            self._whole.advance(count)
            self._show_whole()
            return
        if self._task is not None:
            self._bar.advance(self._task, count)
            self._bar.update(self._task, rate=_rate(self._bar.tasks[0].speed))
            return
        if self._is_worth_a_line(self._done, self._total):
            say(f"{self._title}: {self._done} of {self._total}")

    def _is_worth_a_line(self, done: int, total: int) -> bool:
        """Whether another tenth is done."""
        step = done * _STEPS // max(1, total)
        is_more = step > self._told
        self._told = max(step, self._told)
        return is_more

    def _show_whole(self) -> None:
        whole = self._whole
        if whole is None:
            return
        to_go = self._time_to_go(whole)
        if self._task is not None:
            self._bar.update(self._task, completed=whole.done, rate=f"samples{to_go}")
            stretch = f"{self._title} {self._done} of {self._total}"
            self._phase.plain = stretch + _to_come(whole)
        elif self._is_worth_a_line(whole.done, whole.total):
            at = f"phase {whole.number} of {len(whole.phases)}, {self._title}"
            say(
                f"{self._whole_title}: {whole.done} of {count_of(whole.total, 'sample')}"
                f" ({at}){to_go}"
            )

    def _time_to_go(self, whole: PhaseCount) -> str:
        made, left = whole.done - self._done_before, whole.total - whole.done
        if made <= 0 or left <= 0:
            return ""
        return f", about {duration((time.monotonic() - self._began) / made * left)} to go"

    def _draw(self) -> "Picture":
        """Draw a bar, and two lines below it."""
        if self._picture is not None:
            return self._picture
        from rich import progress
        from rich.console import Console, Group
        from rich.live import Live
        from rich.text import Text

        self._phase, self._state = (
            Text(no_wrap=True, overflow="ellipsis", style="dim") for _ in range(2)
        )
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(_BAR),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeElapsedColumn(),
        )
        console, all_lines = Console(stderr=True), Group(self._bar, self._phase, self._state)
        self._picture = Live(all_lines, console=console, refresh_per_second=4, transient=True)
        self._picture.start()
        return self._picture

    def _leave(self) -> None:
        """Replace the bar by a line."""
        if self._task is None:
            return
        [done] = self._bar.tasks
        self._bar.remove_task(self._task)
        self._task = self._whole = None
        self._phase.plain = self._state.plain = ""
        self.say(
            f"{done.description}: {done.completed:.0f} of {done.total:.0f} in"
            f" {duration(done.elapsed or 0)}"
        )


def run_shown(flow: str, about: str, work: Callable[[Progress], Result]) -> Result:
    """Do some work with its progress on the terminal; Prefect shows it too if a server is set."""
    from callwright.flows.engine.deploying import in_a_run

    with Terminal() as screen:
        return in_a_run(read_settings(), flow, about, work, screen)


def _to_come(whole: PhaseCount) -> str:
    names = ", ".join(one.title for one in whole.to_come)
    return names and f"; then {names}"


def _rate(speed: float | None) -> str:
    if not speed:
        return ""
    if speed >= _STEPS:
        return f"{speed:.0f}/s"
    return f"{speed:.1f}/s" if speed >= 1 else f"{60 * speed:.0f}/min"


def first_lines(
    lines: Iterable[str], most: int, rest: str = "of them; list them all with --json."
) -> Iterator[str]:
    """Yield the first lines, and then how many more there are."""
    found = list(lines)
    yield from found[:most]
    if len(found) > most:
        yield f"… and {len(found) - most} more {rest}"


def share_with_bounds(share: float | None, low: float | None, high: float | None) -> str:
    """Return a share as a percentage, with its bounds."""
    if share is None or low is None or high is None:
        return ""
    return f"{share:.0%} ({low:.0%} to {high:.0%})"
