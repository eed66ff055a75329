"""Inspect's logs, as JSON or as `.eval` archives, and the data set of our own export for it."""

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem
from callwright.generators.catalogs.documents import LONGEST_LINE, DocumentItem, parse, read_rows
from callwright.generators.imports.chats import ChatReader, ChatRow, sample_files
from callwright.generators.imports.messages import Fields
from callwright.generators.imports.reading import ImportedRecord, Signals
from callwright.generators.imports.rows import inspect_row, part, words
from callwright.generators.imports.table import SampleFormat

_ARCHIVE = ".eval"
_SAMPLES = "samples/"
_ZSTANDARD = "zipfile_zstd"


def read_inspect(path: Path) -> Iterator[ImportedRecord]:
    """The samples of a log, or of all below a folder. Raises ConfigurationError where there is no file."""
    chats = ChatReader("inspect")
    archives = [path] if path.suffix == _ARCHIVE else sorted(path.rglob(f"*{_ARCHIVE}")) if path.is_dir() else []
    files = archives or sample_files(path)
    for file in files:
        for row in _archived(file) if file.suffix == _ARCHIVE else _written(file):
            if isinstance(row, Problem):
                yield ImportedRecord(row.where, problems=(row,))
            else:
                yield chats.record(row, _row)


def _written(file: Path) -> Iterator[DocumentItem | Problem]:
    """The samples of a log in JSON, or the rows of a data set."""
    for row in read_rows(file):
        logged = row.value.get("samples") if isinstance(row, DocumentItem) and isinstance(row.value, dict) else None
        if isinstance(logged, list):
            yield from (DocumentItem(f"{row.where}/samples/{at}", one) for at, one in enumerate(logged))
        else:
            yield row


def _archived(file: Path) -> Iterator[DocumentItem | Problem]:
    """The samples of an archive, one after another; those of newer Inspect are compressed with Zstandard."""
    with suppress(ImportError):
        import_module(_ZSTANDARD)  # teaches the zipfile of older Pythons to read it, as Inspect itself does
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                where = f"{file}:{entry.filename}"
                if not entry.filename.startswith(_SAMPLES):
                    continue
                if entry.file_size > LONGEST_LINE:
                    yield _unreadable(where, f"it is longer than {LONGEST_LINE // 2**20} MiB")
                    continue
                value = parse(archive.read(entry).decode("utf-8", "replace"), where)
                yield value if isinstance(value, Problem) else DocumentItem(where, value)
    except NotImplementedError as error:
        advice = "`pip install zipfile-zstd` lets it be read, and `inspect log convert --to json` writes it anew"
        yield _unreadable(str(file), f"{error}; {advice}")
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        yield _unreadable(str(file), f"{error}; `inspect log convert --to json` writes it anew")


def _unreadable(where: str, why: str) -> Problem:
    return Problem(where=where, kind="unreadable", message=f"{where} can't be read: {why}; left out.")


def _row(fields: Fields) -> ChatRow | None:
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        return inspect_row(fields)
    error = part(fields, "error")
    scores = part(fields, "scores")
    first = next((one for one in scores.values() if isinstance(one, dict)), {})
    value = words(first, "value")
    outcome = "error" if error else {"C": "correct", "I": "incorrect", "P": "partial"}.get(value, value)
    return ChatRow(messages, _tools(fields), signals=Signals(outcome, words(error, "message")[:200]))


def _tools(fields: Fields) -> JsonValue:
    """The tools that the last call of a model was given, which the events of a sample tell."""
    events = fields.get("events")
    listed = [one.get("tools") for one in (events if isinstance(events, list) else ()) if isinstance(one, dict)]
    return next((one for one in reversed(listed) if isinstance(one, list) and one), None)


FORMAT = SampleFormat("inspect", "Inspect's logs, and our own data sets for it", read_inspect, is_traffic=True)
