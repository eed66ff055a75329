"""What a recipe takes from files: read once into a folder of the work folder, record by record, before its build is opened.

A file may be larger than memory, and reading may be cut off: it goes on where it stopped. What was read is named by the files'
content and by how they are read, so that the same again is read from the folder.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.progress import Progress
from callwright.flows.recipe import Recipe, SampleSource
from callwright.flows.settings import Settings
from callwright.generators.imports.reading import ImportedRecord
from callwright.generators.imports.table import SOURCES
from callwright.generators.multi_step.samples import add_evidence
from callwright.generators.taken import STAGE
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import CallTurn, Origin, TakenRecord, Tool, content_key
from callwright.warehouse.rows import body_of

READER_VERSION = 1  # raised when the same files would be read as other records
_AT_ONCE = 1000  # records between two marks of how far reading has come
_RECORDS, _TOOLS, _MARK, _DONE = "records.jsonl", "tools.jsonl", "mark.json", "done.json"
_MOST_TOOLS = 128  # of a recipe, beside a conversation whose row names none
_MOST_PROBLEMS = 5


class ReadSource(NamedTuple):
    """What was read of a source: the folder it is in, how many records, and how many of them hold no sample."""

    folder: Path
    records: int
    unreadable: int

    def taken(self) -> Iterator[TakenRecord]:
        """The records, in their order."""
        with (self.folder / _RECORDS).open("rb") as file:
            yield from map(TakenRecord.model_validate_json, file)

    def tools(self) -> Iterator[Tool]:
        """The tools that the records bring."""
        with (self.folder / _TOOLS).open("rb") as file:
            yield from map(Tool.model_validate_json, file)


def read_sources(recipe: Recipe, settings: Settings, progress: Progress) -> None:
    """Read what the recipe takes from files, as far as it was not read before. Raises ConfigurationError where nothing is there."""
    for source in recipe.sources:
        folder = _folder(source, settings)
        if (folder / _DONE).exists():
            continue
        progress.say(f"Reading {', '.join(map(str, source.paths))} ({source.format}).")
        read = _Reading(source, folder).carry_on(progress)
        lost = f", {read.unreadable} of them unreadable" if read.unreadable else ""
        progress.say(f"{read.records} records read{lost}.")


def taken_sources(recipe: Recipe, settings: Settings) -> list[ReadSource]:
    """What was read before for a recipe. Raises ConfigurationError where it was not."""
    found = []
    for source in recipe.sources:
        folder = _folder(source, settings)
        if not (folder / _DONE).exists():
            raise ConfigurationError(
                f"The file {str(source.paths[0])!r} of the recipe {recipe.name!r} was not read yet."
            )
        found.append(ReadSource(folder, **orjson.loads((folder / _DONE).read_bytes())))
    return found


def taken_tools(recipe: Recipe, settings: Settings) -> tuple[Tool, ...]:
    """The tools that the records of a recipe bring, each once."""
    tools = (tool for read in taken_sources(recipe, settings) for tool in read.tools())
    return tuple({tool.key: tool for tool in tools}.values())


def taken_records(recipe: Recipe, settings: Settings, own: Sequence[Tool]) -> Iterator[TakenRecord]:
    """The records that a recipe takes; one whose row names no tools has those of the recipe."""
    for read in taken_sources(recipe, settings):
        yield from (_with_tools(record, own) for record in read.taken())


def source_key(source: SampleSource) -> str:
    """The name of what is read of a source: the same while its files hold the same and are read the same way."""
    files: list[JsonValue] = [
        [str(file.relative_to(path.parent)), _digest(file, file.stat().st_mtime_ns)]
        for path in source.paths
        for file in _files(path)
    ]
    stated = source.model_dump(mode="json", exclude={"path"})
    return content_key([READER_VERSION, stated, files])


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise ConfigurationError(f"There is no file or folder at {str(path)!r}.")
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


@lru_cache(1024)
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "blake2b").hexdigest()[:32]


def _folder(source: SampleSource, settings: Settings) -> Path:
    return settings.home / "sources" / source_key(source)


class _Mark(NamedTuple):
    """How far reading has come: so many records, of them unreadable, and the lengths of the files that hold them."""

    records: int = 0
    unreadable: int = 0
    at: int = 0
    tools_at: int = 0


class _Reading:
    """A source under way."""

    def __init__(self, source: SampleSource, folder: Path) -> None:
        self._source, self._folder = source, folder
        self._form = SOURCES.named(source.format)
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / _MARK
        self._mark = _Mark(**orjson.loads(kept.read_bytes())) if kept.exists() else _Mark()

    def carry_on(self, progress: Progress) -> ReadSource:
        """Read what is left."""
        read = islice(self._records(), self._source.rows)
        for _ in islice(read, self._mark.records):
            pass  # these were read before: what was made of them is in the folder
        with (self._folder / _RECORDS).open("ab") as records, (self._folder / _TOOLS).open("ab") as tools:
            records.truncate(self._mark.at)
            tools.truncate(self._mark.tools_at)
            known = {tool.key for tool in ReadSource(self._folder, 0, 0).tools()}
            while some := list(islice(read, _AT_ONCE)):
                new = {tool.key: tool for record in some for tool in record.tools if tool.key not in known}
                known |= new.keys()
                tools.writelines(body_of(tool).encode() + b"\n" for tool in new.values())
                records.writelines(body_of(_taken(one, self._source)).encode() + b"\n" for one in some)
                for file in (records, tools):
                    file.flush()
                lost = sum(one.sample is None for one in some)
                self._note(
                    _Mark(self._mark.records + len(some), self._mark.unreadable + lost, records.tell(), tools.tell())
                )
                progress.advance(len(some))
        done = {"records": self._mark.records, "unreadable": self._mark.unreadable}
        _replace(self._folder / _DONE, orjson.dumps(done))
        return ReadSource(self._folder, **done)

    def _records(self) -> Iterator[ImportedRecord]:
        for path in self._source.paths:
            yield from self._form.read(path)

    def _note(self, mark: _Mark) -> None:
        _replace(self._folder / _MARK, orjson.dumps(mark._asdict()))
        self._mark = mark


def _replace(path: Path, content: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(content)
    beside.replace(path)


def _taken(record: ImportedRecord, source: SampleSource) -> TakenRecord:
    """A record as it is kept: its place is told from the folder that the source's path stands in."""
    places = [f"{path.parent}/" for path in source.paths]
    where = next((record.where.removeprefix(place) for place in places if record.where.startswith(place)), record.where)
    sample = record.sample
    return TakenRecord(
        where=where,
        format=source.format,
        kind=sample.kind if sample else "",
        language=sample.language if sample else "",
        sample=sample,
        problems=tuple(one.message for one in record.problems[:_MOST_PROBLEMS]),
        outcome=record.signals.outcome,
        error=record.signals.error,
        feedback=record.signals.feedback,
        origin=Origin(stage=STAGE),
    )


def _with_tools(record: TakenRecord, own: Sequence[Tool]) -> TakenRecord:
    """A record whose row names no tools, with those of the recipe beside it: those that it calls, and others."""
    sample = record.sample
    if sample is None or sample.candidates:
        return record
    called = {call.tool for turn in sample.turns if isinstance(turn, CallTurn) for call in turn.calls}
    by_name: dict[str, Tool] = {}
    for tool in sorted(own, key=lambda one: (one.name not in called, one.language != sample.language)):
        by_name.setdefault(tool.name, tool)
    if lacking := sorted(called - by_name.keys()):
        named = ", ".join(map(repr, lacking[:3]))
        reason = f"It calls {named}, and neither its row nor the recipe's `tools` have a document of that."
        return record.with_changes(sample=None, kind="", problems=(reason, *record.problems))
    shown = {tool.key: tool for tool in islice(by_name.values(), _MOST_TOOLS)}
    turns = add_evidence(sample.turns, by_name)
    category = sample.category or next((tool.category for tool in shown.values()), "")
    taken = sample.with_changes(candidates=tuple(shown), turns=turns, category=category)
    return record.with_changes(sample=taken)
