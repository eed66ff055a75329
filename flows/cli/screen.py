"""What the terminal shows: results, tables, messages and progress."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any, Self

import orjson
import typer

if TYPE_CHECKING:
    from rich.progress import Progress as ProgressBar
    from rich.progress import TaskID
    from rich.table import Table

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Live = Annotated[
    bool, typer.Option("--live", help="While a build is under way: its present state, not what was published last.")
]
_STEPS = 10
_UNBOUND = 200  # columns where there is no terminal
_GAP = 2  # between columns
_FOLDED = 24  # columns that a long text has at least
_LONGEST_WORD = 40  # columns; a longer one is broken


def show_json(value: object) -> None:
    """Print a result as JSON; moments and paths as text."""
    sys.stdout.write(orjson.dumps(value, default=_plain, option=orjson.OPT_INDENT_2).decode() + "\n")


class JsonList(AbstractContextManager["JsonList"]):
    """A JSON list on stdout as `show_json` prints it, its items printed as they come."""

    def __init__(self) -> None:
        """Nothing is printed before the first item, or the end."""
        self._is_empty = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            sys.stdout.write("[]\n" if self._is_empty else "\n]\n")

    def add(self, value: object) -> None:
        """Print one more item."""
        text = orjson.dumps(value, default=_plain, option=orjson.OPT_INDENT_2).decode()
        sys.stdout.write(("[\n  " if self._is_empty else ",\n  ") + text.replace("\n", "\n  "))
        self._is_empty = False


def _plain(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()
    return str(value)


def present(value: object, *lines: str, as_json: bool) -> None:
    """Print a result: as JSON where that was asked for, else as these lines."""
    if as_json:
        show_json(value)
    else:
        for line in lines:
            show(line)


def show(text: str) -> None:
    """Print a line of a result."""
    sys.stdout.write(text + "\n")


def say(text: str) -> None:
    """Print one message."""
    sys.stderr.write(text + "\n")


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, width: int | None = None) -> None:
    """Print a table, numbers set to the right; where it is too wide for `width` (the terminal's), each row is a block of lines."""
    from rich.console import Console

    console = Console(width=width or (None if sys.stdout.isatty() else _UNBOUND), highlight=False)
    kept = [list(row) for row in rows]
    texts = [[_cell(value) for value in row] for row in kept]
    widths = _least_widths(columns, texts)
    if sum(widths) + _GAP * (len(widths) - 1) <= console.width:
        console.print(_table(columns, kept, texts, widths))
        return
    if not texts:
        console.print(_block(columns, [""] * len(columns)))
    for number, row in enumerate(texts, 1):
        console.print(f"[ {number} ]", style="bold", markup=False)
        console.print(_block(columns, row))


def _least_widths(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column has to be: names, numbers and keys are never broken, a long text may be, at its spaces."""
    from rich.cells import cell_len

    widths = [cell_len(name) for name in columns]
    for line in texts:
        for place, text in enumerate(line):
            word = max((cell_len(word) for word in text.split()), default=0)
            widths[place] = max(widths[place], min(_LONGEST_WORD, word), min(_FOLDED, cell_len(text)))
    return widths


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], texts: Sequence[Sequence[str]], widths: Sequence[int]
) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[place], (int, float)) or row[place] is None for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold", min_width=widths[place])
    for line in texts:
        table.add_row(*(Text(text) for text in line))
    return table


def _block(columns: Sequence[str], texts: Sequence[str]) -> "Table":
    """One row as lines of names and values."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for column, text in zip(columns, texts, strict=True):
        table.add_row(column, Text(text))
    return table


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


class Terminal(AbstractContextManager["Terminal"]):
    """Sentences and progress on stderr: a live bar on a terminal, a line every tenth without one."""

    def __init__(self) -> None:
        """Nothing is drawn before the first stretch begins."""
        self._bar: ProgressBar | None = None
        self._task: TaskID | None = None
        self._title, self._total, self._done, self._details = "", 0, 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        if self._bar is not None:
            self._bar.console.print(sentence, highlight=False, markup=False)
        else:
            say(sentence)

    def begin(self, title: str, total: int) -> None:
        """A stretch of work with `total` items begins."""
        self._title, self._total, self._done, self._details = title, total, 0, 0
        if not sys.stderr.isatty():
            say(f"{title}: {total} to do")
            return
        if self._bar is None:
            self._bar = _progress_bar()
            self._bar.start()
        self._task = self._bar.add_task(title, total=total)

    def advance(self, count: int) -> None:
        """So many more items are done."""
        self._done += count
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task, count)
            return
        step = self._done * _STEPS // max(1, self._total)
        if step > self._details:
            self._details = step
            say(f"{self._title}: {self._done} of {self._total}")


def _progress_bar() -> "ProgressBar":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as ProgressBar,
    )

    return ProgressBar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def share_with_bounds(share: float | None, low: float | None, high: float | None) -> str:
    """A share as percent, with the bounds between which it lies."""
    if share is None or low is None or high is None:
        return ""
    return f"{share:.0%} ({low:.0%} to {high:.0%})"
