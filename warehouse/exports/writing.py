"""What an export format is, and what all of them write with: a part for each split, whose files
grow row by row.

Samples come one after another and leave what a format makes of each; nothing else of them is kept.
"""

import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, Self
from uuid import NAMESPACE_URL, uuid5

import orjson
from pydantic import JsonValue

from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Paper, Release, Sample, Tool, UserTurn
from callwright.warehouse.releases import ReleaseStream

TEST = "test"
_SPLITS = ("train", "validation", TEST)  # in this order, others behind them
_OPEN_AT_ONCE = 64  # files; a format may have one a category
Row = Mapping[str, Any]
Write = Callable[[Sample], int]


class LeftOutRow(NamedTuple):
    """A row that a format has no place for: the kind of its sample, and why."""

    kind: str
    reason: str


class ReleaseSplit:
    """One split of a release as it is written: how many samples and rows there are, and what has no
    place.

    The split is "" where the release has none. The canary marks test samples.
    """

    def __init__(self, source: ReleaseStream, split: str, form: "Format", folder: Path) -> None:
        """A format of many files has a folder a split below `folder`, any other a file a split
        in it.
        """
        self.source, self.split = source, split
        self.canary = canary(source.release) if split == TEST else ""
        self.samples = self.rows = 0
        self.left_out: Counter[LeftOutRow] = Counter()
        self.lines: Counter[str] = Counter()  # of each file
        self.at_end: list[Callable[[], object]] = []
        self._folder = folder / split if form.has_folders else folder
        self._arrays: set[str] = set()
        self._open: dict[str, BinaryIO] = {}
        self._write = form.begin(self)

    @property
    def stem(self) -> str:
        """What a file of this part is called: the split, or the release."""
        return self.split or self.source.release.file_name

    @property
    def mark(self) -> dict[str, str]:
        """The canary as a field of a row: readers want the same fields in each split, so it is
        empty where there is none.
        """
        return {"canary": self.canary}

    @property
    def mark_of_tests(self) -> dict[str, str]:
        """The canary as a field of a row that has no such field elsewhere."""
        return self.mark if self.canary else {}

    @property
    def files(self) -> list[Path]:
        """The files of this part, those that no other file is about first."""
        ordered = sorted(self.lines, key=lambda name: (name.count("/"), name))
        return [self._folder / name for name in ordered]

    def take(self, sample: Sample) -> None:
        """Write what the format makes of a sample; one that it has no place for is counted with
        the reason.
        """
        try:
            rows = self._write(sample)
        except RecordError as error:
            self.leave_out(sample, str(error))
        else:
            self.samples += 1
            self.rows += rows

    def leave_out(self, sample: Sample, reason: str) -> None:
        """Count something of a sample that has no place."""
        self.left_out[LeftOutRow(sample.kind, reason)] += 1

    def path(self, name: str) -> Path:
        """Where a file is that the format writes itself."""
        self.lines[name] += 1
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def add_line(self, name: str, row: Row) -> None:
        """Write a row as JSON into a file of one a line."""
        self._append(name, orjson.dumps(row) + b"\n")

    def add_item(self, name: str, row: Row) -> None:
        """Write a row into a file that is one indented JSON array."""
        text = b"\n" + orjson.dumps(row, option=orjson.OPT_INDENT_2)
        self._append(name, (b"," if name in self._arrays else b"[") + text.replace(b"\n", b"\n  "))
        self._arrays.add(name)

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
        """Write what comes behind the last sample."""
        for name in sorted(self._arrays):
            self._append(name, b"\n]")
        self._close()
        for write in self.at_end:
            write()

    def _close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Self:
        """Its files are closed at the end, whatever happens."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self._close()


class Format(NamedTuple):
    """An export format: its name, what it holds, who reads it, and how a part of a release is
    written.

    `begin` gives what writes a sample into a part and says how many rows that makes; it raises
    RecordError, before anything is written, for a sample that the format can't hold, in words that
    fit each such sample. `complete` writes the files that are about all parts. `header` is what the
    head of the README must say for the reader. What the template model worded is left out of a
    format that `is_for_training` unless it is asked for. `answers` says whether what candidates
    answered may go out in it, and whether the format is nothing without worse answers beside the
    gold. One that `has_worlds` is given those that tasks play in.
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


class TableFormat(NamedTuple):
    """An export format that the store writes itself, table by table: what it holds and who reads
    it.
    """

    name: str
    holds: str
    readers: str


def in_order(splits: Iterable[str]) -> list[str]:
    """Splits as they are listed."""
    given = set(splits)
    return [*(one for one in _SPLITS if one in given), *sorted(given - {*_SPLITS})]


def canary(release: Release) -> str:
    """The string that marks a release's test samples, so that a corpus in which they leaked can
    be told by it.
    """
    identity = uuid5(NAMESPACE_URL, f"callwright:{release.content_hash}")
    return f"CALLWRIGHT TEST DATA, NEVER FOR TRAINING. canary GUID {identity}"


def write_json(path: Path, value: object) -> Path:
    """Write a value as indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    return path


def json_text(value: object) -> str:
    """A value as compact JSON text."""
    return orjson.dumps(value).decode()


UNKNOWN = "$$$"  # stands for a value that only the result of an earlier call tells, as in CallNavi
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_IN_IDENTIFIERS = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST = 64

Fields = dict[str, JsonValue]


class Names(NamedTuple):
    """What a format calls tools, and the parameters of each; what is not listed keeps its name."""

    tools: Mapping[str, str]
    parameters: Mapping[str, Mapping[str, str]]

    def tool(self, name: str) -> str:
        """What the format calls a tool."""
        return self.tools.get(name, name)

    def parameter(self, tool: str, name: str) -> str:
        """What the format calls a parameter of a tool."""
        return self.parameters.get(tool, {}).get(name, name)

    @property
    def changed(self) -> dict[str, str]:
        """The true name of each tool that is called otherwise, and of each parameter as
        `TOOL.PARAMETER`.
        """
        tools = {plain: name for name, plain in self.tools.items() if plain != name}
        for tool, renamed in self.parameters.items():
            changed = ((name, plain) for name, plain in renamed.items() if plain != name)
            tools |= {f"{self.tool(tool)}.{plain}": name for name, plain in changed}
        return tools


def plain_names(tools: Iterable[Tool]) -> dict[str, str]:
    """For each tool name one of letters, digits, _ and - (at most 64), distinct where the names
    are distinct.
    """
    return _distinct(
        {tool.name for tool in tools}, lambda name: _NOT_PLAIN.sub("_", name)[-_LONGEST:] or "_"
    )


def identifier_names(tools: Iterable[Tool], *, with_parameters: bool = True) -> Names:
    """Names that a reader of Python calls takes: identifiers and no keywords, distinct where the
    names are distinct.
    """
    listed = list(tools)
    of_tools = listed if with_parameters else []
    parameters = {tool.name: _distinct(tool.properties, _identifier) for tool in of_tools}
    return Names(_distinct({tool.name for tool in listed}, _identifier), parameters)


def hash_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def tool_document(tool: Tool, name: str | None = None) -> Fields:
    """A tool as most formats describe it, under its own name or another."""
    return {**tool.signature, "name": name or tool.name}


def user_text(turn: UserTurn) -> str:
    """What a user said, with the message from outside below it, where there is one."""
    if turn.external is None:
        return turn.text
    return f"{turn.text}\n[{turn.external.app}] {turn.external.text}"


def stated_id(sample: Sample, paper: Paper) -> JsonValue:
    """What a sample is called in a paper's data; None where it was not imported from there."""
    known = sample.facts.paper_id
    return known.id if known and known.paper == paper else None


def _identifier(name: str) -> str:
    plain = _NOT_IN_IDENTIFIERS.sub("_", name)[-_LONGEST:] or "_"
    return f"_{plain}"[:_LONGEST] if plain[0].isdigit() or keyword.iskeyword(plain) else plain


def _distinct(names: Iterable[str], plain_of: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names):
        plain, number = plain_of(name), 1
        while plain in taken:
            number += 1
            suffix = f"_{number}"
            plain = plain_of(name)[: _LONGEST - len(suffix)] + suffix
        found[name] = plain
        taken.add(plain)
    return found
