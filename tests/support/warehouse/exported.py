"""What exports write, read back row by row."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from callwright.warehouse.exports.formats import MANIFEST, export_release
from callwright.warehouse.records import Release, Sample, Tool
from callwright.warehouse.releases import AssistantWords, ReleaseContent, ReleaseStream

REFUSAL = "Sorry, none of my tools can do this."
Rows = list[dict[str, Any]]


def stream_of(content: ReleaseContent, splits: Sequence[str] = ()) -> ReleaseStream:
    """A release as exports read it, its samples in these splits, in order."""
    samples = list(zip(splits or [""] * len(content.samples), content.samples, strict=True))
    return ReleaseStream(
        content.release, samples, content.tools, {"en": AssistantWords((REFUSAL,))}
    )


def release_of(samples: Iterable[Sample], tools: Mapping[str, Tool]) -> ReleaseContent:
    kept = tuple(samples)
    release = Release(
        name="v1", content_hash="0", samples=len(kept), created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    return ReleaseContent(release, kept, dict(tools))


def exported(content: ReleaseContent, to: str, **changes: Any) -> dict[str, Rows]:
    """The rows of each JSON file of an export in a format, by its path; `changes` are the
    stream's.
    """
    with TemporaryDirectory() as parent:
        folder = Path(parent) / "out"
        export_release(stream_of(content)._replace(**changes), to, folder)
        return {
            path.relative_to(folder).as_posix(): rows_in(path)
            for path in sorted(folder.rglob("*.json*"))
            if not path.name.startswith("certificate.")
            if path.name != MANIFEST
        }


def rows_in(path: Path) -> Rows:
    """The rows of a file of one a line, or of one array."""
    text = path.read_bytes()
    try:
        whole = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in text.splitlines()]
    return whole if isinstance(whole, list) else [whole]


class BfclFiles(NamedTuple):
    """The rows of each file of an export to BFCL."""

    questions: Rows
    answers: Rows
    irrelevant: Rows
    parallel_questions: Rows
    parallel_answers: Rows
    repeated_questions: Rows
    repeated_answers: Rows


def bfcl_files(content: ReleaseContent, **changes: Any) -> BfclFiles:
    """A release as BFCL's `multiple`, `irrelevance`, `parallel_multiple` and `parallel`."""
    files = exported(content, "bfcl", **changes)
    names = [
        f"{folder}BFCL_v4_{category}.json"
        for category in ("multiple", "irrelevance", "parallel_multiple", "parallel")
        for folder in ("", "possible_answer/")
    ]
    rows = [files.get(name, []) for name in names]
    return BfclFiles(*rows[:3], *rows[4:])
