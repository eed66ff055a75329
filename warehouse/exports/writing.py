"""What an export format is, and shared writing code: a part per split, whose files grow by row.

Samples come one by one and leave what a format makes of each; nothing else of them is kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Self
from uuid import NAMESPACE_URL, uuid5

import orjson
from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, Paper, Release, Sample, Tool, Turn, UserTurn
from callwright.warehouse.releases import ReleaseStream
from callwright.warehouse.shown_tools import as_shown
from callwright.warehouse.wire_names import WireNames, wire_names
from callwright.warehouse.wire_schemas import wire_schema

TEST = "test"
_SPLITS = ("train", "validation", TEST)  # in this order, others behind them
_OPEN_AT_ONCE = 64  # files; a format may have one a category
Row = Mapping[str, Any]
Write = Callable[[Sample], int]


class LeftOutRow(NamedTuple):
    """A row that a format has no place for: the kind of its sample, and why."""

    kind: str
    reason: str


Layout = Literal["lines", "json", "opaque"]


class WrittenRow(NamedTuple):
    """A row that was written of a sample, as JSON: the file's path in the export, and its number.

    A file has rows as lines, or is `json` as a whole: an array, or one row. One that is `opaque`,
    such as Parquet, has rows that JSON readers can't read.
    """

    file: str
    row: int
    layout: Layout
    text: bytes


class ReleaseSplit:
    """One split of a release being written: numbers of samples and rows, and what has no place.

    The split is "" if the release has none. The canary marks test samples.
    """

    def __init__(self, source: ReleaseStream, split: str, form: "Format", folder: Path) -> None:
        """Begin with an empty part of a split.

        A format of many files has a folder per split below `folder`, any other a file per split
        in it.
        """
        self.source, self.split = source, split
        self.canary = canary(source.release) if split == TEST else ""
        self.samples = self.rows = 0
        self.left_out: Counter[LeftOutRow] = Counter()
        self.lines: Counter[str] = Counter()  # of each file
        self.written: list[WrittenRow] = []  # of the sample that was taken last
        # what a format counts for the files about all parts, by heading and value
        self.counted: Counter[tuple[str, str | int]] = Counter()
        self.certified: Counter[str] = Counter()  # what the certificate counts of this part
        self.at_end: list[Callable[[], object]] = []
        # those of the whole release, where a format writes names of the wire
        self.names: WireNames | None = None
        self.is_mended = False  # whether schemas are written as models' interfaces take them
        self._root = folder
        self._folder = folder / split if form.has_folders else folder
        self._arrays: set[str] = set()
        self._noted: Counter[str] = Counter()  # rows of each file
        self._open: dict[str, BinaryIO] = {}
        self._write = form.begin(self)

    @property
    def stem(self) -> str:
        """The file name of this part: the split, or the release."""
        return self.split or self.source.release.name

    @property
    def mark(self) -> dict[str, str]:
        """The canary as a field of a row, empty in other splits, which need the same fields."""
        return {"canary": self.canary}

    @property
    def mark_of_tests(self) -> dict[str, str]:
        """The canary as a field for rows that have no such field elsewhere."""
        return self.mark if self.canary else {}

    @property
    def files(self) -> list[Path]:
        """The files of this part, top-level files first."""
        ordered = sorted(self.lines, key=lambda name: (name.count("/"), name))
        return [self._folder / name for name in ordered]

    def named(self, *, python: bool = False) -> WireNames:
        """Return the release's names on the wire, and say in the export that they are used."""
        names = self.names = wire_names(self.source.tools.values(), python=python)
        self.is_mended = not python
        return names

    def take(self, sample: Sample) -> None:
        """Write what the format makes of a sample; count one without a place with the reason."""
        self.written.clear()
        try:
            rows = self._write(sample)
        except RecordError as error:
            self.leave_out(sample, str(error))
        else:
            self.samples += 1
            self.rows += rows

    def leave_out(self, sample: Sample, reason: str) -> None:
        """Count something of a sample that has no place in the format."""
        self.left_out[LeftOutRow(sample.kind, reason)] += 1

    def path(self, name: str) -> Path:
        """Return the path of a file that the format writes itself."""
        self.lines[name] += 1
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def add_line(self, name: str, row: Row) -> None:
        """Write a row as a JSON line into a file."""
        text = orjson.dumps(row)
        self.note(name, "lines", text)
        self._append(name, text + b"\n")

    def add_item(self, name: str, row: Row) -> None:
        """Write a row into a file that is one indented JSON array."""
        text = b"\n" + orjson.dumps(row, option=orjson.OPT_INDENT_2)
        self.note(name, "json", text)
        self._append(name, (b"," if name in self._arrays else b"[") + text.replace(b"\n", b"\n  "))
        self._arrays.add(name)

    def add_document(self, name: str, document: Row) -> None:
        """Write a file that is one indented JSON object."""
        text = orjson.dumps(document, option=orjson.OPT_INDENT_2)
        self.note(name, "json", text)
        self.path(name).write_bytes(text)

    def note(self, name: str, layout: Layout, text: bytes) -> None:
        """Note the next row of a file for the certificate; its text is JSON."""
        file = (self._folder / name).relative_to(self._root).as_posix()
        self.written.append(WrittenRow(file, self._noted[name], layout, text))
        self._noted[name] += 1

    def _append(self, name: str, text: bytes) -> None:
        if name not in self._open:
            if len(self._open) >= _OPEN_AT_ONCE:
                self._close()
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open[name] = path.open("ab")
        self._open[name].write(text)
        self.lines[name] += 1

    def finish(self) -> None:
        """Write what follows the last sample."""
        for name in sorted(self._arrays):
            self._append(name, b"\n]")
        self._close()
        for write in self.at_end:
            write()

    def _close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Self:
        """Return the part, whose files are closed at the end in any case."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the open files."""
        self._close()


class Format(NamedTuple):
    """An export format: its name, content and readers, and how to write a part of a release.

    `begin` gives a function that writes a sample into a part and returns the number of rows. For
    a sample that the format can't hold, that raises RecordError before anything is written, in
    words that fit each such sample. `complete` writes the files about all parts. `header` is
    what the head of the README must say for the reader. What the template model worded is left
    out of a format that `is_for_training` unless requested. `answers` says whether candidates'
    answers may be exported in it, and whether the format needs worse answers beside the gold. A
    format that `has_worlds` is given the worlds of tasks. One that `is_chat` heeds the stream's
    `one_call_at_a_time`.
    """

    name: str
    holds: str
    readers: str
    begin: Callable[[ReleaseSplit], Write]
    has_folders: bool = False
    complete: Callable[[Sequence[ReleaseSplit], Path], list[Path]] | None = None
    header: Callable[[Sequence[ReleaseSplit]], Mapping[str, JsonValue]] | None = None
    is_for_training: bool = False
    answers: Literal["none", "may", "must"] = "none"
    has_worlds: bool = False
    is_chat: bool = False


class TableFormat(NamedTuple):
    """An export format that the store writes itself, table by table; its content and readers."""

    name: str
    holds: str
    readers: str


def in_order(splits: Iterable[str]) -> list[str]:
    """Return splits in the order of listing."""
    given = set(splits)
    return [*(one for one in _SPLITS if one in given), *sorted(given - {*_SPLITS})]


def canary(release: Release) -> str:
    """Return the string that marks a release's test samples, to recognise leaks into a corpus."""
    identity = uuid5(NAMESPACE_URL, f"callwright:{release.content_hash}")
    return f"CALLWRIGHT TEST DATA, NEVER FOR TRAINING. canary GUID {identity}"


def write_json(path: Path, value: object) -> Path:
    """Write a value as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    return path


def json_text(value: object) -> str:
    """Return a value as compact JSON text."""
    return orjson.dumps(value).decode()


UNKNOWN = "$$$"  # stands for a value that only the result of an earlier call tells, as in CallNavi
Fields = dict[str, JsonValue]


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def wire_document(tool: Tool, names: WireNames) -> Fields:
    """Return a tool as models' interfaces take it, under its names on the wire."""
    shown = names.shown(tool)
    return {**shown.signature, "parameters": wire_schema(shown).schema}


def wire_sample(sample: Sample, names: WireNames) -> Sample:
    """Return a sample whose calls have their names on the wire."""

    def shown(turn: Turn) -> Turn:
        if not isinstance(turn, CallTurn):
            return turn
        calls = (
            one.model_copy(
                update={
                    "tool": names.tool(one.tool),
                    "arguments": names.arguments(one.tool, one.arguments),
                }
            )
            for one in turn.calls
        )
        return turn.model_copy(update={"calls": tuple(calls)})

    return sample.with_changes(turns=tuple(map(shown, sample.turns))) if names else sample


def tool_document(tool: Tool, name: str | None = None) -> Fields:
    """Return a tool as the papers' formats describe it, under its own name or another."""
    return {**as_shown(tool).signature, "name": name or tool.name}


def user_text(turn: UserTurn) -> str:
    """Return what a user said, followed by the external message if there is one."""
    if turn.external is None:
        return turn.text
    return f"{turn.text}\n[{turn.external.app}] {turn.external.text}"


def stated_id(sample: Sample, paper: Paper) -> JsonValue:
    """What a sample is called in a paper's data; None where it was not imported from there."""
    known = sample.facts.paper_id
    return known.id if known and known.paper == paper else None
